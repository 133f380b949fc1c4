/* Every slot of a queue comes back in a ring; commands add up. */
#include "mailbox.h"
#include "nic.h"
#include "queue.h"
#include "ring.h"

enum { SLOTS = 8, PAGE = 3, OPEN = 1, ADD = 2 };

PAGED_ARRAY(uint64_t, slots, SLOTS * NICBED_SLOT_BYTES / 8);
SHARED(struct ring, ring);
SHARED(struct mailbox, mailbox);
SHARED(struct queue, queue);
DOORBELL_WORDS(PAGE + 1);
PARAMETER(keep) = 1;
static uint64_t out[NICBED_SLOT_BYTES / 8];

static void command(void)
{
    uint64_t *words = mailbox_take(&mailbox);
    if (!words)
        return;
    switch ((uint32_t)words[0]) {
    case OPEN:
        queue_open(&queue, PAGE, slots, SLOTS, (uint32_t)words[1], (uint32_t)words[2]);
        ring_open(&ring, (uint32_t)words[3], (uint32_t)words[4], NICBED_SLOT_BYTES);
        if (words[1])
            watch_set((uint32_t)words[1], SLOTS * NICBED_SLOT_BYTES);
        mailbox_answer(&mailbox, 0);
        break;
    case ADD:
        mailbox.answer[0] = words[1] + words[6];
        mailbox.answer[1] = words[1] ^ words[6];
        mailbox_answer(&mailbox, 0);
        break;
    default:
        mailbox_answer(&mailbox, 77);
    }
}

/* Slots are kept, and changed, until there are `keep` of them. */
static void give_back(void)
{
    dma_read_wait(engine_given[ENGINE_H2N]);
    while (queue.taken != queue.next) {
        uint64_t *slot = queue_slot(&queue, queue.taken);
        copy_words(out, slot, NICBED_SLOT_BYTES / 8);
        out[0] = word_of(send_trace(slot) << NICBED_COMPLETION_TRACE_SHIFT,
                         send_trace(slot) >> 8);
        queue_taken(&queue);
        dma_write_wait(ring_put(&ring, out, NICBED_SLOT_BYTES));
    }
}

static void turn(uint32_t bits)
{
    struct doorbell d;
    while (doorbell_take(&d))
        if (d.page == PAGE && d.offset == 0)
            queue_posted(&queue, d.low);
    command();
    if (bits & NICBED_PENDING_WATCH)
        queue_watched(&queue);
    uint64_t *slot;
    while (queue.count && ring_room(&ring) >= keep && (slot = queue_next(&queue))) {
        watchdog_kick();
        slot[7] = queue.next;
        if (queue.next - queue.taken == keep)
            give_back();
    }
}

int main(void)
{
    ready = 1;
    for (uint32_t bits = 0;; bits = wait_and_clear(NICBED_PENDING_WINDOW | NICBED_PENDING_DOORBELL
                                                   | NICBED_PENDING_WATCH | NICBED_PENDING_H2N))
        turn(bits);
}
