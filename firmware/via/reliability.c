/* Acknowledgements, going back N, time-outs, broken connections. */
#include "via_fw.h"

static bool timer_on;

void watch(struct vi *vi)
{
    vi->watched = vi->oldest != NO_SLOT;
    if (!vi->watched)
        return;
    vi->deadline = now() + set.retry_timeout;
    if (!timer_on) {
        timer_on = true;
        timer_set(vi->deadline);
    }
}

/* Sends the next packet again of those that are to be; one that still waits for the link is not. */
enum turn resend(struct vi *vi)
{
    if (!link_room())
        return TURN_BLOCKED;
    uint32_t slot = vi->again;
    vi->again = slots[slot].next;
    if (link_sent(slots[slot].ticket)) {
        slot_send(slot);
        count(COUNT_RESENT);
    }
    return TURN_WORKED;
}

static void go_back(struct vi *vi)
{
    vi->again = vi->oldest;
    watch(vi);
    wake_vi(vi);
}

/* All before `sequence` have arrived; `again`: and that one was missed. */
void acknowledged(struct vi *vi, uint32_t sequence, bool again)
{
    uint32_t arrived = 0;
    if (vi->oldest == NO_SLOT) {
        if ((uint8_t)sequence == vi->sequence)
            vi->timeouts = 0;
        return;
    }
    arrived = (sequence - slots[vi->oldest].sequence) & 0xFF;
    if (arrived > vi->outstanding)
        return;
    if (arrived) {
        vi->outstanding -= arrived;
        while (arrived--) {
            uint32_t slot = vi->oldest;
            vi->oldest = slots[slot].next;
            if (vi->again == slot)
                vi->again = vi->oldest;
            slot_free(slot);
        }
        vi->timeouts = 0;
        watch(vi);
        wake_vi(vi);
    }
    if (again)
        go_back(vi);
}

/* The peer says that the connection is broken. With LOST it may come of its disconnection. */
void broken(struct vi *vi, uint32_t code)
{
    uint32_t status = code == NICBED_VIA_BREAK_REMOTE_DESCRIPTOR
                          ? NICBED_VIA_STATUS_REMOTE_DESCRIPTOR
                      : code == NICBED_VIA_BREAK_RDMA_PROTECTION
                          ? NICBED_VIA_STATUS_RDMA_PROTECTION : NICBED_VIA_STATUS_TRANSPORT;
    if (code != NICBED_VIA_BREAK_LOST)
        send_over(vi, status | (vi->sending.moved ? NICBED_VIA_STATUS_PARTIAL : 0));
    break_vi(vi, NICBED_VIA_CODE_CONN_LOST);
}

static void timeout(struct vi *vi)
{
    if (++vi->timeouts < set.retries) {
        go_back(vi);
        return;
    }
    send_over(vi, NICBED_VIA_STATUS_TRANSPORT
              | (vi->sending.moved ? NICBED_VIA_STATUS_PARTIAL : 0));
    break_vi(vi, NICBED_VIA_CODE_CONN_LOST);
}

/* The timer has run out: deadlines were set in order, so it was for the first of them. */
void timers_serve(void)
{
    uint32_t at = 0;
    timer_on = false;
    timer_off();
    for (uint32_t slot = 0; slot < set.slots; slot++) {
        struct vi *vi = &vis[slots[slot].vi];
        if (slots[slot].vi == NO_VI || !vi->watched || vi->oldest != slot)
            continue;
        if (reached(vi->deadline))
            timeout(vi);
        if (vi->watched && (!timer_on || (int32_t)(vi->deadline - at) < 0)) {
            at = vi->deadline;
            timer_on = true;
        }
    }
    if (timer_on)
        timer_set(at);
}
