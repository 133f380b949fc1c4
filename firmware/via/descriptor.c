/* Descriptors in the consumer's memory, read 64 bytes at a time. */
#include "via_fw.h"

uint32_t chunk[16] __attribute__((aligned(8)));

/* Whose 64 bytes are in `chunk`, which of them, how many may be looked at, and as of when. */
static struct {
    const struct message *of;
    uint32_t number, room, era;
} held;

void fetch(const struct message *m, uint32_t number, const struct piece *p)
{
    held.of = m;
    held.number = number;
    held.room = p->room < sizeof chunk ? p->room : sizeof chunk;
    held.era = era;
    dma_read_wait(dma_read(p->physical, chunk, held.room, 0));
}

const uint32_t *segment_read(struct vi *vi, struct message *m, uint32_t index)
{
    uint32_t at = NICBED_VIA_CONTROL_BYTES + index * NICBED_VIA_SEGMENT_BYTES;
    uint32_t number = at / sizeof chunk;
    at %= sizeof chunk;
    if (held.of != m || held.number != number || held.era != era) {
        struct piece p;
        uint64_t va = word_of(m->at.low, m->at.high) + number * sizeof chunk;
        if (!translate(low(va), high(va), m->at.handle, vi->tag, LOCAL, &p))
            return NULL;
        watchdog_kick(); /* a packet may take all segments there can be, of a byte each */
        fetch(m, number, &p);
    }
    return at + NICBED_VIA_SEGMENT_BYTES > held.room ? NULL : chunk + at / 4;
}
