/* Active Messages II: what the files of this firmware share.
 *
 * A *frame* is a page of NIC memory, which an endpoint has while it is served (layouts/am2_nic.py).
 * Its process writes messages into two send queues, and reads those that have come from two receive
 * queues: requests and replies. A *stream* is what an endpoint sends to one NIC in one of these
 * classes. Its packets have sequence numbers. Of those that were lost, as a NACK or the answer to a
 * question says, the stream goes back to the oldest; a time-out asks the question. Sequence numbers
 * begin anew with each *epoch*: when a message has failed. The receiving side of a stream is an
 * *arrival*.
 *
 * What happens to a message:
 *  - Sent: the process fills a slot, MESSAGE last, and rings. The slot is queued in its stream. Each
 *    piece of its data is fetched into a stage and leaves as DATA, then the rest as SHORT. When all
 *    are acknowledged the slot is done. Slots are used again in their order, as the count in host
 *    memory tells.
 *  - Received: with the first DATA it gets a buffer of the endpoint in host memory, with SHORT a
 *    slot. The slot is shown, by the count in the frame, once the data are there. The process tells
 *    how many slots it has taken: with a slot its buffer is free.
 *  - Acknowledged: by a message without data that goes where it came from, in the other class. Where
 *    there is none, after a quarter of the window, at the end of a message with data, or after some
 *    ticks.
 *  - Out: the kernel takes an endpoint out of its frame for another, with its page and its streams,
 *    and brings it in again when its process needs it, when a packet has come for it, or when its
 *    own messages have been on their way for long. The firmware interrupts for the latter two.
 *  - Without room: NACK FULL (or OUT, of an endpoint that is in no frame). The sender backs off and
 *    tries with one packet at a time until that is taken; for as long as it is answered it does not
 *    give up, and nothing of this counts as sent again.
 *  - Refused (NACK CLOSED, ENDED, TAG, REJECTED), or the node does not answer: the message comes
 *    back, with the reason, into its sender's queue: a request into that of replies, a reply into that
 *    of requests. What the stream has behind it begins
 *    a new epoch.
 *
 * Calls between files go one way, from a file to those below it. In the order in which to read, top
 * down: main.c: the main loop. kernel.c: the kernel's commands. commands.c: a process's messages.
 * receiving.c: packets in, acknowledgements. sending.c: streams, packets out. control.c: control
 * packets. frames.c: queues of a frame, what is told to its process. state.c: what all share. The
 * prototypes come bottom up.
 */
#ifndef AM2_H
#define AM2_H

#include "mailbox.h"
#include "nic.h"

enum {
    NICS = NICBED_AM2_NICS,
    ENDPOINTS = NICBED_AM2_ENDPOINTS,
    FRAMES = 8,
    REQUESTS = NICBED_AM2_SEND_REQUESTS,
    REPLIES = NICBED_AM2_SEND_REPLIES,
    SLOTS = NICBED_AM2_SEND_SLOTS,
    PACKETS = NICBED_AM2_FRAME_PACKETS,
    LONG = NICBED_AM2_LONG,
    BUFFERS = NICBED_AM2_RECEIVE_BUFFERS,
    NO_BUFFER = NICBED_AM2_NO_BUFFER,
    NONE = 0xFF,
    PLACES = 6, /* most packets received and not yet in host memory */
    STAGES = 2, /* packets on their way out; a power of two */
    DATA_BYTES = 1024, /* most a packet carries */
    HEADER_WORDS = 6, /* 32-bit words before a packet's data */
    HEADER_BYTES = 4 * HEADER_WORDS,
    SHORT_BYTES = 32, /* of a message without arguments, behind the wire header */
};

/* What is not on the way of every message. */
#define RARE __attribute__((noinline, minsize))
#define UNLIKELY(condition) __builtin_expect(condition, 0)
/* What is, but is not done in every turn of the main loop: it saves its registers itself. */
#define APART __attribute__((noinline))

#define FIELD(word, name) (((word) & NICBED_AM2_##name##_MASK) >> NICBED_AM2_##name##_SHIFT)
#define PLACE(value, name) ((uint32_t)(value) << NICBED_AM2_##name##_SHIFT)
#define RETURNED(reason) NICBED_AM2_RETURNED_##reason
#define NACK(reason) NICBED_AM2_NACK_##reason
#define ANSWER_BUSY 1 /* of a kernel's command: not now */
#define ANSWER_WRONG 2

/* 32-bit words of a slot: half 0 or 1 of one of 64 bits. */
#define HALF(word, half) (2 * NICBED_AM2_SLOT_##word + (half))

enum message_state { FREE, QUEUED, BEGUN, RETURNING };

/* A slot of a send queue: requests 0 to REQUESTS - 1, then replies. */
struct message {
    uint16_t length; /* of its data */
    uint16_t first; /* sequence number of its first packet, once BEGUN */
    uint8_t next; /* message behind it in its stream */
    uint8_t state;
    uint8_t node, target;
    uint8_t buffer; /* of its data */
    uint8_t reason; /* RETURNING: why */
    uint8_t slot; /* its number */
};

