/* What processes are told: descriptors of their receive queues, statuses of their sends. */
#include "unet.h"

enum { SLOTS = 2 * NICBED_ENGINE_QUEUE };

/* A slot is used again SLOTS transfers later: the engine has long read it, for it holds no more than
 * ENGINE_QUEUE commands. */
static uint32_t slots[SLOTS][NICBED_UNET_RECEIVE_BYTES / 4] __attribute__((aligned(16)));
static uint32_t slot_next;

/* The descriptor at the head of the send queue is over. */
void descriptor_over(struct endpoint *e, uint32_t status)
{
    uint32_t *slot = receive_slot(), number = e->queue.taken;
    if (status)
        counters.refused++;
    slot[0] = number + 1;
    slot[1] = status;
    dma_write(slot, e->statuses + (number & (e->queue.count - 1)) * 8, 8, 0);
    e->message.active = 0;
    queue_taken(&e->queue);
}

/* Whether the receive queue has room for a descriptor. A process that claims what cannot be gets
 * none. */
bool receive_room(const struct endpoint *e)
{
    return e->put - e->page->taken < e->entries;
}

/* Where the next descriptor is put together. */
uint32_t *receive_slot(void)
{
    return slots[slot_next++ & (SLOTS - 1)];
}

/* The descriptor `slot`, of which `bytes` bytes behind word 0 are filled in; there is room. */
void receive_put(struct endpoint *e, uint32_t *slot, uint32_t low_half, uint32_t trace,
                 uint32_t channel, uint32_t bytes)
{
    uint32_t put = e->put, at = put & (e->entries - 1);
    slot[0] = low_half | !(put & e->entries) | trace << NICBED_UNET_RECEIVE_TRACE_SHIFT;
    slot[1] = trace >> (32 - NICBED_UNET_RECEIVE_TRACE_SHIFT)
              | channel << NICBED_UNET_RECEIVE_CHANNEL_HI_SHIFT;
    e->put = put + 1;
    ticket_t written = dma_write_slot(slot, e->receive + at * NICBED_UNET_RECEIVE_BYTES,
                                      8 + ((bytes + 7) & ~7u), trace);
    if (e->armed) {
        e->armed = 0;
        dma_write_wait(written);
        host_interrupt();
    }
}

/* The process waits for more descriptors than it has seen. */
RARE void endpoint_arm(struct endpoint *e, uint32_t seen)
{
    e->armed = seen == e->put;
    if (!e->armed) {
        dma_write_wait(engine_given[ENGINE_N2H]);
        host_interrupt();
    }
}
