/* Arrivals: packets in order, data straight into buffers, messages into slots; acknowledgements. */
#include "am2.h"
#include "places.h"

enum {
    RESERVE = 512, /* bytes that are left for the stack beside the least it has */
    DUES = 32,
    TICKS = 3, /* for which an acknowledgement waits, at most */
};

static struct arrival *arrivals_end;

static struct arrival *due[DUES]; /* arrivals that owe an acknowledgement */
static uint32_t dues;

/* The message that is being received will not end: its buffer is free. */
static RARE void abandon(struct arrival *a)
{
    struct endpoint *e = &endpoints[a->target];
    if (a->buffer != NO_BUFFER && e->state == INSIDE)
        frames[e->frame].k.inbox[(a - arrivals) & 1].buffers |= 1u << a->buffer;
    a->buffer = NO_BUFFER;
}

RARE void arrivals_close(uint32_t endpoint)
{
    for (struct arrival *a = arrivals; a < arrivals_end; a++)
        if (a->target == endpoint)
            a->buffer = NO_BUFFER;
}

/* Buffers that messages for `endpoint` are being received into: bit b is buffer b. */
RARE uint32_t arrivals_hold(uint32_t endpoint, uint32_t reply)
{
    uint32_t held = 0;
    for (struct arrival *a = arrivals + reply; a < arrivals_end; a += 2)
        if (a->target == endpoint && a->buffer != NO_BUFFER)
            held |= 1u << a->buffer;
    return held;
}

/* --- Acknowledgements --------------------------------------------------------------------------- */

static RARE bool answer(const struct arrival *a, uint32_t detail, uint32_t place, uint32_t word)
{
    uint32_t number = a - arrivals, endpoint = number >> 1;
    return control(endpoint >> settings.bits, endpoint & (settings.numbers - 1),
                   detail | PLACE(number & 1, DETAIL_REPLY), place, word);
}

/* Acknowledges what it owes, if the link has room. */
static APART void settle(struct arrival *a)
{
    if (a->owed && answer(a, NICBED_AM2_PACKET_ACK, a->place, 0)) {
        a->owed = 0;
        counters.acks++;
    }
}

static APART void due_add(struct arrival *a)
{
    if (dues == DUES) {
        settle(a);
        return;
    }
    a->flags |= DUE;
    due[dues++] = a;
    timer_on();
}

/* One more packet. `most`: with so many it is time. Until then the acknowledgement goes with a
 * message there, or after some ticks. */
static inline void owe(struct arrival *a, uint32_t most)
{
    uint32_t owed = a->owed + 1u;
    if (owed <= 0xFF)
        a->owed = owed;
    if (UNLIKELY(!(a->flags & DUE)))
        due_add(a);
    if (UNLIKELY(owed >= most))
        settle(a);
}

/* A tick. */
RARE void acknowledge(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < dues; i++) {
        struct arrival *a = due[i];
        a->flags += AGE;
        if (a->flags >= TICKS * AGE)
            settle(a);
        if (a->owed || a->flags < TICKS * AGE)
            due[kept++] = a;
        else
            a->flags &= (AGE - 1) & ~DUE;
    }
    dues = kept;
    if (dues)
        timer_on();
}

/* A question: what has arrived of a stream? */
static RARE void asked(struct arrival *a, const uint32_t *packet)
{
    uint32_t epoch = packet[4] >> 16;
    int16_t ahead = epoch - a->epoch; /* its epoch has not begun here: nothing has arrived */
    if (ahead == 0 && a->flags & ROOMLESS)
        answer(a, NICBED_AM2_PACKET_NACK, a->place, NACK(FULL)); /* its sender, out, missed that */
    else if (ahead >= 0)
        answer(a, NICBED_AM2_PACKET_ACK | NICBED_AM2_DETAIL_ANSWERS_MASK,
               ahead ? epoch << 16 : a->place, packet[6]);
}

/* That packet is not taken, for `reason`. */
static RARE void refuse(struct arrival *a, uint32_t reason)
{
    a->flags |= GAPPED;
    if (reason == NACK(FULL) || reason == NACK(OUT)) {
        a->flags |= ROOMLESS;
        if (reason == NACK(FULL))
            counters.full++;
        else
            counters.out++;
    }
    if (answer(a, NICBED_AM2_PACKET_NACK, a->place, reason))
        a->owed = 0;
}

/* --- Packets in --------------------------------------------------------------------------------- */