enum {
    READY = 1, /* in the list of those that have their turn */
    LISTED = 2, /* in the list of those whose deadlines are looked at */
    BACKING_OFF = 4, /* there was no room: waits before it tries again */
    SYNC = 8, /* nothing of this epoch has been acknowledged */
    REFUSED = 16, /* there was no room for the oldest packet: no other leaves */
};

struct stream {
    struct frame *frame;
    struct stream *ready_link, *busy_link; /* streams behind it in these lists */
    uint32_t deadline;
    union {
        struct {
            uint16_t next, epoch;
        };
        uint32_t place; /* both */
    };
    uint16_t base; /* sequence numbers: oldest unacknowledged; `next`: to be sent next */
    uint8_t head, tail, current; /* messages: oldest, newest, the one that `next` is in */
    uint8_t flags;
    uint8_t tries; /* 8 for each time-out since something was heard, 1 for each NACK ABSENT */
    uint8_t node, reply;
};

enum {
    GAPPED = 1, /* the sender knows that `expected` is missing */
    DUE = 2, /* in the list `due` */
    ROOMLESS = 4, /* for want of room `expected` was not taken */
    AGE = 16, /* for each tick that it has owed */
};

struct arrival {
    union {
        struct {
            uint16_t expected, epoch;
        };
        uint32_t place; /* both */
    };
    uint8_t owed; /* packets not yet acknowledged */
    uint8_t flags;
    uint8_t buffer; /* that is being filled, of `target` */
    uint8_t target;
};

/* A receive queue. `put`, `shown` and `freed` count up, the others are the slots that are next. */
struct inbox {
    uint32_t put, shown, freed;
    uint8_t put_at, shown_at, freed_at;
    uint8_t buffers; /* bit b: buffer b is free */
    uint8_t buffer[PACKETS]; /* of the data of a slot's message */
    ticket_t written[PACKETS]; /* what must be in host memory before the slot is shown */
};

/* All of a frame that leaves with its endpoint, beside page and streams. */
struct kept {
    struct message messages[SLOTS];
    struct inbox inbox[2];
    uint32_t taken[2], done[2]; /* of the send queues: slots taken, slots that are done */
    uint32_t reported[2]; /* `done` as last told to the process */
    uint32_t report, event; /* words in host memory */
    uint32_t events; /* interrupts so far */
    uint32_t send, receive; /* buffers in host memory */
    uint32_t sender; /* endpoint and NIC as in word MESSAGE */
    uint8_t returning; /* messages that find no room on their way back */
};

struct frame {
    volatile uint32_t *page;
    struct stream *streams; /* two for each NIC: requests, replies */
    struct kept k;
    uint8_t number, open, endpoint;
    uint8_t hidden; /* messages that wait for their data */
};

_Static_assert(sizeof(struct frame) <= NICBED_AM2_FRAME_BYTES, "larger than declared");
_Static_assert(sizeof(struct stream) <= NICBED_AM2_STREAM_BYTES, "larger than declared");
_Static_assert(sizeof(struct arrival) <= NICBED_AM2_ARRIVAL_BYTES, "larger than declared");

enum endpoint_state { NEVER, INSIDE, OUTSIDE, CLOSED, ENDED };

struct endpoint {
    uint8_t state, frame; /* NONE: it is in none */
    uint16_t epoch; /* with which the streams of the next one with this number begin */
    uint8_t wanted; /* OUTSIDE: the kernel is to bring it in */
    uint8_t patience; /* OUTSIDE, with messages on their way: ticks until it is wanted */
};
enum { OUTSIDE_TICKS = 8 };

struct packet {
    uint64_t word[(8 + HEADER_BYTES + DATA_BYTES) / 8];
};

/* How often firmware refused something: the host reads it for diagnosis. */
struct counters {
    uint32_t malformed; /* messages and packets that make no sense */
    uint32_t resent; /* times that a stream went back for a loss */
    uint32_t full; /* packets that there was no room for */
    uint32_t waits; /* times that a stream went back for want of room */
    uint32_t out; /* packets for endpoints in no frame */
    uint32_t duplicates, gaps;
    uint32_t returned; /* messages */
    uint32_t acks;
};

extern volatile uint64_t routes[NICS]; /* a parameter */
extern struct frame *frames, *frames_end, *frame_at[FRAMES];
extern struct endpoint endpoints[ENDPOINTS];
extern struct arrival *arrivals;
extern struct counters counters;
extern struct settings {
    uint32_t node, nics, window, timeout, tick, patience, shift, payload, packets, bits, numbers;
    uint32_t quarter; /* of the window */
#ifdef AM2_WORK_SEND
    uint32_t work_send;
#endif
#ifdef AM2_WORK_RECEIVE
    uint32_t work_receive;
#endif
} settings;

/* A value that the compiler takes as it is: it prefers shifts to masks, which take a cycle a bit on
 * some cores. */
