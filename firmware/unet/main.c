/* U-Net: the program of a NIC. docs/tutorials/unet.md says what it promises. */
#include "unet.h"
#include "turns.h"

PARAMETER(buffers);
PARAMETER(tlb_sets) = 1;
PARAMETER(tlb_ways) = TLB;
PARAMETER(work_send);
PARAMETER(work_receive);
PARAMETER(mtu) = DATA_BYTES;
PARAMETER(page_bytes) = 4096;
PARAMETER(doorbell_queue) = 64;
PARAMETER(coherent_base); /* of the send queues, where they are in host memory */
PARAMETER(coherent_bytes);
PARAMETER(routes[NODES]);

enum { DOORBELLS_A_TURN = 16 };

static RARE void configure(void)
{
    settings.node = node() | NICBED_PROTOCOL_UNET << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    settings.payload = mtu < DATA_BYTES ? (mtu & ~7u) : DATA_BYTES;
    settings.buffers = buffers;
    settings.tlb_mask = tlb_sets - 1;
    settings.tlb_ways = tlb_ways;
    settings.work_send = work_send;
    settings.work_receive = work_receive;
    while (1u << settings.page_shift < page_bytes)
        settings.page_shift++;
    settings.page_mask = page_bytes - 1;
    for (uint32_t i = 0; i < NODES; i++)
        settings.route[i] = routes[i];
    if (coherent_bytes)
        watch_set(coherent_base, coherent_bytes);
}

/* Doorbells were perhaps lost, the kernel's among them: what was posted is in the pages, too. */
static RARE void look_at_pages(void)
{
    kernel_command();
    for (struct endpoint *e = endpoints; e < endpoints + ENDPOINTS; e++) {
        if (!e->open)
            continue;
        if (!e->queue.host)
            queue_posted(&e->queue, e->page->posted);
        wanting |= 1u << e->number;
    }
}

/* Takes doorbells, a few a turn. With as many in a row as the hardware holds some were perhaps
 * lost. */
static void doorbells(void)
{
    static uint32_t row;
    struct doorbell d;
    for (uint32_t left = DOORBELLS_A_TURN; left; left--) {
        if (!doorbell_take(&d)) {
            if (row >= doorbell_queue)
                look_at_pages();
            row = 0;
            return;
        }
        row++;
        if (d.page == MAILBOX_PAGE) {
            kernel_command();
        } else if (d.page <= ENDPOINTS && endpoints[d.page - 1].open) {
            struct endpoint *e = &endpoints[d.page - 1];
            if (d.offset) {
                endpoint_arm(e, d.low);
            } else if (!e->queue.host) {
                queue_posted(&e->queue, d.low);
                wanting |= 1u << e->number;
            }
        }
    }
    if (row >= doorbell_queue)
        unfinished |= NICBED_PENDING_DOORBELL; /* there may be none behind these to wake us */
}

/* The doorbells are words: any may have been written. */
static void doorbell_words_look(void)
{
    kernel_command();
    for (struct endpoint *e = endpoints; e < endpoints + ENDPOINTS; e++) {
        if (!e->open)
            continue;
        volatile uint32_t *word = (volatile uint32_t *)doorbell_word(e->number + 1, 8);
        if (word[1]) {
            word[1] = 0;
            barrier();
            endpoint_arm(e, word[0]);
        }
        if (e->queue.host || queue_peek(&e->queue))
            wanting |= 1u << e->number;
    }
}

/* A CPU has taken lines of coherent queues, or a slot of one has come. */
static void coherent_look(bool watched)
{
    for (struct endpoint *e = endpoints; e < endpoints + ENDPOINTS; e++) {
        if (!e->open || !e->queue.host)
            continue;
        if (watched)
            queue_watched(&e->queue);
        wanting |= 1u << e->number;
    }
}

int main(void)
{
    configure();
    receiving_open();
    protocol_select(NICBED_PROTOCOL_UNET);
    ready = 1;
    uint32_t always = (doorbells_are_words ? NICBED_PENDING_WINDOW : NICBED_PENDING_DOORBELL)
                      | (coherent_bytes ? NICBED_PENDING_WATCH | NICBED_PENDING_H2N : 0);
    uint32_t wanted = 0, receive = NICBED_PENDING_RECEIVE;
    for (;;) {
        uint32_t bits = turn(always | receive | wanted);
        wanted = 0;
        if (bits & (NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H))
            receive = receiving();
        if (bits & NICBED_PENDING_DOORBELL)
            doorbells();
        if (bits & NICBED_PENDING_WINDOW)
            doorbell_words_look();
        if (bits & (NICBED_PENDING_WATCH | NICBED_PENDING_H2N) && coherent_bytes)
            coherent_look(bits & NICBED_PENDING_WATCH);
        if (pumping())
            wanted = pump();
    }
}
