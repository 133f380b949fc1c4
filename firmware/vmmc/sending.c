/* Streams: messages cut into packets, data fetched into a stage while the packet before it is on
 * the link; acknowledgements, going back, failing.
 *
 * A stage's way: taken (`staged`), its data asked for, given to the link once they are there
 * (`launched`), free again once they have left (`freed`). All three count up.
 */
#include "vmmc.h"

static struct packet stages[STAGES] __attribute__((aligned(8)));
static struct {
    ticket_t fetched, left;
    uint32_t bytes, trace;
    uint8_t node, epoch;
    uint16_t sequence;
} stage_state[STAGES];
static uint32_t staged, launched, freed;
uint32_t streams_ready;
static bool ticking;
uint32_t ports_again;

static inline uint32_t number_of(const struct stream *s)
{
    return (uint32_t)(s - streams);
}

RARE void timer_start(void)
{
    if (!ticking) {
        ticking = true;
        timer_set(now() + settings.tick);
    }
}

/* --- Messages into packets ---------------------------------------------------------------------- */

/* The message that the port is at ends here with an error: at once, or behind the packets of it
 * that are under way. */
static RARE void give_up(struct port *p, uint32_t status)
{
    struct stream *s = &streams[p->node];
    p->busy = 0;
    for (uint16_t i = s->next; i != s->base; i--) {
        struct out *d = out_of(s, i - 1);
        if (d->port == p->number && d->slot == p->slot) {
            p->status[p->slot] = status;
            d->ends = 1;
            return;
        }
    }
    slot_ends(p, p->slot, status);
}

/* The next packet of the port's message into its stream's window; false: it has to wait. */
static APART bool cut(struct port *p)
{
    struct stream *s = &streams[p->node];
    if ((uint16_t)(s->next - s->base) >= settings.window || p->missing)
        return false;
    uint32_t at = p->proxy + p->offset, offset = at & settings.page_mask;
    const struct outgoing_page *o = &outgoing_pages[at >> settings.page_shift];
    uint32_t bytes = p->length - p->offset, from = p->offset;
    if (s->dead || p->faulted || (bytes && o->owner != p->number + 1)) {
        uint32_t status = s->dead ? STATUS(UNREACHABLE)
                          : p->faulted ? STATUS(FAULT) : STATUS(NOT_IMPORTED);
        p->faulted = 0;
        give_up(p, status);
        return true;
    }
    if (bytes > settings.payload)
        bytes = settings.payload;
    if (bytes > settings.page_mask + 1 - offset)
        bytes = settings.page_mask + 1 - offset;
    if (bytes && !p->inlined) {
        uint32_t place = p->place + p->offset;
        uint32_t rest = settings.page_mask + 1 - (place & settings.page_mask);
        if (bytes > rest)
            bytes = rest;
        from = translate(p, place);
        if (from == MISS)
            return false;
        if (!from) {
            give_up(p, STATUS(FAULT));
            return true;
        }
    }
    struct out *d = out_of(s, s->next);
    d->from = from;
    d->place = o->page | p->number << NICBED_VMMC_HEADER_SOURCE_HI_SHIFT
               | offset << NICBED_VMMC_HEADER_OFFSET_HI_SHIFT;
    d->extent = p->offset ? p->offset : p->length;
    d->key = p->key;
    d->bytes = bytes;
    d->detail = p->detail;
    d->generation = o->generation;
    d->trace = p->trace;
    d->port = p->number;
    d->slot = p->slot;
    d->inlined = p->inlined;
    d->ends = 0;
    p->detail &= ~DETAIL(FIRST);
    p->offset += bytes;
    if (p->offset == p->length) {
        d->detail |= DETAIL(LAST);
        d->ends = 1;
        p->busy = 0;
    }
    if (s->base == s->next && settings.reliable) {
        s->deadline = now() + settings.timeout;
        timer_start();
    }
    s->next++;
    streams_ready |= 1u << p->node;
    return true;
}

/* --- Packets out -------------------------------------------------------------------------------- */

static inline void launch(void)
{
    uint32_t i = launched++ & (STAGES - 1);
    stage_state[i].left = link_send(&stages[i], stage_state[i].bytes, stage_state[i].trace);
#ifdef VMMC_WORK_SEND
    work(settings.work_send); /* while the packet is on its way: it waits for none of this */
#endif
}

