/* U-Net: what the files of this firmware share.
 *
 * A send: a process writes a descriptor into its endpoint's send queue and rings (main.c); the
 * descriptor is checked, its data are fetched into a stage, a packet at a time, while the packet
 * before it is on the link; endpoints take turns, packet by packet (sending.c). Once the last packet
 * has been given to the link, the descriptor's status goes to host memory (endpoints.c).
 *
 * A receive: the tag of a packet names the channel, and this the endpoint (receiving.c). A short
 * message goes into a descriptor of the receive queue. A longer one is gathered in buffers from the
 * free queue, a packet after the other; then the descriptor says where it is. A message of which a
 * packet is missing, or that finds no buffer or no room, is dropped, and its buffers are the next
 * message's. Nothing is acknowledged and nothing sent again.
 *
 * Calls between files go one way, from a file to those below it. In the order in which to read, top
 * down: main.c: the main loop. sending.c: from descriptors to packets. receiving.c: from packets to
 * descriptors. endpoints.c: what processes are told. translation.c: from places to host memory; it
 * waits for the kernel's answers. kernel.c: the kernel's commands. cache.c: the cache of
 * translations. state.c: what all share. The prototypes come bottom up.
 */
#ifndef UNET_H
#define UNET_H

#include "mailbox.h"
#include "nic.h"
#include "queue.h"

enum {
    ENDPOINTS = NICBED_UNET_ENDPOINTS,
    NODES = NICBED_UNET_NODES,
    CHANNELS = NICBED_UNET_CHANNELS,
    TAGS = NICBED_UNET_TAGS,
    SEGMENT_PAGES = NICBED_UNET_SEGMENT_PAGES,
    SEND_SLOTS = NICBED_UNET_SEND_SLOTS,
    FREE_SLOTS = NICBED_UNET_FREE_SLOTS,
    INLINE = NICBED_UNET_INLINE,
    BUFFERS = NICBED_UNET_MAX_BUFFERS,
    TLB = NICBED_UNET_TLB,
    ASSEMBLIES = 32, /* messages of several packets that arrive at a time, most */
    NONE = 0xFF,
    PLACES = 6, /* most packets received and not yet in host memory */
    STAGES = 2, /* packets on their way out; a power of two */
    DATA_BYTES = 1024, /* most a packet carries */
    HEADER_WORDS = 4, /* 32-bit words before a packet's data */
    HEADER_BYTES = 4 * HEADER_WORDS,
};

/* What is not on the way of every message. */
#define RARE __attribute__((noinline, minsize))
/* What is, but is not done in every turn of the main loop: it saves its registers itself. */
#define APART __attribute__((noinline))

#define FIELD(word, name) (((word) & NICBED_UNET_##name##_MASK) >> NICBED_UNET_##name##_SHIFT)
#define PLACE(value, name) ((uint32_t)(value) << NICBED_UNET_##name##_SHIFT)
#define STATUS(status) NICBED_UNET_STATUS_##status

/* A buffer that a process has given, or the part of it that has been filled. */
struct buffer {
    uint32_t place, bytes;
};

/* The message that is being sent from the head of a send queue. What the process wrote is read once
 * and checked. */
struct message {
    uint32_t place, length, offset, there, trace;
    uint16_t number, packet;
    uint8_t channel, inlined, placed, active;
    const uint32_t *data; /* inlined */
};

/* A page, as it is given to a process. */
struct endpoint_page {
    uint64_t slots[SEND_SLOTS * NICBED_SLOT_BYTES / 8];
    volatile uint32_t free[FREE_SLOTS][2];
    volatile uint32_t posted, posted_high;
    volatile uint32_t taken, taken_high;
    uint32_t no_buffer, no_room; /* messages dropped */
    uint8_t rest[NICBED_WINDOW_PAGE - SEND_SLOTS * NICBED_SLOT_BYTES - FREE_SLOTS * 8 - 24];
};

struct endpoint {
    struct queue queue;
    struct message message;
    struct endpoint_page *page;
    uint32_t receive, entries, put; /* receive queue in host memory; descriptors put so far */
    uint32_t statuses; /* of the send queue, in host memory */
    uint32_t bytes; /* of the segment; else pages of the process */
    uint32_t table; /* the process's translations in host memory */
    uint32_t free_entries, free_taken; /* free queue; entries taken so far */
    uint32_t armed_at; /* descriptors that the process had seen when it armed */
    uint8_t number, open, armed, spares;
    struct buffer spare[FREE_SLOTS]; /* buffers of messages that were dropped */
};

