/* Forwards packets unchanged: from a host program's queue to the link, from the link to its ring.
 * This is all of firmware fm, and the base of firmware am.
 *
 * A slot is sent in place. It is given back when the engine SEND has read it, and a buffer goes
 * back to the engine RECEIVE when the engine N2H has read it: both late, several at a time. Every
 * slot is checked; malformed ones are counted and dropped.
 *
 * The main loop's data is one object, so that its address stays in a register.
 */
#ifndef FORWARD_H
#define FORWARD_H

#include "queue.h"
#include "ring.h"
#include "send_word.h"

#define FORWARD_PAGE 1 /* the doorbell page of the queue */
#define FORWARD_SLOTS 64 /* at most; one page */
#define FORWARD_BUFFERS NICBED_ENGINE_QUEUE /* so the engine RECEIVE has room for all */

struct forward_slots { uint64_t words[FORWARD_SLOTS * NICBED_SLOT_BYTES / 8]; };

/* Set by the host program: the queue's slots (a power of two, 4 to FORWARD_SLOTS), its address in
 * host memory if it is coherent, the address of its report; the ring; the doorbell's process. */
PARAMETER(send_slots);
PARAMETER(send_host);
PARAMETER(send_report);
PARAMETER(receive_base);
PARAMETER(receive_entries);
PARAMETER(receive_bytes);
PARAMETER(process);
PARAMETER(nodes);

PAGED(struct forward_slots, slots);
DOORBELL_WORDS(FORWARD_PAGE + 1);

struct forward {
    struct ring ring; /* first: its `taken` is the host's */
    uint64_t slots_malformed, packets_malformed; /* numbers of those dropped */
    struct queue queue;
    uint32_t received, known; /* packets put into the ring; arrived, at the last check */
    uint32_t recycled; /* buffers given to the engine RECEIVE again */
    uint32_t ring_free, buffer_bytes;
    uint32_t nodes, identity;
    uint32_t release_at; /* slots sent from which on they are given back */
    uint32_t mask, always; /* bits that end a wait, and those of them that always do */
    ticket_t sent; /* commands of the engine SEND that had ended at the last check */
    bool bells; /* doorbells come through their queue */
    uint64_t *buffers[FORWARD_BUFFERS];
    ticket_t put[FORWARD_BUFFERS]; /* of the engine N2H, by buffer */
    ticket_t slot_sent[FORWARD_SLOTS]; /* of the engine SEND, by slot */
};

SHARED(struct forward, forward);

static void forward_open(uint32_t protocol)
{
    uint32_t count = (uint32_t)send_slots, host = (uint32_t)send_host;
    forward.nodes = (uint32_t)nodes;
    forward.buffer_bytes = (uint32_t)receive_bytes;
    forward.bells = !host && !doorbells_are_words;
    forward.identity = node() | protocol << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    forward.release_at = count / 4;
    queue_open(&forward.queue, FORWARD_PAGE, slots.words, count, host, (uint32_t)send_report);
    ring_open(&forward.ring, (uint32_t)receive_base, (uint32_t)receive_entries,
              forward.buffer_bytes);
    forward.mask = forward.always = NICBED_PENDING_RECEIVE | queue_wakes(&forward.queue);
    if (host)
        watch_set(host, count * NICBED_SLOT_BYTES);
    else
        doorbell_allow(FORWARD_PAGE, (uint32_t)process);
    protocol_select(protocol);
    for (uint32_t i = 0; i < FORWARD_BUFFERS; i++) {
        forward.buffers[i] = take_memory(forward.buffer_bytes, 8);
        link_receive(forward.buffers[i], forward.buffer_bytes);
    }
    ready = 1;
}

/* Sleeps until there may be work; returns the pending bits. Work that can be done late ends the
 * sleep only when there is enough of it: `mask` has N2H, SEND then. */
static inline uint32_t forward_wait(void)
{
    return wait_and_clear(forward.mask);
}

/* --- From the link to the ring ----------------------------------------------------------------- */

#define FORWARD_RECEIVES (NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H | NICBED_PENDING_WINDOW)

static void forward_recycle(void)
{
    ticket_t done = reg_read(ENGINE_REGISTER(ENGINE_N2H, DONE));
    barrier();
    while (forward.recycled != forward.received
           && (int32_t)(done - forward.put[forward.recycled % FORWARD_BUFFERS]) >= 0)
        link_receive(forward.buffers[forward.recycled++ % FORWARD_BUFFERS],
                     forward.buffer_bytes);
    forward.mask &= ~NICBED_PENDING_N2H;
    if (forward.received - forward.recycled >= FORWARD_BUFFERS / 2)
        forward.mask |= NICBED_PENDING_N2H;
}

