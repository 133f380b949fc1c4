/* Streams: messages cut into packets, data fetched into a stage while the packet before it is on
 * the link; acknowledgements, going back, failing.
 *
 * A stage's way: taken (`staged`), its data asked for, given to the link once they are there
 * (`launched`), free again once they have left (`freed`). All three count up.
 */
#include "am2.h"

static struct packet stages[STAGES] __attribute__((aligned(8)));
static struct {
    ticket_t fetched, left;
    uint32_t bytes, trace;
} stage_state[STAGES];
struct outgoing outgoing;
static struct stream *busy_head;
static bool ticking;
/* Of a NIC: how often streams to it went back. So many time-outs of a stream in a row pass before
 * one asks, for the NIC has been slow before; one less with every CALM streams that have emptied
 * since the last one that passed. */
enum { CALM = 16 };
static struct {
    uint8_t rewinds, patience, calm;
} peers[NICS];

/* --- Lists -------------------------------------------------------------------------------------- */

static inline struct message *message_at(const struct stream *s, uint32_t slot)
{
    return &s->frame->k.messages[slot];
}

/* Whether it has something that it may send. */
static inline bool sendable(const struct stream *s)
{
    uint32_t out = half(s->next - s->base);
    return s->current != NONE && !(s->flags & BACKING_OFF)
           && out < (s->flags & REFUSED ? 1 : settings.window);
}

/* Then it has its turn. */
static APART void stream_ready(struct stream *s)
{
    if (s->flags & READY || !sendable(s))
        return;
    uint32_t reply = s->reply;
    s->flags |= READY;
    s->ready_link = NULL;
    if (outgoing.head[reply])
        outgoing.tail[reply]->ready_link = s;
    else
        outgoing.head[reply] = s;
    outgoing.tail[reply] = s;
}

RARE void timer_on(void)
{
    if (!ticking) {
        ticking = true;
        timer_set(now() + settings.tick);
    }
}

