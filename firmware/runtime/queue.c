/* Queues: opening, reporting, pulling. */
#include "queue.h"

void queue_open(struct queue *q, uint32_t page, void *slots, uint32_t count, uint32_t host_slots,
                uint32_t report)
{
    *q = (struct queue){
        .slots = slots, .count = count, .host = host_slots, .report = report, .page = page,
        .look = host_slots != 0,
    };
}

void queue_report(struct queue *q)
{
    q->reported = q->taken;
    q->report_word = q->taken;
    dma_write(&q->report_word, q->report, 8, 0);
}

static void pull(struct queue *q)
{
    uint32_t number = q->pulled;
    uint32_t offset = (number & (q->count - 1)) * NICBED_SLOT_BYTES;
    q->ticket = dma_read(q->host + offset, (char *)q->slots + offset, NICBED_SLOT_BYTES, 0);
    q->pulled = number + 1;
    q->pulling = true;
}

/* One slot is requested ahead of the known ones. If it turns out to be empty, no other slot is
 * requested until the CPU takes a watched line: `look`. */
void queue_pull(struct queue *q)
{
    if (q->pulling && dma_read_done(q->ticket)) {
        uint32_t number = q->posted;
        uint32_t word = *(volatile uint32_t *)queue_slot(q, number);
        uint32_t phase = (word & NICBED_SEND_WORD_PHASE_LO_MASK) != 0;
        q->pulling = false;
        if (phase == !(number & q->count)) {
            q->posted = number + 1;
            q->look = true;
        } else {
            q->pulled = number;
        }
    }
    if (q->look && !q->pulling && q->pulled - q->taken < q->count) {
        q->look = false;
        pull(q);
    }
}
