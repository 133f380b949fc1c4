/* The Virtual Interface Architecture on the NIC processor. Layouts: layouts/via.py.
 *
 * Without RDMA read and the level Reliable Reception, what the VI engine does: descriptors, packets,
 * tables and events are the same. One thing runs at a time, each to its end: a command of the
 * kernel's never finds a packet half done. Nothing waits for the link, or two NICs that do would
 * wait for each other for ever; host memory always answers, so that is waited for on the spot.
 *
 * Calls between files go one way, from a file to those below it. In the order in which to read, top
 * down: main.c: the main loop. commands.c: the kernel's. vi.c: a VI's states. doorbells.c: tokens.
 * receive.c, send.c: messages. reliability.c: acknowledgements, time-outs. connection.c: how messages
 * and connections end. link.c: slots, control packets. completion.c, completion_queue.c: what the
 * consumer is told. work_queue.c: taking descriptors. segments.c, descriptor.c: what they point to.
 * doorbell_pages.c: whose they are. work_list.c: who is next. translate.c: the translation cache.
 * events.c: what the kernel is told. state.c: what all share. The prototypes come bottom up.
 */
#ifndef VIA_FW_H
#define VIA_FW_H

#include "mailbox.h"
#include "nic.h"

enum { SEND_QUEUE, RECEIVE_QUEUE };
enum { NO_VI = 0xFFFF, NO_SLOT = 0xFF, NO_KIND = 0xFF };

/* Not copied to where it is called. */
#define APART __attribute__((noinline))

#define FIELD(word, name) ((uint32_t)(((word) & NICBED_##name##_MASK) >> NICBED_##name##_SHIFT))
#define PLACE(value, name) ((uint64_t)(value) << NICBED_##name##_SHIFT)

/* What the host sets: copies of the parameters of main.c. */
struct settings {
    uint32_t vis, cqs, slots, window, depth, events;
    uint32_t event_ring, table, index_mask, page_shift, cache_mask, mtu;
    uint32_t retry_timeout, retries, doorbells;
#ifdef VIA_WORK_SEND
    uint32_t work_send;
#endif
#ifdef VIA_WORK_RECEIVE
    uint32_t work_receive;
#endif
    bool words;
};
extern struct settings set;

enum counter {
    COUNT_FOREIGN, COUNT_DOORBELLS_LOST, COUNT_EVENTS_LOST, COUNT_UNMATCHED, COUNT_DUPLICATES,
    COUNT_GAPS, COUNT_DROPPED, COUNT_RESENT, COUNT_SENT, COUNT_HITS, COUNT_MISSES, COUNTERS
};
struct counter_word {
    uint32_t value, zero;
};
extern struct counter_word counters[COUNTERS]; /* the host reads them: COUNTERS in firmware.py */

static inline void count(enum counter which) { counters[which].value++; }

/* --- Records ---------------------------------------------------------------------------------- */

/* A virtual address and its memory handle, as they are in descriptors. */
struct place {
    uint32_t low, high, handle;
};

/* A descriptor that was taken from its queue, and how far its segments have been walked. */
struct message {
    struct place at, segment;
    uint32_t physical, era; /* of the descriptor; as long as `era` is the translations' */
    uint32_t segment_length;
    uint32_t offset; /* in the segment */
    uint32_t moved; /* bytes of all segments */
    uint32_t length, immediate, trace;
    uint8_t segments, control;
    uint8_t index; /* of the segment to come */
    bool taken; /* there is one */
};

/* `head` is the oldest pending descriptor; with none it means nothing. `posted` and `completed`
 * count modulo 65536, `count` is that of the token taken last (doorbells.c). */
struct work_queue {
    struct place head;
    uint32_t tokens; /* host memory: the last TOKENS tokens */
    uint16_t pending, posted, completed;
    uint8_t count;
    bool armed;
};

