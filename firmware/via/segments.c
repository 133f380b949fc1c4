/* The way through a descriptor's data segments, from the first byte on. */
#include "via_fw.h"

void walk_begin(struct message *m, uint32_t first)
{
    m->index = (uint8_t)first;
    m->segment_length = m->offset = m->moved = 0;
}

enum segment walk_next(struct vi *vi, struct message *m)
{
    while (m->offset == m->segment_length) {
        if (m->index >= m->segments)
            return SEGMENT_END;
        const uint32_t *words = segment_read(vi, m, m->index);
        if (!words)
            return SEGMENT_REFUSED;
        m->index++;
        m->segment.low = words[0];
        m->segment.high = words[1];
        m->segment.handle = words[2];
        m->segment_length = words[3];
        m->offset = 0;
    }
    return SEGMENT_MORE;
}

/* Where the next bytes are, at most `bytes`; 0, or the error. */
static uint32_t next(struct vi *vi, struct message *m, uint32_t bytes, struct piece *p)
{
    if (m->offset == m->segment_length) {
        enum segment found = walk_next(vi, m);
        if (found != SEGMENT_MORE)
            return found == SEGMENT_END ? NICBED_VIA_STATUS_LENGTH
                                        : NICBED_VIA_STATUS_PROTECTION;
    }
    uint32_t va = m->segment.low + m->offset;
    if (!translate(va, m->segment.high + (va < m->offset), m->segment.handle, vi->tag, LOCAL, p))
        return NICBED_VIA_STATUS_PROTECTION;
    uint32_t left = m->segment_length - m->offset;
    if (p->room > left)
        p->room = left;
    if (p->room > bytes)
        p->room = bytes;
    m->offset += p->room;
    m->moved += p->room;
    return 0;
}

uint32_t gather(struct vi *vi, struct message *m, char *to, uint32_t bytes)
{
    struct piece p;
    while (bytes) {
        uint32_t status = next(vi, m, bytes, &p);
        if (status)
            return status;
        dma_read(p.physical, to, p.room, m->trace);
        to += p.room;
        bytes -= p.room;
    }
    return 0;
}

uint32_t scatter(struct vi *vi, struct message *m, const char *from, uint32_t bytes)
{
    struct piece p;
    while (bytes) {
        uint32_t status = next(vi, m, bytes, &p);
        if (status)
            return status;
        dma_write(from, p.physical, p.room, m->trace);
        from += p.room;
        bytes -= p.room;
    }
    return 0;
}

uint32_t write_remote(struct vi *vi, uint32_t va_low, uint32_t va_high, uint32_t handle,
                      const char *from, uint32_t bytes, uint32_t trace)
{
    struct piece p;
    uint32_t written = 0;
    while (written < bytes) {
        uint32_t va = va_low + written;
        if (!translate(va, va_high + (va < written), handle, vi->tag, REMOTE_WRITE, &p))
            break;
        if (p.room > bytes - written)
            p.room = bytes - written;
        dma_write(from + written, p.physical, p.room, trace);
        written += p.room;
    }
    return written;
}
