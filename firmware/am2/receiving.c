/* Arrivals: packets in order, data straight into buffers, messages into slots; acknowledgements. */
#include "am2.h"

enum {
    RESERVE = 512, /* bytes that are left for the stack beside the least it has */
    DUES = 32,
};

static struct arrival *arrivals, *arrivals_end;

struct slot {
    uint64_t completion;
    struct packet packet;
};
/* A ring of slots: `handling` is the next that has a packet, `offering` the next that is given to
 * the engine again, once what was in it is in host memory. */
static struct place {
    struct slot *slot;
    ticket_t written;
} places[PLACES], *places_end, *handling = places, *offering = places;
static uint32_t handled, offers; /* packets handled; slots that the engine has */

static struct arrival *due[DUES]; /* arrivals that owe an acknowledgement */
uint32_t dues;

/* Of an arrival: `endpoint` of NIC `node`, `reply`. */
struct from {
    struct arrival *arrival;
    uint32_t node, endpoint, reply;
};

static inline struct arrival *arrival_of(uint32_t node, uint32_t endpoint, uint32_t reply)
{
    return &arrivals[(node << settings.bits | endpoint) << 1 | reply];
}

static inline struct from from_of(struct arrival *a)
{
    uint32_t number = a - arrivals;
    return (struct from){a, number >> 1 >> settings.bits, number >> 1 & (settings.numbers - 1),
                         number & 1};
}

