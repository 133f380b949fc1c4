/* Firmware lanai: Active Messages through NIC memory, as on a LANai. It polls and never sleeps.
 *
 * A small message:
 *  1. the CPU stores it into a slot in NIC memory by PIO, the word with the flag last;
 *  2. send(): the flag is seen; route from the table, wire header, link DMA out of the slot;
 *  3. receive(): the engine RECEIVE has put it into the next slot of the receive queue, also in NIC
 *     memory; the source goes into word 0, beside length and flag;
 *  4. the CPU polls that word, loads the rest by PIO, and frees the slot by writing 0 to the word.
 *
 * A bulk packet: the CPU has copied its payload to a pinned region of host memory; send_bulk() gets
 * it into a stage by DMA, whole, and then gives it to the link. receive_bulk() puts the payload of
 * a received one into the pinned region of its slot by DMA; then the slot gets its flag, and the
 * CPU copies the payload to its place.
 *
 * Flags: 1 is the CPU's word that a slot is to be sent, and the firmware's that one is to be
 * taken. Who takes a slot clears its flag. The slots that were sent are counted in `sent`, which
 * the CPU reads. Packets leave, and slots are filled, in order. Every slot is checked; malformed
 * ones are counted and dropped.
 */
#include "send_word.h"

#define SLOTS 64 /* at most; one page */
#define STAGES 2
#define AM_HEADER_BYTES 16
#define FLAG NICBED_SEND_WORD_PHASE_LO_MASK
#define TAKE NICBED_COMPLETION_PHASE_MASK

struct slots { uint64_t words[SLOTS * NICBED_SLOT_BYTES / 8]; };

/* Set by the host program: slots of the queue to send, of the receive queue (both powers of two);
 * the stride of the receive queue; where its pinned region lies, with the same stride; NIC cycles
 * of the target's clock that a message takes beside what the program does. */
PARAMETER(send_slots);
PARAMETER(receive_slots);
PARAMETER(receive_bytes);
PARAMETER(receive_base);
PARAMETER(routes)[64];
PARAMETER(nodes);
PARAMETER(mtu);
PARAMETER(host_bytes);
PARAMETER(work_send);
PARAMETER(work_receive);

PAGED(struct slots, slots);

struct lanai {
    volatile uint64_t sent; /* slots given back: the host reads it */
    volatile uint64_t receive_queue; /* its address */
    uint64_t slots_malformed, packets_malformed; /* numbers of those dropped */
    uint32_t *out, *in, *free; /* next slot to be sent; to be taken from, to be given to RECEIVE */
    uint32_t next, taken; /* slots sent; given back */
    uint32_t arrived, given; /* slots of the receive queue: taken from RECEIVE, given to it */
    uint32_t late_put, late_flagged; /* of bulk packets: DMA begun; flag set */
    uint32_t send_count, release_at, receive_count, receive_depth, receive_bytes, receive_base;
    uint32_t nodes, mtu, host_bytes, work_send, work_receive, identity;
    uint32_t *out_end, *in_begin, *in_end;
    ticket_t done; /* commands of the engine SEND that had ended at the last check */
    bool pulling; /* into the stage of the next slot, a bulk packet */
    struct send_word word; /* that slot's */
    ticket_t pulled;
    struct stage { char *buffer; ticket_t sent; } stages[STAGES], *stage;
    ticket_t slot_sent[SLOTS];
    struct { uint32_t *slot; ticket_t put; } late[NICBED_ENGINE_QUEUE];
    uint32_t routes[64];
};

SHARED(struct lanai, lanai);

/* --- From the queue to the link ---------------------------------------------------------------- */

/* Whether the engine SEND takes `commands` more at once. The program must never wait for it: it
 * must receive while the link is held up, or two nodes could wait for each other. */
static inline bool can_send(uint32_t commands)
{
    uint32_t after = engine_given[ENGINE_SEND] + commands;
    if (after - lanai.done <= NICBED_ENGINE_QUEUE)
        return true;
    lanai.done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    return after - lanai.done <= NICBED_ENGINE_QUEUE;
}

