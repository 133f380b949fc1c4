/* Commands of a port's process. Nothing in them is trusted: each word is read once and checked. */
#include "vmmc.h"

/* Whether `length` bytes from the proxy address on are in one import of the port. */
static uint32_t check(const struct port *p, uint32_t proxy, uint32_t length)
{
    uint32_t index = proxy >> settings.page_shift, offset = proxy & settings.page_mask;
    if (index >= settings.outgoing || outgoing_pages[index].owner != p->number + 1)
        return STATUS(NOT_IMPORTED);
    const struct outgoing_page *o = &outgoing_pages[index], *first = o;
    if (streams[o->node].dead)
        return STATUS(UNREACHABLE);
    while (offset + length > o->bytes || offset + length < length) {
        if (o->bytes != settings.page_mask + 1)
            return STATUS(OUT_OF_BOUNDS);
        length -= o->bytes - offset;
        offset = 0;
        index++;
        if (!length)
            break;
        o++;
        if (index >= settings.outgoing || o->owner != first->owner || o->node != first->node
            || o->page != first->page + (o - first) || o->generation != first->generation)
            return STATUS(OUT_OF_BOUNDS);
    }
    return STATUS(SUCCESS);
}

/* Whether virtual address `va` is one of the port's, and its place. */
static inline bool place_of(const struct port *p, uint32_t va_low, uint32_t va_high,
                            uint32_t *place)
{
    uint64_t at = word_of(va_low, va_high) - p->first;
    *place = low(at);
    return high(at) == 0;
}

static uint32_t send(struct port *p, const volatile uint32_t *w, uint32_t word, uint32_t slot)
{
    uint32_t tell = word & (NICBED_VMMC_COMMAND_TELL_LO_MASK | NICBED_VMMC_COMMAND_NOTIFY_LO_MASK);
    uint32_t end = tell ? NICBED_VMMC_SLOT_KEY : NICBED_VMMC_SLOT_DESTINATION;
    uint32_t proxy = w[2 * NICBED_VMMC_SLOT_DESTINATION];
    uint32_t length = w[2 * NICBED_VMMC_SLOT_DESTINATION + 1];
    uint32_t status = check(p, proxy, length);
    if (status)
        counters.refused++;
    p->inlined = (word & NICBED_VMMC_COMMAND_INLINED_LO_MASK) != 0;
    if (p->inlined) {
        uint32_t most = 8 * end;
        if (length > most + 64 * p->further[slot])
            return STATUS(INVALID);
        p->here[slot] = length < most ? length : most;
        p->end[slot] = end;
    } else if (p->further[slot]) {
        return STATUS(INVALID);
    } else if (length && !place_of(p, w[2 * end - 2], w[2 * end - 1], &p->place)) {
        counters.faults++;
        return STATUS(FAULT);
    }
    if (status)
        return status;
    p->node = outgoing_pages[proxy >> settings.page_shift].node;
    p->detail = PACKET(DATA) | DETAIL(FIRST);
    if (tell)
        p->detail |= DETAIL(TELL);
    if (word & NICBED_VMMC_COMMAND_NOTIFY_LO_MASK)
        p->detail |= DETAIL(NOTIFY);
    p->key = tell ? w[2 * NICBED_VMMC_SLOT_KEY] : 0;
    p->trace = w[2 * NICBED_VMMC_SLOT_COMMAND + 1] >> NICBED_VMMC_COMMAND_TRACE_HI_SHIFT;
    p->proxy = proxy;
    p->length = length;
    p->offset = 0;
    p->slot = slot;
    p->busy = 1;
    return STATUS(SUCCESS);
}

