/* Packets as they are: from a host program's queue to the link, from the link to its ring. All of
 * firmware fm, and what firmware am is built around.
 *
 * A slot is sent from where it lies. It is given back once the engine SEND has read it, and a
 * buffer to the engine RECEIVE once the engine N2H has: both late, several at a time. Every slot is
 * checked: what makes no sense is counted and dropped.
 */
#ifndef FORWARD_H
#define FORWARD_H

#include "queue.h"
#include "ring.h"

#define FORWARD_PAGE 1 /* the doorbell page of the queue */
#define FORWARD_SLOTS 64 /* at most; one page */
#define FORWARD_BUFFERS NICBED_ENGINE_QUEUE /* so the engine RECEIVE has room for all */

struct forward_slots { uint64_t words[FORWARD_SLOTS * NICBED_SLOT_BYTES / 8]; };

/* Of the host program: the queue's slots (a power of two, 4 to FORWARD_SLOTS), its place in host
 * memory if it is coherent, where its count is reported; the ring; who rings the doorbell. */
PARAMETER(send_slots);
PARAMETER(send_host);
PARAMETER(send_report);
PARAMETER(receive_base);
PARAMETER(receive_entries);
PARAMETER(receive_bytes);
PARAMETER(process);
PARAMETER(nodes);

PAGED(struct forward_slots, slots);
SHARED(struct ring, ring); /* `taken` is its first word */
SHARED(volatile uint64_t, slots_malformed);
SHARED(volatile uint64_t, packets_malformed);
DOORBELL_WORDS(FORWARD_PAGE + 1);

static struct queue queue;
static uint32_t nodes_known, identity, release_at;
static bool coherent, bells;
static ticket_t slot_sent[FORWARD_SLOTS], sent_done; /* by slot; and as last seen */
static uint64_t *buffers[FORWARD_BUFFERS];
static ticket_t buffer_put[FORWARD_BUFFERS];
static uint32_t buffer_bytes, received, received_known, recycled, ring_free;
static bool want_send, want_ring; /* stopped for want of commands, of room in the ring */

static void forward_open(uint32_t protocol)
{
    uint32_t count = (uint32_t)send_slots;
    nodes_known = (uint32_t)nodes;
    buffer_bytes = (uint32_t)receive_bytes;
    coherent = send_host != 0;
    bells = !coherent && !doorbells_are_words;
    identity = node() | protocol << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    release_at = count / 4;
    queue_open(&queue, FORWARD_PAGE, slots.words, count, (uint32_t)send_host,
               (uint32_t)send_report);
    ring_open(&ring, (uint32_t)receive_base, (uint32_t)receive_entries, buffer_bytes);
    if (coherent)
        watch_set((uint32_t)send_host, count * NICBED_SLOT_BYTES);
    else
        doorbell_allow(FORWARD_PAGE, (uint32_t)process);
    protocol_select(protocol);
    for (uint32_t i = 0; i < FORWARD_BUFFERS; i++) {
        buffers[i] = take_memory(buffer_bytes, 8);
        link_receive(buffers[i], buffer_bytes);
    }
    ready = 1;
}

/* --- From the link to the ring ----------------------------------------------------------------- */

static void forward_recycle(void)
{
    ticket_t done = reg_read(ENGINE_REGISTER(ENGINE_N2H, DONE));
    barrier();
    while (recycled != received
           && (int32_t)(done - buffer_put[recycled % FORWARD_BUFFERS]) >= 0)
        link_receive(buffers[recycled++ % FORWARD_BUFFERS], buffer_bytes);
}

/* Puts one packet into the ring; whether there was one, and room for it. */
static bool forward_receive(void)
{
    uint32_t at = received;
    if (at == received_known) {
        received_known = reg_read(ENGINE_REGISTER(ENGINE_RECEIVE, DONE));
        if (at == received_known)
            return false;
        barrier();
    }
    uint64_t *packet = buffers[at % FORWARD_BUFFERS];
    uint32_t bytes = 8 + NICBED_HEADER_BYTES + received_length(packet);
    if (bytes <= buffer_bytes) {
        if (!ring_free) {
            ring_free = ring_room(&ring);
            if (!ring_free) {
                want_ring = true;
                return false;
            }
        }
        ring_free--;
        buffer_put[at % FORWARD_BUFFERS] = ring_put(&ring, packet, bytes);
    } else {
        packets_malformed++;
        buffer_put[at % FORWARD_BUFFERS] = engine_given[ENGINE_N2H];
    }
    received = at + 1;
    if (at + 1 - recycled >= FORWARD_BUFFERS / 2)
        forward_recycle();
    return true;
}

/* --- From the queue to the link ---------------------------------------------------------------- */

