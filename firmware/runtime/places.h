/* Places for packets from the link, from which they go to host memory by DMA: a ring of slots, each of
 * which the engine RECEIVE gets back once what was in it has been written.
 *
 *      enum { PLACES = 6 };
 *      struct packet { ... };
 *      #include "places.h"
 *
 *      places_take(arrived);
 *
 * For the file that handles packets.
 */
#ifndef PLACES_H
#define PLACES_H

#include "nic.h"

struct slot {
    uint64_t completion;
    struct packet packet;
};
/* `handling` is the next that has a packet, `offering` the next that is given to the engine again,
 * once what was in it is in host memory. */
static struct place {
    struct slot *slot;
    ticket_t written;
} places[PLACES], *places_end, *handling = places, *offering = places;
static uint32_t handled, offers; /* packets handled; slots that the engine has */

static inline struct place *behind(struct place *p)
{
    return p + 1 == places_end ? places : p + 1;
}

/* Gives the engine the slots whose data are in host memory. */
static void places_offer(void)
{
    while (offers != (uint32_t)(places_end - places) && dma_write_done(offering->written)) {
        link_receive(offering->slot, sizeof(struct slot));
        offering = behind(offering);
        offers++;
    }
}

/* Has `handle` handle the packets that have come; not those that come meanwhile, so that all else
 * has its turn. The pending bits that it waits for. */
static __attribute__((always_inline)) inline uint32_t places_take(void (*handle)(const uint32_t *packet))
{
    uint32_t received = reg_read(NICBED_MMIO_RECEIVE_DONE);
    barrier();
    while (handled != received) {
        struct place *p = handling;
        handling = behind(p);
        handled++;
        offers--;
        handle((const uint32_t *)p->slot);
        p->written = engine_given[ENGINE_N2H];
    }
    places_offer();
    return NICBED_PENDING_RECEIVE | (offers ? 0 : NICBED_PENDING_N2H);
}

/* Makes as many as NIC memory has room for, but for `reserve` bytes. */
static __attribute__((always_inline)) inline void places_make(uint32_t reserve)
{
    places_end = places;
    while (places_end < places + PLACES && memory_left() >= sizeof(struct slot) + reserve)
        places_end++->slot = take_memory(sizeof(struct slot), 8);
}

#endif
