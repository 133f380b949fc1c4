/* Firmware elan: sends Active Messages that the processor loads from host memory itself, as on an
 * Elan (processor.host_access = uncached). It sleeps until it is told of a message.
 *
 * A small message:
 *  1. the CPU stores it into a slot in host memory, through its cache;
 *  2. the CPU tells the NIC by one uncached store, a doorbell with the number of slots filled;
 *  3. send(): the processor loads the slot word by word, each a bus transaction, out of the CPU's
 *     cache: send word, then what the message has;
 *  4. the packet leaves by the NIC's own connection to the link, and behind it a question with the
 *     slot's number;
 *  5. hardware writes the packet into the receive ring in host memory of its destination: this
 *     program selects another protocol, that of questions and acknowledgements;
 *  6. the CPU polls that ring in its cache;
 *  7. take(), acknowledge(): the question, which the ring's hardware has let pass, comes to the
 *     processor there, which acknowledges it, behind the next message that it sends, or soon;
 *  8. take(), release(): the acknowledgement frees the slot.
 *
 * A bulk packet: its slot has the address of the payload, which the engine H2N gets, whole, before
 * the packet leaves.
 *
 * Packets between two nodes keep their order, so a question arrives when its packet has been
 * stored, and an acknowledgement stands for all earlier slots to its sender. Of several questions
 * of a node the last one alone is kept, so questions are always taken, whatever the link does, and
 * two nodes never wait for each other. A question or an acknowledgement may be lost: if half of the
 * queue waits and nothing comes for `patience` cycles, its slots are free; whether packets arrived
 * is the layer's care. The number of free slots is stored into host memory a quarter of the queue
 * at a time. Every slot and every question is checked; malformed ones are counted and dropped.
 */
#include "send_word.h"

#define PAGE 1 /* the doorbell page of the queue */
#define SLOTS 32 /* at most */
#define NODES 64 /* at most */
#define COMMANDS 3 /* of SEND that a packet with its question is, at most; two at least */
#define STAGES 4 /* as three packets behind a stage's are 6 commands: see can_send() */
#define AM_HEADER_BYTES 16
#define DELAY 1024 /* cycles that a question waits for a message to go first, at most */
#define NOTE_LENGTH (8u << NICBED_COMPLETION_LENGTH_LO_SHIFT) /* behind its header */
#define PLACE 24 /* of the payload's address in a slot */
#define LENGTH(bytes) ((uint32_t)(bytes) << NICBED_SEND_WORD_LENGTH_LO_SHIFT)

/* Set by the host program: slots of the queue (a power of two), its address, that of the count of
 * free ones; to each node the route; NIC cycles of the target's clock that a message takes beside
 * what the program does, and a question; those after which nobody waits for an acknowledgement. */
PARAMETER(send_slots);
PARAMETER(send_base);
PARAMETER(send_report);
PARAMETER(routes)[NODES];
PARAMETER(nodes);
PARAMETER(mtu);
PARAMETER(host_bytes);
PARAMETER(work_send);
PARAMETER(work_receive);
PARAMETER(patience);

/* A question or an acknowledgement of slot `number`. */
struct note { uint32_t header[2], number, answers; };

/* As it is received, behind a completion word. */
struct received { uint64_t completion; struct note note; };

struct peer {
    uint32_t header[2]; /* of a note to it */
    uint32_t acknowledged; /* by it: all slots to it before this one */
    uint32_t asked; /* by it: the last slot, while it is owed an acknowledgement */
    bool owed;
};

struct elan {
    uint64_t slots_malformed, notes_malformed; /* numbers of those dropped */
    uint64_t unanswered; /* slots for which no acknowledgement came in time */
    uint32_t since; /* when the number of free slots changed last, if */
    bool watches; /* half of the queue is not free */
    uint32_t mask; /* bits that end a wait */
    uint32_t slot, slots_begin, slots_end; /* in host memory: the next slot, the queue */
    uint32_t posted, next, released, reported; /* slots: filled, sent, free; as last reported */
    uint32_t slots, report, report_at;
    uint32_t nodes, mtu, host_bytes, work_send, work_receive, patience;
    uint32_t identity; /* what all packets have in their headers */
    ticket_t done; /* commands of the engine SEND that had ended at the last check */
    struct stage {
        uint32_t packet[NICBED_SLOT_BYTES / 4] __attribute__((aligned(8))); /* wire header first */
        struct note question;
        char *payload;
    } stages[STAGES], *stage;
    struct peer *to[SLOTS]; /* of each slot the destination; null: it was dropped */
    struct peer *owing[NODES]; /* those who are owed an acknowledgement */
    uint32_t owing_next, owing_end;
    struct note answers[NICBED_ENGINE_QUEUE] __attribute__((aligned(8))), *answer;
    struct received buffers[NICBED_ENGINE_QUEUE], *buffer; /* the next one that is received */
    uint32_t taken; /* notes taken from RECEIVE */
    struct peer peers[NODES];
};