struct vi {
    struct work_queue queue[2];
    struct message sending, receiving;
    struct place remote; /* of the RDMA write that is sent */
    uint32_t route, header; /* of its packets: the wire header's halves */
    uint32_t max_transfer;
    uint32_t written; /* of the RDMA write that comes in */
    uint32_t deadline; /* of the oldest packet, if `watched` */
    uint16_t tag, number, peer;
    uint16_t next; /* in the list of VIs with work */
    uint16_t next_debtor; /* in the list of those that owe control packets */
    uint8_t state, owner, node;
    bool reliable, rdma_write, on_cq[2];
    uint8_t cq[2];
    uint8_t sequence, unasked, outstanding, timeouts;
    uint8_t oldest, newest, again; /* slots: first and last not acknowledged; next to resend */
    uint8_t expected, kind; /* receiving: the next packet's number, and the message begun */
    uint8_t owed, break_sequence, break_code; /* OWE_... */
    uint8_t patience; /* its time-out is the knob's shifted by so much */
    uint8_t probe, echo; /* numbers: of its own last probe, of the peer's */
    uint8_t probe_end; /* packets before that one had left when the probe did */
    bool told; /* a NAK was sent for the gap there is */
    bool listed, watched, debtor;
    bool probing; /* an answer to `probe` says what was lost */
};

extern struct vi *vis;

/* --- events.c --------------------------------------------------------------------------------- */

void event(uint32_t code, uint32_t number);
bool events_serve(void); /* whether the host is still to be interrupted */

/* --- translate.c ------------------------------------------------------------------------------ */

enum { LOCAL = 1, REMOTE_WRITE = 3 }; /* bits that an entry's flags must have */

struct piece {
    uint32_t physical, room; /* room: bytes from there on in the same page and region */
};

extern uint32_t era; /* counts invalidations: what was translated in this one still holds */

void translate_open(void);
/* Whether (va, handle) may be accessed so under protection tag `tag`, and where it is. */
bool translate(uint32_t va_low, uint32_t va_high, uint32_t handle, uint32_t tag, uint32_t need,
               struct piece *found);
/* Forgets the entry. */
void translate_invalidate(uint32_t index);

/* --- work_list.c ------------------------------------------------------------------------------ */

extern uint32_t vis_with_work; /* so many are in the list */

/* Put a VI that may have work into the list, behind the others. */
void wake_vi(struct vi *vi);
/* Take the first one out of it. */
struct vi *next_vi(void);

/* --- doorbell_pages.c ------------------------------------------------------------------------- */

enum { CQ_PAGE = 1 }; /* page of completion queue 0; VIs' pages are behind those of all queues */

extern uint32_t (*seen)[2]; /* words: low halves of what was found in each page */
extern uint16_t *open_pages; /* words: pages to look at */
extern uint32_t open_count;

void doorbells_open(void);
/* Open or close a page (`words`: cleared). */
void page_open(uint32_t page, uint32_t owner);
void page_close(uint32_t page);

/* --- descriptor.c ----------------------------------------------------------------------------- */

extern uint32_t chunk[16]; /* 64 bytes of a descriptor */

/* Reads chunk `number` of a message's descriptor, as far as it is in `p`. */
void fetch(const struct message *m, uint32_t number, const struct piece *p);
/* Segment `index` of a message: 16 bytes; NULL if they may not be read. */
const uint32_t *segment_read(struct vi *vi, struct message *m, uint32_t index);

static inline uint32_t operation(const struct message *m) { return m->control & 3; }
static inline bool is_rdma(const struct message *m)
{
    return operation(m) == NICBED_VIA_OPERATION_RDMA_WRITE
           || operation(m) == NICBED_VIA_OPERATION_RDMA_READ;
}

/* --- segments.c ------------------------------------------------------------------------------- */

enum segment { SEGMENT_MORE, SEGMENT_END, SEGMENT_REFUSED };

void walk_begin(struct message *m, uint32_t first);
/* Goes to the segment that the next byte is in. */
enum segment walk_next(struct vi *vi, struct message *m);
/* The next `bytes` bytes from host memory to `to`, or from `from` to host memory: 0, or the error
 * bit of Status. Gathering, the transfers may be under way still. */
uint32_t gather(struct vi *vi, struct message *m, char *to, uint32_t bytes);
uint32_t scatter(struct vi *vi, struct message *m, const char *from, uint32_t bytes);
/* To memory of this side that the peer names: bytes written, all or up to what is refused. */
uint32_t write_remote(struct vi *vi, uint32_t low, uint32_t high, uint32_t handle,
                      const char *from, uint32_t bytes, uint32_t trace);

/* --- work_queue.c ----------------------------------------------------------------------------- */

enum taken { NOTHING, TAKEN, UNREADABLE };

/* The next descriptor of a queue becomes its VI's message. One that cannot be read only counts, and
 * all that is behind it is forgotten: the caller breaks the VI with POST_DESC. */
