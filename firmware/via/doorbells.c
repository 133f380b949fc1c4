/* Doorbells: tokens, armings, and completion queues' pages.
 *
 * A token is an ADDRESS whose low six bits, zero in a descriptor's address, count the queue's posts
 * (modulo 64). So one that comes twice is taken once, and of those that a later one overwrote (as
 * words in NIC memory) or that found the hardware queue full we know how many they were: Next links
 * lead to them, but for the first on a queue that was empty. That one's token is read in host
 * memory, where the library keeps the last 64 of each queue. It asks us (COMMAND_QUERY) before more
 * could be under way.
 */
#include "via_fw.h"

static uint32_t fetched[2] __attribute__((aligned(8)));

void token(struct vi *vi, uint32_t receive, uint32_t word_low, uint32_t word_high)
{
    struct work_queue *q = &vi->queue[receive];
    uint32_t number = word_low & COUNT_MASK, first = (q->count + 1u) & COUNT_MASK;
    uint32_t more = (number - q->count) & COUNT_MASK;
    bool bad = !(word_low & ~(uint32_t)COUNT_MASK) && !word_high; /* no descriptor's address */
    if (!more)
        return;
    q->count = (uint8_t)number;
    more -= bad;
    bool over = q->pending + more > set.depth; /* what there is room for is flushed */
    if (over)
        more = set.depth - q->pending;
    if (!q->pending && more) {
        if (first != number) {
            dma_read_wait(dma_read(q->tokens + 8 * first, fetched, sizeof fetched, 0));
            word_low = fetched[0];
            word_high = fetched[1];
        }
        q->head.low = word_low & ~(uint32_t)COUNT_MASK;
        q->head.high = word_high & ((1u << (NICBED_VIA_VA_BITS - 32)) - 1);
        q->head.handle = word_high >> (NICBED_VIA_VA_BITS - 32);
    }
    q->pending += more;
    q->posted += more;
    if (!receive || vi->state == NICBED_VI_STATE_ERROR)
        wake_vi(vi);
    if (over) {
        break_vi(vi, NICBED_VIA_CODE_VI_OVERRUN);
    } else if (bad) {
        flush_idle(vi); /* or Next would lead to what is reported here */
        break_vi(vi, NICBED_VIA_CODE_POST_DESC);
    }
}

static void ring(uint32_t page, uint32_t offset, uint32_t low, uint32_t high)
{
    uint32_t number = page - CQ_PAGE;
    if (number < set.cqs) {
        if (offset == NICBED_VIA_CQ_CONSUMED)
            cq_consumed(number, low);
        else if (offset == NICBED_VIA_CQ_ARM)
            cq_arm(number, low);
        return;
    }
    number -= set.cqs;
    if (number >= set.vis || vis[number].state == NICBED_VI_STATE_CLOSED
        || offset > NICBED_VIA_DOORBELL_ARM_RECEIVE)
        count(COUNT_FOREIGN);
    else if (offset <= NICBED_VIA_DOORBELL_RECEIVE)
        token(&vis[number], offset == NICBED_VIA_DOORBELL_RECEIVE, low, high);
    else
        arm(&vis[number], offset == NICBED_VIA_DOORBELL_ARM_RECEIVE, low);
}

/* The word at `offset` of `page`, whole although it may be written meanwhile. */
static void word_read(uint32_t page, uint32_t offset, uint32_t *word_low, uint32_t *word_high)
{
    volatile uint32_t *word = (volatile uint32_t *)doorbell_word(page, offset);
    do {
        *word_low = word[0];
        *word_high = word[1];
    } while (word[0] != *word_low);
}

static void words_serve(void)
{
    for (uint32_t i = 0; i < open_count; i++) {
        uint32_t page = open_pages[i], word_low, word_high;
        volatile uint32_t *words = (volatile uint32_t *)doorbell_word(page, 0);
        for (uint32_t queue = 0; queue < 2; queue++) {
            if (words[2 * queue] == seen[page][queue])
                continue;
            word_read(page, 8 * queue, &word_low, &word_high);
            seen[page][queue] = word_low;
            ring(page, 8 * queue, word_low, word_high);
        }
    }
}

/* No more than there were: a program that rings without end does not have the NIC for itself. */
void doorbells_serve(void)
{
    struct doorbell d;
    uint32_t left = set.doorbells;
    if (set.words) {
        words_serve();
        return;
    }
    while (left-- && doorbell_take(&d)) {
        if (d.lost) {
            count(COUNT_DOORBELLS_LOST);
            event(NICBED_VIA_CODE_CATASTROPHIC, 1);
        }
        if (d.page != MAILBOX_PAGE)
            ring(d.page, d.offset, d.low, d.high);
    }
}
