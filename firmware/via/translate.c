/* Translation and protection: a cache, direct mapped, over the table in host memory. */
#include "via_fw.h"

#define NO_INDEX 0xFFFFFFFFu

struct entry {
    uint32_t index, handle, page, base;
    uint16_t tag, flags, first, last;
};

static struct entry *cache;
static uint32_t raw[4] __attribute__((aligned(8)));
uint32_t era;

void translate_open(void)
{
    cache = take_memory((set.cache_mask + 1) * sizeof *cache, 4);
    for (uint32_t i = 0; i <= set.cache_mask; i++)
        cache[i].index = NO_INDEX;
}

/* Entry `index` of the table takes the place of another; one that is not valid does not. */
static __attribute__((noinline)) bool fill(struct entry *e, uint32_t index)
{
    dma_read_wait(dma_read(set.table + index * NICBED_VIA_TRANSLATION_BYTES, raw, sizeof raw, 0));
    count(COUNT_MISSES);
    uint64_t flags = word_of(raw[0], raw[1]), place = word_of(raw[2], raw[3]);
    if (!(raw[0] & NICBED_TRANSLATION_FLAGS_VALID_LO_MASK))
        return false;
    uint32_t last = FIELD(flags, TRANSLATION_FLAGS_LAST), end = (1u << set.page_shift) - 1;
    e->index = index;
    e->handle = FIELD(place, TRANSLATION_PLACE_HANDLE);
    e->page = FIELD(place, TRANSLATION_PLACE_PAGE);
    e->base = FIELD(place, TRANSLATION_PLACE_FRAME) << set.page_shift;
    e->tag = (uint16_t)FIELD(flags, TRANSLATION_FLAGS_TAG);
    e->flags = raw[0] & REMOTE_WRITE;
    e->first = (uint16_t)FIELD(flags, TRANSLATION_FLAGS_FIRST);
    e->last = (uint16_t)(last < end ? last : end);
    return true;
}

bool translate(uint32_t va_low, uint32_t va_high, uint32_t handle, uint32_t tag, uint32_t need,
               struct piece *found)
{
    if (va_high >> (NICBED_VIA_VA_BITS - 32) | handle >> NICBED_VIA_HANDLE_BITS)
        return false;
    uint32_t shift = set.page_shift;
    uint32_t page = va_low >> shift | va_high << (32 - shift);
    uint32_t index = (page + handle) & set.index_mask;
    struct entry *e = &cache[index & set.cache_mask];
    if (__builtin_expect(e->index != index, 0))
        return fill(e, index) && translate(va_low, va_high, handle, tag, need, found);
    count(COUNT_HITS);
    uint32_t offset = va_low - (page << shift);
    if (e->handle != handle || e->page != page >> 6 || e->tag != tag || (e->flags & need) != need
        || offset < e->first || offset > e->last)
        return false;
    found->physical = e->base + offset;
    found->room = e->last + 1u - offset;
    return true;
}

void translate_invalidate(uint32_t index)
{
    struct entry *e = &cache[index & set.cache_mask];
    if (e->index == index)
        e->index = NO_INDEX;
    era++;
}