/* The data of a short send, out of its slots. */
static APART void copy_inline(uint32_t *to, const struct out *d)
{
    const struct port *p = &ports[d->port];
    uint32_t at = d->from, left = d->bytes, here = p->here[d->slot], slot = d->slot;
    const char *page = (const char *)&port_pages[d->port];
    char *t = (char *)to;
    while (left) {
        uint32_t place, part;
        if (at < here) {
            place = 64 * slot + 8 * (p->end[slot] - ((here + 7) >> 3)) + at;
            part = here - at;
        } else {
            uint32_t behind = at - here;
            place = 64 * ((slot + 1 + (behind >> 6)) & (settings.slots - 1)) + (behind & 63);
            part = 64 - (behind & 63);
        }
        if (part > left)
            part = left;
        memcpy(t, page + place, part);
        t += part;
        at += part;
        left -= part;
    }
}

/* The stream's next packet into the free stage. */
static APART void stage(struct stream *s)
{
    uint32_t i = staged & (STAGES - 1), node = number_of(s);
    struct out *d = out_of(s, s->send);
    uint32_t *h = (uint32_t *)&stages[i], detail = d->detail;
    bool fetching = d->bytes && !d->inlined;
    if (fetching)
        stage_state[i].fetched = dma_read(d->from, &h[6], d->bytes, d->trace);
    else if (d->bytes)
        copy_inline(&h[6], d);
    if (s->sync && s->send == 0)
        detail |= DETAIL(SYNC);
    h[0] = settings.route[node]
           | (d->bytes + NICBED_VMMC_HEADER_BYTES) << NICBED_HEADER_LENGTH_LO_SHIFT;
    h[1] = settings.node | node << NICBED_HEADER_DESTINATION_HI_SHIFT
           | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    h[2] = s->send | PLACE(s->epoch, HEADER_EPOCH_LO)
           | PLACE(d->generation, HEADER_GENERATION_LO);
    h[3] = d->place;
    h[4] = d->extent;
    h[5] = d->key;
    stage_state[i].bytes = HEADER_BYTES + d->bytes;
    stage_state[i].trace = d->trace;
    stage_state[i].node = node;
    stage_state[i].epoch = s->epoch;
    stage_state[i].sequence = s->send++;
    if (staged++ == launched && !fetching)
        launch();
    else if (!fetching)
        stage_state[i].fetched = engine_given[ENGINE_H2N];
}

static void launch_fetched(void)
{
    while (launched != staged && dma_read_done(stage_state[launched & (STAGES - 1)].fetched))
        launch();
}

/* Packets before sequence number `base` are where they should be. */
static void complete(struct stream *s, uint16_t base)
{
    while (s->base != base) {
        struct out *d = out_of(s, s->base++);
        if (d->ends)
            slot_ends(&ports[d->port], d->slot, ports[d->port].status[d->slot]);
    }
}

/* The stages that are free again; without acknowledgements their packets are done. */
static void free_stages(void)
{
    while (freed != launched && link_sent(stage_state[freed & (STAGES - 1)].left)) {
        uint32_t i = freed++ & (STAGES - 1);
        struct stream *s = &streams[stage_state[i].node];
        if (!settings.reliable && s->epoch == stage_state[i].epoch)
            complete(s, stage_state[i].sequence + 1);
    }
}

bool sending(void)
{
    if (streams_ready || staged != freed)
        return true;
    for (struct port *p = ports; p < ports + PORTS; p++)
        if (p->busy)
            return true;
    return false;
}

/* Cuts messages, fetches what is next, gives the link what has been fetched; ports, and streams,
 * take turns. Ends after a packet, too, if one of the bits `until` is pending: peers wait for
 * acknowledgements. The pending bits that it waits for. */
uint32_t pump(uint32_t until)
{
    static uint32_t turn_port, turn_node;
    bool going;
    do {
        going = false;
        launch_fetched();
        free_stages();
        for (uint32_t left = PORTS; left; left--) {
            struct port *p = &ports[turn_port++ & (PORTS - 1)];
            if (p->busy && cut(p)) {
                going = true;
                if (!p->busy)
                    ports_again |= 1u << p->number;
                break;
            }
        }
        if (streams_ready && staged - freed != STAGES && engine_space(ENGINE_SEND)) {
            while (!(streams_ready >> (turn_node & (NODES - 1)) & 1))
                turn_node++;
            struct stream *s = &streams[turn_node & (NODES - 1)];
            if (s->send != s->next) {
                stage(s);
                going = true;
            }
            if (s->send == s->next)
                streams_ready &= ~(1u << (turn_node & (NODES - 1)));
            turn_node++;
        }
    } while (going && !(pending() & until));
    uint32_t wanted = launched != staged ? NICBED_PENDING_H2N : 0;
    return freed != launched && (streams_ready || !settings.reliable)
           ? wanted | NICBED_PENDING_SEND : wanted;
}