/* A packet that is not the one that is expected: whether it is after all, in a new epoch. */
static RARE bool out_of_order(struct arrival *a, uint32_t place, uint32_t detail)
{
    uint32_t epoch = place >> 16;
    if (epoch != a->epoch) {
        if ((int16_t)(epoch - a->epoch) < 0)
            return false;
        if (!(detail & NICBED_AM2_DETAIL_SYNC_MASK)) {
            counters.gaps++;
            answer(a, NICBED_AM2_PACKET_NACK, epoch << 16, NACK(GAP));
            return false;
        }
        abandon(a);
        a->epoch = epoch;
        a->expected = 0;
        a->owed = 0;
        a->flags &= ~(GAPPED | ROOMLESS);
    }
    int16_t ahead = (uint16_t)place - a->expected;
    if (ahead == 0)
        return true;
    if (ahead < 0) {
        counters.duplicates++;
        owe(a, 1);
    } else if (!(a->flags & GAPPED)) {
        counters.gaps++;
        refuse(a, NACK(GAP));
    }
    return false;
}

/* What NACK says of an endpoint that is in no frame. */
static RARE uint32_t away(struct endpoint *e)
{
    switch (e->state) {
    case NEVER:
        return NACK(ABSENT);
    case OUTSIDE:
        endpoint_want(e);
        return NACK(OUT);
    case ENDED:
        return NACK(ENDED);
    default:
        return NACK(CLOSED);
    }
}

/* A part of a message's data. What NACK says to it, or -1: taken. */
static APART int take_data(struct frame *f, struct arrival *a, uint32_t reply,
                           const uint32_t *packet, uint32_t target, uint32_t bytes)
{
    uint32_t offset = packet[6];
    if (bytes == 0 || bytes > LONG || offset > LONG - bytes) {
        counters.malformed++;
        return NACK(REJECTED);
    }
    if (offset == 0) {
        if (a->buffer != NO_BUFFER)
            abandon(a);
        a->buffer = buffer_take(f, reply);
        a->target = target;
        if (a->buffer == NO_BUFFER)
            return NACK(FULL);
    } else if (a->buffer == NO_BUFFER || a->target != target) {
        return NACK(CLOSED);
    }
    dma_write(&packet[8], f->k.receive + (a->buffer + (reply ? BUFFERS : 0)) * LONG + offset,
              bytes, received_trace((const uint64_t *)packet));
    return -1;
}

static inline bool tag_fits(const struct frame *f, const uint32_t *given)
{
    const volatile uint32_t *tag = word_in(f, NICBED_AM2_WORD_TAG);
    uint32_t low_half = tag[0], high_half = tag[1];
    return (low_half & high_half) == ~0u
           || ((low_half | high_half) && low_half == given[0] && high_half == given[1]);
}

/* A message, or what ends it. */
static inline int take_short(struct frame *f, struct arrival *a, uint32_t reply,
                             const uint32_t *packet, uint32_t target, uint32_t length)
{
    uint32_t w0 = packet[6], pairs = pairs_of(&packet[6]);
    if (UNLIKELY(pairs > NICBED_AM2_ARGUMENTS / 2 || length != SHORT_BYTES + 8 * pairs)) {
        counters.malformed++;
        return NACK(REJECTED);
    }
    if (!(w0 & NICBED_AM2_MESSAGE_RETURNED_LO_MASK)
        && (w0 & NICBED_AM2_MESSAGE_OPCODE_LO_MASK) < NICBED_AM2_OPCODE_REPLY
        && !tag_fits(f, &packet[8])) {
        abandon(a);
        return NACK(TAG);
    }
    uint32_t buffer = NO_BUFFER, place = PLACE(NO_BUFFER, PLACE_BUFFER_HI);
    bool data = with_data(w0);
    if (UNLIKELY(data)) {
        uint32_t bytes = packet[11] & NICBED_AM2_PLACE_LENGTH_HI_MASK;
        if (bytes) {
            buffer = a->buffer;
            if (buffer == NO_BUFFER || a->target != target)
                return NACK(CLOSED);
        }
        place = bytes | PLACE(buffer, PLACE_BUFFER_HI);
    }
    if (UNLIKELY(!room(f, reply)))
        return NACK(FULL);
    volatile uint32_t *w = put_at(f, reply);
    w[HALF(MESSAGE, 0)] = w0;
    w[HALF(MESSAGE, 1)] = packet[7];
    w[HALF(TAG, 0)] = packet[8];
    w[HALF(TAG, 1)] = packet[9];
    if (UNLIKELY(data)) {
        w[HALF(PLACE, 0)] = packet[10];
        w[HALF(PLACE, 1)] = place;
    }
    w += 2 * NICBED_AM2_ARGUMENT_WORD;
    for (packet += 12; pairs; pairs--, packet += 2, w -= 2) {
        w[0] = packet[0];
        w[1] = packet[1];
    }
    if (buffer != NO_BUFFER)
        a->buffer = NO_BUFFER;
    put(f, reply, buffer);
    return -1;
}

