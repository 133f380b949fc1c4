/* From descriptors to packets: checked, fetched into a stage while the packet before is on the
 * link, told that they are over.
 *
 * A stage's way: taken (`staged`), its data asked for, given to the link once they are there
 * (`launched`), free again once they have left (`freed`). All three count up.
 */
#include "unet.h"

/* Numbers of a channel's messages wrap behind this one. */
enum { NUMBERS = NICBED_UNET_HEADER_MESSAGE_LO_MASK >> NICBED_UNET_HEADER_MESSAGE_LO_SHIFT };

static struct packet stages[STAGES] __attribute__((aligned(8)));
static struct {
    ticket_t fetched, left;
    uint32_t bytes, trace;
    struct endpoint *over; /* its descriptor is over with this packet; NULL: it is not */
} stage_state[STAGES];
struct outgoing outgoing;
uint32_t wanting;
static uint32_t turn_of; /* the endpoint that had the last turn */

static inline void launch(void)
{
    uint32_t i = outgoing.launched++ & (STAGES - 1);
    work(settings.work_send);
    stage_state[i].left = link_send(&stages[i], stage_state[i].bytes, stage_state[i].trace);
    if (stage_state[i].over && stage_state[i].over->open)
        descriptor_over(stage_state[i].over, STATUS(DONE));
}

static void launch_fetched(void)
{
    while (outgoing.launched != outgoing.staged
           && dma_read_done(stage_state[outgoing.launched & (STAGES - 1)].fetched))
        launch();
}

/* What is wrong with the descriptor `w`, or DONE, and the message has what it says. Each field is
 * read once. */
static inline uint32_t check(struct endpoint *e, const volatile uint32_t *w)
{
    struct message *m = &e->message;
    uint32_t w0 = w[0], channel = FIELD(w0, SEND_CHANNEL_LO);
    struct channel *c = &channels[channel & (CHANNELS - 1)];
    m->length = w0 & NICBED_UNET_SEND_LENGTH_LO_MASK;
    m->trace = w[1] >> NICBED_UNET_SEND_TRACE_HI_SHIFT;
    m->inlined = (w0 & NICBED_UNET_SEND_INLINED_LO_MASK) != 0;
    m->placed = (w0 & NICBED_UNET_SEND_PLACED_LO_MASK) != 0;
    m->channel = channel;
    m->offset = 0;
    m->packet = 0;
    if (channel >= CHANNELS || c->endpoint != e->number + 1)
        return STATUS(BAD_CHANNEL);
    if (m->inlined) {
        if (m->length > INLINE || m->placed)
            return STATUS(BAD_LENGTH);
        m->data = (const uint32_t *)&w[2];
    } else {
        if (m->length > NICBED_UNET_MAX_MESSAGE)
            return STATUS(BAD_LENGTH);
        m->place = w[2];
        m->there = w[4];
        if (w[3] || !within(e, m->place, m->length)
            || (m->placed && settings.buffers == NICBED_UNET_BUFFERS_SEGMENT))
            return STATUS(BAD_ADDRESS);
    }
    m->number = c->number;
    c->number = (c->number + 1) & NUMBERS;
    m->active = 1;
    return STATUS(DONE);
}

/* The next packet of the endpoint's message into the free stage; false if there is none now. */
static APART bool stage(struct endpoint *e)
{
    struct message *m = &e->message;
    uint32_t status = STATUS(DONE);
    if (!m->active) {
        uint64_t *slot = queue_peek(&e->queue);
        if (!slot || e->queue.next != e->queue.taken) {
            if (!slot)
                wanting &= ~(1u << e->number);
            return false;
        }
        status = check(e, (const volatile uint32_t *)slot);
        e->queue.next++;
        if (status != STATUS(DONE)) {
            descriptor_over(e, status);
            return true;
        }
    }
    uint32_t i = outgoing.staged & (STAGES - 1);
    uint32_t *h = (uint32_t *)&stages[i];
    struct channel *c = &channels[m->channel];
    uint32_t bytes = m->length - m->offset, detail = 0;
    if (bytes > settings.payload)
        bytes = settings.payload;
    else
        detail = NICBED_UNET_DETAIL_LAST_MASK;
    bool fetching = false;
    if (c->endpoint != e->number + 1) {
        status = STATUS(BAD_CHANNEL); /* it was closed meanwhile */
    } else if (m->inlined) {
        copy_words(&h[HEADER_WORDS], m->data, (bytes + 7) >> 3);
    } else if (bytes) {
        struct span s;
        if (span_find(&s, e, m->place + m->offset, bytes)) {
            stage_state[i].fetched = dma_read(s.at, &h[HEADER_WORDS], s.bytes, m->trace);
            if (s.bytes != bytes)
                stage_state[i].fetched = dma_read(s.behind, (char *)&h[HEADER_WORDS] + s.bytes,
                                                  bytes - s.bytes, m->trace);
            fetching = true;
        } else {
            status = STATUS(BAD_ADDRESS);
        }
    }
    if (!e->open)
        return false;
    if (status != STATUS(DONE)) {
        descriptor_over(e, status);
        return true;
    }
    if (m->offset == 0)
        detail |= NICBED_UNET_DETAIL_FIRST_MASK;
    h[3] = 0;
    if (m->placed) {
        detail |= NICBED_UNET_DETAIL_PLACED_MASK;
        h[3] = m->there + m->offset;
    }
    h[0] = settings.route[c->node]
           | (bytes + NICBED_UNET_HEADER_BYTES) << NICBED_HEADER_LENGTH_LO_SHIFT;
    h[1] = settings.node | c->node << NICBED_HEADER_DESTINATION_HI_SHIFT
           | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    h[2] = c->out | PLACE(m->number, HEADER_MESSAGE_LO) | PLACE(m->packet, HEADER_PACKET_LO);
    stage_state[i].bytes = HEADER_BYTES + bytes;
    stage_state[i].trace = m->trace;
    stage_state[i].over = detail & NICBED_UNET_DETAIL_LAST_MASK ? e : NULL;
    m->offset += bytes;
    m->packet++;
    if (stage_state[i].over)
        m->active = 0;
    if (outgoing.staged++ == outgoing.launched && !fetching)
        launch();
    else if (!fetching)
        stage_state[i].fetched = engine_given[ENGINE_H2N];
    return true;
}

/* The turn goes to the next of these endpoints. */
static RARE void next_turn(uint32_t endpoints_left)
{
    do {
        turn_of = turn_of + 1 == ENDPOINTS ? 0 : turn_of + 1;
    } while (!(endpoints_left >> turn_of & 1));
}

/* Gives the link what has been fetched, fetches what is next, endpoint after endpoint. The pending
 * bits that it waits for. */
uint32_t pump(void)
{
    uint32_t left = wanting; /* endpoints that have not been looked at since one had a packet */
    launch_fetched();
    while (left) {
        if (outgoing.staged - outgoing.freed == STAGES) {
            if (outgoing.launched == outgoing.freed
                || !link_sent(stage_state[outgoing.freed & (STAGES - 1)].left))
                return NICBED_PENDING_H2N | NICBED_PENDING_SEND;
            outgoing.freed++;
        }
        if (left != 1u << turn_of)
            next_turn(left);
        left &= ~(1u << turn_of);
        if (!endpoints[turn_of].open)
            wanting &= ~(1u << turn_of);
        else if (stage(&endpoints[turn_of]))
            left = wanting;
        if (outgoing.launched != outgoing.staged)
            launch_fetched();
    }
    return outgoing.launched == outgoing.staged ? 0 : NICBED_PENDING_H2N;
}