/* The message that is being received will not end: its buffer is free. */
static RARE void abandon(const struct from *r)
{
    struct arrival *a = r->arrival;
    struct endpoint *e = &endpoints[a->target];
    if (a->buffer != NO_BUFFER && e->state == INSIDE)
        frames[e->frame].k.inbox[r->reply].buffers |= 1u << a->buffer;
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

static bool answer(const struct from *r, uint32_t detail, uint32_t epoch, uint32_t expected,
                   uint32_t word)
{
    return control(r->node, r->endpoint, detail | PLACE(r->reply, DETAIL_REPLY),
                   expected | epoch << 16, word);
}

static APART bool settle(struct arrival *a)
{
    if (a->owed) {
        struct from r = from_of(a);
        if (!answer(&r, NICBED_AM2_PACKET_ACK, a->epoch, a->expected, 0))
            return false;
        a->owed = 0;
        counters.acks++;
    }
    return true;
}

static void owe(struct arrival *a)
{
    if (a->owed < 0xFF)
        a->owed++;
    if (!(a->flags & DUE) && dues < DUES) {
        a->flags |= DUE;
        due[dues++] = a;
    }
    if (!(a->flags & DUE) || a->owed > settings.window / 2)
        settle(a);
}

/* Pays all acknowledgements that there is room for. The pending bits that it waits for. */
APART uint32_t acknowledge(void)
{
    while (dues) {
        struct arrival *a = due[dues - 1];
        if (!settle(a))
            return NICBED_PENDING_SEND;
        a->flags &= ~DUE;
        dues--;
    }
    return 0;
}

/* A question: what has arrived of a stream? */
static RARE void asked(const struct from *r, const uint32_t *packet)
{
    struct arrival *a = r->arrival;
    uint32_t epoch = packet[4] >> 16;
    int16_t ahead = epoch - a->epoch; /* its epoch has not begun here: nothing has arrived */
    if (ahead >= 0)
        answer(r, NICBED_AM2_PACKET_ACK | NICBED_AM2_DETAIL_ANSWERS_MASK, epoch,
               ahead ? 0 : a->expected, packet[6]);
}

/* That packet is not taken, for `reason`. */
static RARE void refuse(const struct from *r, uint32_t reason)
{
    struct arrival *a = r->arrival;
    a->flags |= GAPPED;
    if (reason == NACK(FULL))
        counters.full++;
    else if (reason == NACK(OUT))
        counters.out++;
    if (answer(r, NICBED_AM2_PACKET_NACK, a->epoch, a->expected, reason))
        a->owed = 0;
}

/* --- Packets in --------------------------------------------------------------------------------- */

/* A packet that is not the one that is expected: whether it is after all, in a new epoch. */
static RARE bool out_of_order(const struct from *r, uint32_t place, uint32_t detail)
{
    struct arrival *a = r->arrival;
    uint32_t epoch = place >> 16;
    if (epoch != a->epoch) {
        if ((int16_t)(epoch - a->epoch) < 0)
            return false;
        if (!(detail & NICBED_AM2_DETAIL_SYNC_MASK)) {
            counters.gaps++;
            answer(r, NICBED_AM2_PACKET_NACK, epoch, 0, NACK(GAP));
            return false;
        }
        abandon(r);
        a->epoch = epoch;
        a->expected = 0;
        a->owed = 0;
        a->flags &= ~GAPPED;
    }
    int16_t ahead = (uint16_t)place - a->expected;
    if (ahead == 0)
        return true;
    if (ahead < 0) {
        counters.duplicates++;
        owe(a);
    } else if (!(a->flags & GAPPED)) {
        counters.gaps++;
        refuse(r, NACK(GAP));
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
static inline int take_data(struct frame *f, const struct from *r, const uint32_t *packet,
                            uint32_t target, uint32_t bytes)
{
    struct arrival *a = r->arrival;
    uint32_t offset = packet[6];
    if (bytes == 0 || bytes > LONG || offset > LONG - bytes) {
        counters.malformed++;
        return NACK(REJECTED);
    }
    if (offset == 0) {
        abandon(r);
        a->buffer = buffer_take(f, r->reply);
        a->target = target;
        if (a->buffer == NO_BUFFER)
            return NACK(FULL);
    } else if (a->buffer == NO_BUFFER || a->target != target) {
        return NACK(CLOSED);
    }
    dma_write(&packet[8], f->k.receive + (a->buffer + (r->reply ? BUFFERS : 0)) * LONG + offset,
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
static inline int take_short(struct frame *f, const struct from *r, const uint32_t *packet,
                             uint32_t target, uint32_t length)
{
    struct arrival *a = r->arrival;
    uint32_t w0 = packet[6], pairs = (FIELD(w0, MESSAGE_COUNT_LO) + 1) / 2;
    uint32_t opcode = w0 & NICBED_AM2_MESSAGE_OPCODE_LO_MASK;
    if (pairs > NICBED_AM2_ARGUMENTS / 2 || length != SHORT_BYTES + 8 * pairs) {
        counters.malformed++;
        return NACK(REJECTED);
    }
    uint32_t bytes = 0, buffer = NO_BUFFER;
    if (!(w0 & NICBED_AM2_MESSAGE_RETURNED_LO_MASK)) {
        if (opcode < NICBED_AM2_OPCODE_REPLY && !tag_fits(f, &packet[8])) {
            abandon(r);
            return NACK(TAG);
        }
        if (DATA_OPCODES >> opcode & 1)
            bytes = packet[11] & NICBED_AM2_PLACE_LENGTH_HI_MASK;
    }
    if (bytes) {
        buffer = a->buffer;
        if (buffer == NO_BUFFER || a->target != target)
            return NACK(CLOSED);
    }
    if (!room(f, r->reply))
        return NACK(FULL);
    volatile uint32_t *w = put_at(f, r->reply);
    w[HALF(MESSAGE, 0)] = (w0 & ~(NICBED_AM2_MESSAGE_NIC_LO_MASK
                                  | NICBED_AM2_MESSAGE_ENDPOINT_LO_MASK))
                          | PLACE(r->node, MESSAGE_NIC_LO)
                          | PLACE(r->endpoint, MESSAGE_ENDPOINT_LO);
    w[HALF(MESSAGE, 1)] = packet[7];
    w[HALF(TAG, 0)] = packet[8];
    w[HALF(TAG, 1)] = packet[9];
    w[HALF(PLACE, 0)] = packet[10];
    w[HALF(PLACE, 1)] = bytes | PLACE(buffer, PLACE_BUFFER_HI);
    w += 2 * NICBED_AM2_ARGUMENT_WORD;
    for (packet += 12; pairs; pairs--, packet += 2, w -= 2) {
        w[0] = packet[0];
        w[1] = packet[1];
    }
    if (buffer != NO_BUFFER)
        a->buffer = NO_BUFFER;
    put(f, r->reply, buffer);
    return -1;
}

static APART void arrived(const uint32_t *packet)
{
    uint32_t header = packet[3], detail = header >> NICBED_HEADER_DETAIL_HI_SHIFT;
    uint32_t length = received_length((const uint64_t *)packet);
    uint32_t kind = FIELD(detail, DETAIL_KIND);
    struct from r = {
        .node = header & NICBED_HEADER_SOURCE_HI_MASK,
        .endpoint = packet[5] & NICBED_AM2_HEADER_SOURCE_HI_MASK,
        .reply = FIELD(detail, DETAIL_REPLY),
    };
    if (length < NICBED_AM2_HEADER_BYTES
        || length > NICBED_AM2_HEADER_BYTES + DATA_BYTES) {
        counters.malformed++;
        return;
    }
    if (kind >= NICBED_AM2_PACKET_ACK && !(detail & NICBED_AM2_DETAIL_ASKS_MASK)) {
        acknowledged(packet);
        return;
    }
    if (r.node >= settings.nics || r.endpoint >= settings.numbers) {
        counters.malformed++;
        return;
    }
    struct arrival *a = r.arrival = arrival_of(r.node, r.endpoint, r.reply);
    if (detail & NICBED_AM2_DETAIL_ASKS_MASK) {
        asked(&r, packet);
        return;
    }
    if (packet[4] != (a->expected | (uint32_t)a->epoch << 16)
        && !out_of_order(&r, packet[4], detail))
        return;
#ifdef AM2_WORK_RECEIVE
    work(settings.work_receive);
#endif
    uint32_t target = FIELD(packet[5], HEADER_TARGET_HI);
    struct endpoint *e = &endpoints[target & (ENDPOINTS - 1)];
    int reason;
    if (target >= ENDPOINTS)
        reason = NACK(CLOSED);
    else if (e->state != INSIDE)
        reason = away(e);
    else if (kind == NICBED_AM2_PACKET_DATA)
        reason = take_data(&frames[e->frame], &r, packet, target, length - NICBED_AM2_HEADER_BYTES);
    else
        reason = take_short(&frames[e->frame], &r, packet, target, length);
    if (reason >= 0) {
        refuse(&r, reason);
        return;
    }
    a->expected++;
    a->flags &= ~GAPPED;
    owe(a);
}

static inline struct place *behind(struct place *p)
{
    return p + 1 == places_end ? places : p + 1;
}

/* Gives the engine the slots whose data are in host memory. */
static void offer(void)
{
    while (offers != (uint32_t)(places_end - places) && dma_write_done(offering->written)) {
        link_receive(offering->slot, sizeof(struct slot));
        offering = behind(offering);
        offers++;
    }
}

/* Takes the packets that have come; not those that come meanwhile, so that all else has its turn.
 * The pending bits that it waits for. */
uint32_t receiving(void)
{
    uint32_t received = reg_read(NICBED_MMIO_RECEIVE_DONE);
    barrier();
    while (handled != received) {
        struct place *p = handling;
        handling = behind(p);
        handled++;
        offers--;
        arrived((const uint32_t *)p->slot);
        p->written = engine_given[ENGINE_N2H];
    }
    offer();
    return NICBED_PENDING_RECEIVE | (offers ? 0 : NICBED_PENDING_N2H);
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
    places_end = places;
    while (places_end < places + PLACES && memory_left() >= sizeof(struct slot) + RESERVE)
        places_end++->slot = take_memory(sizeof(struct slot), 8);
    if (places_end == places)
        panic(PANIC_MEMORY);
    offer();
}
