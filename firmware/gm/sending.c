/* Streams: messages cut into packets, data fetched into a stage while the packet before it is on
 * the link; acknowledgements, going back, failing.
 *
 * A stage's way: taken (`staged`), its data asked for, given to the link once they are there
 * (`launched`), free again once they have left (`freed`). All three count up.
 */
#include "gm.h"

struct stream streams[STREAMS];

static struct packet stages[STAGES] __attribute__((aligned(8)));
static struct {
    ticket_t fetched, left;
    uint32_t bytes, trace;
} stage_state[STAGES];
struct outgoing outgoing;
static uint8_t busy_head;
static bool ticking;
/* Of a node: how often streams to it went back. So many time-outs of a stream in a row pass before
 * one asks, for the node has been slow before; one less with every CALM streams that have emptied
 * since the last one that passed. */
enum { CALM = 16 };
static struct {
    uint8_t rewinds, patience, calm;
} peers[NODES];

/* --- Lists -------------------------------------------------------------------------------------- */

static inline uint32_t number_of(const struct stream *s)
{
    return (uint32_t)(s - streams);
}

/* Whether it has something that it may send. */
static inline bool sendable(const struct stream *s)
{
    uint32_t out = (uint16_t)(s->next - s->base);
    return s->current != NONE && !(s->flags & (BACKING_OFF | HALTED))
           && out < settings.window;
}

/* Then it has its turn. */
static void stream_ready(struct stream *s)
{
    if (s->flags & READY || !sendable(s))
        return;
    uint32_t number = number_of(s), priority = STREAM_PRIORITY(number);
    s->flags |= READY;
    s->ready_link = 0;
    if (outgoing.ready_head[priority])
        streams[outgoing.ready_tail[priority]].ready_link = number;
    else
        outgoing.ready_head[priority] = number;
    outgoing.ready_tail[priority] = number;
}

/* It has packets out: its deadline is looked at. */
static RARE void stream_watch(struct stream *s)
{
    s->flags |= LISTED;
    s->busy_link = busy_head;
    busy_head = number_of(s);
    if (!ticking) {
        ticking = true;
        timer_set(now() + settings.tick);
    }
}

/* Behind all others of its stream; or to those that are stopped. */
void message_queue(struct message *m)
{
    uint32_t number = (uint32_t)(m - messages);
    struct port *p = port_of(m);
    m->next = NONE;
    m->state = QUEUED;
    if (p->blocked[STREAM_PRIORITY(m->stream)][STREAM_NODE(m->stream)] >> m->target & 1) {
        if (p->stopped == NONE)
            p->stopped = number;
        else
            messages[p->stopped_tail].next = number;
        p->stopped_tail = number;
        return;
    }
    struct stream *s = &streams[m->stream];
    if (s->head == NONE)
        s->head = number;
    else
        messages[s->tail].next = number;
    s->tail = number;
    if (s->current == NONE) {
        s->current = number;
        stream_ready(s);
    }
}

/* --- Failing ------------------------------------------------------------------------------------ */

/* Empties it and begins a new epoch: what is still on its way counts no more. */
static RARE void stream_reset(struct stream *s)
{
    s->head = s->tail = s->current = NONE;
    s->base = s->next = 0;
    s->epoch++;
    s->tries = 0;
    s->flags = (s->flags & (READY | LISTED)) | SYNC;
}

static void stop_target(const struct message *m)
{
    uint32_t port = STREAM_PORT(m->stream);
    ports[port].blocked[STREAM_PRIORITY(m->stream)][STREAM_NODE(m->stream)] |= 1u << m->target;
}

/* The stream's oldest message fails, and of an unreachable node all that may have arrived; with
 * `stop`, others to their ports are stopped. */
static RARE void stream_break(struct stream *s, uint32_t status, bool stop)
{
    uint8_t at = s->head;
    bool first = true;
    stream_reset(s);
    while (at != NONE) {
        struct message *m = &messages[at];
        at = m->next;
        if (first || (m->state == BEGUN && status == STATUS(SEND_TARGET_NODE_UNREACHABLE))) {
            if (stop)
                stop_target(m);
            sent(m, status);
        } else {
            message_queue(m);
        }
        first = false;
    }
}