/* It has packets out: its deadline is looked at. */
static RARE void stream_watch(struct stream *s)
{
    s->flags |= LISTED;
    s->busy_link = busy_head;
    busy_head = s;
    timer_on();
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

/* The stream's oldest message fails, and of an unreachable node all that may have arrived. */
static RARE void stream_fail(struct stream *s, uint32_t reason, bool all)
{
    struct frame *f = s->frame;
    uint8_t at = s->head;
    bool first = true;
    if (at == NONE)
        return;
    stream_reset(s);
    while (at != NONE) {
        struct message *m = &f->k.messages[at];
        at = m->next;
        if (first || (all && m->state == BEGUN))
            give_back(f, m, reason);
        else
            message_queue(f, m);
        first = false;
    }
    if (f->k.returning)
        timer_on();
}

/* To the oldest packet that is not acknowledged. Answers to questions before that count no more. */
static RARE void stream_rewind(struct stream *s)
{
    s->next = s->base;
    s->current = s->head;
    peers[s->node].rewinds++;
}

/* Its oldest packet was lost, and those behind it not taken. */
static RARE void stream_lost(struct stream *s)
{
    if (s->base == s->next)
        return;
    for (uint16_t i = s->base; i != s->next; i++)
        trace_event(NICBED_KIND_AGAIN, trace_of(slot_of(s->frame, s->head)), s->node);
    peers[s->node].patience = 0;
    counters.resent++;
    stream_rewind(s);
}

/* Asks what has arrived. Packets between two NICs keep their order, so what has left and is not
 * before the answer's sequence number was lost. What may still be in a stage does not count. */
static RARE void stream_ask(struct stream *s)
{
    uint16_t end = s->next - (outgoing.staged - outgoing.launched);
    control(s->node, s->frame->endpoint,
            NICBED_AM2_PACKET_ACK | NICBED_AM2_DETAIL_ASKS_MASK | PLACE(s->reply, DETAIL_REPLY),
            s->next | (uint32_t)s->epoch << 16, end | peers[s->node].rewinds << 16);
}

static RARE void answered(struct stream *s, uint32_t word)
{
    s->tries = 0;
    if (word >> 16 == peers[s->node].rewinds && (int16_t)(word - s->base) > 0)
        stream_lost(s);
}

RARE void streams_open(struct frame *f, uint32_t epoch)
{
    for (uint32_t i = 0; i < 2 * settings.nics; i++) {
        struct stream *s = &f->streams[i];
        memset(s, 0, sizeof *s);
        s->frame = f;
        s->node = i / 2;
        s->reply = i & 1;
        s->epoch = epoch - 1;
        stream_reset(s);
    }
}

/* Takes the streams of the frame off the lists. The first epoch that none of them has had. */
RARE uint32_t streams_close(struct frame *f)
{
    for (uint32_t reply = 0; reply < 2; reply++) {
        struct stream **link = &outgoing.head[reply];
        outgoing.tail[reply] = NULL;
        while (*link) {
            if ((*link)->frame == f) {
                (*link)->flags &= ~READY;
                *link = (*link)->ready_link;
            } else {
                outgoing.tail[reply] = *link;
                link = &(*link)->ready_link;
            }
        }
    }
    for (struct stream **link = &busy_head; *link;) {
        if ((*link)->frame == f) {
            (*link)->flags &= ~LISTED;
            *link = (*link)->busy_link;
        } else {
            link = &(*link)->busy_link;
        }
    }
    uint16_t epoch = f->streams[0].epoch;
    for (uint32_t i = 1; i < 2 * settings.nics; i++)
        if ((int16_t)(f->streams[i].epoch - epoch) > 0)
            epoch = f->streams[i].epoch;
    return (uint16_t)(epoch + 1);
}

/* The frame has been filled anew, with streams that were somewhere else: what was on its way was
 * perhaps lost. */
RARE void streams_go_on(struct frame *f)
{
    for (uint32_t i = 0; i < 2 * settings.nics; i++) {
        struct stream *s = &f->streams[i];
        s->frame = f;
        s->flags &= ~(READY | LISTED);
        s->deadline = now() + (s->flags & BACKING_OFF ? 0 : settings.timeout);
        if (s->head != NONE)
            stream_watch(s);
        stream_ready(s);
    }
    if (f->k.returning)
        timer_on();
}

/* --- Packets out -------------------------------------------------------------------------------- */

static inline uint32_t *stage_at(uint32_t i)
{
    return (uint32_t *)opaque((uint32_t)(i ? &stages[1] : &stages[0]));
}

static APART void launch(void)
{
    uint32_t i = outgoing.launched++ & (STAGES - 1);
    stage_state[i].left = link_send(stage_at(i), stage_state[i].bytes, stage_state[i].trace);
#ifdef AM2_WORK_SEND
    work(settings.work_send); /* while the packet is on its way: it waits for none of this */
#endif
}

/* What the packet that ends a message says, from its slot: bytes behind the wire header. A process
 * that changes the slot meanwhile harms nobody else: the receiver checks all of it. */
static inline uint32_t fill_short(uint32_t *h, const volatile uint32_t *w, uint32_t sender)
{
    uint32_t w0 = w[HALF(MESSAGE, 0)];
    h[4] = (w0 & ~(NICBED_AM2_MESSAGE_ENDPOINT_LO_MASK | NICBED_AM2_MESSAGE_NIC_LO_MASK)) | sender;
    h[5] = w[HALF(MESSAGE, 1)];
    h[6] = w[HALF(TAG, 0)];
    h[7] = w[HALF(TAG, 1)];
    if (UNLIKELY(with_data(w0))) {
        h[8] = w[HALF(PLACE, 0)];
        h[9] = w[HALF(PLACE, 1)];
    }
    uint32_t pairs = pairs_of(&w[HALF(MESSAGE, 0)]) & (NICBED_AM2_ARGUMENTS - 1);
    w += 2 * NICBED_AM2_ARGUMENT_WORD;
    h += 10;
    uint32_t bytes = SHORT_BYTES;
    for (; pairs; pairs--, h += 2, w -= 2) {
        h[0] = w[0];
        h[1] = w[1];
        bytes += 8;
    }
    return bytes;
}

/* A piece of a message's data, from `offset`: bytes behind the wire header. */
static APART uint32_t fetch(const struct stream *s, const struct message *m, uint32_t offset,
                            uint32_t i, uint32_t trace)
{
    uint32_t *h = stage_at(i), bytes = m->length - offset;
    if (bytes > settings.payload)
        bytes = settings.payload;
    uint32_t buffer = m->buffer + (s->reply ? NICBED_AM2_REQUEST_BUFFERS : 0);
    stage_state[i].fetched = dma_read(s->frame->k.send + buffer * LONG + offset, &h[6], bytes,
                                      trace);
    h[4] = offset;
    h[5] = 0;
    return bytes + NICBED_AM2_HEADER_BYTES;
}

/* A packet without data acknowledges what has come from where it goes. */
static inline uint32_t acknowledging(uint32_t *h, uint32_t node, uint32_t target, uint32_t reply)
{
    if (UNLIKELY(target >= settings.numbers))
        return 0;
    struct arrival *a = arrival_of(node, target, !reply);
    if (!a->owed)
        return 0;
    a->owed = 0;
    a->flags &= AGE - 1;
    h[8] = a->place;
    return NICBED_AM2_DETAIL_ACKS_MASK;
}

/* The next packet of a stream, which is sendable, into the free stage. */
static APART void stage(struct stream *s)
{
    struct frame *f = s->frame;
    struct message *m = message_at(s, s->current);
    uint16_t first = m->state == BEGUN ? m->first : s->next;
    uint32_t offset = UNLIKELY(m->length) ? half(s->next - first) << settings.shift : 0;
    uint32_t i = outgoing.staged & (STAGES - 1), node = s->node, bytes;
    uint32_t *h = stage_at(i), trace = trace_of(slot_of(f, s->current));
    uint32_t detail = s->reply ? NICBED_AM2_DETAIL_REPLY_MASK : 0;
    bool fetching = offset < m->length;
    if (UNLIKELY(fetching)) {
        bytes = fetch(s, m, offset, i, trace);
        detail |= NICBED_AM2_PACKET_DATA;
    } else {
        bytes = fill_short(h, slot_of(f, s->current), f->k.sender);
        if (!with_data(h[4]))
            detail |= acknowledging(h, node, m->target, s->reply);
    }
    if (UNLIKELY(s->flags & SYNC && s->next == 0))
        detail |= NICBED_AM2_DETAIL_SYNC_MASK;
    h[0] = route_to(node);
    ((uint16_t *)h)[NICBED_HEADER_LENGTH_LO_SHIFT / 16] = bytes;
    header_fill(h, node, detail);
    h[2] = s->place;
    h[3] = f->endpoint;
    ((uint8_t *)&h[3])[NICBED_AM2_HEADER_TARGET_HI_SHIFT / 8] = m->target;
    stage_state[i].bytes = 8 + bytes;
    stage_state[i].trace = trace;
    if (!fetching) {
        stage_state[i].fetched = engine_given[ENGINE_H2N];
        s->current = m->next;
        if (outgoing.staged == outgoing.launched)
            launch();
    }
    outgoing.staged++;
    m->first = first;
    m->state = BEGUN;
    if (s->base == s->next)
        s->deadline = now() + settings.timeout;
    s->next++;
    if (UNLIKELY(!(s->flags & LISTED)))
        stream_watch(s);
    if (s->current != NONE)
        stream_ready(s);
}

/* Frees stages that have left, until one is free. */
static inline bool stage_free(void)
{
    if (outgoing.staged - outgoing.freed < STAGES)
        return true;
    if (outgoing.launched == outgoing.freed
        || !link_sent(stage_state[outgoing.freed & (STAGES - 1)].left))
        return false;
    outgoing.freed++;
    return true;
}

/* Whether a packet may leave at once: none waits before it, and a stage is free. */
static inline bool idle(void)
{
    if (outgoing.head[0] || outgoing.head[1] || outgoing.staged != outgoing.launched
        || outgoing.held)
        return false;
    return stage_free();
}

/* Behind all others of its stream. */
void message_queue(struct frame *f, struct message *m)
{
    uint32_t slot = m->slot;
    struct stream *s = &f->streams[2 * m->node + is_reply(slot)];
    m->next = NONE;
    m->state = QUEUED;
    if (s->head == NONE)
        s->head = slot;
    else
        message_at(s, s->tail)->next = slot;
    s->tail = slot;
    if (s->current == NONE) {
        s->current = slot;
        if (idle() && sendable(s))
            stage(s);
        else
            stream_ready(s);
    }
}

static void launch_fetched(void)
{
    while (outgoing.launched != outgoing.staged
           && dma_read_done(stage_state[outgoing.launched & (STAGES - 1)].fetched))
        launch();
}

/* Gives the link what has been fetched, fetches what is next, replies first. The pending bits that
 * it waits for. */
uint32_t pump(void)
{
    launch_fetched();
    for (;;) {
        uint32_t reply = outgoing.head[1] != NULL;
        struct stream *s = outgoing.head[reply];
        if (!s)
            break;
        if (!stage_free())
            return NICBED_PENDING_H2N | NICBED_PENDING_SEND;
        outgoing.head[reply] = s->ready_link;
        s->flags &= ~READY;
        if (sendable(s))
            stage(s);
        launch_fetched();
    }
    return outgoing.launched == outgoing.staged ? 0 : NICBED_PENDING_H2N;
}

/* --- Acknowledgements, deadlines ---------------------------------------------------------------- */

/* Messages before sequence number `base` have arrived. */
static inline void complete(struct stream *s, uint32_t base)
{
    while (s->head != NONE) {
        struct message *m = message_at(s, s->head);
        uint32_t end = m->first + 1;
        if (UNLIKELY(m->length))
            end += (m->length + settings.payload - 1) >> settings.shift;
        if (m->state != BEGUN || before(base, end))
            break;
        if (s->current == s->head)
            s->current = m->next;
        s->head = m->next;
        done(s->frame, m);
    }
}

static RARE void refused(struct stream *s, uint32_t reason)
{
    switch (reason) {
    case NACK(GAP):
        stream_lost(s);
        return;
    case NACK(FULL):
    case NACK(OUT):
    case NACK(ABSENT):
        if (s->flags & BACKING_OFF || s->head == NONE)
            return;
        if (reason != NACK(ABSENT)) {
            s->tries = 0;
        } else if (++s->tries > settings.patience) {
            stream_fail(s, RETURNED(BADENDPOINT), false);
            return;
        }
        counters.waits++;
        stream_rewind(s);
        s->flags |= BACKING_OFF | REFUSED;
        s->deadline = now() + settings.tick;
        return;
    case NACK(CLOSED):
        stream_fail(s, RETURNED(BADENDPOINT), false);
        return;
    case NACK(ENDED):
        stream_fail(s, RETURNED(UNREACHABLE), false);
        return;
    case NACK(TAG):
        stream_fail(s, RETURNED(BADTAG), false);
        return;
    case NACK(REJECTED):
        stream_fail(s, RETURNED(BADARGS), false);
        return;
    }
}

/* Packets before the sequence number in `word` have arrived; false: it is of another epoch. */
APART bool progressed(struct stream *s, const uint32_t *word)
{
    uint32_t place = *word, progress = half(place - s->base);
    if (UNLIKELY(s->epoch != ((const volatile uint16_t *)word)[1] || progress > settings.window))
        return false;
    if (progress) {
        s->base = place;
        s->tries = 0;
        s->flags &= ~(SYNC | REFUSED);
        s->deadline = now() + settings.timeout;
        if (before(s->next, place))
            s->next = place;
        complete(s, place);
        if (s->current != NONE)
            stream_ready(s);
    }
    return true;
}

/* An ACK or NACK has come. `packet`: as the engine RECEIVE left it. */
RARE void acknowledged(struct stream *s, const uint32_t *packet)
{
    uint32_t detail = packet[3] >> NICBED_HEADER_DETAIL_HI_SHIFT;
    if (!progressed(s, &packet[4]))
        return;
    if (FIELD(detail, DETAIL_KIND) == NICBED_AM2_PACKET_NACK)
        refused(s, packet[6]);
    else if (detail & NICBED_AM2_DETAIL_ANSWERS_MASK)
        answered(s, packet[6]);
    stream_ready(s);
}

/* A stream's deadline has passed with packets out. */
static RARE void stream_late(struct stream *s)
{
    s->tries += 8;
    if (s->tries > settings.patience) {
        stream_fail(s, RETURNED(UNREACHABLE), true);
        return;
    }
    uint32_t passed = s->tries >> 3;
    s->deadline = now() + (settings.timeout << (passed < 3 ? passed : 3));
    peers[s->node].calm = 0;
    if (passed <= peers[s->node].patience)
        return;
    peers[s->node].patience = passed;
    stream_ask(s);
}

static RARE void laggards(void)
{
    for (struct frame *f = frames; f < frames_end; f++)
        if (f->open && f->k.returning)
            give_back_again(f);
    for (struct endpoint *e = endpoints; e < endpoints + settings.numbers; e++) {
        if (e->state == OUTSIDE && e->patience && !--e->patience) {
            lagging--;
            endpoint_want(e);
        }
    }
}

/* The timer has come: looks at the deadlines of all streams that have packets out, at messages that
 * found no room on their way back, and at endpoints that are out with messages on their way. */
APART void tick(void)
{
    struct stream **link = &busy_head;
    while (*link) {
        struct stream *s = *link;
        if (s->head == NONE) {
            if (peers[s->node].patience && !(++peers[s->node].calm % CALM))
                peers[s->node].patience--;
            s->flags &= ~LISTED;
            *link = s->busy_link;
            continue;
        }
        link = &s->busy_link;
        if (!reached(s->deadline))
            continue;
        s->deadline = now() + settings.timeout;
        if (s->flags & BACKING_OFF)
            s->flags &= ~BACKING_OFF;
        else if (s->base != s->next)
            stream_late(s);
        stream_ready(s);
    }
    if (lagging)
        laggards();
    ticking = busy_head || lagging;
    if (ticking)
        timer_set(now() + settings.tick);
    else
        timer_off();
}

RARE void sending_open(void)
{
    uint32_t bytes = 2 * settings.nics * sizeof(struct stream);
    for (struct frame *f = frames; f < frames_end; f++)
        f->streams = take_memory(bytes, 8);
}
