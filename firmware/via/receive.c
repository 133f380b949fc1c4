/* Receiving: packets are checked, scattered, acknowledged, completed. */
#include "via_fw.h"

enum { BUFFERS = 4, BEHIND = 32 }; /* BEHIND: unreliable packets up to so far back are duplicates */

/* A packet, taken apart. */
struct packet {
    uint32_t kind, detail, sequence, immediate;
    uint32_t low, high, handle; /* where an RDMA goes */
    const char *data;
    uint32_t bytes, trace;
};

/* What a packet's taking came to: whether it breaks a reliable connection (an unreliable message is
 * dropped), with what `code`, and what else the kernel agent is told. */
enum { FINE = 0xFFFFFFFFu, NO_EVENT = 0xFFFFFFFFu };
struct fatal {
    uint32_t code, event, breaks;
};

static uint32_t *buffers[BUFFERS];
static ticket_t arrival[BUFFERS], written[BUFFERS];
static uint32_t buffer_bytes, head, posted; /* modulo 2^32 */
static struct fatal fatal;

static void fail(uint32_t code, uint32_t event)
{
    fatal.code = code;
    fatal.event = event;
}

/* Gives the engine the buffers that host memory has all of. */
void receive_replenish(void)
{
    while (posted - head < BUFFERS && dma_write_done(written[posted % BUFFERS])) {
        uint32_t at = posted++ % BUFFERS;
        arrival[at] = link_receive(buffers[at], buffer_bytes);
    }
}

void receive_open(void)
{
    buffer_bytes = 8 + NICBED_HEADER_BYTES + 16 + set.mtu;
    for (uint32_t i = 0; i < BUFFERS; i++)
        buffers[i] = take_memory(buffer_bytes, 8);
    receive_replenish();
}

/* Completes the receive descriptor taken. With an error after some has landed: PARTIAL. */
static void over(struct vi *vi, uint32_t operation, uint32_t length, uint32_t status,
                 const struct packet *immediate)
{
    vi->kind = NO_KIND;
    if (status && length)
        status |= NICBED_VIA_STATUS_PARTIAL;
    if (immediate && immediate->detail & NICBED_VIA_DETAIL_IMMEDIATE_MASK)
        status |= NICBED_VIA_STATUS_IMMEDIATE;
    complete(vi, RECEIVE_QUEUE, length, status | operation << OPERATION,
             immediate ? immediate->immediate : 0);
}

/* The receive descriptor for a message: the one held from an abandoned one, or the next. */
static bool descriptor(struct vi *vi, uint32_t operation)
{
    struct message *m = &vi->receiving;
    if (!m->taken) {
        enum taken found = take(vi, RECEIVE_QUEUE);
        if (found == UNREADABLE) {
            fatal.breaks = NICBED_VIA_CODE_POST_DESC;
            fail(NICBED_VIA_BREAK_LOST, NO_EVENT);
            return false;
        }
        if (found == NOTHING) {
            count(COUNT_DROPPED);
            fail(NICBED_VIA_BREAK_LOST, vi->reliable ? NO_EVENT : NICBED_VIA_CODE_RECVQ_EMPTY);
            return false;
        }
    }
    walk_begin(m, 0);
    if (format_error(m, true)) {
        over(vi, operation, 0, NICBED_VIA_STATUS_FORMAT, NULL);
        fail(NICBED_VIA_BREAK_LOST, NO_EVENT);
        return false;
    }
    return true;
}

