/* Arrivals: packets in order straight into the buffers that match, events, acknowledgements. */
#include "gm.h"
#include "places.h"

enum { RESERVE = 512 }; /* bytes that are left for the stack beside the least it has */

struct arrival arrivals[STREAMS];
struct buffer buffers[(PORTS - 1) * RECEIVE_TOKENS];

/* Newest buffer of each port, priority and size; its `next` is the oldest. */
static uint8_t newest[PORTS][2 * SIZES];

static uint8_t due[STREAMS]; /* arrivals that owe an acknowledgement */
uint32_t dues;

/* --- Buffers ------------------------------------------------------------------------------------ */

void buffer_provide(uint32_t port, uint32_t token)
{
    struct buffer *b = buffer_of(port, token);
    uint8_t *tail = &newest[port][b->size];
    b->state = PROVIDED;
    if (*tail == NONE) {
        b->next = token;
    } else {
        struct buffer *before = buffer_of(port, *tail);
        b->next = before->next;
        before->next = token;
    }
    *tail = token;
}

/* The oldest of this size and priority, or NONE. */
static inline uint32_t buffer_take(uint32_t port, uint32_t size)
{
    uint8_t *tail = &newest[port][size];
    if (*tail == NONE)
        return NONE;
    struct buffer *last = buffer_of(port, *tail);
    uint32_t token = last->next;
    if (token == *tail)
        *tail = NONE;
    else
        last->next = buffer_of(port, token)->next;
    buffer_of(port, token)->state = FILLING;
    return token;
}

/* The message that is being received will not end: its buffer is for another. */
static RARE void abandon(struct arrival *a)
{
    if (a->buffer != NONE)
        buffer_provide(a->port, a->buffer);
    a->buffer = NONE;
}

RARE void arrivals_close(uint32_t port)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        if (arrivals[i].port == port)
            arrivals[i].buffer = NONE;
    for (uint32_t i = 0; i < RECEIVE_TOKENS; i++)
        buffer_of(port, i)->state = ABSENT;
    memset(newest[port], NONE, sizeof newest[port]);
}

/* --- Acknowledgements --------------------------------------------------------------------------- */

static APART bool settle(uint32_t number)
{
    struct arrival *a = &arrivals[number];
    if (a->owed) {
        if (!control(number, NICBED_GM_PACKET_ACK, 0, a->epoch, a->expected))
            return false;
        a->owed = 0;
        counters.acks++;
    }
    return true;
}

static void owe(uint32_t number)
{
    struct arrival *a = &arrivals[number];
    if (!a->due) {
        a->due = 1;
        due[dues++] = number;
    }
    if (a->owed < 0xFF)
        a->owed++;
    if (a->owed > settings.window / 2)
        settle(number);
}

/* Pays all acknowledgements that there is room for. The pending bits that it waits for. */
APART uint32_t acknowledge(void)
{
    while (dues) {
        uint32_t number = due[dues - 1];
        if (!settle(number))
            return NICBED_PENDING_SEND;
        arrivals[number].due = 0;
        dues--;
    }
    return 0;
}

/* A question: what has arrived of a stream? */
static RARE void asked(uint32_t number, const uint32_t *packet)
{
    struct arrival *a = &arrivals[number];
    uint32_t epoch = FIELD(packet[4], HEADER_EPOCH_LO);
    int8_t ahead = epoch - a->epoch; /* its epoch has not begun here: nothing has arrived */
    if (ahead >= 0)
        control(number, NICBED_GM_PACKET_ACK | NICBED_GM_DETAIL_ANSWERS_MASK, packet[5], epoch,
                ahead ? 0 : a->expected);
}

/* That packet is not taken, for `reason`. */
static RARE void refuse(uint32_t number, uint32_t reason)
{
    struct arrival *a = &arrivals[number];
    a->gapped = 1;
    if (reason == NACK(NO_BUFFER))
        counters.refused++;
    if (control(number, NICBED_GM_PACKET_NACK, reason, a->epoch, a->expected))
        a->owed = 0;
}

/* --- Packets in --------------------------------------------------------------------------------- */

/* `bytes` from `from` to `place` of the port's memory; false if that is not registered. */
static inline bool deliver(struct port *p, uint32_t place, const char *from, uint32_t bytes,
                           uint32_t trace)
{
    if (!bytes)
        return true;
    struct span s;
    if (!span_find(&s, p, place, bytes))
        return false;
    dma_write(from, s.at, s.bytes, trace);
    if (s.bytes != bytes)
        dma_write(from + s.bytes, s.behind, bytes - s.bytes, trace);
    return true;
}

/* A packet that is not the one that is expected: whether it is after all, in a new epoch. */
static RARE bool out_of_order(uint32_t number, uint32_t word, uint32_t detail)
{
    struct arrival *a = &arrivals[number];
    uint32_t epoch = FIELD(word, HEADER_EPOCH_LO);
    if (epoch != a->epoch) {
        if ((int8_t)(epoch - a->epoch) < 0)
            return false;
        if (!(detail & NICBED_GM_DETAIL_SYNC_MASK)) {
            counters.gaps++;
            control(number, NICBED_GM_PACKET_NACK, NACK(GAP), epoch, 0);
            return false;
        }
        abandon(a);
        a->epoch = epoch;
        a->expected = 0;
        a->owed = a->gapped = 0;
    }
    int16_t ahead = (uint16_t)word - a->expected;
    if (ahead == 0)
        return true;
    if (ahead < 0) {
        counters.duplicates++;
        owe(number);
    } else if (!a->gapped) {
        counters.gaps++;
        refuse(number, NACK(GAP));
    }
    return false;
}

