/* Registered memory: a direct-mapped cache over the ports' tables in host memory. */
#include "gm.h"

struct translation cache[CACHE];

RARE uint32_t translate_miss(struct port *p, uint32_t page, struct translation *e, uint32_t key)
{
    static volatile uint32_t entry;
    watchdog_kick();
    dma_read_wait(dma_read(p->table + page * NICBED_GM_TABLE_ENTRY, (void *)&entry,
                           NICBED_GM_TABLE_ENTRY, 0));
    uint32_t frame = entry;
    if (frame) {
        e->key = key;
        e->frame = frame;
    } else {
        counters.faults++;
    }
    return frame;
}

static RARE uint32_t translate_rarely(struct port *p, uint32_t place)
{
    return translate(p, place);
}

/* Of up to DATA_BYTES bytes, which are in one page or two; false if they are not registered. */
bool span_find(struct span *s, struct port *p, uint32_t place, uint32_t bytes)
{
    uint32_t rest = settings.page_mask + 1 - (place & settings.page_mask);
    s->bytes = bytes;
    s->at = translate(p, place);
    if (bytes <= rest || !s->at)
        return s->at;
    s->bytes = rest;
    s->behind = translate_rarely(p, place + rest);
    return s->behind;
}

/* Whether all of these bytes are registered. */
RARE bool registered(struct port *p, uint32_t place, uint32_t length)
{
    uint32_t page = place >> settings.page_shift, size = settings.page_mask + 1;
    uint32_t pages = ((place & settings.page_mask) + length + settings.page_mask)
                     >> settings.page_shift;
    if (page >= p->pages || pages > p->pages - page) {
        counters.faults++;
        return false;
    }
    for (; pages; pages--, place += size)
        if (!translate_rarely(p, place & ~settings.page_mask))
            return false;
    return true;
}

/* When this returns no transfer uses a translation of the port that was cached. */
RARE void translations_forget(uint32_t port)
{
    for (uint32_t i = 0; i < CACHE; i++)
        if ((cache[i].key & (PORTS - 1)) == port)
            cache[i].key = 0;
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
}