/* Makes the slot's word 0 the wire header, which has no flag. */
static inline void make_header(uint32_t *slot, struct send_word word)
{
    uint32_t to = word_destination(word);
    slot[0] = lanai.routes[to] | word_length(word) << NICBED_HEADER_LENGTH_LO_SHIFT;
    slot[1] = to << NICBED_HEADER_DESTINATION_HI_SHIFT | lanai.identity;
}

/* Goes on to the next slot; this one is in use until `ticket` of SEND. */
static inline void used(ticket_t ticket)
{
    lanai.slot_sent[lanai.next++ % SLOTS] = ticket;
    lanai.out += NICBED_SLOT_BYTES / 4;
    if (lanai.out == lanai.out_end)
        lanai.out = (uint32_t *)slots.words;
}

static void drop(uint32_t *slot)
{
    lanai.slots_malformed++;
    slot[0] = 0;
    used(engine_given[ENGINE_SEND]);
}

/* Begins with the next slot, a bulk packet, or sends it if its payload has come. */
static __attribute__((noinline)) void send_bulk(uint32_t *slot, struct send_word word)
{
    struct stage *stage = lanai.stage;
    if (!lanai.pulling) {
        uint32_t bytes = word_length(word) - AM_HEADER_BYTES;
        uint32_t host = *(volatile uint32_t *)&slot[6];
        if (word_kind(word) != NICBED_SEND_KIND_BULK || bytes > lanai.mtu
            || host > lanai.host_bytes || bytes > lanai.host_bytes - host
            || word_destination(word) >= lanai.nodes) {
            drop(slot);
            return;
        }
        if (!link_sent(stage->sent))
            return;
        lanai.word = word;
        lanai.pulled = dma_read(host, stage->buffer, bytes, word_trace(word));
        lanai.pulling = true;
        return;
    }
    if (!dma_read_done(lanai.pulled) || !can_send(2))
        return;
    uint32_t bytes = word_length(lanai.word) - AM_HEADER_BYTES, trace = word_trace(lanai.word);
    work(lanai.work_send);
    make_header(slot, lanai.word);
    if (bytes) {
        link_send_piece(slot, NICBED_HEADER_BYTES + AM_HEADER_BYTES, trace);
        stage->sent = link_send(stage->buffer, bytes, trace);
    } else {
        stage->sent = link_send(slot, NICBED_HEADER_BYTES + AM_HEADER_BYTES, trace);
    }
    used(stage->sent);
    lanai.stage = stage == lanai.stages ? stage + 1 : lanai.stages;
    lanai.pulling = false;
}

/* Sends the next slot, whose flag is set. */
static inline void send(uint32_t *slot)
{
    struct send_word word = send_word((uint64_t *)slot);
    if (word_kind(word) != NICBED_SEND_KIND_INLINE || lanai.pulling) {
        send_bulk(slot, word);
        return;
    }
    uint32_t length = word_length(word);
    if (word_destination(word) >= lanai.nodes || length < AM_HEADER_BYTES
        || length > NICBED_SLOT_BYTES - NICBED_HEADER_BYTES) {
        drop(slot);
        return;
    }
    if (!can_send(1))
        return;
    work(lanai.work_send);
    make_header(slot, word);
    used(link_send(slot, NICBED_HEADER_BYTES + length, word_trace(word)));
}

/* Counts the slots that the engine SEND has read. */
static inline void release(void)
{
    ticket_t done = lanai.done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    while (lanai.taken != lanai.next
           && (int32_t)(done - lanai.slot_sent[lanai.taken % SLOTS]) >= 0)
        lanai.taken++;
    *(volatile uint32_t *)&lanai.sent = lanai.taken;
}

/* --- From the link to the receive queue -------------------------------------------------------- */

/* Lets the CPU take the packet. */
static inline void give(uint32_t *slot)
{
    work(lanai.work_receive);
    slot[1] = (slot[1] & 0xFFFF)
              | (slot[3] & NICBED_HEADER_SOURCE_HI_MASK) << NICBED_COMPLETION_INDEX_HI_SHIFT;
    barrier();
    slot[0] |= TAKE;
    barrier();
}

