/* Firmware elan: sends Active Messages that the processor loads from host memory itself, as on an
 * Elan (processor.host_access = uncached). It sleeps until it is told of a message.
 *
 * A small message:
 *  1. the CPU stores it into a slot in host memory, through its cache;
 *  2. the CPU tells the NIC by one uncached store, a doorbell with the number of slots filled;
 *  3. send(): the processor loads the slot word by word, each a bus transaction, out of the CPU's
 *     cache: send word, then what the message has;
 *  4. the packet leaves by the NIC's own connection to the link;
 *  5. hardware writes it into the receive ring in host memory of its destination: this program
 *     selects no protocol, so no packet comes to it;
 *  6. the CPU polls that ring in its cache.
 *
 * A bulk packet: its slot has the address of the payload, which the engine H2N gets, whole, before
 * the packet leaves.
 *
 * A slot is free when it has been loaded; their number is stored into host memory a quarter of the
 * queue at a time. As nothing here receives, the program may wait for the link. Every slot is
 * checked; malformed ones are counted and dropped.
 */
#include "send_word.h"

#define PAGE 1 /* the doorbell page of the queue */
#define STAGES (NICBED_ENGINE_QUEUE / 2) /* a packet is two commands of SEND at most */
#define AM_HEADER_BYTES 16
#define PLACE 24 /* of the payload's address in a slot */
#define LENGTH(bytes) ((uint32_t)(bytes) << NICBED_SEND_WORD_LENGTH_LO_SHIFT)

/* Set by the host program: slots of the queue (a power of two), its address, that of the count of
 * free ones; NIC cycles of the target's clock that a message takes beside what the program does. */
PARAMETER(send_slots);
PARAMETER(send_base);
PARAMETER(send_report);
PARAMETER(nodes);
PARAMETER(mtu);
PARAMETER(host_bytes);
PARAMETER(work_send);

struct elan {
    uint64_t slots_malformed; /* number of those dropped */
    uint32_t slot, slots_begin, slots_end; /* in host memory: the next slot, the queue */
    uint32_t next, reported; /* slots loaded; as last reported */
    uint32_t slots, report, report_at;
    uint32_t nodes, mtu, host_bytes, work_send, identity;
    ticket_t done; /* commands of the engine SEND that had ended at the last check */
    struct stage {
        uint32_t packet[NICBED_SLOT_BYTES / 4] __attribute__((aligned(8))); /* wire header first */
        char *payload;
        ticket_t sent;
    } stages[STAGES], *stage;
};

SHARED(struct elan, elan);

/* What the program of the machine does beyond this one. */
static inline void work(uint32_t cycles)
{
    if (cycles)
        for (uint32_t from = now(); now() - from < cycles;) { }
}

/* Waits until the engine SEND has read the stage's last packet. */
static inline void free_stage(struct stage *stage)
{
    while ((int32_t)(elan.done - stage->sent) < 0) {
        elan.done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
        if ((int32_t)(elan.done - stage->sent) < 0)
            wait_and_clear(NICBED_PENDING_SEND);
    }
    barrier();
}

/* Loads the first `bytes` behind the wire header, a multiple of 8, from the slot at `host`. */
static inline void load(uint32_t *packet, uint32_t host, uint32_t bytes)
{
    uint32_t *end = packet + (NICBED_HEADER_BYTES + bytes) / 4;
    for (packet += 2, host += NICBED_HEADER_BYTES; packet < end; packet += 2, host += 8) {
        uint32_t first = host_load(host);
        packet[1] = host_load(host + 4);
        packet[0] = first;
    }
}

/* Sends the bulk packet of the slot at `host`; returns whether that makes sense. */
static __attribute__((noinline)) bool send_bulk(struct stage *stage, uint32_t host,
                                                struct send_word word)
{
    uint32_t length = word_length(word), bytes = length - AM_HEADER_BYTES;
    if (word_kind(word) != NICBED_SEND_KIND_BULK || length < AM_HEADER_BYTES || bytes > elan.mtu
        || word_destination(word) >= elan.nodes)
        return false;
    uint32_t place = host_load(host + PLACE), trace = word_trace(word);
    if (place > elan.host_bytes || bytes > elan.host_bytes - place)
        return false;
    ticket_t got = dma_read(place, stage->payload, bytes, trace);
    load(stage->packet, host, AM_HEADER_BYTES);
    work(elan.work_send);
    dma_read_wait(got);
    if (bytes) {
        link_send_piece(stage->packet, NICBED_HEADER_BYTES + AM_HEADER_BYTES, trace);
        stage->sent = link_send(stage->payload, bytes, trace);
    } else {
        stage->sent = link_send(stage->packet, NICBED_HEADER_BYTES + AM_HEADER_BYTES, trace);
    }
    return true;
}