/* Puts received packets into the ring, as far as it has room. */
static inline void forward_receive(void)
{
    forward.known = reg_read(ENGINE_REGISTER(ENGINE_RECEIVE, DONE));
    barrier();
    while (forward.received != forward.known) {
        uint32_t at = forward.received % FORWARD_BUFFERS;
        uint64_t *packet = forward.buffers[at];
        uint32_t bytes = 8 + NICBED_HEADER_BYTES + received_length(packet);
        ticket_t put = engine_given[ENGINE_N2H];
        if (bytes <= forward.buffer_bytes) {
            if (!forward.ring_free) {
                forward.ring_free = ring_room(&forward.ring);
                if (!forward.ring_free) {
                    forward.mask |= NICBED_PENDING_WINDOW;
                    break;
                }
                forward.mask = (forward.mask & ~NICBED_PENDING_WINDOW) | forward.always;
            }
            forward.ring_free--;
            put = ring_put(&forward.ring, packet, bytes);
        } else {
            forward.packets_malformed++;
        }
        forward.put[at] = put;
        forward.received++;
    }
    if (forward.received - forward.recycled >= FORWARD_BUFFERS / 2)
        forward_recycle();
}

/* --- From the queue to the link ---------------------------------------------------------------- */

#define FORWARD_SENDS (~(NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H))

/* Whether the engine SEND takes `commands` more without waiting. The firmware must never wait here:
 * it must receive while the link is held up, or two nodes could wait for each other. */
static inline bool forward_can_send(uint32_t commands)
{
    uint32_t after = engine_given[ENGINE_SEND] + commands;
    if (after - forward.sent <= NICBED_ENGINE_QUEUE)
        return true;
    forward.sent = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    if (after - forward.sent <= NICBED_ENGINE_QUEUE)
        return true;
    forward.mask |= NICBED_PENDING_SEND;
    return false;
}

/* Gives back sent slots before slot number `end`, if there are enough of them. Returns whether a
 * full queue may have stopped forward_next(), which must then be called again. */
static inline bool forward_release(uint32_t end)
{
    struct queue *queue = &forward.queue;
    if (queue->next - queue->taken < forward.release_at)
        return false;
    uint32_t before = queue->taken;
    ticket_t done = forward.sent = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    while (queue->taken != end
           && (int32_t)(done - forward.slot_sent[queue->taken % FORWARD_SLOTS]) >= 0)
        queue_taken(queue);
    if (queue->next - queue->taken >= forward.release_at)
        forward.mask |= NICBED_PENDING_SEND;
    return queue->look && queue->taken != before;
}

/* Takes the counts of posted slots, as the pending bits say. */
static inline void forward_posted(uint32_t bits)
{
    if (bits & NICBED_PENDING_SEND)
        forward.mask &= ~NICBED_PENDING_SEND;
    if (bits & NICBED_PENDING_DOORBELL) {
        uint32_t entry = reg_read(NICBED_MMIO_DOORBELL);
        uint32_t posted = reg_read(NICBED_MMIO_DOORBELL_LOW);
        reg_write(NICBED_MMIO_DOORBELL_POP, 1);
        if ((entry & (NICBED_DOORBELL_ENTRY_PAGE_MASK | NICBED_DOORBELL_ENTRY_OFFSET_MASK))
            == FORWARD_PAGE)
            queue_posted(&forward.queue, posted);
    }
    if (bits & NICBED_PENDING_WATCH)
        queue_watched(&forward.queue);
}

/* The next slot, not yet used; NULL if there is none. */
static inline uint64_t *forward_next(void)
{
    if (!forward.bells)
        return queue_peek(&forward.queue);
    barrier();
    uint32_t next = forward.queue.next;
    return next == forward.queue.posted ? NULL : queue_slot(&forward.queue, next);
}

/* Makes the slot's word 0 the wire header. */
static inline void slot_header(uint64_t *slot, struct send_word word)
{
    uint32_t *half = (uint32_t *)slot;
    half[0] = word.low & (NICBED_SEND_WORD_ROUTE_LO_MASK | NICBED_SEND_WORD_LENGTH_LO_MASK);
    half[1] = word_destination(word) << NICBED_HEADER_DESTINATION_HI_SHIFT | forward.identity;
}

/* Moves on from the slot that forward_next() returned, which is in use until `ticket` of SEND. */
static inline void forward_used(ticket_t ticket)
{
    forward.slot_sent[forward.queue.next++ % FORWARD_SLOTS] = ticket;
}

/* Sends the next slot, a packet that lies in it; or drops it. There must be room for a command. */
static inline void forward_inline(uint64_t *slot, struct send_word word)
{
    uint32_t length = word_length(word);
    if (word_kind(word) == NICBED_SEND_KIND_INLINE && word_destination(word) < forward.nodes
        && length <= NICBED_SLOT_BYTES - NICBED_HEADER_BYTES) {
        slot_header(slot, word);
        forward_used(link_send(slot, NICBED_HEADER_BYTES + length, word_trace(word)));
    } else {
        forward.slots_malformed++;
        forward_used(engine_given[ENGINE_SEND]);
    }
}

#endif
