/* How messages and connections end. A completion that cannot be written breaks its VI; of a VI that
 * breaks, the messages under way complete flushed. */
#include "via_fw.h"

APART void complete(struct vi *vi, uint32_t receive, uint32_t length, uint32_t status,
                    uint32_t immediate)
{
    uint32_t broken;
    bool done = completion_write(vi, receive, length, status, immediate, &broken);
    completed(vi, receive);
    if (!done)
        break_vi(vi, broken);
}

void send_over(struct vi *vi, uint32_t status)
{
    struct message *m = &vi->sending;
    if (!m->taken)
        return;
    uint32_t as = is_rdma(m) ? operation(m) == NICBED_VIA_OPERATION_RDMA_READ
                                   ? NICBED_VIA_REMOTE_RDMA_READ : NICBED_VIA_REMOTE_RDMA_WRITE
                             : NICBED_VIA_REMOTE_SEND;
    complete(vi, SEND_QUEUE, status ? 0 : m->length, status | as << OPERATION, 0);
}

/* A send begun completes flushed, its packets are forgotten, and the peer is told. */
static void send_abort(struct vi *vi)
{
    uint32_t sequence = vi->sequence;
    for (uint32_t slot = vi->oldest, next; slot != NO_SLOT; slot = next) {
        next = slots[slot].next;
        slot_free(slot);
    }
    vi->oldest = vi->again = NO_SLOT;
    vi->outstanding = 0;
    vi->watched = vi->probing = false;
    send_over(vi, NICBED_VIA_STATUS_FLUSHED | (vi->sending.moved ? NICBED_VIA_STATUS_PARTIAL : 0));
    vi->owed &= ~(OWE_ANSWER | OWE_PROBE);
    if (vi->reliable)
        owe_break(vi, sequence, NICBED_VIA_BREAK_LOST);
}

/* A receive begun completes flushed. */
static void receive_abort(struct vi *vi)
{
    bool begun = vi->kind == NICBED_VIA_PACKET_SEND;
    if (!vi->receiving.taken)
        return;
    uint32_t partial = begun && vi->receiving.moved ? NICBED_VIA_STATUS_PARTIAL : 0;
    vi->kind = NO_KIND;
    complete(vi, RECEIVE_QUEUE, 0, NICBED_VIA_STATUS_FLUSHED | partial
             | NICBED_VIA_REMOTE_RECEIVE << OPERATION, 0);
}

void vi_error(struct vi *vi)
{
    bool connected = vi->state == NICBED_VI_STATE_CONNECTED;
    vi->state = NICBED_VI_STATE_ERROR;
    if (connected) {
        receive_abort(vi);
        send_abort(vi);
    }
    wake_vi(vi);
}

void break_vi(struct vi *vi, uint32_t code)
{
    if (vi->state == NICBED_VI_STATE_IDLE || vi->state == NICBED_VI_STATE_CONNECTED)
        event(code, vi->number);
    if (vi->state == NICBED_VI_STATE_CONNECTED)
        vi_error(vi);
}
