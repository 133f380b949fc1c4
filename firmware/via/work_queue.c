/* Work queues: descriptors taken, descriptors completed. */
#include "via_fw.h"

void completed(struct vi *vi, uint32_t receive)
{
    struct work_queue *q = &vi->queue[receive];
    q->completed++;
    if (q->armed) {
        q->armed = false;
        event(NICBED_VIA_CODE_SEND_DONE + receive, vi->number);
    }
}

void arm(struct vi *vi, uint32_t receive, uint32_t count)
{
    struct work_queue *q = &vi->queue[receive];
    q->armed = q->completed == (uint16_t)count;
    if (!q->armed)
        event(NICBED_VIA_CODE_SEND_DONE + receive, vi->number);
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
