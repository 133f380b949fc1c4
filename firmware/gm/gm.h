/* GM message passing: what the files of this firmware share.
 *
 * A *stream* is what a port sends to one node with one priority. Its packets have sequence numbers.
 * Of those that were lost, as a NACK or the answer to a question says, the stream goes back to the
 * oldest; a time-out asks the question. Sequence numbers begin anew with each
 * *epoch*: when a send has failed. The receiving side of a stream is an *arrival*.
 *
 * Calls between files go one way, from a file to those below it. In the order in which to read, top
 * down: main.c: the main loop. kernel.c: the kernel's commands. commands.c: a program's.
 * receiving.c: packets in, acknowledgements. sending.c: streams, packets out. control.c: control
 * packets. ports.c: what a program is told. translation.c: registered memory. state.c: what all
 * share. The prototypes come bottom up.
 */
#ifndef GM_H
#define GM_H

#include "mailbox.h"
#include "nic.h"
#include "queue.h"

enum {
    PORTS = NICBED_GM_PORTS,
    NODES = NICBED_GM_NODES,
    SEND_TOKENS = NICBED_GM_SEND_TOKENS,
    RECEIVE_TOKENS = NICBED_GM_RECEIVE_TOKENS,
    SIZES = 32,
    STREAMS = 2 * NODES * PORTS,
    NONE = 0xFF,
    PLACES = 6, /* most packets received and not yet in host memory */
    STAGES = 2, /* packets on their way out; a power of two */
    CACHE = 128, /* translations; a power of two */
    DATA_BYTES = 1024, /* most a packet carries */
    HEADER_WORDS = 6, /* 32-bit words before a packet's data */
    HEADER_BYTES = 4 * HEADER_WORDS,
};

/* What is not on the way of every message. */
#define RARE __attribute__((noinline, minsize))
/* What is, but is not done in every turn of the main loop: it saves its registers itself. */
#define APART __attribute__((noinline))

#define FIELD(word, name) (((word) & NICBED_GM_##name##_MASK) >> NICBED_GM_##name##_SHIFT)
#define PLACE(value, name) ((uint32_t)(value) << NICBED_GM_##name##_SHIFT)
#define KIND(kind) NICBED_GM_COMMAND_KIND_##kind
#define STATUS(status) NICBED_GM_STATUS_GM_##status
#define NACK(reason) NICBED_GM_NACK_##reason

/* Stream numbers: priority, node, port. None has port 0, so 0 is no stream. */
static inline uint32_t stream_number(uint32_t priority, uint32_t node, uint32_t port)
{
    return priority << 7 | node << 3 | port;
}
#define STREAM_PRIORITY(number) ((number) >> 7)
#define STREAM_NODE(number) ((number) >> 3 & (NODES - 1))
#define STREAM_PORT(number) ((number) & (PORTS - 1))

enum message_state { FREE, QUEUED, BEGUN };
enum { INLINED = 1, DIRECTED = 2 };

/* A send token under way. Its number is (port - 1) * SEND_TOKENS + token. */
struct message {
    uint32_t place; /* of its data, from the port's first address on */
    uint32_t word[3]; /* INLINED: place and these are the message; DIRECTED: word[1], word[2] are the
                         address there */
    uint32_t length;
    uint32_t trace;
    uint16_t first; /* sequence number of its first packet, once BEGUN */
    uint8_t next; /* message behind it */
    uint8_t state;
    uint8_t target, size, flags, stream;
};

enum {
    READY = 1, /* in the list of those that have their turn */
    LISTED = 2, /* in the list of those whose deadlines are looked at */
    BACKING_OFF = 4, /* refused for want of a buffer: waits before it tries again */
    HALTED = 8, /* the message at `current` cannot be read */
    SYNC = 16, /* nothing of this epoch has been acknowledged */
    REFUSED = 32, /* the oldest message was refused */
};

struct stream {
    uint8_t head, tail, current; /* messages: oldest, newest, the one that `next` is in */
    uint8_t flags;
    uint16_t base, next; /* sequence numbers: oldest unacknowledged, next to send */
    uint8_t epoch;
    uint8_t tries; /* refusals in a row, and 8 for each time-out since something was heard */
    uint8_t ready_link, busy_link; /* streams behind it in these lists */
    uint32_t deadline;
};

struct arrival {
    uint16_t expected;
    uint8_t epoch;
    uint8_t owed; /* packets not yet acknowledged */
    uint8_t buffer; /* receive token that is being filled, of `port` */
    uint8_t port;
    uint8_t gapped; /* the sender knows that `expected` is missing */
    uint8_t due; /* it is in the list of arrivals that owe */
};

enum buffer_state { ABSENT, PROVIDED, FILLING };

/* A receive token: a buffer that a program has provided. */
struct buffer {
    uint32_t place;
    uint8_t next; /* token behind it in the list of its size and priority */
    uint8_t size; /* and 32 * its priority */
    uint8_t tag, state;
};