/* What NACK says of a packet that is the next one, or -1: taken. */
static inline int take(struct arrival *a, const uint32_t *packet, uint32_t reply, uint32_t target,
                       uint32_t length, uint32_t data)
{
    if (UNLIKELY(target >= ENDPOINTS))
        return NACK(CLOSED);
    struct endpoint *e = &endpoints[target];
    if (UNLIKELY(e->state != INSIDE))
        return away(e);
    struct frame *f = frame_at[e->frame];
    if (UNLIKELY(data))
        return take_data(f, a, reply, packet, target, length - NICBED_AM2_HEADER_BYTES);
    return take_short(f, a, reply, packet, target, length);
}

/* The stream of endpoint `number` to NIC `node`, or NULL: it is in no frame. */
static inline struct stream *stream_of(uint32_t number, uint32_t node, uint32_t reply)
{
    if (UNLIKELY(number >= ENDPOINTS || endpoints[number].frame == NONE))
        return NULL;
    return &frame_at[endpoints[number].frame]->streams[2 * node + reply];
}

static RARE void controlled(const uint32_t *packet, uint32_t node, uint32_t endpoint,
                            uint32_t detail)
{
    uint32_t reply = FIELD(detail, DETAIL_REPLY);
    if (detail & NICBED_AM2_DETAIL_ASKS_MASK) {
        asked(arrival_of(node, endpoint, reply), packet);
        return;
    }
    struct stream *s = stream_of(endpoint, node, reply);
    if (s)
        acknowledged(s, packet);
}

static APART void arrived(const uint32_t *packet)
{
    const uint8_t *bytes = (const uint8_t *)packet;
    uint32_t node = bytes[12], detail = bytes[15], endpoint = bytes[20], target = bytes[21];
    uint32_t length = half(packet[0] >> NICBED_COMPLETION_LENGTH_LO_SHIFT);
    if (UNLIKELY(node >= settings.nics || endpoint >= settings.numbers
                 || length - NICBED_AM2_HEADER_BYTES > DATA_BYTES)) {
        counters.malformed++;
        return;
    }
    if (UNLIKELY(detail & 2)) { /* ACK or NACK */
        controlled(packet, node, endpoint, detail);
        return;
    }
    uint32_t reply = detail & NICBED_AM2_DETAIL_REPLY_MASK ? 1 : 0;
    uint32_t data = detail & NICBED_AM2_PACKET_DATA;
    struct arrival *a = arrival_of(node, endpoint, reply);
    if (!UNLIKELY(packet[4] != a->place) || out_of_order(a, packet[4], detail)) {
#ifdef AM2_WORK_RECEIVE
        work(settings.work_receive);
#endif
        int reason = take(a, packet, reply, target, length, data);
        if (UNLIKELY(reason >= 0)) {
            refuse(a, reason);
        } else {
            a->expected++;
            a->flags &= ~(GAPPED | ROOMLESS);
            owe(a, data ? settings.window / 2 + 1 : with_data(packet[6]) ? 1 : settings.quarter);
        }
    }
    if (detail & NICBED_AM2_DETAIL_ACKS_MASK) {
        struct stream *s = stream_of(target, node, !reply);
        if (s)
            progressed(s, &packet[10]);
    }
}

/* Takes the packets that have come. The pending bits that it waits for. */
uint32_t receiving(void)
{
    return places_take(arrived);
}

RARE void receiving_open(void)
{
    uint32_t count = 2 * settings.nics << settings.bits;
    arrivals = take_memory(count * sizeof *arrivals, 8);
    arrivals_end = arrivals + count;
    for (struct arrival *a = arrivals; a < arrivals_end; a++)
        a->buffer = NO_BUFFER;
}

/* With the memory that is left. */
RARE void places_open(void)
{
    places_make(RESERVE);
    if (places_end == places)
        panic(PANIC_MEMORY);
    places_offer();
}
