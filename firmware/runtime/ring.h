/* A ring of slots in host memory that the firmware fills (layouts.rings: word 0 a COMPLETION word,
 * written last). The host reports how many it has taken by writing `taken` in NIC memory. */
#ifndef RING_H
#define RING_H

#include "nic.h"

struct ring {
    volatile uint64_t taken; /* first: the host's, at the ring's symbol */
    uint32_t base, entries, slot_bytes;
    uint32_t put; /* slots filled so far */
    uint32_t at; /* address of the next one */
};

/* `entries` is a power of two; `slot_bytes` a multiple of 8. */
void ring_open(struct ring *r, uint32_t host_base, uint32_t entries, uint32_t slot_bytes);

/* Slots that are free. 0 if the host's count is impossible. */
static inline uint32_t ring_room(const struct ring *r)
{
    uint32_t used = r->put - *(volatile uint32_t *)&r->taken;
    return used <= r->entries ? r->entries - used : 0;
}

/* Copies `bytes` bytes at `slot` in NIC memory to the next slot. Word 0 is as the engine RECEIVE
 * leaves it (or has length and trace number); phase and index are set here. There must be room,
 * and `bytes` must fit a slot. `slot` may change only when the ticket is done. */
static inline ticket_t ring_put(struct ring *r, uint64_t *slot, uint32_t bytes)
{
    uint32_t *half = (uint32_t *)slot;
    uint32_t put = r->put, index = put & (r->entries - 1), at = r->at;
    half[0] = (half[0] & ~1u) | !(put & r->entries);
    half[1] = (half[1] & 0xFFFF) | index << NICBED_COMPLETION_INDEX_HI_SHIFT;
    r->put = put + 1;
    r->at = index + 1 == r->entries ? r->base : at + r->slot_bytes;
    return dma_write_slot(slot, at, bytes, received_trace(slot));
}

#endif
