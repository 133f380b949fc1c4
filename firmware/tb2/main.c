/* Firmware tb2: Active Messages through entries in host memory, as on the SP-2's adapter TB2.
 *
 * Small messages and the packets of bulk data go the same way:
 *  1. the CPU stores the packet into the next entry of the send queue, in host memory, through its
 *     cache: send word, Active Messages header, words or data;
 *  2. the CPU writes its length into an array in NIC memory, by PIO; a write of 8 bytes has the
 *     lengths of four entries;
 *  3. pull(): a length of this lap is seen; the engine H2N gets that many bytes into a stage;
 *  4. arrive(): the entry is free, and the packet's delay begins (`work_send`);
 *  5. send(): the delay is over; wire header, and the link takes the packet out of the stage;
 *  6. receive(): at its destination a packet is put into the next entry of the receive queue, the
 *     ring in host memory that the CPU polls; how many it has taken the CPU writes into NIC memory,
 *     for several at once.
 *
 * A length has a lap bit, which differs from one lap of the array to the next, so the lengths of
 * four entries can be written again when only some of them are new. Packets leave in the order of
 * their entries. A stage has one command of H2N and one of SEND at most, so there are as many as
 * those engines queue and nothing here waits for the link. The number of entries that were got is
 * written to host memory, a quarter of the queue at a time. Every length and entry is checked;
 * malformed ones are counted and dropped.
 */
#include "ring.h"
#include "send_word.h"

#define ENTRIES 128 /* at most; a power of two, as is what the host sets */
#define STAGES NICBED_ENGINE_QUEUE
#define BUFFERS NICBED_ENGINE_QUEUE
#define LAP (-0x8000) /* the sign bit of a length */
#define RECEIVES_ONLY (NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H)
#define RECEIVES (RECEIVES_ONLY | NICBED_PENDING_WINDOW)
#define LEAST_BYTES (NICBED_HEADER_BYTES + 16)

struct lengths { volatile int16_t of[ENTRIES]; };

/* Set by the host program: entries of the send queue, its address, the stride of its entries,
 * where the number of entries that were got is written; the receive queue; NIC cycles of the
 * target's clock from a packet's arrival in its stage until it leaves, at least. */
PARAMETER(send_entries);
PARAMETER(send_base);
PARAMETER(send_bytes);
PARAMETER(send_report);
PARAMETER(receive_base);
PARAMETER(receive_entries);
PARAMETER(receive_bytes);
PARAMETER(nodes);
PARAMETER(mtu);
PARAMETER(work_send);

PAGED(struct lengths, lengths);

struct tb2 {
    struct ring ring; /* first: its `taken` is the host's */
    uint64_t entries_malformed, packets_malformed; /* numbers of those dropped */
    uint64_t report_word;
    uint32_t mask; /* bits that end a wait */
    int32_t lap; /* of the next entry: its sign is that of a new length */
    uint32_t index, entry, entries, send_base, send_bytes; /* the next entry; the queue */
    uint32_t pulled, arrived, sent; /* entries, each so far */
    uint32_t reported, report_at, report;
    uint32_t most_bytes, nodes, work_send, identity;
    ticket_t done; /* commands of the engine SEND that had ended at the last check */
    struct stage {
        uint32_t *packet;
        uint32_t bytes; /* 0: to be dropped */
        uint32_t due; /* when it may leave */
        ticket_t pulled, sent;
    } stages[STAGES], *into, *coming, *out; /* of the next entry to be got; to arrive; to leave */
    uint32_t received, recycled; /* packets put into the ring; buffers given to RECEIVE again */
    uint32_t ring_free, buffer_bytes;
    struct buffer { uint64_t *packet; ticket_t put; } buffers[BUFFERS], *in, *back;
};

SHARED(struct tb2, tb2);

static inline struct stage *stage_behind(struct stage *stage)
{
    return stage == tb2.stages + STAGES - 1 ? tb2.stages : stage + 1;
}

static inline struct buffer *buffer_behind(struct buffer *buffer)
{
    return buffer == tb2.buffers + BUFFERS - 1 ? tb2.buffers : buffer + 1;
}

