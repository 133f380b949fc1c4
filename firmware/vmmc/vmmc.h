/* VMMC and VMMC-2: what the files of this firmware share.
 *
 * A *port* is a process' send queue, in a page of NIC memory that the process writes by PIO. What a
 * NIC sends to a node is a *stream* of packets with sequence numbers; what it receives from one is
 * an *arrival*. Messages of several ports may alternate in a stream, packet by packet.
 *
 *   send:     slot -> checked against the outgoing page table -> cut at pages into packets of the
 *             stream's window -> data fetched into a stage -> link; its slot is done when the last
 *             packet is acknowledged, or with vmmc.reliable = false when it has left
 *   receive:  packet in order -> checked against the incoming page table -> written to the page, or
 *             where the export's redirection says -> with the last packet an event, if asked for
 *   refused:  the receiver's NACK names the packet; its message is taken out of the stream, which
 *             begins a new *epoch*, and its slot ends with an error
 *   import:   the kernel's command -> NAME to the node -> its NIC looks the export up and answers
 *             -> outgoing pages -> the command is answered
 *   miss:     vmmc.translation = utlb: entries are fetched from the process' table in host memory;
 *             interrupt: the port waits, the kernel is interrupted and fills the cache
 *
 * Calls between files go one way, from a file to those below it. In the order in which to read, top
 * down: main.c: the main loop. kernel.c: the kernel's commands. receiving.c: packets in. naming.c:
 * imports. commands.c: a process' commands. sending.c: packets out. ports.c: what a process is told.
 * control.c: packets without data. translation.c: local addresses. state.c: what all share.
 */
#ifndef VMMC_H
#define VMMC_H

#include "mailbox.h"
#include "nic.h"

enum {
    PORTS = NICBED_VMMC_PORTS,
    NODES = NICBED_VMMC_NODES,
    EXPORTS = NICBED_VMMC_EXPORTS,
    SLOTS = NICBED_VMMC_MOST_SLOTS,
    WINDOW = NICBED_VMMC_WINDOW,
    PLACES = 6, /* most packets received and not yet in host memory */
    STAGES = 2, /* packets on their way out; a power of two */
    DATA_BYTES = 1024, /* most a packet carries */
    HEADER_WORDS = 6, /* 32-bit words before a packet's data */
    HEADER_BYTES = 4 * HEADER_WORDS,
    MISS = 1, /* no frame: the translation is asked for */
};

/* What is not on the way of every message. */
#define RARE __attribute__((noinline, minsize))
/* What is, but is not done in every turn of the main loop. */
#define APART __attribute__((noinline))

#define FIELD(word, name) (((word) & NICBED_VMMC_##name##_MASK) >> NICBED_VMMC_##name##_SHIFT)
#define PLACE(value, name) ((uint32_t)(value) << NICBED_VMMC_##name##_SHIFT)
#define STATUS(status) NICBED_VMMC_STATUS_##status
#define PACKET(kind) NICBED_VMMC_PACKET_##kind
#define DETAIL(flag) NICBED_VMMC_DETAIL_##flag##_MASK

/* A page that a process has imported; no owner: none has. */
struct outgoing_page {
    uint16_t page; /* there */
    uint8_t node, owner; /* owner: port + 1 */
    uint32_t bytes : 24, generation : 8; /* bytes: of it that are exported */
};

/* A page that a process exports; no frame: none does. */
struct incoming_page {
    uint32_t frame;
    uint32_t bytes : 17, export : 7, generation : 8;
};

struct redirection {
    uint32_t key, target, limit; /* target: a place of the port */
    uint8_t armed, skip;
};

struct export {
    uint32_t name, bytes;
    uint16_t first, pages;
    uint16_t nodes; /* that may import it, a bit each */
    uint16_t begun; /* messages, of those that are told of */
    uint8_t owner, generation; /* owner: port + 1 */
    struct redirection redirection;
};

/* A packet that has not been acknowledged. */
struct out {
    uint32_t from; /* host address of its data; INLINED: where they are in the slots */
    uint32_t place, extent, key; /* as in its header */
    uint16_t bytes;
    uint8_t detail, generation;
    uint32_t trace;
    uint8_t port, slot, inlined, ends; /* ends: the slot is done behind it */
};

struct stream {
    struct out window[WINDOW];
    uint32_t deadline;
    uint16_t base, next, send; /* oldest unacknowledged, next new, next to go to the link */
    uint8_t epoch, tries;
    uint8_t dead; /* the node has failed */
    uint8_t sync; /* nothing of this epoch has been acknowledged */
};

/* A message that is arriving. */
struct message {
    uint32_t place, length, key, target, limit; /* place: in the export */
    uint8_t export, state, skip, faulted;
};
enum { NOTHING, TO_DEFAULT, REDIRECTED };

