/* Firmware am: the control program of Active Messages. Small packets are forwarded; the payload of
 * a bulk packet is pulled from host memory into a stage and sent as its second piece, while the
 * next is being pulled. Packets leave in the order of their slots. */
#include "fm/forward.h"

#define STAGES 4
#define BULK_HEADER_BYTES 16

PARAMETER(mtu);
PARAMETER(host_bytes);

struct stage {
    char *buffer;
    uint64_t *slot;
    struct send_word word;
    uint32_t number; /* of the slot */
    uint32_t bytes;
    ticket_t pulled, sent;
};

static struct stage stages[STAGES];
static uint32_t begun, ended; /* bulk packets whose pull has begun, that were sent */
static uint32_t mtu_known, host_known;

/* Begins with the next slot, a bulk packet, or drops it; whether it could. */
static bool bulk_begin(uint64_t *slot, struct send_word word)
{
    struct stage *stage = &stages[begun % STAGES];
    uint32_t bytes = word_length(word) - BULK_HEADER_BYTES, host = (uint32_t)slot[3];
    if (begun - ended == STAGES)
        return false;
    if ((int32_t)(sent_done - stage->sent) < 0) {
        sent_done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
        if ((int32_t)(sent_done - stage->sent) < 0) {
            want_send = true;
            return false;
        }
    }
    if (bytes > mtu_known || host > host_known || bytes > host_known - host
        || word_destination(word) >= nodes_known) {
        slots_malformed++;
        forward_used(engine_given[ENGINE_SEND]);
        return true;
    }
    stage->slot = slot;
    stage->word = word;
    stage->number = queue.next;
    stage->bytes = bytes;
    stage->pulled = dma_read(host, stage->buffer, bytes, word_trace(word));
    begun++;
    forward_used(0);
    return true;
}

/* Sends the oldest bulk packet, if its payload has come; whether it did. */
static bool bulk_end(void)
{
    struct stage *stage = &stages[ended % STAGES];
    if (!dma_read_done(stage->pulled) || !forward_can_send(2))
        return false;
    uint32_t trace = word_trace(stage->word);
    slot_header(stage->slot, stage->word);
    ticket_t ticket;
    if (stage->bytes) {
        link_send_piece(stage->slot, NICBED_HEADER_BYTES + BULK_HEADER_BYTES, trace);
        ticket = link_send(stage->buffer, stage->bytes, trace);
    } else {
        ticket = link_send(stage->slot, NICBED_HEADER_BYTES + BULK_HEADER_BYTES, trace);
    }
    stage->sent = slot_sent[stage->number % FORWARD_SLOTS] = ticket;
    ended++;
    return true;
}

/* Does one thing for what is to be sent; whether there was any. */
static inline bool send(void)
{
    if (begun != ended && bulk_end())
        return true;
    if (!forward_can_send(1))
        return false;
    uint64_t *slot = forward_next();
    if (!slot)
        return false;
    struct send_word word = send_word(slot);
    if (word_kind(word) == NICBED_SEND_KIND_BULK)
        return bulk_begin(slot, word);
    if (begun != ended)
        return false;
    forward_inline(slot, word);
    return true;
}

int main(void)
{
    bool busy = false;
    mtu_known = (uint32_t)mtu;
    host_known = (uint32_t)host_bytes;
    for (int i = 0; i < STAGES; i++)
        stages[i].buffer = take_memory((mtu_known + 7) & ~7u, 8);
    forward_open(NICBED_PROTOCOL_AM);
    for (;;) {
        forward_turn(busy, begun != ended ? NICBED_PENDING_H2N : 0);
        busy = forward_receive();
        busy |= send();
        if (queue.next - queue.taken >= release_at)
            forward_release(begun != ended ? stages[ended % STAGES].number : queue.next);
    }
}
