/* Local addresses: a cache of translations, shared by the ports. Ways of a set are in the order of
 * their last use. */
#include "vmmc.h"

enum { MOST_FETCHED = 16 };

static struct translation *cache;

void translation_open(void)
{
    cache = take_memory(settings.sets * settings.ways * sizeof *cache, 8);
}

static inline struct translation *set_of(const struct port *p, uint32_t page)
{
    return cache + ((page + (p->number << 4)) & (settings.sets - 1)) * settings.ways;
}

static inline uint32_t key_of(const struct port *p, uint32_t page)
{
    return page << 3 | (p->number + 1);
}

/* Way `way` of the set is the one used last. */
static inline void use(struct translation *set, uint32_t way)
{
    struct translation used = set[way];
    for (; way; way--)
        set[way] = set[way - 1];
    set[0] = used;
}

APART void translation_fill(struct port *p, uint32_t page, uint32_t frame)
{
    struct translation *set = set_of(p, page);
    uint32_t key = key_of(p, page), way = 0;
    while (way < settings.ways - 1 && set[way].key != key)
        way++;
    set[way] = (struct translation){key, frame};
    use(set, way);
}

/* From the process' table: the page and some behind it. */
static APART uint32_t fetch(struct port *p, uint32_t page)
{
    static volatile uint32_t entries[MOST_FETCHED];
    uint32_t count = settings.prefetch;
    if (count > p->pages - page)
        count = p->pages - page;
    watchdog_kick();
    dma_read_wait(dma_read(p->table + page * NICBED_VMMC_TABLE_ENTRY, (void *)entries,
                           count * NICBED_VMMC_TABLE_ENTRY, 0));
    counters.fetched += count;
    while (--count)
        if (entries[count])
            translation_fill(p, page + count, entries[count]);
    if (entries[0])
        translation_fill(p, page, entries[0]);
    else
        counters.faults++;
    return entries[0];
}

APART uint32_t translate(struct port *p, uint32_t place)
{
    uint32_t page = place >> settings.page_shift, frame = 0;
    if (page >= p->pages) {
        counters.faults++;
        return 0;
    }
    struct translation *set = set_of(p, page);
    uint32_t key = key_of(p, page);
    for (uint32_t way = 0; way < settings.ways; way++)
        if (set[way].key == key) {
            if (way)
                use(set, way);
            counters.hits++;
            return set[0].frame | (place & settings.page_mask);
        }
    counters.misses++;
    if (settings.utlb) {
        frame = fetch(p, page);
        return frame ? frame | (place & settings.page_mask) : 0;
    }
    p->missing = page + 1;
    counters.interrupts++;
    host_interrupt();
    return MISS;
}

/* When this returns no transfer uses a translation of the port that was cached. */
RARE void translations_forget(uint32_t port)
{
    for (uint32_t i = 0; i < settings.sets * settings.ways; i++)
        if ((cache[i].key & 7) == port + 1)
            cache[i].key = 0;
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
}
