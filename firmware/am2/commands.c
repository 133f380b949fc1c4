/* Messages of a process. Nothing in them is trusted: each field is read once and checked. */
#include "am2.h"

static inline bool with_data(uint32_t w)
{
    return !(w & NICBED_AM2_MESSAGE_RETURNED_LO_MASK)
           && DATA_OPCODES >> (w & NICBED_AM2_MESSAGE_OPCODE_LO_MASK) & 1;
}

static inline void command(struct frame *f, struct message *m, const volatile uint32_t *w, uint32_t w0)
{
    uint32_t opcode = w0 & NICBED_AM2_MESSAGE_OPCODE_LO_MASK;
    uint32_t place = with_data(w0) ? w[HALF(PLACE, 1)] : 0;
    uint32_t length = place & NICBED_AM2_PLACE_LENGTH_HI_MASK;
    uint32_t buffer = place >> NICBED_AM2_PLACE_BUFFER_HI_SHIFT;
    uint32_t buffers = is_reply(m - f->k.messages) ? NICBED_AM2_REPLY_BUFFERS
                                                   : NICBED_AM2_REQUEST_BUFFERS;
    m->length = 0;
    m->node = FIELD(w0, MESSAGE_NIC_LO);
    m->target = FIELD(w0, MESSAGE_ENDPOINT_LO);
    m->buffer = buffer;
    if (opcode - 1 >= NICBED_AM2_OPCODE_REPLY_XFER
        || FIELD(w0, MESSAGE_COUNT_LO) > NICBED_AM2_ARGUMENTS || m->node >= settings.nics
        || length > LONG || (length && buffer >= buffers)) {
        counters.malformed++;
        done(f, m);
        return;
    }
    m->length = length;
    message_queue(f, m);
}

/* What waits in the send queues of the frame, but no more than they hold: a process that posts
 * without end does not have the NIC for itself. Whether that was all. Doorbells only say that it is
 * time to look; that a slot is filled is told by its phase. */
APART bool commands(struct frame *f)
{
    bool all = true;
    for (uint32_t reply = 0; reply < 2; reply++) {
        uint32_t slots = slots_of(reply), first = reply ? REQUESTS : 0, left = slots;
        while (f->k.taken[reply] - f->k.done[reply] < slots) {
            uint32_t taken = f->k.taken[reply], slot = first + (taken & (slots - 1));
            const volatile uint32_t *w = slot_of(f, slot);
            uint32_t w0 = w[HALF(MESSAGE, 0)];
            if (FIELD(w0, MESSAGE_PHASE_LO) != !(taken & slots))
                break;
            if (!left--) {
                all = false;
                break;
            }
            barrier();
            f->k.messages[slot].state = QUEUED;
            f->k.taken[reply] = taken + 1;
            command(f, &f->k.messages[slot], w, w0);
        }
    }
    return all;
}