SHARED(struct elan, elan);

/* A number that the compiler does not know. It makes two shifts of an `and` with some numbers, and
 * the core shifts a bit a cycle. */
static inline uint32_t number_of(uint32_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* --- From the queue to the link ---------------------------------------------------------------- */

/* Whether the engine SEND takes `commands` more at once; else it ends the wait. So what was given
 * to it 6 commands ago has been read when there is room for COMMANDS, and what was given
 * ENGINE_QUEUE ago when there is room for one. */
static inline bool can_send(uint32_t commands)
{
    uint32_t after = engine_given[ENGINE_SEND] + commands;
    if (after - elan.done <= NICBED_ENGINE_QUEUE)
        return true;
    elan.done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    if (after - elan.done <= NICBED_ENGINE_QUEUE)
        return true;
    elan.mask |= NICBED_PENDING_SEND;
    return false;
}

/* Gives a question or an acknowledgement to the link. */
static inline void send_note(struct note *note, const struct peer *to, uint32_t number)
{
    note->header[0] = to->header[0];
    note->header[1] = to->header[1];
    note->number = number;
    link_send(note, sizeof *note, 0);
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
        link_send(stage->payload, bytes, trace);
    } else {
        link_send(stage->packet, NICBED_HEADER_BYTES + AM_HEADER_BYTES, trace);
    }
    return true;
}

/* Whether the slot has a small message: length and kind, which must be 0, are compared in place. */
static inline bool is_small(struct send_word word)
{
    return (word.low & number_of(~NICBED_SEND_WORD_PHASE_LO_MASK)) - LENGTH(AM_HEADER_BYTES)
               < number_of(LENGTH(NICBED_SLOT_BYTES - NICBED_HEADER_BYTES - AM_HEADER_BYTES + 1))
           && word_destination(word) < elan.nodes;
}

/* Sends the small message of the slot at `host`. */
static inline void send_small(struct stage *stage, uint32_t host, struct send_word word)
{
    uint32_t length = word_length(word);
    load(stage->packet, host, (length + 7) & ~7u);
    work(elan.work_send);
    link_send(stage->packet, NICBED_HEADER_BYTES + length, word_trace(word));
}

/* Sends the next slot, or drops it. */
static inline void send(void)
{
    struct stage *stage = elan.stage;
    uint32_t host = elan.slot, number = elan.next++;
    struct send_word word = {host_load(host), host_load(host + 4)};
    uint32_t to = word_destination(word);
    elan.slot = host + NICBED_SLOT_BYTES == elan.slots_end ? elan.slots_begin
                                                           : host + NICBED_SLOT_BYTES;
    stage->packet[0] = word.low & number_of(NICBED_SEND_WORD_ROUTE_LO_MASK
                                            | NICBED_SEND_WORD_LENGTH_LO_MASK);
    stage->packet[1] = to << NICBED_HEADER_DESTINATION_HI_SHIFT | elan.identity;
    if (is_small(word)) {
        send_small(stage, host, word);
    } else if (!send_bulk(stage, host, word)) {
        elan.slots_malformed++;
        elan.to[number % SLOTS] = NULL;
        return;
    }
    struct peer *peer = elan.to[number % SLOTS] = &elan.peers[to];
    send_note(&stage->question, peer, number);
    elan.stage = stage == elan.stages + STAGES - 1 ? elan.stages : stage + 1;
}

/* Notes the number of slots in a doorbell, if as many may have been filled. */
static inline void ring(void)
{
    uint32_t entry = reg_read(NICBED_MMIO_DOORBELL);
    uint32_t posted = reg_read(NICBED_MMIO_DOORBELL_LOW);
    reg_write(NICBED_MMIO_DOORBELL_POP, 1);
    uint32_t place = number_of(NICBED_DOORBELL_ENTRY_PAGE_MASK | NICBED_DOORBELL_ENTRY_OFFSET_MASK);
    if ((entry & place) == PAGE
        && posted - elan.posted <= elan.slots - (elan.posted - elan.released))
        elan.posted = posted;
}

/* --- Questions and acknowledgements ------------------------------------------------------------ */

/* Counts the slots that are free. While half of the queue is not, a timer runs; at its end all are
 * free. */
static inline void release(void)
{
    uint32_t released = elan.released, next = elan.next;
    for (; released != next; released++) {
        struct peer *to = elan.to[released % SLOTS];
        if (to && (int32_t)(to->acknowledged - released) <= 0)
            break;
    }
    if (next - released <= elan.slots / 2) {
        elan.watches = false;
    } else {
        uint32_t at = now();
        if (!elan.watches || released != elan.released) {
            elan.watches = true;
            elan.since = at;
        } else if (at - elan.since >= elan.patience) {
            elan.unanswered += next - released;
            released = next;
        }
        timer_set(elan.since + elan.patience);
        elan.mask |= NICBED_PENDING_TIMER;
    }
    elan.released = released;
    if (released - elan.reported >= elan.report_at) {
        elan.reported = released;
        host_store(elan.report, released);
    }
}

