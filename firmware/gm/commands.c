/* Commands of a port's program. Nothing in them is trusted: each field is read once and checked. */
#include "gm.h"

/* SEND, DIRECTED: what is wrong with it, or GM_SUCCESS and it is filled in but for `stream`. */
static uint32_t check(struct port *p, struct message *m, const volatile uint32_t *w, uint32_t w0)
{
    uint32_t length = w[6];
    m->flags = 0;
    m->length = length;
    if (m->target >= PORTS || m->size < NICBED_GM_MIN_SIZE || m->size > NICBED_GM_MAX_SIZE
        || length > (1u << m->size) - NICBED_GM_SIZE_OVERHEAD)
        return STATUS(INVALID_PARAMETER);
    if ((w0 & NICBED_GM_COMMAND_KIND_LO_MASK) == KIND(DIRECTED)) {
        m->flags = DIRECTED;
        m->word[1] = w[4];
        m->word[2] = w[5];
    } else if (w0 & NICBED_GM_COMMAND_INLINED_LO_MASK) {
        if (length > NICBED_GM_INLINE)
            return STATUS(INVALID_PARAMETER);
        m->flags = INLINED;
        m->place = w[2];
        m->word[0] = w[3];
        m->word[1] = w[4];
        m->word[2] = w[5];
        return STATUS(SUCCESS);
    }
    if (length && !place_of(p, w[2], w[3], &m->place)) {
        counters.faults++;
        return STATUS(MEMORY_FAULT);
    }
    return STATUS(SUCCESS);
}

/* Sends that were stopped because of port `target` of stream `number`'s node go on, or are
 * dropped. */
static RARE void unblock(struct port *p, uint32_t number, uint32_t target, bool drop)
{
    uint8_t at = p->stopped;
    p->stopped = p->stopped_tail = NONE;
    p->blocked[STREAM_PRIORITY(number)][STREAM_NODE(number)] &= ~(1u << target);
    while (at != NONE) {
        struct message *m = &messages[at];
        at = m->next;
        if (drop && m->stream == number && m->target == target)
            sent(m, STATUS(SEND_DROPPED));
        else
            message_queue(m);
    }
}

/* Commands that take a send token. */
static void with_token(struct port *p, uint32_t port, const volatile uint32_t *w, uint32_t w0)
{
    uint32_t w1 = w[1], token = w[7] & NICBED_GM_COMMAND_END_TOKEN_HI_MASK;
    uint32_t to = w1 & NICBED_GM_COMMAND_NODE_HI_MASK;
    struct message *m = message_of(port, token);
    if (token >= p->send_tokens || m->state != FREE) {
        counters.malformed++;
        return;
    }
    m->trace = w1 >> NICBED_GM_COMMAND_TRACE_HI_SHIFT;
    m->target = FIELD(w0, COMMAND_PORT_LO);
    m->size = FIELD(w0, COMMAND_SIZE_LO);
    m->stream = stream_number(FIELD(w0, COMMAND_PRIORITY_LO), to & (NODES - 1), port);
    uint32_t kind = w0 & NICBED_GM_COMMAND_KIND_LO_MASK, status;
    if (to >= settings.nodes) {
        m->length = 0;
        status = STATUS(INVALID_PARAMETER);
    } else if (kind == KIND(SEND) || kind == KIND(DIRECTED)) {
        status = check(p, m, w, w0);
        if (status == STATUS(SUCCESS)) {
            message_queue(m);
            return;
        }
    } else {
        m->length = 0;
        status = STATUS(INVALID_PARAMETER);
        if (m->target < PORTS) {
            unblock(p, m->stream, m->target, kind == KIND(DROP));
            status = STATUS(SUCCESS);
        }
    }
    sent(m, status);
}

static void receive(struct port *p, uint32_t port, const volatile uint32_t *w, uint32_t w0)
{
    uint32_t token = w[7] & NICBED_GM_COMMAND_END_TOKEN_HI_MASK;
    uint32_t size = FIELD(w0, COMMAND_SIZE_LO), status = STATUS(INVALID_PARAMETER);
    struct buffer *b = buffer_of(port, token);
    if (token >= p->receive_tokens || b->state != ABSENT) {
        counters.malformed++;
        return;
    }
    if (size >= NICBED_GM_MIN_SIZE && size <= NICBED_GM_MAX_SIZE) {
        b->size = size | FIELD(w0, COMMAND_PRIORITY_LO) << 5;
        b->tag = w[4];
        if (place_of(p, w[2], w[3], &b->place)
            && registered(p, b->place, (1u << size) - NICBED_GM_SIZE_OVERHEAD)) {
            buffer_provide(port, token);
            return;
        }
        status = STATUS(MEMORY_FAULT);
    }
    event_put(p, PLACE(NICBED_GM_EVENT_KIND_REFUSED, EVENT_KIND_LO)
              | PLACE(token, EVENT_TOKEN_LO), 0, 0, 0, PLACE(status, EVENT_END_STATUS_HI));
}

static void command(struct port *p, uint32_t port, const volatile uint32_t *w)
{
    uint32_t w0 = w[0];
    switch (w0 & NICBED_GM_COMMAND_KIND_LO_MASK) {
    case KIND(SEND):
    case KIND(DIRECTED):
    case KIND(RESUME):
    case KIND(DROP):
        with_token(p, port, w, w0);
        return;
    case KIND(RECEIVE):
        receive(p, port, w, w0);
        return;
    case KIND(ARM):
        p->armed = w[2] == p->put;
        if (!p->armed) {
            dma_write_wait(engine_given[ENGINE_N2H]);
            host_interrupt();
        }
        return;
    case KIND(ACCEPT):
        p->accept[FIELD(w0, COMMAND_PRIORITY_LO)] = w[2];
        return;
    case KIND(ALLOW):
        p->allowed = w[2] & 1;
        return;
    default:
        counters.malformed++;
    }
}

/* What waits in the port's queue, but no more than it holds: a program that posts without end does
 * not have the NIC for itself. Whether that was all. */
APART bool commands(struct port *p)
{
    for (uint32_t left = NICBED_GM_QUEUE_SLOTS; left; left--) {
        uint64_t *slot = queue_next(&p->queue);
        if (!slot)
            return true;
        command(p, p->number, (const volatile uint32_t *)slot);
        queue_taken(&p->queue);
    }
    return false;
}