static inline uint32_t opaque(uint32_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

/* Sequence numbers have 16 bits. */
static inline uint32_t half(uint32_t x) { return x & opaque(0xFFFF); }

/* Whether sequence number `a` comes before `b`. */
static inline bool before(uint32_t a, uint32_t b) { return (a - b) & opaque(0x8000); }

static inline struct arrival *arrival_of(uint32_t node, uint32_t endpoint, uint32_t reply)
{
    return &arrivals[(node << settings.bits | endpoint) << 1 | reply];
}

/* Whether a message with word 0 `w` may have data, and has AM2_PLACE. */
static inline bool with_data(uint32_t w)
{
    uint32_t opcode = w & NICBED_AM2_MESSAGE_OPCODE_LO_MASK;
    return opcode != NICBED_AM2_OPCODE_REPLY && opcode - NICBED_AM2_OPCODE_REQUEST_I
           <= NICBED_AM2_OPCODE_REPLY_XFER - NICBED_AM2_OPCODE_REQUEST_I
           && !(w & NICBED_AM2_MESSAGE_RETURNED_LO_MASK);
}

static inline uint32_t slots_of(uint32_t reply) { return reply ? REPLIES : REQUESTS; }

static inline bool is_reply(uint32_t slot) { return slot >= REQUESTS; }

static inline volatile uint32_t *slot_of(const struct frame *f, uint32_t slot)
{
    return f->page + 16 * slot;
}

/* Trace number of the message in a slot. */
static inline uint32_t trace_of(const volatile uint32_t *slot)
{
    return slot[HALF(MESSAGE, 1)] >> NICBED_AM2_MESSAGE_TRACE_HI_SHIFT;
}

static inline volatile uint32_t *word_in(const struct frame *f, uint32_t number)
{
    return f->page + NICBED_AM2_QUEUES / 4 + 2 * number;
}

static inline uint32_t route_to(uint32_t node) { return *(volatile uint32_t *)&routes[node]; }

/* Pairs of arguments, by word MESSAGE. */
static inline uint32_t pairs_of(const volatile uint32_t *message)
{
    uint32_t byte = ((const volatile uint8_t *)message)[NICBED_AM2_MESSAGE_COUNT_LO_SHIFT / 8];
    return opaque(opaque(opaque(byte >> 4) + 1) >> 1);
}

/* The high half of the wire header of packet `h`. */
static inline void header_fill(uint32_t *h, uint32_t node, uint32_t detail)
{
    h[1] = settings.node;
    ((uint8_t *)&h[1])[NICBED_HEADER_DESTINATION_HI_SHIFT / 8] = node;
    ((uint8_t *)&h[1])[NICBED_HEADER_DETAIL_HI_SHIFT / 8] = detail;
}

/* --- frames.c ----------------------------------------------------------------------------------- */

bool room(struct frame *f, uint32_t reply);
uint32_t buffer_take(struct frame *f, uint32_t reply);
volatile uint32_t *put_at(struct frame *f, uint32_t reply);
void put(struct frame *f, uint32_t reply, uint32_t buffer);
uint32_t show(void);
extern uint32_t hiding; /* frames with messages that wait for their data */
void endpoint_want(struct endpoint *e);
extern uint32_t lagging; /* messages that find no room on their way back, endpoints with patience */
bool busy(const struct frame *f);
void done(struct frame *f, struct message *m);
void give_back(struct frame *f, struct message *m, uint32_t reason);
void give_back_again(struct frame *f);

/* --- control.c ---------------------------------------------------------------------------------- */

/* Of the stream of `endpoint` at `node`. False: the link has no room for it now. */
bool control(uint32_t node, uint32_t endpoint, uint32_t detail, uint32_t place, uint32_t word);

/* --- sending.c ---------------------------------------------------------------------------------- */

void sending_open(void);
void message_queue(struct frame *f, struct message *m);
void streams_open(struct frame *f, uint32_t epoch);
uint32_t streams_close(struct frame *f);
void streams_go_on(struct frame *f);
void timer_on(void);
bool progressed(struct stream *s, const uint32_t *word);
void acknowledged(struct stream *s, const uint32_t *packet);
uint32_t pump(void);
void tick(void);

/* Packets on their way out. `staged`, `launched` and `freed` count up. */
extern struct outgoing {
    uint32_t staged, launched, freed;
    uint32_t held; /* messages are queued only */
    struct stream *head[2], *tail[2]; /* streams that have their turn: replies go first */
} outgoing;

/* Whether pump() has something to do. */
static inline bool pumping(void)
{
    return outgoing.staged != outgoing.launched || outgoing.head[0] || outgoing.head[1];
}

/* --- receiving.c -------------------------------------------------------------------------------- */

void receiving_open(void);
void places_open(void);
uint32_t receiving(void);
void acknowledge(void);
void arrivals_close(uint32_t endpoint);
uint32_t arrivals_hold(uint32_t endpoint, uint32_t reply);

/* --- commands.c --------------------------------------------------------------------------------- */

bool commands(struct frame *f);

/* --- kernel.c ----------------------------------------------------------------------------------- */

void frames_open(uint32_t count);
void pages_open(void);
void kernel_command(void);

#endif