/* A part of a send goes to the segments of a receive descriptor. */
static void take_send(struct vi *vi, const struct packet *p)
{
    struct message *m = &vi->receiving;
    if (p->detail & NICBED_VIA_DETAIL_FIRST_MASK) {
        vi->kind = NO_KIND;
        if (!descriptor(vi, NICBED_VIA_REMOTE_RECEIVE))
            return;
        vi->kind = NICBED_VIA_PACKET_SEND;
    } else if (vi->kind != NICBED_VIA_PACKET_SEND) {
        return;
    }
    m->trace = p->trace;
    uint32_t status = scatter(vi, m, p->data, p->bytes);
    if (status) {
        over(vi, NICBED_VIA_REMOTE_RECEIVE, m->moved, status, NULL);
        fail(status == NICBED_VIA_STATUS_LENGTH ? NICBED_VIA_BREAK_REMOTE_DESCRIPTOR
                                                : NICBED_VIA_BREAK_LOST, NO_EVENT);
    } else if (p->detail & NICBED_VIA_DETAIL_LAST_MASK) {
        over(vi, NICBED_VIA_REMOTE_RECEIVE, m->moved, 0, p);
    }
}

/* A part of an RDMA write goes to its own address; the last with immediate data completes a receive
 * descriptor. */
static void take_write(struct vi *vi, const struct packet *p)
{
    bool immediate = p->detail & NICBED_VIA_DETAIL_IMMEDIATE_MASK;
    uint32_t now_written = 0;
    if (p->detail & NICBED_VIA_DETAIL_FIRST_MASK) {
        vi->kind = NICBED_VIA_PACKET_RDMA_WRITE;
        vi->written = 0;
    } else if (vi->kind != NICBED_VIA_PACKET_RDMA_WRITE) {
        return;
    }
    if (vi->rdma_write)
        now_written = write_remote(vi, p->low, p->high, p->handle, p->data, p->bytes, p->trace);
    vi->written += now_written;
    if (!vi->rdma_write || now_written < p->bytes) {
        uint32_t told = NICBED_VIA_CODE_RDMAW_PROT;
        vi->kind = NO_KIND;
        if (immediate && (vi->receiving.taken || vi->queue[RECEIVE_QUEUE].pending)) {
            if (!descriptor(vi, NICBED_VIA_REMOTE_REMOTE_RDMA_WRITE))
                return;
            over(vi, NICBED_VIA_REMOTE_REMOTE_RDMA_WRITE, 0, NICBED_VIA_STATUS_RDMA_PROTECTION
                 | (vi->written ? NICBED_VIA_STATUS_PARTIAL : 0), NULL);
            told = NO_EVENT;
        }
        fail(NICBED_VIA_BREAK_RDMA_PROTECTION, told);
    } else if (p->detail & NICBED_VIA_DETAIL_LAST_MASK) {
        vi->kind = NO_KIND;
        if (immediate && descriptor(vi, NICBED_VIA_REMOTE_REMOTE_RDMA_WRITE))
            over(vi, NICBED_VIA_REMOTE_REMOTE_RDMA_WRITE, vi->written, 0, p);
    }
}

/* Whether this is the packet that comes next. Unreliable: any but those just before it; a hole
 * abandons the message begun. */
static bool in_sequence(struct vi *vi, const struct packet *p)
{
    uint32_t ahead = (p->sequence - vi->expected) & 0xFF;
    if (!vi->reliable) {
        if (ahead >= 256 - BEHIND) {
            count(COUNT_DUPLICATES);
            return false;
        }
        if (ahead) {
            vi->kind = NO_KIND;
            if (!(p->detail & NICBED_VIA_DETAIL_FIRST_MASK))
                count(COUNT_GAPS);
        }
        vi->expected = (uint8_t)(p->sequence + 1);
        return true;
    }
    if (!ahead) {
        vi->told = false;
        return true;
    }
    if (ahead >= 128) {
        count(COUNT_DUPLICATES);
        owe(vi, OWE_ACK);
    } else {
        count(COUNT_GAPS);
        if (!vi->told) {
            vi->told = true;
            owe(vi, OWE_NAK);
        }
    }
    return false;
}

