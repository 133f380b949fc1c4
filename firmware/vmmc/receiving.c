/* Arrivals: packets in order, checked, to the pages that are exported or where a redirection says;
 * acknowledgements. */
#include "vmmc.h"
#include "places.h"

enum { RESERVE = 512 }; /* bytes that are left for the stack beside the least it has */

static struct arrival *arrivals;
static uint8_t due[NODES]; /* arrivals that owe an acknowledgement */
uint32_t dues;

/* --- Acknowledgements --------------------------------------------------------------------------- */

static bool tell(uint32_t node, uint32_t kind, uint32_t epoch, uint32_t expected, uint32_t reason)
{
    return control(node, kind, expected | PLACE(epoch, HEADER_EPOCH_LO), reason, 0, 0);
}

static APART bool settle(uint32_t node)
{
    struct arrival *a = &arrivals[node];
    if (a->owed) {
        if (!tell(node, PACKET(ACK), a->epoch, a->expected, 0))
            return false;
        a->owed = 0;
        counters.acks++;
    }
    return true;
}

static void owe(uint32_t node)
{
    struct arrival *a = &arrivals[node];
    if (!a->due) {
        a->due = 1;
        due[dues++] = node;
    }
    if (a->owed < 0xFF)
        a->owed++;
    if (a->owed > settings.window / 2)
        settle(node);
}

/* Pays all acknowledgements that there is room for. The pending bits that it waits for. */
APART uint32_t acknowledge(void)
{
    while (dues) {
        uint32_t node = due[dues - 1];
        if (!settle(node))
            return NICBED_PENDING_SEND;
        arrivals[node].due = 0;
        dues--;
    }
    return 0;
}

static RARE void refuse(uint32_t node, uint32_t reason)
{
    struct arrival *a = &arrivals[node];
    a->gapped = 1;
    if (tell(node, PACKET(NACK), a->epoch, a->expected, reason))
        a->owed = 0;
}

/* --- Messages ----------------------------------------------------------------------------------- */

/* The message that is arriving will not end: its redirection is for another. */
static RARE void abandon(struct message *m)
{
    struct export *e = &exports[m->export];
    if (m->state == NOTHING || !e->owner)
        return;
    e->begun--;
    if (m->state == REDIRECTED && !e->redirection.armed)
        e->redirection = (struct redirection){
            .key = m->key, .target = m->target, .limit = m->limit, .armed = 1, .skip = m->skip,
        };
}

/* Where its data go is decided once, with its first packet. */
static inline void begin(struct message *m, const uint32_t *packet, uint32_t export,
                         uint32_t detail)
{
    struct export *e = &exports[export];
    struct redirection *r = &e->redirection;
    if (m->state != NOTHING)
        abandon(m);
    m->export = export;
    m->length = packet[6];
    m->key = packet[7];
    m->place = (FIELD(packet[5], HEADER_PAGE_HI) - e->first) << settings.page_shift
               | packet[5] >> NICBED_VMMC_HEADER_OFFSET_HI_SHIFT;
    m->state = TO_DEFAULT;
    m->faulted = 0;
    if (!(detail & DETAIL(TELL)))
        return;
    e->begun++;
    if (!r->armed || r->key != m->key)
        return;
    r->armed = 0; /* one that is too long ends it, too, as its event says */
    if (m->length >= r->skip && m->length - r->skip <= r->limit) {
        m->state = REDIRECTED;
        m->target = r->target;
        m->limit = r->limit;
        m->skip = r->skip;
        counters.redirected++;
    }
}

/* `bytes`, which lie `at` bytes behind the redirection's target. */
static APART void deliver(struct message *m, const char *from, uint32_t at, uint32_t bytes,
                          uint32_t trace)
{
    struct port *p = &ports[exports[m->export].owner - 1];
    while (bytes) {
        uint32_t place = m->target + at, host = translate(p, place);
        uint32_t part = settings.page_mask + 1 - (place & settings.page_mask);
        if (part > bytes)
            part = bytes;
        if (host)
            dma_write(from, host, part, trace);
        else
            m->faulted = 1;
        from += part;
        at += part;
        bytes -= part;
    }
}

static void end(struct message *m, uint32_t node, uint32_t detail, uint32_t trace)
{
    if (detail & DETAIL(TELL)) {
        uint32_t bits = NICBED_VMMC_EVENT_KIND_MESSAGE << NICBED_VMMC_EVENT_KIND_LO_SHIFT
                        | (uint32_t)m->export << NICBED_VMMC_EVENT_EXPORT_LO_SHIFT;
        if (m->state == REDIRECTED)
            bits |= NICBED_VMMC_EVENT_REDIRECTED_LO_MASK;
        if (m->faulted)
            bits |= NICBED_VMMC_EVENT_FAULTED_LO_MASK;
        if (detail & DETAIL(NOTIFY))
            bits |= NICBED_VMMC_EVENT_NOTIFY_LO_MASK;
        event_put(&ports[exports[m->export].owner - 1], bits, node, trace, m->place, m->length,
                  m->key);
    }
    m->state = NOTHING;
}