/* Acknowledges what is owed, as far as SEND has room. */
static inline void acknowledge(void)
{
    while (elan.owing_next != elan.owing_end && can_send(1)) {
        struct peer *to = elan.owing[elan.owing_next++ % NODES];
        struct note *answer = elan.answer;
        to->owed = false;
        elan.answer = answer == elan.answers + NICBED_ENGINE_QUEUE - 1 ? elan.answers : answer + 1;
        send_note(answer, to, to->asked);
    }
}

/* Takes all questions and acknowledgements that have come. */
static inline void take(void)
{
    uint32_t come = reg_read(ENGINE_REGISTER(ENGINE_RECEIVE, DONE));
    barrier();
    for (; elan.taken != come; elan.taken++) {
        struct received *buffer = elan.buffer;
        uint32_t number = buffer->note.number;
        uint32_t from = buffer->note.header[1] & NICBED_HEADER_SOURCE_HI_MASK;
        struct peer *peer = &elan.peers[from];
        uint32_t length = number_of(NICBED_COMPLETION_LENGTH_LO_MASK);
        length &= (uint32_t)buffer->completion;
        if (length != NOTE_LENGTH || from >= elan.nodes) {
            elan.notes_malformed++;
        } else if (buffer->note.answers) {
            if (number - elan.released < elan.next - elan.released
                && (int32_t)(number - peer->acknowledged) >= 0)
                peer->acknowledged = number + 1;
        } else {
            work(elan.work_receive);
            if (!peer->owed) {
                peer->owed = true;
                peer->asked = number;
                elan.owing[elan.owing_end++ % NODES] = peer;
            } else if ((int32_t)(number - peer->asked) > 0) {
                peer->asked = number;
            }
        }
        link_receive(buffer, sizeof *buffer);
        elan.buffer = buffer == elan.buffers + NICBED_ENGINE_QUEUE - 1 ? elan.buffers : buffer + 1;
    }
}

/* Looks at questions and acknowledgements, and at what is free. `used` puts it beside main(): a
 * message takes both, which have to stay in an instruction cache of 2 KiB together. */
static __attribute__((noinline, used)) void notes(void)
{
    pending_clear(NICBED_PENDING_RECEIVE | NICBED_PENDING_SEND);
    elan.mask = NICBED_PENDING_DOORBELL | NICBED_PENDING_RECEIVE;
    take();
    acknowledge();
    release();
}

static __attribute__((noinline, cold)) void open(void)
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
    elan.work_receive = (uint32_t)work_receive;
    elan.patience = (uint32_t)patience;
    elan.identity = node() | NICBED_PROTOCOL_AM << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    for (uint32_t i = 0; i < elan.nodes; i++) {
        elan.peers[i].header[0] = (uint32_t)routes[i] | 8u << NICBED_HEADER_LENGTH_LO_SHIFT;
        elan.peers[i].header[1] = i << NICBED_HEADER_DESTINATION_HI_SHIFT | node()
                                  | NICBED_PROTOCOL_NOTE << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    }
    elan.stage = elan.stages;
    for (uint32_t i = 0; i < STAGES; i++)
        elan.stages[i].payload = take_memory((elan.mtu + 7) & ~7u, 8);
    protocol_select(NICBED_PROTOCOL_NOTE);
    elan.buffer = elan.buffers;
    elan.answer = elan.answers;
    for (uint32_t i = 0; i < NICBED_ENGINE_QUEUE; i++) {
        elan.answers[i].answers = 1;
        link_receive(&elan.buffers[i], sizeof elan.buffers[i]);
    }
    doorbell_allow(PAGE, 0);
    elan.mask = NICBED_PENDING_DOORBELL | NICBED_PENDING_RECEIVE;
    ready = 1;
}

int main(void)
{
    open();
    for (;;) {
        bool more = elan.next != elan.posted && !(elan.mask & NICBED_PENDING_SEND);
        uint32_t bits = (more ? pending() : wait_for(elan.mask))
                        & (elan.mask | NICBED_PENDING_RECEIVE);
        if (bits & NICBED_PENDING_DOORBELL)
            ring();
        bool sends = elan.next != elan.posted && can_send(COMMANDS);
        if (sends)
            send();
        if (bits & (NICBED_PENDING_SEND | NICBED_PENDING_TIMER)
            || (sends && (bits & NICBED_PENDING_RECEIVE
                          || elan.next - elan.released > elan.slots / 2))) {
            notes();
        } else if (bits & elan.mask & NICBED_PENDING_RECEIVE) {
            timer_set(now() + DELAY);
            elan.mask = (elan.mask & ~NICBED_PENDING_RECEIVE) | NICBED_PENDING_TIMER;
        }
    }
}