static RARE void stream_fail(struct stream *s, uint32_t status)
{
    if (s->head != NONE)
        stream_break(s, status, true);
}

/* The data of the message that is its turn are not registered. If none of it has left, it is taken
 * out. Else it fails once it is the oldest. */
static RARE void stream_fault(struct stream *s)
{
    struct message *m = &messages[s->current];
    if (m->state == BEGUN) {
        if (s->head == s->current)
            stream_break(s, STATUS(MEMORY_FAULT), false);
        else
            s->flags |= HALTED;
        return;
    }
    uint8_t number = s->current, before = NONE;
    for (uint8_t at = s->head; at != number; at = messages[at].next)
        before = at;
    if (before == NONE)
        s->head = m->next;
    else
        messages[before].next = m->next;
    if (s->tail == number)
        s->tail = before;
    s->current = m->next;
    sent(m, STATUS(MEMORY_FAULT));
    stream_ready(s);
}

/* To the oldest packet that is not acknowledged. Answers to questions before that count no more. */
static RARE void stream_rewind(struct stream *s)
{
    if (s->base == s->next)
        return;
    s->next = s->base;
    s->current = s->head;
    s->flags &= ~HALTED;
    peers[STREAM_NODE(number_of(s))].rewinds++;
    counters.resent++;
}

/* Its oldest packet was lost, and those behind it not taken. */
static RARE void stream_lost(struct stream *s)
{
    uint32_t node = STREAM_NODE(number_of(s));
    for (uint16_t i = s->base; i != s->next; i++)
        trace_event(NICBED_KIND_AGAIN, messages[s->head].trace, node);
    peers[node].patience = 0;
    stream_rewind(s);
}

/* Asks what has arrived. Packets between two nodes keep their order, so what has left and is not
 * before the answer's sequence number was lost. What may still be in a stage does not count. */
static RARE void stream_ask(struct stream *s)
{
    uint32_t number = number_of(s);
    uint16_t end = s->next - (outgoing.staged - outgoing.launched);
    control(number, NICBED_GM_PACKET_ACK | NICBED_GM_DETAIL_ASKS_MASK,
            end | peers[STREAM_NODE(number)].rewinds << 16, s->epoch, s->next);
}

static RARE void answered(struct stream *s, uint32_t word)
{
    if (!(s->flags & REFUSED))
        s->tries = 0;
    if (word >> 16 == peers[STREAM_NODE(number_of(s))].rewinds && (int16_t)(word - s->base) > 0)
        stream_lost(s);
}

RARE void streams_close(uint32_t port)
{
    for (uint32_t i = port; i < STREAMS; i += PORTS)
        stream_reset(&streams[i]);
    for (uint32_t i = 0; i < SEND_TOKENS; i++)
        message_of(port, i)->state = FREE;
}

/* --- Packets out -------------------------------------------------------------------------------- */

/* Asks for `bytes` from `place` on; false if they are not registered. */
static inline bool fetch(struct port *p, uint32_t place, uint32_t bytes, char *to, uint32_t trace,
                         ticket_t *ticket)
{
    struct span s;
    if (!span_find(&s, p, place, bytes))
        return false;
    *ticket = dma_read(s.at, to, s.bytes, trace);
    if (s.bytes != bytes)
        *ticket = dma_read(s.behind, to + s.bytes, bytes - s.bytes, trace);
    return true;
}

static inline void launch(void)
{
    uint32_t i = outgoing.launched++ & (STAGES - 1);
    stage_state[i].left = link_send(&stages[i], stage_state[i].bytes, stage_state[i].trace);
#ifdef GM_WORK_SEND
    work(settings.work_send); /* while the packet is on its way: it waits for none of this */
#endif
}

