/* The Virtual Interface Architecture on the NIC processor. Layouts: layouts/via.py.
 *
 * Without RDMA read and the level Reliable Reception, what the VI engine does: descriptors, packets,
 * tables and events are the same. One thing runs at a time, each to its end: a command of the
 * kernel's never finds a packet half done. Nothing waits for the link, or two NICs that do would
 * wait for each other for ever; host memory always answers, so that is waited for on the spot.
 *
 * Files: main.c (turns, who is next), doorbells.c, vi.c (states), work_queue.c (descriptors),
 * walk.c (segments, gather, scatter), translate.c, send.c, receive.c, reliability.c, link.c (slots,
 * control packets), completion.c, completion_queue.c, events.c, commands.c.
 */
#ifndef VIA_FW_H
#define VIA_FW_H

#include "mailbox.h"
#include "nic.h"

enum { SEND, RECEIVE };
enum { NOBODY = 0xFFFF }; /* no VI, in lists of them */

/* --- What the host sets (host/via/firmware.py) ------------------------------------------------ */

struct settings {
    uint32_t vis, cqs, slots, window, depth, events;
    uint32_t event_ring, table, translations, page_shift, cache, mtu;
    uint32_t retry_timeout, retries;
};
extern struct settings set;

/* --- Records ---------------------------------------------------------------------------------- */

/* A virtual address and its memory handle, as they are in descriptors. */
struct place {
    uint64_t va;
    uint32_t handle;
};

/* A descriptor that was taken from its queue, and how far its segments have been walked. */
struct message {
    uint64_t va; /* of the descriptor */
    uint64_t segment_va;
    uint32_t handle;
    uint32_t physical; /* of the descriptor; as long as `era` is the translations' */
    uint32_t era;
    uint32_t segment_handle, segment_length;
    uint32_t offset; /* in the segment */
    uint32_t moved; /* bytes of all segments */
    uint32_t length, immediate, trace;
    uint8_t segments, control;
    uint8_t index; /* of the segment */
    bool taken; /* there is one */
};

struct work_queue {
    struct place head; /* the oldest pending one; with none it means nothing */
    uint16_t pending, posted, completed;
    uint8_t count; /* low bits of the token taken last */
    bool armed;
    uint32_t tokens; /* host memory: the last TOKENS tokens */
};

struct vi {
    struct work_queue queue[2];
    struct message sending, receiving;
    struct place remote; /* of the RDMA write that is sent */
    uint64_t wire; /* header and ... */
    uint32_t route_low, header_high, via_low; /* of its packets */
    uint32_t max_transfer;
    uint32_t written; /* of the RDMA write that comes in */
    uint32_t deadline; /* of the oldest packet, if `watched` */
    uint32_t tag_and;
    uint16_t tag, number, peer, next; /* next: in the list of those with work */
    uint8_t state, owner, node;
    bool reliable, rdma_write, on_cq[2];
    uint8_t cq[2];
    uint8_t sequence, unasked, outstanding, timeouts;
    uint8_t oldest, newest, again; /* slots: first and last not acknowledged, next to resend */
    uint8_t expected, kind; /* receiving: the next packet's number, the message begun */
    bool told, listed, watched;
};

#endif
