/* Runtime of firmware for the NIC processor: registers, engines, pending and wait, doorbells,
 * timer, events, panic. Beside it: queue.h (from a host program), ring.h (to a host program),
 * mailbox.h (commands of the kernel). docs/tutorials/firmware.md walks through it.
 *
 * A program is one `int main(void)`. At its entry all memory but parameters and initialised data is
 * zero, `sp` is set and traps are handled; a return from it is a panic. NIC memory begins at 0.
 */
#ifndef NIC_H
#define NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nicbed.h"

int main(void);

/* --- Objects in NIC memory that the host accesses by their symbols ----------------------------- */

/* A 64-bit number that the host writes before the processor starts; `PARAMETER(window) = 8;` gives
 * it a default. Read it once, at start: copies are cheaper. */
#define PARAMETER(name) __attribute__((section(".parameters"), used)) volatile uint64_t name

/* An object that the host may read and, by processes of the kernel, write. Cleared at start. */
#define SHARED(type, name) __attribute__((used, aligned(8))) type name

/* The same, in pages of its own: the kernel can give them to a process (window_owner). `type` may
 * not be an array type: PAGED(struct slots, slots), or PAGED_ARRAY(uint64_t, slots, 512). */
#define PAGED(type, name) \
    __attribute__((section(".sbss.paged"), used, aligned(NICBED_WINDOW_PAGE))) type name
#define PAGED_ARRAY(type, name, count) PAGED(type, name)[count]

/* Nonzero once main() has done its set-up: the host waits for it, and rings no doorbell before. */
extern volatile uint64_t ready;

/* `bytes` of NIC memory between the program's data and its stack, for tables whose size depends on
 * the NIC; cleared, never given back. Panics with PANIC_MEMORY when there is no more. */
void *take_memory(uint32_t bytes, uint32_t align);
uint32_t memory_left(void);

/* --- Registers --------------------------------------------------------------------------------- */

