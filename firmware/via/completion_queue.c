/* Completion queues: rings of words in the consumer's memory. */
#include "via_fw.h"

enum { ENTRIES = 2 * NICBED_ENGINE_QUEUE };

struct cq {
    struct place base;
    uint16_t tag, entries, tail, consumed; /* the last two count modulo 65536 */
    bool enabled, armed;
    uint8_t log_entries;
};

static struct cq *cqs;
static uint32_t words[ENTRIES][2] __attribute__((aligned(8)));
static uint32_t used;

void cq_open(void)
{
    cqs = take_memory(set.cqs * sizeof *cqs, 4);
}

/* One entry at the tail; else `broken` says what the VI is broken with. */
bool cq_append(struct vi *vi, uint32_t receive, uint32_t *broken)
{
    struct cq *cq = &cqs[vi->cq[receive]];
    struct piece p;
    if (vi->cq[receive] >= set.cqs || !cq->enabled)
        return false;
    if ((uint16_t)(cq->tail - cq->consumed) >= cq->entries) {
        *broken = NICBED_VIA_CODE_VI_OVERRUN;
        return false;
    }
    uint32_t at = 8 * (cq->tail & (cq->entries - 1u)), va = cq->base.low + at;
    if (!translate(va, cq->base.high + (va < at), cq->base.handle, cq->tag, LOCAL, &p)
        || p.room < 8 || p.physical & 7)
        return false;
    uint32_t *word = words[used++ % ENTRIES];
    word[0] = (cq->tail & cq->entries ? 0 : NICBED_CQ_ENTRY_PHASE_MASK)
              | (uint32_t)PLACE(receive, CQ_ENTRY_RECEIVE)
              | (uint32_t)PLACE(vi->number, CQ_ENTRY_VI);
    dma_write(word, p.physical, 8, 0);
    cq->tail++;
    if (cq->armed) {
        cq->armed = false;
        event(NICBED_VIA_CODE_CQ_READY, vi->cq[receive]);
    }
    return true;
}

void cq_config(uint32_t number, uint64_t base, uint64_t config)
{
    struct cq *cq = &cqs[number];
    if (number >= set.cqs)
        return;
    if (cq->enabled)
        page_close(CQ_PAGE + number);
    memset(cq, 0, sizeof *cq);
    cq->base.low = low(base);
    cq->base.high = high(base) & ((1u << (NICBED_VIA_VA_BITS - 32)) - 1);
    cq->base.handle = high(base) >> (NICBED_VIA_VA_BITS - 32);
    cq->tag = (uint16_t)FIELD(config, CQ_CONFIG_TAG);
    cq->entries = (uint16_t)(1u << FIELD(config, CQ_CONFIG_LOG_ENTRIES));
    cq->enabled = FIELD(config, CQ_CONFIG_ENABLE);
    if (cq->enabled)
        page_open(CQ_PAGE + number, FIELD(config, CQ_CONFIG_OWNER));
}

void cq_consumed(uint32_t number, uint32_t entries)
{
    if (cqs[number].enabled)
        cqs[number].consumed = (uint16_t)entries;
    else
        count(COUNT_FOREIGN);
}

void cq_arm(uint32_t number, uint32_t seen)
{
    struct cq *cq = &cqs[number];
    if (!cq->enabled)
        count(COUNT_FOREIGN);
    else if (cq->tail != (uint16_t)seen)
        event(NICBED_VIA_CODE_CQ_READY, number);
    else
        cq->armed = true;
}