/* --- From the send queue to the link ----------------------------------------------------------- */

/* Gets the entries whose lengths are new, as far as stages are free. Returns whether all of them
 * have a packet that is to be sent. */
static inline bool pull(void)
{
    for (;;) {
        int32_t length = lengths.of[tb2.index];
        if ((length ^ tb2.lap) < 0)
            return false;
        if (tb2.pulled - tb2.sent == STAGES)
            return true;
        struct stage *stage = tb2.into;
        if ((int32_t)(tb2.done - stage->sent) < 0) {
            tb2.done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
            if ((int32_t)(tb2.done - stage->sent) < 0) {
                tb2.mask |= NICBED_PENDING_SEND;
                return false;
            }
        }
        uint32_t bytes = length & ~LAP;
        if (bytes - LEAST_BYTES <= tb2.most_bytes - LEAST_BYTES) {
            stage->bytes = bytes;
            stage->pulled = dma_read(tb2.entry, stage->packet, bytes, 0);
        } else {
            stage->bytes = 0;
            stage->pulled = engine_given[ENGINE_H2N];
        }
        tb2.into = stage_behind(stage);
        tb2.pulled++;
        tb2.entry += tb2.send_bytes;
        if (++tb2.index == tb2.entries) {
            tb2.index = 0;
            tb2.entry = tb2.send_base;
            tb2.lap = ~tb2.lap;
        }
    }
}

/* Notes which entries have arrived. If pull() waits for a stage that SEND reads, that is time
 * enough to look again; so it is for send(). */
static inline void arrive(void)
{
    while (tb2.arrived != tb2.pulled) {
        struct stage *stage = tb2.coming;
        if (!dma_read_done(stage->pulled)) {
            if (!(tb2.mask & NICBED_PENDING_SEND))
                tb2.mask |= NICBED_PENDING_H2N;
            break;
        }
        stage->due = now() + tb2.work_send;
        tb2.coming = stage_behind(stage);
        tb2.arrived++;
    }
    if (tb2.arrived - tb2.reported >= tb2.report_at) {
        tb2.report_word = tb2.reported = tb2.arrived;
        dma_write(&tb2.report_word, tb2.report, 8, 0);
    }
}

/* Sends the packets whose delay is over. */
static inline void send(void)
{
    while (tb2.sent != tb2.arrived) {
        struct stage *stage = tb2.out;
        if (tb2.work_send && !reached(stage->due)) {
            if (!(tb2.mask & NICBED_PENDING_SEND)) {
                timer_set(stage->due);
                tb2.mask |= NICBED_PENDING_TIMER;
            }
            return;
        }
        uint32_t *packet = stage->packet, bytes = stage->bytes;
        struct send_word word = send_word((uint64_t *)packet);
        tb2.out = stage_behind(stage);
        tb2.sent++;
        if (!bytes || word_destination(word) >= tb2.nodes) {
            tb2.entries_malformed++;
            continue;
        }
        /* All but the route: the upper half of its word. */
        ((uint16_t *)packet)[1] = (uint16_t)(bytes - NICBED_HEADER_BYTES);
        packet[1] = word_destination(word) << NICBED_HEADER_DESTINATION_HI_SHIFT | tb2.identity;
        stage->sent = link_send(packet, bytes, word_trace(word));
    }
}

/* --- From the link to the receive queue -------------------------------------------------------- */

/* Gives buffers that the engine N2H has read to the engine RECEIVE again. */
static inline void recycle(void)
{
    ticket_t done = reg_read(ENGINE_REGISTER(ENGINE_N2H, DONE));
    barrier();
    while (tb2.recycled != tb2.received) {
        struct buffer *buffer = tb2.back;
        if ((int32_t)(done - buffer->put) < 0)
            break;
        tb2.back = buffer_behind(buffer);
        link_receive(buffer->packet, tb2.buffer_bytes);
        tb2.recycled++;
    }
    if (tb2.received - tb2.recycled >= BUFFERS / 2)
        tb2.mask |= NICBED_PENDING_N2H;
}