static void take_packet(struct vi *vi, const struct packet *p)
{
    fatal.code = FINE;
    fatal.breaks = NICBED_VIA_CODE_CONN_LOST;
    if (p->kind == NICBED_VIA_PACKET_SEND)
        take_send(vi, p);
    else if (p->kind == NICBED_VIA_PACKET_RDMA_WRITE)
        take_write(vi, p);
    else if (p->kind == NICBED_VIA_PACKET_READ_REQUEST)
        fail(NICBED_VIA_BREAK_RDMA_PROTECTION, NICBED_VIA_CODE_RDMAR_PROT);
    if (fatal.code != FINE) {
        if (fatal.event != NO_EVENT)
            event(fatal.event, vi->number);
        if (vi->reliable)
            owe_break(vi, p->sequence, fatal.code);
        if (vi->reliable || fatal.breaks != NICBED_VIA_CODE_CONN_LOST)
            break_vi(vi, fatal.breaks);
    }
    if (vi->state == NICBED_VI_STATE_CONNECTED && vi->reliable) {
        vi->expected = (uint8_t)(p->sequence + 1);
        if (p->detail & NICBED_VIA_DETAIL_ACKNOWLEDGE_MASK)
            owe(vi, OWE_ACK);
    }
}

static void arrive(const uint32_t *words)
{
    struct packet p;
    uint32_t bytes = received_length((const uint64_t *)words), rest = 8;
    uint32_t number = words[4] & NICBED_VIA_HEADER_DESTINATION_LO_MASK;
    uint32_t source = FIELD((uint64_t)words[4], VIA_HEADER_SOURCE);
    struct vi *vi = &vis[number];
    p.detail = words[3] >> NICBED_HEADER_DETAIL_HI_SHIFT;
    p.kind = p.detail & NICBED_VIA_DETAIL_KIND_MASK;
    p.sequence = words[4] >> NICBED_VIA_HEADER_SEQUENCE_SHIFT;
    p.immediate = words[5];
    if (p.kind == NICBED_VIA_PACKET_RDMA_WRITE || p.kind == NICBED_VIA_PACKET_READ_REQUEST) {
        p.low = words[6];
        p.high = words[7] & ((1u << (NICBED_VIA_VA_BITS - 32)) - 1);
        p.handle = words[7] >> (NICBED_VIA_VA_BITS - 32);
        rest = 16;
    }
    if (bytes < rest || bytes > 16 + set.mtu || p.kind > NICBED_VIA_PACKET_PROBE
        || number >= set.vis || vi->state != NICBED_VI_STATE_CONNECTED
        || vi->node != (words[3] & NICBED_HEADER_SOURCE_HI_MASK) || vi->peer != source
        || (!vi->reliable && p.kind > NICBED_VIA_PACKET_RDMA_WRITE)) {
        count(COUNT_UNMATCHED);
        return;
    }
    if (p.kind == NICBED_VIA_PACKET_ACK || p.kind == NICBED_VIA_PACKET_NAK) {
        acknowledged(vi, p.sequence, p.kind == NICBED_VIA_PACKET_NAK);
        if (p.detail & NICBED_VIA_DETAIL_ACKNOWLEDGE_MASK)
            answered(vi, p.immediate);
        return;
    }
    if (p.kind == NICBED_VIA_PACKET_PROBE) {
        vi->echo = (uint8_t)p.immediate;
        owe(vi, OWE_ANSWER);
        return;
    }
    if (p.kind == NICBED_VIA_PACKET_BREAK) {
        broken(vi, p.immediate);
        return;
    }
    p.data = (const char *)(words + 4) + rest;
    p.bytes = bytes - rest;
    p.trace = received_trace((const uint64_t *)words);
#ifdef VIA_WORK_RECEIVE
    work(set.work_receive);
#endif
    if (in_sequence(vi, &p))
        take_packet(vi, &p);
}

/* Takes a packet if one has come; whether the next one has. */
bool receive_serve(void)
{
    if (head != posted && link_received(arrival[head % BUFFERS])) {
        arrive(buffers[head % BUFFERS]);
        written[head++ % BUFFERS] = engine_given[ENGINE_N2H];
    }
    receive_replenish();
    return head != posted && link_received(arrival[head % BUFFERS]);
}

/* Whether all buffers wait for host memory. */
bool receive_starved(void) { return head == posted; }