/* Whether the slot has a small message. The core shifts a bit a cycle, so length and kind, which
 * must be 0, are compared in place. */
static inline bool is_small(struct send_word word)
{
    return (word.low & ~NICBED_SEND_WORD_PHASE_LO_MASK) - LENGTH(AM_HEADER_BYTES)
               < LENGTH(NICBED_SLOT_BYTES - NICBED_HEADER_BYTES - AM_HEADER_BYTES + 1)
           && word_destination(word) < elan.nodes;
}

/* Sends the small message of the slot at `host`. */
static inline void send_small(struct stage *stage, uint32_t host, struct send_word word)
{
    uint32_t length = word_length(word);
    load(stage->packet, host, (length + 7) & ~7u);
    work(elan.work_send);
    stage->sent = link_send(stage->packet, NICBED_HEADER_BYTES + length, word_trace(word));
}

/* Sends the next slot, or drops it. */
static inline void send(void)
{
    struct stage *stage = elan.stage;
    uint32_t host = elan.slot;
    struct send_word word = {host_load(host), host_load(host + 4)};
    elan.slot = host + NICBED_SLOT_BYTES == elan.slots_end ? elan.slots_begin
                                                           : host + NICBED_SLOT_BYTES;
    free_stage(stage);
    stage->packet[0] = word.low & (NICBED_SEND_WORD_ROUTE_LO_MASK
                                   | NICBED_SEND_WORD_LENGTH_LO_MASK);
    stage->packet[1] = word_destination(word) << NICBED_HEADER_DESTINATION_HI_SHIFT
                       | elan.identity;
    if (is_small(word)) {
        send_small(stage, host, word);
    } else if (!send_bulk(stage, host, word)) {
        elan.slots_malformed++;
        return;
    }
    elan.stage = stage == elan.stages + STAGES - 1 ? elan.stages : stage + 1;
}

/* Sends what lies before slot `posted`, if that is a number of slots that may have been filled. */
static inline void post(uint32_t posted)
{
    if (posted - elan.next > elan.slots)
        return;
    for (uint32_t next = elan.next; next != posted;) {
        send();
        elan.next = ++next;
        if (next - elan.reported >= elan.report_at) {
            elan.reported = next;
            host_store(elan.report, next);
        }
    }
}

static void open(void)
{
    elan.slots = (uint32_t)send_slots;
    elan.slot = elan.slots_begin = (uint32_t)send_base;
    elan.slots_end = elan.slots_begin + (uint32_t)send_slots * NICBED_SLOT_BYTES;
    elan.report = (uint32_t)send_report;
    elan.report_at = elan.slots / 4;
    elan.nodes = (uint32_t)nodes;
    elan.mtu = (uint32_t)mtu;
    elan.host_bytes = (uint32_t)host_bytes;
    elan.work_send = (uint32_t)work_send;
    elan.identity = node() | NICBED_PROTOCOL_AM << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    elan.stage = elan.stages;
    for (uint32_t i = 0; i < STAGES; i++)
        elan.stages[i].payload = take_memory((elan.mtu + 7) & ~7u, 8);
    doorbell_allow(PAGE, 0);
    ready = 1;
}

int main(void)
{
    open();
    for (;;) {
        wait_for(NICBED_PENDING_DOORBELL);
        uint32_t entry = reg_read(NICBED_MMIO_DOORBELL);
        uint32_t posted = reg_read(NICBED_MMIO_DOORBELL_LOW);
        reg_write(NICBED_MMIO_DOORBELL_POP, 1);
        if ((entry & (NICBED_DOORBELL_ENTRY_PAGE_MASK | NICBED_DOORBELL_ENTRY_OFFSET_MASK)) == PAGE)
            post(posted);
    }
}