/* As ring_put(), without its shifts: the core shifts a bit a cycle. */
static inline ticket_t put(uint64_t *packet, uint32_t bytes)
{
    uint8_t *byte = (uint8_t *)packet;
    uint16_t *half = (uint16_t *)packet;
    uint32_t number = tb2.ring.put, index = number & (tb2.ring.entries - 1), at = tb2.ring.at;
    uint32_t trace = byte[NICBED_COMPLETION_TRACE_SHIFT / 8] | (uint32_t)half[2] << 8;
    byte[0] = !(number & tb2.ring.entries);
    half[NICBED_COMPLETION_INDEX_SHIFT / 16] = (uint16_t)index;
    tb2.ring.put = number + 1;
    tb2.ring.at = index + 1 == tb2.ring.entries ? tb2.ring.base : at + tb2.buffer_bytes;
    return dma_write_slot(packet, at, bytes, trace);
}

/* Puts received packets into the ring, as far as it has room; otherwise the write of what the CPU
 * has taken, WINDOW, ends the wait. */
static inline void receive(void)
{
    uint32_t known = reg_read(ENGINE_REGISTER(ENGINE_RECEIVE, DONE));
    barrier();
    while (tb2.received != known) {
        struct buffer *buffer = tb2.in;
        uint32_t bytes = 8 + NICBED_HEADER_BYTES + received_length(buffer->packet);
        buffer->put = engine_given[ENGINE_N2H];
        if (bytes <= tb2.buffer_bytes) {
            if (!tb2.ring_free && !(tb2.ring_free = ring_room(&tb2.ring)))
                break;
            tb2.ring_free--;
            buffer->put = put(buffer->packet, bytes);
        } else {
            tb2.packets_malformed++;
        }
        tb2.in = buffer_behind(buffer);
        tb2.received++;
    }
    if (tb2.received - tb2.recycled >= BUFFERS / 2)
        recycle();
}

static void open(void)
{
    tb2.lap = LAP;
    tb2.entries = (uint32_t)send_entries;
    tb2.entry = tb2.send_base = (uint32_t)send_base;
    tb2.send_bytes = (uint32_t)send_bytes;
    tb2.report = (uint32_t)send_report;
    tb2.report_at = tb2.entries / 4;
    tb2.most_bytes = LEAST_BYTES + (uint32_t)mtu;
    tb2.nodes = (uint32_t)nodes;
    tb2.work_send = (uint32_t)work_send;
    tb2.identity = node() | NICBED_PROTOCOL_AM << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    for (uint32_t i = 0; i < STAGES; i++)
        tb2.stages[i].packet = take_memory((tb2.most_bytes + 7) & ~7u, 8);
    tb2.into = tb2.coming = tb2.out = tb2.stages;
    tb2.in = tb2.back = tb2.buffers;
    tb2.buffer_bytes = (uint32_t)receive_bytes;
    ring_open(&tb2.ring, (uint32_t)receive_base, (uint32_t)receive_entries, tb2.buffer_bytes);
    protocol_select(NICBED_PROTOCOL_AM);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        tb2.buffers[i].packet = take_memory(tb2.buffer_bytes, 8);
        link_receive(tb2.buffers[i].packet, tb2.buffer_bytes);
    }
    tb2.mask = NICBED_PENDING_WINDOW | NICBED_PENDING_RECEIVE;
    ready = 1;
}

int main(void)
{
    open();
    for (;;) {
        uint32_t bits = wait_and_clear(tb2.mask), before;
        bool full;
        if (bits & RECEIVES) {
            tb2.mask &= ~NICBED_PENDING_N2H;
            receive();
        }
        if (!(bits & ~RECEIVES_ONLY))
            continue;
        tb2.mask &= ~(NICBED_PENDING_H2N | NICBED_PENDING_SEND | NICBED_PENDING_TIMER);
        do {
            before = tb2.sent;
            full = pull();
            arrive();
            send();
        } while (full && tb2.sent != before);
    }
}