/* Whether the engine SEND takes `commands` more without waiting. It never shall: what comes in has
 * to be taken while the link is held up, or two nodes could wait for each other. */
static inline bool forward_can_send(uint32_t commands)
{
    if (engine_given[ENGINE_SEND] + commands - sent_done <= NICBED_ENGINE_QUEUE)
        return true;
    sent_done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    want_send = engine_given[ENGINE_SEND] + commands - sent_done > NICBED_ENGINE_QUEUE;
    return !want_send;
}

/* Gives back slots that have been sent, of those before slot number `end`. */
static void forward_release(uint32_t end)
{
    ticket_t done = sent_done = reg_read(ENGINE_REGISTER(ENGINE_SEND, DONE));
    while (queue.taken != end
           && (int32_t)(done - slot_sent[queue.taken % FORWARD_SLOTS]) >= 0)
        queue_taken(&queue);
}

/* The next slot, not yet taken; NULL if there is none. */
static inline uint64_t *forward_next(void)
{
    uint64_t *slot = queue_peek(&queue);
    if (slot || !bells)
        return slot;
    struct doorbell bell;
    while (doorbell_take(&bell))
        if (bell.page == FORWARD_PAGE && bell.offset == 0)
            queue_posted(&queue, bell.low);
    return queue_peek(&queue);
}

/* A slot's word 0, looked at once: the host may write to it at any time. */
struct send_word {
    uint32_t low, high;
};

static inline struct send_word send_word(const uint64_t *slot)
{
    const volatile uint32_t *half = (const volatile uint32_t *)slot;
    return (struct send_word){half[0], half[1]};
}

static inline uint32_t word_kind(struct send_word word)
{
    return word.low >> NICBED_SEND_WORD_KIND_LO_SHIFT;
}

static inline uint32_t word_length(struct send_word word)
{
    return (word.low & NICBED_SEND_WORD_LENGTH_LO_MASK) >> NICBED_SEND_WORD_LENGTH_LO_SHIFT;
}

static inline uint32_t word_destination(struct send_word word)
{
    return word.high & NICBED_SEND_WORD_DESTINATION_HI_MASK;
}

static inline uint32_t word_trace(struct send_word word)
{
    return word.high >> NICBED_SEND_WORD_TRACE_HI_SHIFT;
}

/* Makes the slot's word 0 the wire header. */
static inline void slot_header(uint64_t *slot, struct send_word word)
{
    uint32_t *half = (uint32_t *)slot;
    half[0] = word.low & (NICBED_SEND_WORD_ROUTE_LO_MASK | NICBED_SEND_WORD_LENGTH_LO_MASK);
    half[1] = word_destination(word) << NICBED_HEADER_DESTINATION_HI_SHIFT | identity;
}

/* Goes on from the slot that forward_next() gave: it is used up to `ticket` of SEND. */
static inline void forward_used(ticket_t ticket)
{
    slot_sent[queue.next++ % FORWARD_SLOTS] = ticket;
}

/* Sends the next slot, a packet that lies in it; or drops it. There must be room for a command. */
static inline void forward_inline(uint64_t *slot, struct send_word word)
{
    uint32_t length = word_length(word);
    if (word_kind(word) == NICBED_SEND_KIND_INLINE && word_destination(word) < nodes_known
        && length <= NICBED_SLOT_BYTES - NICBED_HEADER_BYTES) {
        slot_header(slot, word);
        forward_used(link_send(slot, NICBED_HEADER_BYTES + length, word_trace(word)));
    } else {
        slots_malformed++;
        forward_used(engine_given[ENGINE_SEND]);
    }
}

/* --- Between -------------------------------------------------------------------------------------*/

/* Begins a turn of the main loop. `busy`: the last one found work; else sleeps until there may be
 * some, or until `more` is pending. Nothing is left behind in hardware that nobody would look at:
 * what can be done late is waited for once there is enough of it. */
static inline void forward_turn(bool busy, uint32_t more)
{
    uint32_t bits = coherent ? pending() & NICBED_PENDING_WATCH : 0;
    if (!busy) {
        uint32_t mask = NICBED_PENDING_RECEIVE | queue_wakes(&queue) | more;
        if (want_send || queue.next - queue.taken >= release_at)
            mask |= NICBED_PENDING_SEND;
        if (received - recycled >= FORWARD_BUFFERS / 2)
            mask |= NICBED_PENDING_N2H;
        if (want_ring)
            mask |= NICBED_PENDING_WINDOW;
        bits |= wait_for(mask);
        want_send = want_ring = false;
    }
    if (bits)
        pending_clear(bits);
    if (bits & NICBED_PENDING_WATCH)
        queue_watched(&queue);
    if (bits & NICBED_PENDING_N2H)
        forward_recycle();
}

#endif