/* The next packet of a stream into the free stage. */
static APART void stage(uint32_t number)
{
    struct stream *s = &streams[number];
    if (!sendable(s))
        return;
    struct message *m = &messages[s->current];
    uint16_t first = m->state == BEGUN ? m->first : s->next;
    uint32_t offset = (uint32_t)(uint16_t)(s->next - first) << settings.shift;
    uint32_t bytes = m->length - offset, last = NICBED_GM_DETAIL_LAST_MASK;
    if (bytes > settings.payload) {
        bytes = settings.payload;
        last = 0;
    }
    uint32_t i = outgoing.staged & (STAGES - 1), node = STREAM_NODE(number);
    uint32_t *h = (uint32_t *)&stages[i];
    uint32_t detail = last | STREAM_PRIORITY(number) << NICBED_GM_DETAIL_PRIORITY_SHIFT;
    bool fetching = false;
    if (m->flags & INLINED) {
        h[6] = m->place;
        h[7] = m->word[0];
        h[8] = m->word[1];
        h[9] = m->word[2];
    } else if (bytes) {
        if (!fetch(&ports[STREAM_PORT(number)], m->place + offset, bytes, (char *)&h[6], m->trace,
                   &stage_state[i].fetched)) {
            stream_fault(s);
            return;
        }
        fetching = true;
    }
    if (m->flags & DIRECTED) {
        uint64_t there = word_of(m->word[1], m->word[2]) + offset;
        detail |= NICBED_GM_PACKET_DIRECTED;
        h[4] = low(there);
        h[5] = high(there);
    } else {
        h[4] = offset;
        h[5] = m->size;
    }
    if (offset == 0)
        detail |= NICBED_GM_DETAIL_FIRST_MASK;
    if (s->flags & SYNC && s->next == 0)
        detail |= NICBED_GM_DETAIL_SYNC_MASK;
    h[0] = settings.route[node]
           | (bytes + NICBED_GM_HEADER_BYTES) << NICBED_HEADER_LENGTH_LO_SHIFT;
    h[1] = settings.node | node << NICBED_HEADER_DESTINATION_HI_SHIFT
           | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    h[2] = s->next | PLACE(s->epoch, HEADER_EPOCH_LO)
           | PLACE(STREAM_PORT(number), HEADER_SOURCE_LO) | PLACE(m->target, HEADER_PORT_LO);
    h[3] = m->length;
    stage_state[i].bytes = HEADER_BYTES + bytes;
    stage_state[i].trace = m->trace;
    if (outgoing.staged++ == outgoing.launched && !fetching)
        launch();
    else if (!fetching)
        stage_state[i].fetched = engine_given[ENGINE_H2N];
    m->first = first;
    m->state = BEGUN;
    if (s->base == s->next)
        s->deadline = now() + settings.timeout;
    s->next++;
    if (last)
        s->current = m->next;
    if (!(s->flags & LISTED))
        stream_watch(s);
    stream_ready(s);
}

static void launch_fetched(void)
{
    while (outgoing.launched != outgoing.staged
           && dma_read_done(stage_state[outgoing.launched & (STAGES - 1)].fetched))
        launch();
}

/* Gives the link what has been fetched, fetches what is next, high priority first. The pending bits
 * that it waits for. */
uint32_t pump(void)
{
    launch_fetched();
    for (;;) {
        uint32_t priority = outgoing.ready_head[1] != 0, number = outgoing.ready_head[priority];
        if (!number)
            break;
        if (outgoing.staged - outgoing.freed == STAGES) {
            if (outgoing.launched == outgoing.freed
                || !link_sent(stage_state[outgoing.freed & (STAGES - 1)].left))
                return NICBED_PENDING_H2N | NICBED_PENDING_SEND;
            outgoing.freed++;
        }
        outgoing.ready_head[priority] = streams[number].ready_link;
        streams[number].flags &= ~READY;
        stage(number);
        launch_fetched();
    }
    return outgoing.launched == outgoing.staged ? 0 : NICBED_PENDING_H2N;
}

/* --- Acknowledgements, deadlines ---------------------------------------------------------------- */

/* Messages before sequence number `base` have arrived. */
static inline void complete(struct stream *s, uint16_t base)
{
    while (s->head != NONE) {
        struct message *m = &messages[s->head];
        uint32_t packets = (m->length + settings.payload - 1) >> settings.shift;
        uint16_t end = m->first + packets + !packets;
        if (m->state != BEGUN || (int16_t)(base - end) < 0)
            break;
        if (s->current == s->head)
            s->current = m->next;
        s->head = m->next;
        sent(m, STATUS(SUCCESS));
    }
}