/* Begins to put the payload of a bulk packet into the pinned region; returns whether it could. */
static __attribute__((noinline)) bool receive_bulk(uint32_t *slot)
{
    uint32_t bytes = received_length((uint64_t *)slot) - AM_HEADER_BYTES;
    uint32_t index = lanai.arrived & (lanai.receive_count - 1);
    if (bytes == 0 || bytes > lanai.mtu) {
        lanai.packets_malformed += bytes != 0;
        give(slot);
        return true;
    }
    if (lanai.late_put - lanai.late_flagged == NICBED_ENGINE_QUEUE)
        return false;
    uint32_t at = lanai.late_put++ % NICBED_ENGINE_QUEUE;
    lanai.late[at].slot = slot;
    lanai.late[at].put = dma_write(
        (char *)slot + 8 + NICBED_HEADER_BYTES + AM_HEADER_BYTES,
        lanai.receive_base + index * lanai.receive_bytes, bytes,
        received_trace((uint64_t *)slot));
    return true;
}

/* Takes the next packet from RECEIVE. */
static inline void receive(uint32_t *slot)
{
    if (lanai.arrived == lanai.given)
        return;
    barrier();
    uint32_t kind = slot[4] & NICBED_AM_HEADER_KIND_LO_MASK;
    if (kind == NICBED_AM_KIND_STORE || kind == NICBED_AM_KIND_DATA) {
        if (!receive_bulk(slot))
            return;
    } else {
        give(slot);
    }
    lanai.arrived++;
    lanai.in += lanai.receive_bytes / 4;
    if (lanai.in == lanai.in_end)
        lanai.in = lanai.in_begin;
}

/* Gives a free slot to RECEIVE, if there is one. */
static inline void refill(void)
{
    if (*(volatile uint32_t *)lanai.free)
        return;
    link_receive(lanai.free, lanai.receive_bytes);
    lanai.given++;
    lanai.free += lanai.receive_bytes / 4;
    if (lanai.free == lanai.in_end)
        lanai.free = lanai.in_begin;
}

static __attribute__((noinline)) void flag_late(void)
{
    while (lanai.late_flagged != lanai.late_put) {
        uint32_t at = lanai.late_flagged % NICBED_ENGINE_QUEUE;
        if (!dma_write_done(lanai.late[at].put))
            return;
        give(lanai.late[at].slot);
        lanai.late_flagged++;
    }
}

static void open(void)
{
    uint32_t count = (uint32_t)receive_slots, bytes = (uint32_t)receive_bytes;
    lanai.release_at = (uint32_t)send_slots / 4;
    lanai.out = (uint32_t *)slots.words;
    lanai.out_end = lanai.out + (uint32_t)send_slots * NICBED_SLOT_BYTES / 4;
    lanai.receive_count = count;
    lanai.receive_depth = count < NICBED_ENGINE_QUEUE ? count : NICBED_ENGINE_QUEUE;
    lanai.receive_bytes = bytes;
    lanai.receive_base = (uint32_t)receive_base;
    lanai.nodes = (uint32_t)nodes;
    lanai.mtu = (uint32_t)mtu;
    lanai.host_bytes = (uint32_t)host_bytes;
    lanai.work_send = (uint32_t)work_send;
    lanai.work_receive = (uint32_t)work_receive;
    lanai.identity = node() | NICBED_PROTOCOL_AM << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    for (uint32_t i = 0; i < lanai.nodes; i++)
        lanai.routes[i] = (uint32_t)routes[i];
    lanai.stage = lanai.stages;
    for (uint32_t i = 0; i < STAGES; i++)
        lanai.stages[i].buffer = take_memory((lanai.mtu + 7) & ~7u, 8);
    lanai.in = lanai.free = lanai.in_begin = take_memory(count * bytes, 8);
    lanai.in_end = lanai.in_begin + count * bytes / 4;
    lanai.receive_queue = (uint32_t)lanai.in_begin;
    protocol_select(NICBED_PROTOCOL_AM);
    ready = 1;
}

int main(void)
{
    open();
    for (;;) {
        watchdog_kick();
        if (*(volatile uint32_t *)lanai.out & FLAG)
            send(lanai.out);
        uint32_t word = *(volatile uint32_t *)lanai.in;
        if (word && !(word & TAKE))
            receive(lanai.in);
        if (lanai.given - lanai.arrived != lanai.receive_depth)
            refill();
        if (lanai.late_flagged != lanai.late_put)
            flag_late();
        if (lanai.next - lanai.taken >= lanai.release_at)
            release();
    }
}
