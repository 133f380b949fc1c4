/* From places to host memory. A segment's pages are all in the NIC. Of registered memory there is a
 * table in host memory, and a cache of it here; of all memory there is the cache alone, and the
 * kernel is asked for what is not in it. The cache has sets, and ways that the least recently used
 * leaves. */
#include "unet.h"

/* Where the pages of segments are: the kernel writes it before it opens the endpoint. */
SHARED(uint32_t, segments[ENDPOINTS][SEGMENT_PAGES]);

/* What the firmware asks the kernel for: word 0 counts the questions. The page of `endpoint` takes
 * the place of `victim`, a page of `victim_endpoint`, which no transfer uses any more. */
SHARED(struct question, question);
struct question {
    uint32_t asked;
    uint32_t endpoint, page;
    uint32_t replaces, victim_endpoint, victim;
};

static uint32_t clock_hand; /* counts uses */

static inline uint32_t key_of(const struct endpoint *e, uint32_t page)
{
    return page << 4 | (e->number + 1);
}

/* Asks the kernel for the page, and waits: nothing else is done here meanwhile but what the kernel
 * wants done. */
static RARE void ask(struct endpoint *e, uint32_t page, struct entry *victim)
{
    question.endpoint = e->number;
    question.page = page;
    question.replaces = victim->key != 0;
    question.victim_endpoint = (victim->key & 15) - 1;
    question.victim = victim->key >> 4;
    barrier();
    question.asked++;
    victim->key = 0;
    victim->frame = 0;
    filling = victim;
    host_interrupt();
    while (*(struct entry *volatile *)&filling) {
        watchdog_kick();
        kernel_command();
    }
}

/* The page is not in the cache: its frame, or 0. */
static RARE uint32_t miss(struct endpoint *e, uint32_t page, struct entry *set)
{
    static volatile uint32_t found;
    counters.misses++;
    struct entry *victim = set;
    for (struct entry *way = set; way < set + settings.tlb_ways; way++)
        if (!way->key || (victim->key && (int32_t)(way->used - victim->used) < 0))
            victim = way;
    if (settings.buffers == NICBED_UNET_BUFFERS_TLB) {
        dma_read_wait(engine_given[ENGINE_H2N]);
        dma_write_wait(engine_given[ENGINE_N2H]);
        ask(e, page, victim);
    } else {
        watchdog_kick();
        dma_read_wait(dma_read(e->table + page * NICBED_UNET_TABLE_ENTRY, (void *)&found,
                               NICBED_UNET_TABLE_ENTRY, 0));
        victim->frame = found;
    }
    if (!victim->frame || !e->open) {
        victim->key = 0;
        return 0;
    }
    victim->key = key_of(e, page);
    victim->used = ++clock_hand;
    return victim->frame;
}

/* Where `place`, which is within(), is in host memory; 0: nowhere. */
static inline uint32_t translate(struct endpoint *e, uint32_t place)
{
    uint32_t page = place >> settings.page_shift, inside = place & settings.page_mask;
    if (settings.buffers == NICBED_UNET_BUFFERS_SEGMENT)
        return segments[e->number][page] | inside;
    uint32_t key = key_of(e, page);
    struct entry *set = &cache[(page & settings.tlb_mask) * settings.tlb_ways];
    for (struct entry *way = set; way < set + settings.tlb_ways; way++)
        if (way->key == key) {
            way->used = ++clock_hand;
            return way->frame | inside;
        }
    uint32_t frame = miss(e, page, set);
    return frame ? frame | inside : 0;
}

static RARE uint32_t translate_rarely(struct endpoint *e, uint32_t place)
{
    return translate(e, place);
}

/* Of up to DATA_BYTES bytes, which are in one page or two; false if they are not the endpoint's. */
bool span_find(struct span *s, struct endpoint *e, uint32_t place, uint32_t bytes)
{
    if (!within(e, place, bytes))
        return false;
    uint32_t rest = settings.page_mask + 1 - (place & settings.page_mask);
    s->bytes = bytes;
    s->at = translate(e, place);
    if (bytes <= rest || !s->at)
        return s->at;
    s->bytes = rest;
    s->behind = translate_rarely(e, place + rest);
    return s->behind;
}
