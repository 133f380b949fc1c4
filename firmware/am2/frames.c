/* The queues of frames: messages put into receive queues, slots of send queues that are done. */
#include "am2.h"

enum { WORD_SLOTS = 2 * NICBED_ENGINE_QUEUE };

uint32_t hiding, lagging;

/* A slot is used again WORD_SLOTS writes later: the engine has long read it, for it holds no more
 * than ENGINE_QUEUE commands. */
static uint32_t words[WORD_SLOTS][2] __attribute__((aligned(16)));
static uint32_t word_next;

static APART ticket_t word_write(uint32_t host, uint32_t low_half, uint32_t high_half)
{
    uint32_t *w = words[word_next++ & (WORD_SLOTS - 1)];
    w[0] = low_half;
    w[1] = high_half;
    return dma_write(w, host, 8, 0);
}

/* --- Receive queues ----------------------------------------------------------------------------- */

/* Frees the slots that the process says it has taken, but none that it has not seen. */
static APART void inbox_freed(struct frame *f, uint32_t reply)
{
    struct inbox *q = &f->k.inbox[reply];
    uint32_t taken = word_in(f, NICBED_AM2_WORD_TAKEN)[reply];
    if (taken - q->freed > q->shown - q->freed)
        return;
    while (q->freed != taken) {
        uint32_t at = q->freed_at;
        if (q->buffer[at] != NO_BUFFER)
            q->buffers |= 1u << q->buffer[at];
        q->freed_at = at + 1 == settings.packets ? 0 : at + 1;
        q->freed++;
    }
}

bool room(struct frame *f, uint32_t reply)
{
    struct inbox *q = &f->k.inbox[reply];
    if (q->put - q->freed < settings.packets)
        return true;
    inbox_freed(f, reply);
    return q->put - q->freed < settings.packets;
}

/* A free buffer, or NO_BUFFER. */
uint32_t buffer_take(struct frame *f, uint32_t reply)
{
    struct inbox *q = &f->k.inbox[reply];
    if (!q->buffers)
        inbox_freed(f, reply);
    for (uint32_t b = 0; b < BUFFERS; b++)
        if (q->buffers >> b & 1) {
            q->buffers &= ~(1u << b);
            return b;
        }
    return NO_BUFFER;
}

/* The slot of the next message, for which there is room. */
volatile uint32_t *put_at(struct frame *f, uint32_t reply)
{
    return f->page + NICBED_AM2_RECEIVE_SLOTS / 4 + 16 * (PACKETS * reply + f->k.inbox[reply].put_at);
}

/* A message is there that its process waits for. */
static RARE void wake(struct frame *f)
{
    word_in(f, NICBED_AM2_WORD_ARMED)[0] = 0;
    dma_write_wait(word_write(f->k.event, ++f->k.events, 0));
    host_interrupt();
}

static APART void shown(struct frame *f, uint32_t reply)
{
    struct inbox *q = &f->k.inbox[reply];
    q->shown_at = q->shown_at + 1u == settings.packets ? 0 : q->shown_at + 1;
    barrier();
    word_in(f, NICBED_AM2_WORD_COUNTS)[reply] = ++q->shown;
    if (word_in(f, NICBED_AM2_WORD_ARMED)[0] & NICBED_AM2_ARMED)
        wake(f);
}

/* The slot at put_at() has been filled. The process sees it at once, unless there are data, or it
 * is behind a message with data. */
void put(struct frame *f, uint32_t reply, uint32_t buffer)
{
    struct inbox *q = &f->k.inbox[reply];
    uint32_t at = q->put_at;
    q->buffer[at] = buffer;
    q->put_at = at + 1 == settings.packets ? 0 : at + 1;
    q->put++;
    if (buffer == NO_BUFFER && q->put == q->shown + 1) {
        shown(f, reply);
        return;
    }
    q->written[at] = engine_given[ENGINE_N2H];
    if (!f->hidden++)
        hiding++;
}

/* Shows what has its data in host memory. The pending bits that it waits for. */
APART uint32_t show(void)
{
    for (struct frame *f = frames; f < frames_end; f++) {
        for (uint32_t reply = 0; f->hidden && reply < 2; reply++) {
            struct inbox *q = &f->k.inbox[reply];
            while (q->shown != q->put && dma_write_done(q->written[q->shown_at])) {
                shown(f, reply);
                if (!--f->hidden)
                    hiding--;
            }
        }
    }
    return hiding ? NICBED_PENDING_N2H : 0;
}

/* --- Endpoints in no frame ---------------------------------------------------------------------- */

/* The kernel is to bring it in. */
RARE void endpoint_want(struct endpoint *e)
{
    e->wanted = 1;
    host_interrupt();
}

/* Whether messages of the frame are on their way. */
bool busy(const struct frame *f)
{
    return f->k.taken[0] != f->k.done[0] || f->k.taken[1] != f->k.done[1];
}

/* --- Send queues -------------------------------------------------------------------------------- */

/* The slot can be used again, once those before it can. The process is told of a quarter of the
 * slots at once, and at once of one with data. */
APART void done(struct frame *f, struct message *m)
{
    uint32_t reply = is_reply(m->slot), slots = slots_of(reply);
    uint32_t first = reply ? REQUESTS : 0, count = f->k.done[reply];
    m->state = FREE;
    bool tell = m->length;
    while (count != f->k.taken[reply]
           && f->k.messages[first + (count & (slots - 1))].state == FREE)
        count++;
    tell &= count != f->k.done[reply];
    f->k.done[reply] = count;
    if (tell || count - f->k.reported[reply] >= slots / 4) {
        f->k.reported[0] = f->k.done[0];
        f->k.reported[1] = f->k.done[1];
        word_write(f->k.report, f->k.done[0], f->k.done[1]);
    }
}

/* One that was on its way back is gone. */
static RARE bool returned(struct frame *f, struct message *m)
{
    volatile uint32_t *from = slot_of(f, m->slot);
    uint32_t w0 = from[HALF(MESSAGE, 0)];
    if (!(w0 & NICBED_AM2_MESSAGE_RETURNED_LO_MASK)) {
        uint32_t reply = (w0 & NICBED_AM2_MESSAGE_OPCODE_LO_MASK) < NICBED_AM2_OPCODE_REPLY;
        if (!room(f, reply))
            return false;
        volatile uint32_t *to = put_at(f, reply);
        for (uint32_t i = 0; i < 16; i++)
            to[i] = from[i];
        to[HALF(MESSAGE, 0)] = w0 | m->reason << NICBED_AM2_MESSAGE_RETURNED_LO_SHIFT;
        put(f, reply, NO_BUFFER);
        counters.returned++;
    }
    done(f, m);
    return true;
}

/* The message was refused: its sender gets it back as soon as its queue has room, and not before
 * those that wait for that. */
RARE void give_back(struct frame *f, struct message *m, uint32_t reason)
{
    m->reason = reason;
    m->state = RETURNING;
    if (f->k.returning || !returned(f, m)) {
        f->k.returning++;
        lagging++;
    }
}

RARE void give_back_again(struct frame *f)
{
    for (uint32_t reply = 0; reply < 2; reply++) {
        uint32_t slots = slots_of(reply), first = reply ? REQUESTS : 0, end = f->k.taken[reply];
        for (uint32_t number = f->k.done[reply]; f->k.returning && number != end; number++) {
            struct message *m = &f->k.messages[first + (number & (slots - 1))];
            if (m->state != RETURNING)
                continue;
            if (!returned(f, m))
                break; /* and none behind it, though there may be room meanwhile */
            f->k.returning--;
            lagging--;
        }
    }
}