struct channel {
    uint8_t endpoint; /* and 1: 0 is a channel that is not open */
    uint8_t node, assembly;
    uint16_t out, in; /* tags */
    uint16_t number; /* of the next message that is sent */
};

/* A message of several packets, or one that the sender has placed, as far as it has arrived. */
struct assembly {
    uint8_t channel; /* 0: of none */
    uint8_t count; /* buffers taken */
    uint16_t number, packet; /* of the message; of the packet to come */
    uint32_t length; /* bytes so far; of them, in the last buffer: `filled` */
    uint32_t filled, room;
    struct buffer buffers[BUFFERS];
};

struct packet {
    uint64_t word[(HEADER_BYTES + DATA_BYTES) / 8];
};

/* How often firmware refused something: the host reads it for diagnosis. */
struct counters {
    uint32_t malformed; /* packets that make no sense */
    uint32_t unknown; /* packets of no channel */
    uint32_t refused; /* descriptors that name what is not the process's */
    uint32_t faults; /* places of arriving data that are not the process's */
    uint32_t broken; /* messages of which a packet was missing */
    uint32_t no_buffer, no_room; /* messages dropped for want of these */
    uint32_t misses; /* translations that were not in the NIC */
};

extern struct counters counters;
extern struct endpoint endpoints[ENDPOINTS];
extern struct channel channels[CHANNELS];
extern uint8_t channel_of[TAGS];
extern struct settings {
    uint32_t node, payload, buffers, page_shift, page_mask, tlb_mask, tlb_ways;
    uint32_t work_send, work_receive;
    uint32_t route[NODES];
} settings;

static inline struct endpoint *endpoint_of(const struct channel *c)
{
    return &endpoints[c->endpoint - 1];
}

/* --- cache.c ------------------------------------------------------------------------------------ */

struct entry {
    uint32_t key; /* page and endpoint + 1; 0: empty */
    uint32_t frame, used;
};
extern struct entry cache[TLB];
extern struct entry *filling; /* for which the kernel was asked */

void translations_forget(uint32_t number);
void translation_fill(uint32_t frame);

/* --- translation.c ------------------------------------------------------------------------------ */

/* Where bytes are in host memory: `bytes` of them at `at`, the others at `behind`. */
struct span {
    uint32_t at, bytes, behind;
};

/* Whether `bytes` bytes at `place` are the endpoint's, as far as that is known without a
 * translation. */
static inline bool within(const struct endpoint *e, uint32_t place, uint32_t bytes)
{
    if (settings.buffers == NICBED_UNET_BUFFERS_SEGMENT)
        return bytes <= e->bytes && place <= e->bytes - bytes;
    uint32_t page = place >> settings.page_shift;
    uint32_t pages = ((place & settings.page_mask) + bytes + settings.page_mask)
                     >> settings.page_shift;
    return page < e->bytes && pages <= e->bytes - page;
}

bool span_find(struct span *s, struct endpoint *e, uint32_t place, uint32_t bytes);

/* --- endpoints.c -------------------------------------------------------------------------------- */

void descriptor_over(struct endpoint *e, uint32_t status);
bool receive_room(const struct endpoint *e);
uint32_t *receive_slot(void);
void receive_put(struct endpoint *e, uint32_t *slot, uint32_t low_half, uint32_t trace,
                 uint32_t channel, uint32_t bytes);
void endpoint_arm(struct endpoint *e, uint32_t seen);

/* --- kernel.c ----------------------------------------------------------------------------------- */

void kernel_command(void);

/* --- receiving.c -------------------------------------------------------------------------------- */

void receiving_open(void);
uint32_t receiving(void);

/* --- sending.c ---------------------------------------------------------------------------------- */

uint32_t pump(void);
extern uint32_t wanting; /* a bit for each endpoint that may have something to send */

/* Packets on their way out. `staged`, `launched` and `freed` count up. */
extern struct outgoing {
    uint32_t staged, launched, freed;
} outgoing;

static inline bool pumping(void)
{
    return outgoing.staged != outgoing.launched || wanting;
}

#endif