static uint32_t redirect(struct port *p, const volatile uint32_t *w)
{
    uint32_t word = w[2 * NICBED_VMMC_SLOT_DESTINATION], place;
    uint32_t number = word & 0xFF;
    if (number >= EXPORTS || exports[number].owner != p->number + 1)
        return STATUS(NOT_EXPORTED);
    if (!settings.utlb)
        return STATUS(NOT_SUPPORTED);
    struct export *e = &exports[number];
    if (e->redirection.armed)
        return STATUS(BUSY);
    if (!place_of(p, w[2 * NICBED_VMMC_SLOT_KEY - 2], w[2 * NICBED_VMMC_SLOT_KEY - 1], &place))
        return STATUS(FAULT);
    /* A message that has begun may be the one that it is for: then it is too late. */
    if ((uint16_t)(word >> 16) != e->begun)
        return STATUS(SUCCESS);
    e->redirection = (struct redirection){
        .key = w[2 * NICBED_VMMC_SLOT_KEY], .target = place,
        .limit = w[2 * NICBED_VMMC_SLOT_DESTINATION + 1], .armed = 1, .skip = word >> 8,
    };
    return STATUS(SUCCESS);
}

static uint32_t cancel(struct port *p, const volatile uint32_t *w)
{
    uint32_t number = w[2 * NICBED_VMMC_SLOT_DESTINATION] & 0xFF;
    if (number >= EXPORTS || exports[number].owner != p->number + 1)
        return STATUS(NOT_EXPORTED);
    exports[number].redirection.armed = 0;
    event_put(p, NICBED_VMMC_EVENT_KIND_CANCELLED << NICBED_VMMC_EVENT_KIND_LO_SHIFT
              | number << NICBED_VMMC_EVENT_EXPORT_LO_SHIFT, 0, 0, 0, 0, 0);
    return STATUS(SUCCESS);
}

static uint32_t arm(struct port *p, const volatile uint32_t *w)
{
    p->armed = w[2 * NICBED_VMMC_SLOT_DESTINATION + 1] == p->put;
    if (!p->armed) {
        dma_write_wait(engine_given[ENGINE_N2H]);
        host_interrupt();
    }
    return STATUS(SUCCESS);
}

/* Takes commands until one has packets to send, which others wait for, but no more than the queue
 * holds: a process that posts without end does not have the NIC for itself. */
APART void commands(struct port *p)
{
    for (uint32_t left = settings.slots; left && !p->busy; left--) {
        uint32_t slot = p->taken & (settings.slots - 1);
        volatile uint32_t *w = (volatile uint32_t *)&port_pages[p->number].words[8 * slot];
        uint32_t word = w[2 * NICBED_VMMC_SLOT_COMMAND], status;
        if (p->taken - p->done >= settings.slots || !(word & NICBED_VMMC_COMMAND_VALID_LO_MASK))
            return;
        barrier();
        w[2 * NICBED_VMMC_SLOT_COMMAND] = 0;
        uint32_t further = (word & NICBED_VMMC_COMMAND_FURTHER_LO_MASK)
                           >> NICBED_VMMC_COMMAND_FURTHER_LO_SHIFT;
        if (further >= settings.slots - (p->taken - p->done)) {
            further = 0;
            word = 0;
        }
        p->pending[slot] = 1;
        p->status[slot] = 0;
        p->further[slot] = further;
        p->taken += 1 + further;
        switch (word & NICBED_VMMC_COMMAND_KIND_LO_MASK) {
        case NICBED_VMMC_COMMAND_KIND_SEND:
            status = send(p, w, word, slot);
            break;
        case NICBED_VMMC_COMMAND_KIND_REDIRECT:
            status = redirect(p, w);
            break;
        case NICBED_VMMC_COMMAND_KIND_CANCEL:
            status = cancel(p, w);
            break;
        case NICBED_VMMC_COMMAND_KIND_ARM:
            status = arm(p, w);
            break;
        default:
            counters.malformed++;
            status = STATUS(INVALID);
        }
        if (status || !p->busy)
            slot_ends(p, slot, status);
    }
}

/* The same of ports whose messages have been cut; whether there were any. */
bool commands_behind(void)
{
    uint32_t behind = ports_again;
    ports_again = 0;
    for (struct port *p = ports; behind; p++, behind >>= 1)
        if (behind & 1 && p->open)
            commands(p);
    return sending();
}