static RARE void refused(struct stream *s, uint32_t reason)
{
    switch (reason) {
    case NACK(GAP):
        stream_lost(s);
        return;
    case NACK(NO_BUFFER):
        if (s->flags & BACKING_OFF || s->head == NONE)
            return;
        if (++s->tries > settings.patience) {
            stream_fail(s, STATUS(SEND_TIMED_OUT));
            return;
        }
        stream_rewind(s);
        s->flags |= BACKING_OFF | REFUSED;
        s->deadline = now() + settings.tick;
        return;
    case NACK(CLOSED):
        stream_fail(s, STATUS(SEND_TARGET_PORT_CLOSED));
        return;
    case NACK(REJECTED):
    case NACK(FAULT):
        stream_fail(s, STATUS(SEND_REJECTED));
        return;
    }
}

/* An ACK or NACK has come. `packet`: as the engine RECEIVE left it. */
void acknowledged(const uint32_t *packet)
{
    uint32_t header = packet[3], word = packet[4];
    uint32_t node = header & NICBED_HEADER_SOURCE_HI_MASK;
    uint32_t detail = header >> NICBED_HEADER_DETAIL_HI_SHIFT;
    uint32_t port = FIELD(word, HEADER_SOURCE_LO);
    if (node >= NODES || port == 0 || port >= PORTS) {
        counters.malformed++;
        return;
    }
    struct stream *s = &streams[stream_number(FIELD(detail, DETAIL_PRIORITY), node, port)];
    uint16_t base = word, progress = base - s->base;
    if (s->epoch != FIELD(word, HEADER_EPOCH_LO) || progress > settings.window)
        return;
    if (progress) {
        s->base = base;
        s->tries = 0;
        s->flags &= ~(SYNC | REFUSED);
        s->deadline = now() + settings.timeout;
        if ((int16_t)(base - s->next) > 0)
            s->next = base;
        complete(s, base);
        if (s->flags & HALTED && s->head == s->current)
            stream_break(s, STATUS(MEMORY_FAULT), false);
    }
    if (FIELD(detail, DETAIL_KIND) == NICBED_GM_PACKET_NACK)
        refused(s, packet[5]);
    else if (detail & NICBED_GM_DETAIL_ANSWERS_MASK)
        answered(s, packet[5]);
    stream_ready(s);
}

/* The timer has come: looks at the deadlines of all streams that have packets out. */
RARE void tick(void)
{
    uint8_t *link = &busy_head;
    while (*link) {
        struct stream *s = &streams[*link];
        uint32_t node = STREAM_NODE(number_of(s));
        if (s->head == NONE) {
            if (peers[node].patience && !(++peers[node].calm % CALM))
                peers[node].patience--;
            s->flags &= ~LISTED;
            *link = s->busy_link;
            continue;
        }
        link = &s->busy_link;
        if (!reached(s->deadline))
            continue;
        s->deadline = now() + settings.timeout;
        if (s->flags & BACKING_OFF) {
            s->flags &= ~BACKING_OFF;
        } else if (s->base != s->next) {
            s->tries += s->flags & REFUSED ? 1 : 8;
            if (s->tries > settings.patience) {
                stream_fail(s, s->flags & REFUSED ? STATUS(SEND_TIMED_OUT)
                                                  : STATUS(SEND_TARGET_NODE_UNREACHABLE));
                continue;
            }
            uint32_t passed = s->tries >> 3;
            s->deadline = now() + (settings.timeout << (passed < 3 ? passed : 3));
            if (!(s->flags & REFUSED)) {
                peers[node].calm = 0;
                if (passed <= peers[node].patience)
                    continue;
                peers[node].patience = passed;
            }
            stream_ask(s);
        }
        stream_ready(s);
    }
    ticking = busy_head != 0;
    if (ticking)
        timer_set(now() + settings.tick);
    else
        timer_off();
}

RARE void sending_open(void)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        streams[i].head = streams[i].tail = streams[i].current = NONE;
}