enum taken take(struct vi *vi, uint32_t receive);
/* Whether a descriptor is malformed. */
bool format_error(const struct message *m, uint32_t receive);
/* Counts a completion: event if armed for. */
void completed(struct vi *vi, uint32_t receive);
/* An event at the next completion, or now if `count` is not how many there were. */
void arm(struct vi *vi, uint32_t receive, uint32_t count);

/* --- completion_queue.c, completion.c --------------------------------------------------------- */

enum { OPERATION = NICBED_VIA_STATUS_OPERATION_SHIFT };

void cq_open(void);
bool cq_append(struct vi *vi, uint32_t receive, uint32_t *broken);
void cq_config(uint32_t number, uint64_t base, uint64_t config);
void cq_consumed(uint32_t number, uint32_t entries);
void cq_arm(uint32_t number, uint32_t seen);

/* A message's status (done last) and entry of the completion queue. `status`: error bits,
 * NICBED_VIA_STATUS_IMMEDIATE if there is immediate data, operation. False if they cannot be
 * written: `broken` is what the VI is broken with. */
bool completion_write(struct vi *vi, uint32_t receive, uint32_t length, uint32_t status,
                      uint32_t immediate, uint32_t *broken);

/* --- link.c ----------------------------------------------------------------------------------- */

struct slot {
    uint64_t *packet; /* wire header, VIA's, its data */
    uint32_t bytes, trace;
    ticket_t ticket; /* of the last time it was sent */
    uint16_t vi;
    uint8_t sequence, next;
};
extern struct slot *slots;

void link_open(void);
extern uint32_t slots_left; /* that hold no packet */
bool slot_ready(void);
uint32_t slot_take(void); /* if slot_ready() */
void slot_free(uint32_t slot); /* it may still be on its way to the link */
void slot_send(uint32_t slot);

/* What a VI owes its peer. Each is owed once and none is dropped; VIs pay in turn, what is so then:
 * acknowledgements are cumulative. */
enum { OWE_ACK = 1, OWE_NAK = 2, OWE_ANSWER = 4, OWE_PROBE = 8, OWE_BREAK = 16 };
void owe(struct vi *vi, uint32_t what);
void owe_break(struct vi *vi, uint32_t sequence, uint32_t code); /* the first one counts */
void control_serve(void);
bool control_waits(void);

static inline bool link_room(void) { return engine_space(ENGINE_SEND) > 1; }

/* --- connection.c ----------------------------------------------------------------------------- */

/* The message is over: its completion is written and counted. `status`: as above. */
void complete(struct vi *vi, uint32_t receive, uint32_t length, uint32_t status,
              uint32_t immediate);
/* Completes the send under way, if there is one, with `status`: error bits, or 0. */
void send_over(struct vi *vi, uint32_t status);
/* Into error: reported once, and only of a VI that is idle or connected. */
void break_vi(struct vi *vi, uint32_t event);
/* The same without a report: what was begun completes flushed, then all that is posted. */
void vi_error(struct vi *vi);

/* --- reliability.c, send.c, receive.c --------------------------------------------------------- */

enum turn { TURN_IDLE, TURN_WORKED, TURN_BLOCKED };

void acknowledged(struct vi *vi, uint32_t sequence, bool again);
void answered(struct vi *vi, uint32_t probe);
void broken(struct vi *vi, uint32_t code);
void watch(struct vi *vi); /* starts the timer of its oldest packet anew */
enum turn resend(struct vi *vi);
void timers_serve(void);

enum turn serve(struct vi *vi);
/* Completes all that is posted to an idle VI's send queue. */
void flush_idle(struct vi *vi);

void receive_open(void);
bool receive_serve(void);
void receive_replenish(void);
bool receive_starved(void);

/* --- doorbells.c ------------------------------------------------------------------------------ */

enum { TOKENS = 64, COUNT_MASK = 63 };

void doorbells_serve(void);
void token(struct vi *vi, uint32_t receive, uint32_t low, uint32_t high);

/* --- vi.c, commands.c ------------------------------------------------------------------------- */

bool vi_command(uint32_t number, uint32_t command, uint64_t attributes, uint64_t peer,
                uint64_t tokens);

enum command {
    COMMAND_VI = 1, COMMAND_CQ, COMMAND_INVALIDATE, COMMAND_QUERY, COMMAND_TOKENS, COMMAND_ARM
};

bool commands_serve(void);

#endif
