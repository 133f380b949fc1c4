/* Acknowledgements, going back N, time-outs, broken connections. */
#include "via_fw.h"

/* LEAST: a shorter time-out says nothing of a peer that is silent. MOST: they double no more. */
enum { LEAST = 1 << 14, MOST = 1 << 20 };

static bool timer_on;
static uint32_t timer_at;

static void timer_by(uint32_t at)
{
    if (timer_on && (int32_t)(at - timer_at) >= 0)
        return;
    timer_on = true;
    timer_at = at;
    timer_set(at);
}

static inline uint32_t time_out(const struct vi *vi)
{
    return set.retry_timeout << vi->patience;
}

APART void watch(struct vi *vi)
{
    vi->watched = vi->oldest != NO_SLOT;
    if (!vi->watched)
        return;
    vi->deadline = now() + time_out(vi);
    timer_by(vi->deadline);
}

/* Sends the next packet again of those that are to be; one that still waits for the link is not.
 * Behind the last a probe: what is lost once more costs a round trip, no time-out. */
enum turn resend(struct vi *vi)
{
    if (!link_room())
        return TURN_BLOCKED;
    struct slot *slot = &slots[vi->again];
    vi->again = slot->next;
    if (link_sent(slot->ticket)) {
        uint32_t *words = (uint32_t *)slot->packet;
        words[1] |= NICBED_VIA_DETAIL_ACKNOWLEDGE_MASK << NICBED_HEADER_DETAIL_HI_SHIFT;
        slot_send((uint32_t)(slot - slots));
        trace_event(NICBED_KIND_AGAIN, slot->trace, vi->node);
        count(COUNT_RESENT);
    }
    if (vi->again == NO_SLOT)
        owe(vi, OWE_PROBE);
    return TURN_WORKED;
}

/* What left so far and has not arrived was lost. Probes that are under way are heeded no more. */
static APART void go_back(struct vi *vi)
{
    vi->probing = false;
    vi->patience = 0;
    vi->again = vi->oldest;
    watch(vi);
    wake_vi(vi);
}

/* A round trip much shorter than what it would have waited for. */
static inline void calm(struct vi *vi)
{
    if (vi->patience && now() - (vi->deadline - time_out(vi)) < time_out(vi) >> 3)
        vi->patience--;
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
        calm(vi);
        watch(vi);
        wake_vi(vi);
    }
    if (again)
        go_back(vi);
}

/* The peer has answered a probe; what has arrived is acknowledged already. Packets keep their order,
 * so what left before the probe has arrived, or was lost. */
void answered(struct vi *vi, uint32_t probe)
{
    vi->timeouts = 0;
    if (!vi->probing || probe != vi->probe)
        return;
    vi->probing = false;
    if (vi->oldest == NO_SLOT)
        return;
    uint32_t before = (vi->probe_end - slots[vi->oldest].sequence) & 0xFF;
    if (before && before <= vi->outstanding)
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

/* Nothing is sent again but what the answer to a probe says was lost: a peer may only be slow. */
static void timeout(struct vi *vi)
{
    if (vi->again == NO_SLOT && time_out(vi) >= LEAST && ++vi->timeouts >= set.retries) {
        send_over(vi, NICBED_VIA_STATUS_TRANSPORT
                  | (vi->sending.moved ? NICBED_VIA_STATUS_PARTIAL : 0));
        break_vi(vi, NICBED_VIA_CODE_CONN_LOST);
        return;
    }
    if (time_out(vi) < MOST)
        vi->patience++;
    watch(vi);
    owe(vi, OWE_PROBE);
}

/* The timer has run out: whose deadline it was, and the next. */
void timers_serve(void)
{
    timer_on = false;
    timer_off();
    for (uint32_t slot = 0; slot < set.slots; slot++) {
        struct vi *vi = &vis[slots[slot].vi];
        if (slots[slot].vi == NO_VI || !vi->watched || vi->oldest != slot)
            continue;
        if (reached(vi->deadline))
            timeout(vi);
        if (vi->watched)
            timer_by(vi->deadline);
    }
}
