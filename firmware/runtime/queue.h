/* A queue of slots of NICBED_SLOT_BYTES from a host program (layouts.processor, host/processor/
 * queue.py). Three kinds, one interface:
 *  - in NIC memory, written by PIO, posted by doorbell 0 of its page (count of slots posted so far):
 *    the main loop gives each such doorbell to queue_posted();
 *  - the same with doorbells as words: queue_next() reads the word;
 *  - in host memory, cacheable (nic.attachment = memory_bus): pulled into NIC memory slot by slot
 *    once the phase in word 0 is right; the main loop calls queue_watched() when WATCH was pending.
 *
 *      while ((slot = queue_next(&q))) { ...; queue_taken(&q); }
 *
 * Slots are used in order. One may be kept (the engine SEND still reads it) while the next is
 * taken: queue_taken() gives back the oldest that is kept. A coherent queue of which every slot was
 * kept goes on only when queue_next() is called after that.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "nic.h"

struct queue {
    uint64_t *slots; /* in NIC memory; a coherent queue is pulled into it */
    uint32_t count;
    uint32_t posted; /* slots that the host has posted, as far as known */
    uint32_t next; /* slots that queue_next() returned */
    uint32_t taken; /* slots that were given back */
    uint32_t reported; /* `taken` as last reported to the host */
    uint32_t report; /* address of the report in host memory; 0: no report */
    uint32_t host; /* address of a coherent queue; 0: slots are written by PIO */
    uint32_t page;
    uint32_t refused; /* postings with an impossible count */
    uint32_t pulled; /* slots requested from host memory */
    ticket_t ticket; /* of the pull under way: of slot `pulled` - 1 */
    bool pulling, look;
    uint64_t report_word;
};

/* `slots`: `count` (a power of two, at least 4) slots in NIC memory. `host_slots`: 0, or where a
 * coherent queue lies. `report`: word in host memory that gets the number of slots taken, 0 for
 * none. */
void queue_open(struct queue *q, uint32_t page, void *slots, uint32_t count, uint32_t host_slots,
                uint32_t report);

/* The bits that wait_for()'s mask must have for this queue. */
static inline uint32_t queue_wakes(const struct queue *q)
{
    if (q->host)
        return NICBED_PENDING_WATCH | NICBED_PENDING_H2N;
    return doorbells_are_words ? NICBED_PENDING_WINDOW : NICBED_PENDING_DOORBELL;
}

/* The count that a doorbell gave. */
static inline void queue_posted(struct queue *q, uint32_t posted)
{
    if (posted - q->taken <= q->count && (int32_t)(posted - q->posted) >= 0)
        q->posted = posted;
    else
        q->refused++;
}

/* WATCH was pending (and is cleared): check host memory. */
static inline void queue_watched(struct queue *q) { q->look = true; }

/* Pulls the slots of a queue in host memory; queue_next() calls it. */
void queue_pull(struct queue *q);

static inline uint64_t *queue_slot(const struct queue *q, uint32_t number)
{
    return (uint64_t *)((char *)q->slots + (number & (q->count - 1)) * NICBED_SLOT_BYTES);
}

/* The next slot, without going on to it; NULL if there is none. */
static inline uint64_t *queue_peek(struct queue *q)
{
    if (q->host) {
        if (q->pulling | q->look)
            queue_pull(q);
    } else if (q->posted == q->next && doorbells_are_words) {
        uint32_t posted = *(volatile uint32_t *)doorbell_word(q->page, 0);
        if (posted != q->posted)
            queue_posted(q, posted);
    }
    barrier();
    return q->posted == q->next ? NULL : queue_slot(q, q->next);
}

/* The next slot, or NULL. It does not change until it is given back. */
static inline uint64_t *queue_next(struct queue *q)
{
    uint64_t *slot = queue_peek(q);
    if (slot)
        q->next++;
    return slot;
}

/* Reports to the host how many slots are taken. */
void queue_report(struct queue *q);

/* Gives back the oldest slot; reports to the host when a quarter of the queue is free and not yet
 * reported. */
static inline void queue_taken(struct queue *q)
{
    barrier();
    q->taken++;
    if (q->report && q->taken - q->reported >= q->count / 4)
        queue_report(q);
}

#endif