struct arrival {
    uint16_t expected;
    uint8_t epoch;
    uint8_t owed; /* packets not yet acknowledged */
    uint8_t gapped; /* the sender knows that `expected` is missing */
    uint8_t due; /* it is in the list of arrivals that owe */
    struct message messages[PORTS]; /* by the sender's port */
};

struct port {
    uint64_t first; /* virtual address that place 0 is at */
    uint32_t report, events, statuses, table, pages;
    uint32_t taken, done; /* slots that were looked at, that are over */
    uint32_t failed, put; /* sends; events */
    uint32_t missing; /* page that it waits for, + 1 */
    uint8_t number, open, armed, reporting, lost;
    /* The message that is being cut into packets. */
    uint8_t busy, inlined, detail, slot, node, faulted;
    uint32_t proxy, place, offset, length, key, trace;
    /* Of each slot: */
    uint8_t pending[SLOTS], further[SLOTS], status[SLOTS];
    uint8_t here[SLOTS], end[SLOTS]; /* bytes of its data in the slot; word behind them */
};

/* As it is given to a process: slots, then how many events it has taken. */
struct port_page {
    uint64_t words[NICBED_WINDOW_PAGE / 8];
};

struct translation {
    uint32_t key, frame;
};

struct packet {
    uint64_t word[(8 + HEADER_BYTES + DATA_BYTES) / 8];
};

/* The host reads them for diagnosis, and tests do. */
struct counters {
    uint32_t malformed; /* commands and packets that make no sense */
    uint32_t refused; /* sends and packets outside of what is imported and exported */
    uint32_t faults; /* local addresses without translation */
    uint32_t resent; /* packets */
    uint32_t duplicates, gaps;
    uint32_t failed; /* nodes */
    uint32_t acks;
    uint32_t hits, misses, fetched; /* of the translation cache */
    uint32_t interrupts; /* for misses */
    uint32_t redirected; /* messages */
    uint32_t lost; /* events */
};

extern struct port ports[PORTS];
extern struct export exports[EXPORTS];
extern struct outgoing_page *outgoing_pages;
extern struct incoming_page *incoming_pages;
extern struct stream *streams;
extern struct counters counters;
extern struct port_page port_pages[PORTS];
extern struct settings {
    uint32_t node, nodes, window, timeout, tick, retries, payload, page_shift, page_mask;
    uint32_t slots, outgoing, incoming, sets, ways, prefetch;
    bool reliable, utlb;
    uint32_t route[NODES];
#ifdef VMMC_WORK_SEND
    uint32_t work_send;
#endif
#ifdef VMMC_WORK_RECEIVE
    uint32_t work_receive;
#endif
} settings;

static inline struct out *out_of(struct stream *s, uint16_t sequence)
{
    return &s->window[sequence & (WINDOW - 1)];
}

/* --- translation.c ------------------------------------------------------------------------------ */

void translation_open(void);
/* Where `place` of the port's memory is in host memory; 0: it is not pinned; MISS: it is not known
 * yet, and the kernel has been asked. */
uint32_t translate(struct port *p, uint32_t place);
void translation_fill(struct port *p, uint32_t page, uint32_t frame);
void translations_forget(uint32_t port);

/* --- control.c ---------------------------------------------------------------------------------- */

/* False: the link has no room for it now. */
bool control(uint32_t node, uint32_t detail, uint32_t word, uint32_t high, uint32_t extent,
             uint32_t key);

/* --- ports.c ------------------------------------------------------------------------------------ */

void event_put(struct port *p, uint32_t bits, uint32_t node, uint32_t trace, uint32_t place,
               uint32_t length, uint32_t key);
void slot_ends(struct port *p, uint32_t slot, uint32_t status);
void report(struct port *p);

/* --- sending.c ---------------------------------------------------------------------------------- */

uint32_t pump(uint32_t until);
void tick(bool others);
void timer_start(void);
void acknowledged(uint32_t node, const uint32_t *packet, uint32_t kind);
void port_stop(struct port *p);
extern uint32_t streams_ready; /* streams with packets to send, a bit each */
extern uint32_t ports_again; /* ports whose messages are cut: commands may wait behind them */
bool sending(void);

/* --- commands.c --------------------------------------------------------------------------------- */

void commands(struct port *p);
bool commands_behind(void);

/* --- naming.c ----------------------------------------------------------------------------------- */

void naming_begin(uint32_t owner, uint32_t node, uint32_t name, uint32_t first, uint32_t most);
void naming_packet(uint32_t node, const uint32_t *packet, uint32_t detail);
bool naming_tick(void);
/* The end of the import under way, until the kernel has been told. */
extern struct import_end {
    uint32_t over, status, bytes;
} import_end;

/* --- receiving.c -------------------------------------------------------------------------------- */

void receiving_open(void);
uint32_t receiving(void);
uint32_t acknowledge(void);
extern uint32_t dues; /* acknowledgements that are owed */

/* --- kernel.c ----------------------------------------------------------------------------------- */

void kernel_command(void);

#endif
