/* The cache of translations, as far as the kernel's commands change it. */
#include "unet.h"

struct entry cache[TLB];
struct entry *filling;

/* The kernel has answered. */
RARE void translation_fill(uint32_t frame)
{
    if (filling)
        filling->frame = frame;
    filling = NULL;
}

/* When this returns no transfer uses a translation of the endpoint. */
RARE void translations_forget(uint32_t number)
{
    for (struct entry *e = cache; e < cache + TLB; e++)
        if ((e->key & 15) == number + 1)
            e->key = 0;
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
}
