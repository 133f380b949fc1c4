/* Messages of a process. Nothing in them is trusted: each field is read once and checked. */
#include "am2.h"

static inline void command(struct frame *f, struct message *m, const volatile uint32_t *w,
                           uint32_t w0)
{
    uint32_t opcode = w0 & NICBED_AM2_MESSAGE_OPCODE_LO_MASK;
    uint32_t length = 0, buffer = 0;
    if (UNLIKELY(with_data(w0))) {
        const volatile uint16_t *place = (const volatile uint16_t *)&w[HALF(PLACE, 1)];
        length = place[0];
        buffer = place[NICBED_AM2_PLACE_BUFFER_HI_SHIFT / 16];
    }
    uint32_t buffers = is_reply(m->slot) ? NICBED_AM2_REPLY_BUFFERS : NICBED_AM2_REQUEST_BUFFERS;
    uint32_t to = ((const volatile uint16_t *)&w[HALF(MESSAGE, 0)])[1];
    uint32_t node = opaque(to >> (NICBED_AM2_MESSAGE_NIC_LO_SHIFT - 16)) & (NICS - 1);
    m->length = 0;
    m->node = node;
    m->target = to & (ENDPOINTS - 1);
    m->buffer = buffer;
    if (UNLIKELY(opcode - 1 >= NICBED_AM2_OPCODE_REPLY_XFER
        || w0 >= opaque(PLACE(NICBED_AM2_ARGUMENTS + 1, MESSAGE_COUNT_LO)) || node >= settings.nics
        || length > LONG || (length && buffer >= buffers))) {
        counters.malformed++;
        done(f, m);
        return;
    }
    m->length = length;
    message_queue(f, m);
}

/* Whether the next slot of a class is filled: it and its word 0. */
static inline bool next_of(const struct frame *f, uint32_t reply, uint32_t *slot, uint32_t *w0)
{
    uint32_t slots = slots_of(reply), taken = f->k.taken[reply];
    *slot = (reply ? REQUESTS : 0) + (taken & (slots - 1));
    *w0 = slot_of(f, *slot)[HALF(MESSAGE, 0)];
    return !(*w0 & NICBED_AM2_MESSAGE_PHASE_LO_MASK) != !(taken & slots)
           && taken - f->k.done[reply] < slots;
}

/* Those of one class. Whether that was all. */
static APART bool commands_of(struct frame *f, uint32_t reply)
{
    uint32_t left = slots_of(reply), slot, w0;
    while (next_of(f, reply, &slot, &w0)) {
        if (!left--)
            return false;
        barrier();
        struct message *m = &f->k.messages[slot];
        m->state = QUEUED;
        m->slot = slot;
        f->k.taken[reply]++;
        command(f, m, slot_of(f, slot), w0);
    }
    return true;
}

/* What waits in the send queues of the frame, but no more than they hold: a process that posts
 * without end does not have the NIC for itself. Whether that was all. Doorbells only say that it is
 * time to look; that a slot is filled is told by its phase. */
APART bool commands(struct frame *f)
{
    uint32_t slot, w0;
    bool all = true;
    if (next_of(f, 0, &slot, &w0))
        all = commands_of(f, 0);
    if (next_of(f, 1, &slot, &w0))
        all = commands_of(f, 1) && all;
    return all;
}