static inline uint32_t reg_read(uint32_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void reg_write(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* A barrier for the compiler's memory accesses. Needed where an engine or the host reads or writes
 * NIC memory; all functions below that start an engine or check one contain it. */
static inline void barrier(void)
{
    __asm__ volatile("" ::: "memory");
}

static inline uint32_t low(uint64_t word) { return (uint32_t)word; }
static inline uint32_t high(uint64_t word) { return (uint32_t)(word >> 32); }
static inline uint64_t word_of(uint32_t low_half, uint32_t high_half)
{
    return (uint64_t)high_half << 32 | low_half;
}

static inline uint32_t node(void) { return reg_read(NICBED_MMIO_NODE); }

/* Cycles of the NIC's clock, modulo 2^32. Compare by difference. */
static inline uint32_t now(void) { return reg_read(NICBED_MMIO_CYCLE); }

/* --- Host memory, a word at a time --------------------------------------------------------------- */

/* Only with processor.host_access = uncached: a bus transaction each, for which the processor
 * waits. `host` is a multiple of 4; beyond host memory they are a crash. */
static inline uint32_t host_load(uint32_t host)
{
    return *(volatile uint32_t *)(NICBED_HOST_BASE + host);
}

static inline void host_store(uint32_t host, uint32_t value)
{
    *(volatile uint32_t *)(NICBED_HOST_BASE + host) = value;
}

/* --- Engines ----------------------------------------------------------------------------------- */

/* Identifies a command of one engine. Commands of an engine end in the order they were given. */
typedef uint32_t ticket_t;

enum engine { ENGINE_H2N, ENGINE_N2H, ENGINE_SEND, ENGINE_RECEIVE, ENGINES };

extern ticket_t engine_given[ENGINES]; /* commands given to each so far */

#define ENGINE_REGISTER(engine, name) \
    (NICBED_ENGINE_H2N + (NICBED_ENGINE_N2H - NICBED_ENGINE_H2N) * (engine) \
     + NICBED_ENGINE_OFFSET_##name)

/* A write of START waits while ENGINE_QUEUE commands are queued. */
static inline ticket_t engine_start(enum engine engine, uint32_t flags)
{
    barrier();
    reg_write(ENGINE_REGISTER(engine, START), flags);
    return ++engine_given[engine];
}

/* Commands that can be given now without waiting. */
static inline uint32_t engine_space(enum engine engine)
{
    return reg_read(ENGINE_REGISTER(engine, SPACE));
}

static inline bool engine_done(enum engine engine, ticket_t ticket)
{
    bool done = (int32_t)(reg_read(ENGINE_REGISTER(engine, DONE)) - ticket) >= 0;
    barrier();
    return done;
}

/* Host memory to NIC memory; any alignment, up to 65535 bytes. `trace`: the message's number, 0 for
 * none. */
static inline ticket_t dma_read(uint32_t host, void *local, uint32_t bytes, uint32_t trace)
{
    reg_write(NICBED_MMIO_H2N_HOST, host);
    reg_write(NICBED_MMIO_H2N_LOCAL, (uint32_t)local);
    reg_write(NICBED_MMIO_H2N_LENGTH, bytes);
    reg_write(NICBED_MMIO_H2N_TRACE, trace);
    return engine_start(ENGINE_H2N, NICBED_START_NONE);
}

static inline ticket_t dma_write_flags(const void *local, uint32_t host, uint32_t bytes,
                                       uint32_t trace, uint32_t flags)
{
    reg_write(NICBED_MMIO_N2H_HOST, host);
    reg_write(NICBED_MMIO_N2H_LOCAL, (uint32_t)local);
    reg_write(NICBED_MMIO_N2H_LENGTH, bytes);
    reg_write(NICBED_MMIO_N2H_TRACE, trace);
    return engine_start(ENGINE_N2H, flags);
}

/* NIC memory to host memory. `local` may change only once it is done. */
static inline ticket_t dma_write(const void *local, uint32_t host, uint32_t bytes, uint32_t trace)
{
    return dma_write_flags(local, host, bytes, trace, NICBED_START_NONE);
}

/* The same, with word 0 written last: a slot whose word 0 says that it is complete. `slot` and
 * `host` are multiples of 8. */
static inline ticket_t dma_write_slot(const void *slot, uint32_t host, uint32_t bytes,
                                      uint32_t trace)
{
    return dma_write_flags(slot, host, bytes, trace, NICBED_START_FIRST_LAST);
}

static inline ticket_t link_send_flags(const void *packet, uint32_t bytes, uint32_t trace,
                                       uint32_t flags)
{
    reg_write(NICBED_MMIO_SEND_LOCAL, (uint32_t)packet);
    reg_write(NICBED_MMIO_SEND_LENGTH, bytes);
    reg_write(NICBED_MMIO_SEND_TRACE, trace);
    return engine_start(ENGINE_SEND, flags);
}

/* A packet, wire header first, at a multiple of 8. `bytes` counts the header. */
static inline ticket_t link_send(const void *packet, uint32_t bytes, uint32_t trace)
{
    return link_send_flags(packet, bytes, trace, NICBED_START_NONE);
}

/* A piece of a packet, but not the last; `bytes` is a multiple of 8. The last one is link_send(). */
static inline ticket_t link_send_piece(const void *piece, uint32_t bytes, uint32_t trace)
{
    return link_send_flags(piece, bytes, trace, NICBED_START_MORE);
}

/* The next packet into `buffer` (at a multiple of 8, `bytes` a multiple of 8): word 0 becomes the
 * completion word, the wire header and what follows it lie behind. */
static inline ticket_t link_receive(void *buffer, uint32_t bytes)
{
    reg_write(NICBED_MMIO_RECEIVE_LOCAL, (uint32_t)buffer);
    reg_write(NICBED_MMIO_RECEIVE_LENGTH, bytes);
    return engine_start(ENGINE_RECEIVE, NICBED_START_NONE);
}

static inline bool dma_read_done(ticket_t t) { return engine_done(ENGINE_H2N, t); }
static inline bool dma_write_done(ticket_t t) { return engine_done(ENGINE_N2H, t); }
static inline bool link_sent(ticket_t t) { return engine_done(ENGINE_SEND, t); }
static inline bool link_received(ticket_t t) { return engine_done(ENGINE_RECEIVE, t); }

/* Spinning waits, for commands that take tens of cycles. */
static inline void dma_read_wait(ticket_t t) { while (!dma_read_done(t)) { } }
static inline void dma_write_wait(ticket_t t) { while (!dma_write_done(t)) { } }
static inline void link_send_wait(ticket_t t) { while (!link_sent(t)) { } }

/* Packets of `protocol` (NICBED_PROTOCOL_...) go to the engine RECEIVE from now on. */
static inline void protocol_select(uint32_t protocol)
{
    reg_write(NICBED_MMIO_PROTOCOL,
              protocol << NICBED_PROTOCOL_SELECT_PROTOCOL_LO_SHIFT
              | 1u << NICBED_PROTOCOL_SELECT_ENABLE_LO_SHIFT);
}

/* Of the completion word in word 0 of a received packet. */
static inline uint32_t received_length(const uint64_t *slot)
{
    return (uint32_t)*slot >> NICBED_COMPLETION_LENGTH_LO_SHIFT & 0xFFFF;
}

static inline uint32_t received_trace(const uint64_t *slot)
{
    const uint32_t *half = (const uint32_t *)slot;
    return half[0] >> NICBED_COMPLETION_TRACE_SHIFT
           | (half[1] & 0xFFFF) << (32 - NICBED_COMPLETION_TRACE_SHIFT);
}

/* Of the send word in word 0 of a slot of a queue. */
static inline uint32_t send_trace(const uint64_t *slot)
{
    return ((const uint32_t *)slot)[1] >> NICBED_SEND_WORD_TRACE_HI_SHIFT;
}

/* --- Pending and wait -------------------------------------------------------------------------- */

/* NICBED_PENDING_... bits. All but DOORBELL and TIMER are sticky: clear them *before* you look for
 * work, or events in between are lost. */
static inline uint32_t pending(void) { return reg_read(NICBED_MMIO_PENDING); }

static inline void pending_clear(uint32_t bits)
{
    reg_write(NICBED_MMIO_PENDING, bits);
    barrier();
}

/* Sleeps until a bit of `mask` is pending; returns the pending ones. Clears none. */
static inline uint32_t wait_for(uint32_t mask)
{
    reg_write(NICBED_MMIO_WAIT_MASK, mask);
    barrier();
    uint32_t bits = reg_read(NICBED_MMIO_WAIT);
    barrier();
    return bits;
}

/* The usual beginning of a turn of the main loop: sleeps until a bit of `mask` is pending, returns
 * the pending bits and clears the sticky ones among them. */
static inline uint32_t wait_and_clear(uint32_t mask)
{
    uint32_t bits = wait_for(mask);
    pending_clear(bits);
    return bits;
}

/* For firmware that polls and never waits. */
static inline void watchdog_kick(void) { reg_write(NICBED_MMIO_WATCHDOG, 1); }

/* TIMER is pending from cycle `at` on, until it is set again or switched off. */
static inline void timer_set(uint32_t at) { reg_write(NICBED_MMIO_TIMER, at); }
static inline void timer_off(void) { reg_write(NICBED_MMIO_TIMER_OFF, 1); }

/* Whether cycle `at` has been reached. */
static inline bool reached(uint32_t at) { return (int32_t)(now() - at) >= 0; }

/* What the program of a machine does beyond this one. */
static inline void work(uint32_t cycles)
{
    if (cycles)
        for (uint32_t from = now(); now() - from < cycles;) { }
}

/* Raises the host's interrupt (registers.Irq.PROCESSOR). */
static inline void host_interrupt(void) { reg_write(NICBED_MMIO_HOST_IRQ, 1); }

/* The range of host memory in which a CPU's stores set WATCH. Multiples of 32. */
static inline void watch_set(uint32_t host, uint32_t bytes)
{
    reg_write(NICBED_MMIO_WATCH_BASE, host);
    reg_write(NICBED_MMIO_WATCH_BYTES, bytes);
}

/* --- Doorbells --------------------------------------------------------------------------------- */

struct doorbell {
    uint32_t page, offset; /* offset in bytes */
    uint32_t process;
    uint32_t lost; /* others were lost before this one: check everything */
    uint32_t low, high; /* the data written */
};

/* Takes the oldest doorbell off the queue; returns whether there was one. */
static inline bool doorbell_take(struct doorbell *d)
{
    uint32_t entry = reg_read(NICBED_MMIO_DOORBELL);
    if (!(entry & NICBED_DOORBELL_ENTRY_VALID_MASK))
        return false;
    d->low = reg_read(NICBED_MMIO_DOORBELL_LOW);
    d->high = reg_read(NICBED_MMIO_DOORBELL_HIGH);
    reg_write(NICBED_MMIO_DOORBELL_POP, 1);
    d->page = entry & NICBED_DOORBELL_ENTRY_PAGE_MASK;
    d->offset = (entry & NICBED_DOORBELL_ENTRY_OFFSET_MASK)
                >> NICBED_DOORBELL_ENTRY_OFFSET_SHIFT << 3;
    d->process = (entry & NICBED_DOORBELL_ENTRY_PROCESS_MASK)
                 >> NICBED_DOORBELL_ENTRY_PROCESS_SHIFT;
    d->lost = entry & NICBED_DOORBELL_ENTRY_LOST_MASK;
    return true;
}

/* From now on `page` accepts doorbells of `process`. */
static inline void doorbell_allow(uint32_t page, uint32_t process)
{
    reg_write(NICBED_MMIO_DOORBELL_PAGE, page);
    reg_write(NICBED_MMIO_DOORBELL_ENABLE, process | 1u << 8);
}

static inline void doorbell_forbid(uint32_t page)
{
    reg_write(NICBED_MMIO_DOORBELL_PAGE, page);
    reg_write(NICBED_MMIO_DOORBELL_ENABLE, 0);
}

/* Doorbells as words in NIC memory (processor.doorbells = words): the firmware declares
 * `DOORBELL_WORDS(pages)`, the loader tells the hardware its place. */
#define DOORBELL_WORDS(pages) \
    __attribute__((used, aligned(16))) volatile uint64_t doorbell_words[2 * (pages)]

extern volatile uint64_t doorbell_words[];

/* Whether doorbells are words: a parameter that the loader sets. */
extern volatile uint64_t doorbells_are_words;

/* The word of doorbell `offset` (0 or 8) of `page`: the data written last. */
static inline volatile uint64_t *doorbell_word(uint32_t page, uint32_t offset)
{
    return (volatile uint64_t *)((volatile char *)doorbell_words + 16 * page + offset);
}

/* --- The trace, and the end -------------------------------------------------------------------- */

/* An event NICBED_KIND_... of block FIRMWARE about message `number`. */
static inline void trace_event(uint32_t kind, uint32_t number, uint32_t arg)
{
    reg_write(NICBED_MMIO_EVENT_NUMBER, number);
    reg_write(NICBED_MMIO_EVENT_ARG, arg);
    reg_write(NICBED_MMIO_EVENT, kind);
}

enum { PANIC_RETURNED = 0xFFFF0000u, PANIC_MEMORY, PANIC_ASSERTION, PANIC_NULL_CALL };

/* Stops the processor; the host reports `code` with the place of the call. */
_Noreturn void panic(uint32_t code);

#define assert_that(condition) \
    do { if (!(condition)) panic(PANIC_ASSERTION); } while (0)

/* --- Memory ------------------------------------------------------------------------------------ */

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

/* Whole words of 8 bytes at multiples of 8: faster, and inline for small constants. */
static inline void copy_words(void *to, const void *from, uint32_t words)
{
    uint32_t *t = to;
    const uint32_t *f = from;
    for (uint32_t i = 0; i < words; i++, t += 2, f += 2) {
        uint32_t a = f[0], b = f[1];
        t[0] = a;
        t[1] = b;
    }
}

#endif
