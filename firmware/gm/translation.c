/* Registered memory: a direct-mapped cache over the ports' tables in host memory. */
#include "gm.h"

struct translation cache[CACHE];

uint32_t translate_miss(struct port *p, uint32_t page, struct translation *e, uint32_t key)
{
    static volatile uint32_t entry;
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

/* Whether all of these bytes are registered. */
bool registered(struct port *p, uint32_t place, uint32_t length)
{
    uint32_t page = place >> settings.page_shift, size = settings.page_mask + 1;
    uint32_t pages = ((place & settings.page_mask) + length + settings.page_mask)
                     >> settings.page_shift;
    if (page >= p->pages || pages > p->pages - page) {
        counters.faults++;
        return false;
    }
    for (; pages; pages--, place += size)
        if (!translate(p, place & ~settings.page_mask))
            return false;
    return true;
}

/* When this returns no transfer uses a translation of the port that was cached. */
void translations_forget(uint32_t port)
{
    for (uint32_t i = 0; i < CACHE; i++)
        if ((cache[i].key & (PORTS - 1)) == port)
            cache[i].key = 0;
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
}
