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

static struct {
    uint32_t begun, open; /* bulk packets whose pull has begun; of those, not sent yet */
    uint32_t mtu, host_bytes;
    struct stage stages[STAGES];
} bulk;

/* The oldest open bulk packet. */
static inline struct stage *bulk_oldest(void)
{
    return &bulk.stages[(bulk.begun - bulk.open) % STAGES];
}

/* Begins with the next slot, a bulk packet, or drops it; returns whether it could. */
static __attribute__((noinline)) bool bulk_begin(uint64_t *slot, struct send_word word)
{
    struct stage *stage = &bulk.stages[bulk.begun % STAGES];
    /* Read once: the host may write it again after the check. */
    uint32_t bytes = word_length(word) - BULK_HEADER_BYTES, host = *(volatile uint32_t *)&slot[3];
    if (bulk.open == STAGES)
        return false;
    if ((int32_t)(forward.sent - stage->sent) < 0) {
        forward.sent = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
        if ((int32_t)(forward.sent - stage->sent) < 0) {
            forward.mask |= NICBED_PENDING_SEND;
            return false;
        }
    }
    if (bytes > bulk.mtu || host > bulk.host_bytes || bytes > bulk.host_bytes - host
        || word_destination(word) >= forward.nodes) {
        forward.slots_malformed++;
        forward_used(engine_given[ENGINE_SEND]);
        return true;
    }
    stage->slot = slot;
    stage->word = word;
    stage->number = forward.queue.next;
    stage->bytes = bytes;
    stage->pulled = dma_read(host, stage->buffer, bytes, word_trace(word));
    bulk.begun++;
    bulk.open++;
    forward.mask |= NICBED_PENDING_H2N;
    forward_used(0);
    return true;
}

/* Sends the oldest bulk packet, if its payload has arrived; returns whether it did. */
static __attribute__((noinline)) bool bulk_end(void)
{
    struct stage *stage = bulk_oldest();
    if (!dma_read_done(stage->pulled) || !forward_can_send(2))
        return false;
    uint32_t trace = word_trace(stage->word);
    ticket_t ticket;
    slot_header(stage->slot, stage->word);
    if (stage->bytes) {
        link_send_piece(stage->slot, NICBED_HEADER_BYTES + BULK_HEADER_BYTES, trace);
        ticket = link_send(stage->buffer, stage->bytes, trace);
    } else {
        ticket = link_send(stage->slot, NICBED_HEADER_BYTES + BULK_HEADER_BYTES, trace);
    }
    stage->sent = forward.slot_sent[stage->number % FORWARD_SLOTS] = ticket;
    if (--bulk.open == 0)
        forward.mask = (forward.mask & ~NICBED_PENDING_H2N) | forward.always;
    return true;
}

/* Sends all known packets that can be sent. */
static inline void send(void)
{
    uint64_t *slot;
    while (bulk.open && bulk_end()) { }
    while ((slot = forward_next()) && forward_can_send(1)) {
        struct send_word word = send_word(slot);
        if (word_kind(word) == NICBED_SEND_KIND_BULK) {
            if (!bulk_begin(slot, word))
                break;
        } else if (bulk.open) {
            break;
        } else {
            forward_inline(slot, word);
        }
    }
}

/* The oldest slot that is not sent yet. */
static inline uint32_t oldest(void)
{
    return bulk.open ? bulk_oldest()->number : forward.queue.next;
}

int main(void)
{
    bulk.mtu = (uint32_t)mtu;
    bulk.host_bytes = (uint32_t)host_bytes;
    for (uint32_t i = 0; i < STAGES; i++)
        bulk.stages[i].buffer = take_memory((bulk.mtu + 7) & ~7u, 8);
    forward_open(NICBED_PROTOCOL_AM);
    for (;;) {
        uint32_t bits = forward_wait();
        if (bits & FORWARD_RECEIVES)
            forward_receive();
        if (bits & FORWARD_SENDS) {
            forward_posted(bits);
            do
                send();
            while (forward_release(oldest()));
        }
    }
}