/* What NACK says to it, or -1: taken. */
static inline int take(struct arrival *a, const uint32_t *packet, uint32_t detail, uint32_t bytes,
                       uint32_t number)
{
    uint32_t target = packet[4] >> NICBED_GM_HEADER_PORT_LO_SHIFT;
    uint32_t trace = received_trace((const uint64_t *)packet), length = packet[5];
    struct port *p = &ports[target & (PORTS - 1)];
    if (target >= PORTS || !p->open)
        return NACK(CLOSED);
    if (FIELD(detail, DETAIL_KIND) == NICBED_GM_PACKET_DIRECTED) {
        uint32_t place;
        if (!p->allowed || (bytes && (!place_of(p, packet[6], packet[7], &place)
            || !deliver(p, place, (const char *)&packet[8], bytes, trace))))
            return NACK(FAULT);
        return -1;
    }
    uint32_t offset = packet[6], size = packet[7] & (SIZES - 1), token = a->buffer;
    uint32_t priority = STREAM_PRIORITY(number);
    if (length > (1u << size) - NICBED_GM_SIZE_OVERHEAD || offset > length
        || bytes > length - offset) {
        counters.malformed++;
        return NACK(REJECTED);
    }
    if (detail & NICBED_GM_DETAIL_FIRST_MASK) {
        abandon(a);
        if (!(p->accept[priority] >> size & 1))
            return NACK(REJECTED);
        token = buffer_take(target, priority << 5 | size);
        if (token == NONE)
            return NACK(NO_BUFFER);
        a->buffer = token;
        a->port = target;
    } else if (token == NONE || a->port != target
               || (buffer_of(target, token)->size & (SIZES - 1)) != size) {
        return NACK(CLOSED);
    }
    struct buffer *b = buffer_of(target, token);
    if (!deliver(p, b->place + offset, (const char *)&packet[8], bytes, trace)) {
        if (detail & NICBED_GM_DETAIL_FIRST_MASK)
            abandon(a);
        return NACK(NO_BUFFER);
    }
    if (detail & NICBED_GM_DETAIL_LAST_MASK) {
        a->buffer = NONE;
        b->state = ABSENT;
        event_put(p, PLACE(NICBED_GM_EVENT_KIND_RECEIVE, EVENT_KIND_LO)
                  | PLACE(token, EVENT_TOKEN_LO), trace,
                  PLACE(STREAM_NODE(number), EVENT_NODE_HI)
                  | PLACE(STREAM_PORT(number), EVENT_PORT_HI)
                  | PLACE(priority, EVENT_PRIORITY_HI), length,
                  PLACE(size, EVENT_END_SIZE_HI) | PLACE(b->tag, EVENT_END_TAG_HI));
    }
    return -1;
}

static APART void arrived(const uint32_t *packet)
{
    uint32_t header = packet[3], detail = header >> NICBED_HEADER_DETAIL_HI_SHIFT;
    uint32_t length = received_length((const uint64_t *)packet);
    uint32_t node = header & NICBED_HEADER_SOURCE_HI_MASK;
    if (length >= 8 && FIELD(detail, DETAIL_KIND) >= NICBED_GM_PACKET_ACK
        && !(detail & NICBED_GM_DETAIL_ASKS_MASK)) {
        acknowledged(packet);
        return;
    }
    uint32_t port = FIELD(packet[4], HEADER_SOURCE_LO);
    if (node >= settings.nodes || port == 0 || port >= PORTS || length < 8) {
        counters.malformed++;
        return;
    }
    uint32_t number = stream_number(FIELD(detail, DETAIL_PRIORITY), node, port);
    if (detail & NICBED_GM_DETAIL_ASKS_MASK) {
        asked(number, packet);
        return;
    }
    if (length < NICBED_GM_HEADER_BYTES || length > NICBED_GM_HEADER_BYTES + DATA_BYTES) {
        counters.malformed++;
        return;
    }
    struct arrival *a = &arrivals[number];
    if (((packet[4] ^ a->expected ^ a->epoch << NICBED_GM_HEADER_EPOCH_LO_SHIFT) & 0xFFFFFF)
        && !out_of_order(number, packet[4], detail))
        return;
    int reason = take(a, packet, detail, length - NICBED_GM_HEADER_BYTES, number);
    if (reason >= 0) {
        refuse(number, reason);
        return;
    }
    a->expected++;
    a->gapped = 0;
    owe(number);
}

/* Takes the packets that have come. The pending bits that it waits for. */
uint32_t receiving(void)
{
    return places_take(arrived);
}

RARE void receiving_open(void)
{
    places_make(RESERVE);
    places_offer();
    for (uint32_t i = 0; i < STREAMS; i++)
        arrivals[i].buffer = NONE;
    memset(newest, NONE, sizeof newest);
}