struct port {
    struct queue queue;
    uint64_t first; /* virtual address that `place` 0 is at */
    uint32_t table, pages; /* translations in host memory */
    uint32_t events, put; /* event ring in host memory; events put so far */
    uint32_t accept[2];
    uint8_t number, open, armed, allowed;
    uint8_t send_tokens, receive_tokens;
    uint8_t stopped, stopped_tail; /* messages */
    uint8_t blocked[2][NODES]; /* bit p: sends to port p there are stopped */
};

/* A page, as it is given to a process; the queue lies at its beginning. */
struct port_page {
    uint64_t slots[NICBED_WINDOW_PAGE / 8];
};

struct translation {
    uint32_t key, frame;
};

struct packet {
    uint64_t word[(8 + HEADER_BYTES + DATA_BYTES) / 8];
};

/* How often firmware refused something: the host reads it for diagnosis. */
struct counters {
    uint32_t malformed; /* commands and packets that make no sense */
    uint32_t faults; /* accesses to memory that is not registered */
    uint32_t resent; /* times that a stream went back */
    uint32_t refused; /* messages without a buffer that matches */
    uint32_t duplicates, gaps;
    uint32_t failed; /* sends */
    uint32_t acks;
};

extern struct buffer buffers[(PORTS - 1) * RECEIVE_TOKENS];
extern struct port ports[PORTS];
extern struct message messages[(PORTS - 1) * SEND_TOKENS];
extern struct stream streams[STREAMS];
extern struct arrival arrivals[STREAMS];
extern struct counters counters;
extern struct translation cache[CACHE];
extern struct settings {
    uint32_t node, nodes, window, timeout, tick, patience, shift, payload, page_shift, page_mask;
    uint32_t route[NODES];
#ifdef GM_WORK_SEND
    uint32_t work_send;
#endif
} settings;

static inline struct buffer *buffer_of(uint32_t port, uint32_t token)
{
    return &buffers[(port - 1) * RECEIVE_TOKENS + token];
}

static inline struct message *message_of(uint32_t port, uint32_t token)
{
    return &messages[(port - 1) * SEND_TOKENS + token];
}

static inline struct port *port_of(const struct message *m)
{
    return &ports[(uint32_t)(m - messages) / SEND_TOKENS + 1];
}

/* --- translation.c ------------------------------------------------------------------------------ */

uint32_t translate_miss(struct port *p, uint32_t page, struct translation *e, uint32_t key);

/* Where `place` of the port's memory is in host memory; 0 if it is not registered. */
static inline uint32_t translate(struct port *p, uint32_t place)
{
    uint32_t page = place >> settings.page_shift;
    if (page >= p->pages)
        return 0;
    uint32_t key = page << 3 | p->number;
    struct translation *e = &cache[(page + (p->number << 4)) & (CACHE - 1)];
    uint32_t frame = e->key == key ? e->frame : translate_miss(p, page, e, key);
    return frame ? frame | (place & settings.page_mask) : 0;
}

/* Whether virtual address `va` is one of the port's, and its place. */
static inline bool place_of(const struct port *p, uint32_t va_low, uint32_t va_high,
                            uint32_t *place)
{
    uint64_t at = word_of(va_low, va_high) - p->first;
    *place = low(at);
    return high(at) == 0;
}

/* Where bytes are in host memory: `bytes` of them at `at`, the others at `behind`. */
struct span {
    uint32_t at, bytes, behind;
};

bool span_find(struct span *s, struct port *p, uint32_t place, uint32_t bytes);
bool registered(struct port *p, uint32_t place, uint32_t length);
void translations_forget(uint32_t port);

/* --- ports.c ------------------------------------------------------------------------------------ */

void event_put(struct port *p, uint32_t low_half, uint32_t trace, uint32_t from, uint32_t length,
               uint32_t end);
void sent(struct message *m, uint32_t status);

/* --- control.c ---------------------------------------------------------------------------------- */

/* False: the link has no room for it now. */
bool control(uint32_t number, uint32_t kind, uint32_t word, uint32_t epoch, uint32_t expected);

/* --- sending.c ---------------------------------------------------------------------------------- */

void sending_open(void);
void message_queue(struct message *m);
void streams_close(uint32_t port);
void acknowledged(const uint32_t *packet);
uint32_t pump(void);
void tick(void);

/* Packets on their way out. `staged`, `launched` and `freed` count up. */
extern struct outgoing {
    uint32_t staged, launched, freed;
    uint8_t ready_head[2], ready_tail[2]; /* streams that have their turn, by priority */
} outgoing;

/* Whether pump() has something to do. */
static inline bool pumping(void)
{
    return outgoing.staged != outgoing.launched || outgoing.ready_head[0] || outgoing.ready_head[1];
}

/* --- receiving.c -------------------------------------------------------------------------------- */

void receiving_open(void);
uint32_t receiving(void);
uint32_t acknowledge(void);
extern uint32_t dues; /* acknowledgements that are owed */
void buffer_provide(uint32_t port, uint32_t token);
void arrivals_close(uint32_t port);

/* --- commands.c --------------------------------------------------------------------------------- */

bool commands(struct port *p);

/* --- kernel.c ----------------------------------------------------------------------------------- */

void kernel_command(void);

#endif