/* --- Failing ------------------------------------------------------------------------------------ */

enum { ANY = 0xFF };

static inline bool matches(uint32_t value, uint32_t wanted)
{
    return wanted == ANY || value == wanted;
}

/* Takes messages of this port and slot, or of ANY, out of the stream. Others begin a new epoch. */
static RARE void take_out(struct stream *s, uint32_t port, uint32_t slot, uint32_t status)
{
    static struct out left[WINDOW];
    uint16_t kept = 0, count = s->next - s->base;
    uint32_t node = number_of(s);
    for (uint16_t i = 0; i < count; i++) {
        struct out *d = out_of(s, s->base + i);
        if (!matches(d->port, port) || !matches(d->slot, slot))
            left[kept++] = *d;
        else if (d->ends)
            slot_ends(&ports[d->port], d->slot, status);
    }
    for (struct port *p = ports; p < ports + PORTS; p++)
        if (p->busy && p->node == node && matches(p->number, port) && matches(p->slot, slot)) {
            p->busy = 0;
            slot_ends(p, p->slot, status);
            ports_again |= 1u << p->number;
        }
    for (uint16_t i = 0; i < kept; i++)
        *out_of(s, i) = left[i];
    s->base = s->send = 0;
    s->next = kept;
    s->epoch++;
    s->sync = 1;
    s->tries = 0;
    s->deadline = now() + settings.timeout;
    streams_ready &= ~(1u << node);
    if (kept)
        streams_ready |= 1u << node;
}

/* To the oldest packet that is not acknowledged. */
static RARE void go_back(struct stream *s)
{
    for (uint16_t i = s->base; i != s->send; i++) {
        counters.resent++;
        trace_event(NICBED_KIND_AGAIN, out_of(s, i)->trace, number_of(s));
    }
    s->send = s->base;
    if (s->base != s->next)
        streams_ready |= 1u << number_of(s);
}

RARE void port_stop(struct port *p)
{
    for (uint32_t node = 0; node < settings.nodes; node++)
        if (streams[node].base != streams[node].next || (p->busy && p->node == node))
            take_out(&streams[node], p->number, ANY, STATUS(CLOSED));
}

/* An ACK or NACK has come. `packet`: as the engine RECEIVE left it. */
APART void acknowledged(uint32_t node, const uint32_t *packet, uint32_t kind)
{
    struct stream *s = &streams[node];
    uint32_t word = packet[4];
    uint16_t base = word, progress = base - s->base;
    if (s->epoch != FIELD(word, HEADER_EPOCH_LO) || progress > (uint16_t)(s->next - s->base))
        return;
    if (progress) {
        s->tries = 0;
        s->sync = 0;
        s->deadline = now() + settings.timeout;
        if ((int16_t)(base - s->send) > 0)
            s->send = base;
        complete(s, base);
    }
    if (kind == PACKET(NACK) && s->base != s->next) {
        if (packet[5] == NICBED_VMMC_NACK_REFUSED) {
            struct out *d = out_of(s, s->base);
            take_out(s, d->port, d->slot, STATUS(REFUSED));
        } else {
            go_back(s);
        }
    }
}

/* The timer has come: looks at the deadlines of all streams that have packets out. `others`: it is
 * wanted for something else. */
RARE void tick(bool others)
{
    ticking = others;
    for (struct stream *s = streams; s < streams + settings.nodes && settings.reliable; s++) {
        if (s->base == s->next)
            continue;
        ticking = true;
        if (!reached(s->deadline))
            continue;
        if (++s->tries > settings.retries) {
            counters.failed++;
            s->dead = 1;
            take_out(s, ANY, ANY, STATUS(UNREACHABLE));
            continue;
        }
        s->deadline = now() + (settings.timeout << (s->tries < 3 ? s->tries : 3));
        go_back(s);
    }
    if (ticking)
        timer_set(now() + settings.tick);
    else
        timer_off();
}
