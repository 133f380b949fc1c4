/* From packets to descriptors: a tag names a channel; data go into the descriptor, into buffers of
 * the free queue, or to where the sender said. */
#include "unet.h"
#include "places.h"

enum { RESERVE = 256 }; /* bytes that are left for the stack beside the least it has */

static struct assembly assemblies[ASSEMBLIES];
static uint32_t oldest; /* the assembly that gives way when all are in use */

/* --- Buffers ------------------------------------------------------------------------------------ */

/* The process has given what is none of its memory: it is told, if there is room. */
static RARE void buffer_refused(struct endpoint *e, struct buffer b)
{
    counters.faults++;
    if (!receive_room(e))
        return;
    uint32_t *slot = receive_slot();
    slot[2] = b.place;
    slot[3] = b.bytes;
    receive_put(e, slot, PLACE(1, RECEIVE_REFUSED_LO) | PLACE(1, RECEIVE_BUFFERS_LO), 0, 0, 8);
}

/* The next free buffer; false if there is none. */
static inline bool buffer_take(struct endpoint *e, struct buffer *b)
{
    if (e->spares) {
        *b = e->spare[--e->spares];
        return true;
    }
    for (;;) {
        uint32_t taken = e->free_taken;
        volatile uint32_t *entry = e->page->free[taken & (e->free_entries - 1)];
        uint32_t word = entry[1];
        if (word >> NICBED_UNET_FREE_PHASE_HI_SHIFT != !(taken & e->free_entries))
            return false;
        b->place = entry[0];
        b->bytes = word & NICBED_UNET_FREE_LENGTH_HI_MASK;
        e->free_taken = taken + 1;
        if (b->bytes && within(e, b->place, b->bytes))
            return true;
        buffer_refused(e, *b);
    }
}

/* --- Assemblies --------------------------------------------------------------------------------- */

/* What the message has taken is the next one's. */
static RARE void assembly_drop(struct assembly *a)
{
    struct channel *c = &channels[a->channel];
    if (a->channel && c->endpoint) {
        struct endpoint *e = endpoint_of(c);
        while (a->count && e->spares < FREE_SLOTS)
            e->spare[e->spares++] = a->buffers[--a->count];
    }
    c->assembly = NONE;
    a->channel = 0;
    a->count = 0;
}

/* One for a message that begins on the channel. */
static RARE struct assembly *assembly_take(uint32_t channel)
{
    for (uint32_t left = ASSEMBLIES; left; left--) {
        oldest = (oldest + 1) & (ASSEMBLIES - 1);
        if (!assemblies[oldest].channel)
            break;
    }
    struct assembly *a = &assemblies[oldest];
    if (a->channel) {
        counters.broken++;
        assembly_drop(a);
    }
    a->channel = channel;
    channels[channel].assembly = oldest;
    return a;
}

/* The assembly of the channel's message, of which this packet is the next. NULL: one before it is
 * missing, or the message has been dropped already. */
static inline struct assembly *assembly_of(uint32_t channel, uint32_t word, uint32_t detail)
{
    struct channel *c = &channels[channel];
    uint32_t number = FIELD(word, HEADER_MESSAGE_LO), packet = FIELD(word, HEADER_PACKET_LO);
    struct assembly *a = c->assembly == NONE ? NULL : &assemblies[c->assembly];
    if (detail & NICBED_UNET_DETAIL_FIRST_MASK) {
        if (a) {
            if (a->number != number)
                counters.broken++;
            assembly_drop(a);
        }
        a = assembly_take(channel);
        a->number = number;
        a->packet = 0;
        a->length = a->filled = a->room = 0;
    }
    if (!a)
        return NULL;
    if (a->number != number || a->packet != packet) {
        if (a->number == number && a->packet == packet + 1)
            return NULL; /* it has come twice */
        counters.broken++;
        assembly_drop(a);
        return NULL;
    }
    a->packet++;
    return a;
}

/* `bytes` from `from` to `place`; false if that is not the endpoint's. */
static inline bool deliver(struct endpoint *e, uint32_t place, const char *from, uint32_t bytes,
                           uint32_t trace)
{
    struct span s;
    if (!span_find(&s, e, place, bytes)) {
        counters.faults++;
        return false;
    }
    dma_write(from, s.at, s.bytes, trace);
    if (s.bytes != bytes)
        dma_write(from + s.bytes, s.behind, bytes - s.bytes, trace);
    return true;
}

