/* Work queues: taking descriptors out of the consumer's memory. */
#include "via_fw.h"

uint32_t chunk[16] __attribute__((aligned(8)));

/* Whose 64 bytes are in `chunk`, which of them, how many may be looked at, and as of when. */
static struct {
    const struct message *of;
    uint32_t number, room, era;
} held;

static void fetch(const struct message *m, uint32_t number, const struct piece *p)
{
    held.of = m;
    held.number = number;
    held.room = p->room < sizeof chunk ? p->room : sizeof chunk;
    held.era = era;
    dma_read_wait(dma_read(p->physical, chunk, held.room, 0));
}

enum taken take(struct vi *vi, uint32_t receive)
{
    struct work_queue *q = &vi->queue[receive];
    struct message *m = receive ? &vi->receiving : &vi->sending;
    struct piece p;
    if (!q->pending)
        return NOTHING;
    q->pending--;
    m->at = q->head;
    if (m->at.low & (NICBED_VIA_DESCRIPTOR_ALIGN - 1)
        || !translate(m->at.low, m->at.high, m->at.handle, vi->tag, LOCAL, &p)
        || p.room < NICBED_VIA_CONTROL_BYTES) {
        q->posted -= q->pending;
        q->pending = 0;
        completed(vi, receive);
        return UNREADABLE;
    }
    fetch(m, 0, &p);
    m->physical = p.physical;
    m->era = era;
    q->head.low = chunk[0];
    q->head.high = chunk[1];
    q->head.handle = chunk[2];
    uint32_t segments = chunk[3] & 0xFFFF, control = chunk[3] >> 16;
    m->segments = segments > NICBED_VIA_MAX_SEGMENTS ? 0xFF : (uint8_t)segments;
    m->control = control >> 4 ? 0xFF : (uint8_t)control;
    m->trace = chunk[4] & 0xFFFFFF;
    m->immediate = chunk[5];
    m->length = chunk[6];
    m->taken = true;
    walk_begin(m, 0);
    return TAKEN;
}

bool format_error(const struct message *m, uint32_t receive)
{
    if (m->control >> 4 || m->segments > NICBED_VIA_MAX_SEGMENTS)
        return true;
    if (operation(m) == NICBED_VIA_OPERATION_SEND)
        return false;
    return receive || operation(m) != NICBED_VIA_OPERATION_RDMA_WRITE || !m->segments;
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