/* Whether the packet may be where it wants to be; then it is there. */
static inline bool take(struct arrival *a, const uint32_t *packet, uint32_t detail, uint32_t bytes,
                        uint32_t node)
{
    uint32_t word = packet[5], page = FIELD(word, HEADER_PAGE_HI), extent = packet[6];
    uint32_t offset = word >> NICBED_VMMC_HEADER_OFFSET_HI_SHIFT;
    const struct incoming_page *in = &incoming_pages[page];
    if (page >= settings.incoming || !in->frame
        || in->generation != FIELD(packet[4], HEADER_GENERATION_LO)
        || offset + bytes > in->bytes || !(exports[in->export].nodes >> node & 1))
        return false;
    struct message *m = &a->messages[FIELD(word, HEADER_SOURCE_HI)];
    uint32_t trace = received_trace((const uint64_t *)packet), at = 0;
    if (detail & DETAIL(FIRST)) {
        begin(m, packet, in->export, detail);
    } else {
        at = extent;
        if (m->state == NOTHING || m->export != in->export)
            return false;
    }
    if (at > m->length || bytes > m->length - at)
        return false;
    const char *from = (const char *)&packet[8];
    uint32_t here = bytes;
    if (m->state == REDIRECTED) {
        here = at < m->skip ? m->skip - at : 0;
        if (here > bytes)
            here = bytes;
        deliver(m, from + here, at + here - m->skip, bytes - here, trace);
    }
    if (here)
        dma_write(from, in->frame | offset, here, trace);
    if (detail & DETAIL(LAST))
        end(m, node, detail, trace);
    return true;
}

/* --- Packets in --------------------------------------------------------------------------------- */

/* A packet that is not the one that is expected: whether it is after all, in a new epoch. */
static RARE bool out_of_order(uint32_t node, uint32_t word, uint32_t detail)
{
    struct arrival *a = &arrivals[node];
    uint32_t epoch = FIELD(word, HEADER_EPOCH_LO);
    if (!settings.reliable) {
        counters.gaps++;
        a->expected = word;
        a->epoch = epoch;
        return true;
    }
    if (epoch != a->epoch) {
        if ((int8_t)(epoch - a->epoch) < 0)
            return false;
        if (!(detail & DETAIL(SYNC))) {
            counters.gaps++;
            tell(node, PACKET(NACK), epoch, 0, NICBED_VMMC_NACK_GAP);
            return false;
        }
        a->epoch = epoch;
        a->expected = 0;
        a->owed = a->gapped = 0;
    }
    int16_t ahead = (uint16_t)word - a->expected;
    if (ahead == 0)
        return true;
    if (ahead < 0) {
        counters.duplicates++;
        owe(node);
    } else if (!a->gapped) {
        counters.gaps++;
        refuse(node, NICBED_VMMC_NACK_GAP);
    }
    return false;
}

static APART void arrived(const uint32_t *packet)
{
    uint32_t header = packet[3], detail = header >> NICBED_HEADER_DETAIL_HI_SHIFT;
    uint32_t length = received_length((const uint64_t *)packet);
    uint32_t node = header & NICBED_HEADER_SOURCE_HI_MASK, kind = detail & DETAIL(KIND);
    if (node >= settings.nodes || length < 8) {
        counters.malformed++;
        return;
    }
    if (kind == PACKET(ACK) || kind == PACKET(NACK)) {
        acknowledged(node, packet, kind);
        return;
    }
    if (length < NICBED_VMMC_HEADER_BYTES || length > NICBED_VMMC_HEADER_BYTES + DATA_BYTES) {
        counters.malformed++;
        return;
    }
    if (kind == PACKET(NAME)) {
        naming_packet(node, packet, detail);
        return;
    }
#ifdef VMMC_WORK_RECEIVE
    work(settings.work_receive);
#endif
    struct arrival *a = &arrivals[node];
    if (((packet[4] ^ a->expected ^ a->epoch << NICBED_VMMC_HEADER_EPOCH_LO_SHIFT) & 0xFFFFFF)
        && !out_of_order(node, packet[4], detail))
        return;
    if (!take(a, packet, detail, length - NICBED_VMMC_HEADER_BYTES, node)) {
        counters.refused++;
        if (settings.reliable)
            refuse(node, NICBED_VMMC_NACK_REFUSED);
        else
            a->expected++;
        return;
    }
    a->expected++;
    a->gapped = 0;
    if (settings.reliable)
        owe(node);
}

/* Takes the packets that have come. The pending bits that it waits for. */
uint32_t receiving(void)
{
    return places_take(arrived);
}

RARE void receiving_open(void)
{
    arrivals = take_memory(settings.nodes * sizeof *arrivals, 8);
    places_make(RESERVE);
    places_offer();
}