/* Data behind those that the message has in its buffers; false: the message is lost. */
static inline bool gather(struct endpoint *e, struct assembly *a, const char *from, uint32_t bytes,
                          uint32_t trace)
{
    while (bytes) {
        if (a->filled == a->room) {
            struct buffer *b = &a->buffers[a->count];
            if (a->count == BUFFERS || !buffer_take(e, b)) {
                e->page->no_buffer++;
                counters.no_buffer++;
                return false;
            }
            a->room = b->bytes;
            a->filled = 0;
            a->count++;
        }
        uint32_t part = a->room - a->filled;
        if (part > bytes)
            part = bytes;
        if (!deliver(e, a->buffers[a->count - 1].place + a->filled, from, part, trace))
            return false;
        a->filled += part;
        a->length += part;
        from += part;
        bytes -= part;
    }
    return true;
}

/* --- Packets ------------------------------------------------------------------------------------ */

static RARE void no_room(struct endpoint *e)
{
    e->page->no_room++;
    counters.no_room++;
}

/* A packet of a message of several, of one that does not fit a descriptor, or of one that is
 * placed. */
static APART void piece(struct endpoint *e, uint32_t channel, const uint32_t *packet,
                        uint32_t detail, uint32_t bytes, uint32_t trace)
{
    struct assembly *a = assembly_of(channel, packet[4], detail);
    if (!a)
        return;
    const char *data = (const char *)&packet[6];
    uint32_t placed = detail & NICBED_UNET_DETAIL_PLACED_MASK, there = packet[5] - a->length;
    if (placed) {
        if (settings.buffers == NICBED_UNET_BUFFERS_SEGMENT
            || (bytes && !deliver(e, packet[5], data, bytes, trace))) {
            assembly_drop(a);
            return;
        }
        a->length += bytes;
    } else if (!gather(e, a, data, bytes, trace)) {
        assembly_drop(a);
        return;
    }
    if (!(detail & NICBED_UNET_DETAIL_LAST_MASK))
        return;
    if (!e->open || !receive_room(e)) {
        no_room(e);
        assembly_drop(a);
        return;
    }
    uint32_t *slot = receive_slot(), count = a->count;
    if (placed) {
        slot[2] = there;
        slot[3] = a->length;
        receive_put(e, slot, PLACE(1, RECEIVE_PLACED_LO) | PLACE(a->length, RECEIVE_LENGTH_LO)
                    | PLACE(1, RECEIVE_BUFFERS_LO), trace, channel, 8);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            slot[2 + 2 * i] = a->buffers[i].place;
            slot[3 + 2 * i] = i + 1 == count ? a->filled : a->buffers[i].bytes;
        }
        receive_put(e, slot, PLACE(count, RECEIVE_BUFFERS_LO)
                    | PLACE(a->length, RECEIVE_LENGTH_LO), trace, channel, 8 * count);
    }
    a->count = 0;
    assembly_drop(a);
}

static APART void arrived(const uint32_t *packet)
{
    uint32_t header = packet[3], detail = header >> NICBED_HEADER_DETAIL_HI_SHIFT;
    uint32_t length = received_length((const uint64_t *)packet);
    uint32_t bytes = length - NICBED_UNET_HEADER_BYTES;
    work(settings.work_receive);
    if (bytes > DATA_BYTES) { /* shorter than the header, too */
        counters.malformed++;
        return;
    }
    uint32_t channel = channel_of[packet[4] & (TAGS - 1)];
    struct channel *c = &channels[channel];
    if (!channel || c->node != (header & NICBED_HEADER_SOURCE_HI_MASK)) {
        counters.unknown++;
        return;
    }
    struct endpoint *e = endpoint_of(c);
    uint32_t trace = received_trace((const uint64_t *)packet);
    const uint32_t whole = NICBED_UNET_DETAIL_FIRST_MASK | NICBED_UNET_DETAIL_LAST_MASK;
    if ((detail & (whole | NICBED_UNET_DETAIL_PLACED_MASK)) != whole || bytes > INLINE) {
        piece(e, channel, packet, detail, bytes, trace);
        return;
    }
    if (!receive_room(e)) {
        no_room(e);
        return;
    }
    uint32_t *slot = receive_slot();
    copy_words(&slot[2], &packet[6], (bytes + 7) >> 3);
    receive_put(e, slot, PLACE(bytes, RECEIVE_LENGTH_LO), trace, channel, bytes);
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
}
