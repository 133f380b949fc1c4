/* Sending: messages become packets. */
#include "via_fw.h"

/* What is wrong with the descriptor taken, before anything of it is sent; 0: nothing. */
static uint32_t begin(struct vi *vi, struct message *m)
{
    if (format_error(m, false))
        return NICBED_VIA_STATUS_FORMAT;
    if (operation(m) == NICBED_VIA_OPERATION_RDMA_WRITE) {
        const uint32_t *words = segment_read(vi, m, 0);
        if (!words || words[1] >> (NICBED_VIA_VA_BITS - 32)
            || words[2] >> NICBED_VIA_HANDLE_BITS)
            return NICBED_VIA_STATUS_PROTECTION;
        vi->remote.low = words[0];
        vi->remote.high = words[1];
        vi->remote.handle = words[2];
        walk_begin(m, 1);
    }
    return m->length > vi->max_transfer ? NICBED_VIA_STATUS_LENGTH : 0;
}

/* An error of a descriptor: of a reliable VI it is the connection's end. */
static void spoil(struct vi *vi, uint32_t status)
{
    send_over(vi, status);
    if (vi->reliable)
        break_vi(vi, NICBED_VIA_CODE_CONN_LOST);
}

/* Puts a packet of `bytes` with the next sequence number on its way. */
static void post(struct vi *vi, uint32_t number, uint32_t bytes, uint32_t detail,
                 uint32_t immediate)
{
    struct slot *slot = &slots[number];
    uint32_t *words = (uint32_t *)slot->packet;
    if (vi->reliable) {
        vi->unasked++;
        if (detail & NICBED_VIA_DETAIL_LAST_MASK || 2 * vi->unasked >= set.window
            || 2 * slots_left < set.slots) {
            vi->unasked = 0;
            detail |= NICBED_VIA_DETAIL_ACKNOWLEDGE_MASK;
        }
    }
    words[0] = vi->route | (bytes - NICBED_HEADER_BYTES) << NICBED_HEADER_LENGTH_LO_SHIFT;
    words[1] = vi->header | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    words[2] = vi->peer | (uint32_t)vi->number << NICBED_VIA_HEADER_SOURCE_SHIFT
               | (uint32_t)vi->sequence << NICBED_VIA_HEADER_SEQUENCE_SHIFT;
    words[3] = immediate;
    slot->bytes = bytes;
    slot->trace = vi->sending.trace;
    slot->sequence = vi->sequence++;
    slot->vi = vi->number;
#ifdef VIA_WORK_SEND
    work(set.work_send);
#endif
    slot_send(number);
    count(COUNT_SENT);
    if (!vi->reliable) {
        slot_free(number);
        return;
    }
    slot->next = NO_SLOT;
    if (vi->oldest == NO_SLOT)
        vi->oldest = (uint8_t)number;
    else
        slots[vi->newest].next = (uint8_t)number;
    vi->newest = (uint8_t)number;
    vi->outstanding++;
    if (!vi->watched)
        watch(vi);
}

/* The next packet of the message under way. */
static void cut(struct vi *vi, struct message *m)
{
    uint32_t number = slot_take(), done = m->moved;
    uint64_t *packet = slots[number].packet;
    bool write = operation(m) == NICBED_VIA_OPERATION_RDMA_WRITE;
    uint32_t head = NICBED_HEADER_BYTES + 8 + 8 * write;
    uint32_t bytes = m->length - done;
    bool last = bytes <= set.mtu;
    if (!last)
        bytes = set.mtu;
    uint32_t status = gather(vi, m, (char *)packet + head, bytes);
    if (!status && last) {
        enum segment rest = walk_next(vi, m);
        if (rest != SEGMENT_END)
            status = rest == SEGMENT_MORE ? NICBED_VIA_STATUS_LENGTH
                                          : NICBED_VIA_STATUS_PROTECTION;
    }
    if (status) {
        dma_read_wait(engine_given[ENGINE_H2N]);
        slot_free(number);
        spoil(vi, status | (done ? NICBED_VIA_STATUS_PARTIAL : 0));
        return;
    }
    uint32_t detail = write ? NICBED_VIA_PACKET_RDMA_WRITE : NICBED_VIA_PACKET_SEND;
    uint32_t immediate = 0;
    if (!done)
        detail |= NICBED_VIA_DETAIL_FIRST_MASK;
    if (last)
        detail |= NICBED_VIA_DETAIL_LAST_MASK;
    if (m->control & NICBED_VIA_CONTROL_IMMEDIATE) {
        detail |= NICBED_VIA_DETAIL_IMMEDIATE_MASK;
        immediate = m->immediate;
    }
    if (write) {
        uint32_t *address = (uint32_t *)&packet[2];
        uint32_t va = vi->remote.low + done;
        uint32_t above = vi->remote.high + (va < done);
        address[0] = va;
        address[1] = (above & ((1u << (NICBED_VIA_VA_BITS - 32)) - 1))
                     | vi->remote.handle << (NICBED_VIA_VA_BITS - 32);
    }
    dma_read_wait(engine_given[ENGINE_H2N]);
    post(vi, number, head + bytes, detail, immediate);
    if (last)
        send_over(vi, 0);
}

/* The oldest descriptor of a queue completes flushed. */
static bool flush(struct vi *vi, uint32_t receive)
{
    switch (take(vi, receive)) {
    case NOTHING:
        return false;
    case UNREADABLE:
        break_vi(vi, NICBED_VIA_CODE_POST_DESC);
        return false;
    default:
        if (receive)
            complete(vi, RECEIVE_QUEUE, 0, NICBED_VIA_STATUS_FLUSHED
                     | NICBED_VIA_REMOTE_RECEIVE << OPERATION, 0);
        else
            send_over(vi, NICBED_VIA_STATUS_FLUSHED);
        return true;
    }
}

void flush_idle(struct vi *vi)
{
    while (vi->state == NICBED_VI_STATE_IDLE && flush(vi, SEND_QUEUE))
        watchdog_kick();
}

static enum turn serve_unconnected(struct vi *vi)
{
    bool worked = false;
    if (vi->state == NICBED_VI_STATE_CLOSED)
        return TURN_IDLE;
    worked = flush(vi, SEND_QUEUE);
    if (vi->state == NICBED_VI_STATE_ERROR)
        worked |= flush(vi, RECEIVE_QUEUE);
    return worked ? TURN_WORKED : TURN_IDLE;
}

/* A packet, or a descriptor, of a VI's. */
enum turn serve(struct vi *vi)
{
    struct message *m = &vi->sending;
    if (vi->state != NICBED_VI_STATE_CONNECTED)
        return serve_unconnected(vi);
    if (vi->again != NO_SLOT)
        return resend(vi);
    if (!m->taken && !vi->queue[SEND_QUEUE].pending)
        return TURN_IDLE;
    if (vi->reliable && vi->outstanding >= set.window)
        return TURN_IDLE;
    if (!slot_ready() || !link_room())
        return TURN_BLOCKED;
    if (!m->taken) {
        if (take(vi, SEND_QUEUE) == UNREADABLE) {
            break_vi(vi, NICBED_VIA_CODE_POST_DESC);
            return TURN_IDLE;
        }
        uint32_t status = begin(vi, m);
        if (status) {
            spoil(vi, status);
            return TURN_WORKED;
        }
    }
    cut(vi, m);
    return TURN_WORKED;
}
