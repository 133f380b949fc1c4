/* Ports: what their processes are told. */
#include "vmmc.h"

enum { RECORDS = 2 * NICBED_ENGINE_QUEUE };

/* A record is used again RECORDS records later: the engine has long read it, for it holds no more
 * than ENGINE_QUEUE commands. */
static uint32_t records[RECORDS][8] __attribute__((aligned(16)));
static uint32_t record_next;

static inline uint32_t *record(void)
{
    return records[record_next++ & (RECORDS - 1)];
}

/* The next event. `bits`: of the low half of its first word. One that finds no room is lost, and
 * the next one says so. */
APART void event_put(struct port *p, uint32_t bits, uint32_t node, uint32_t trace, uint32_t place,
                     uint32_t length, uint32_t key)
{
    uint32_t put = p->put;
    uint32_t taken = *(volatile uint32_t *)((char *)&port_pages[p->number]
                                            + NICBED_VMMC_TAKEN_OFFSET);
    if (put - taken >= NICBED_VMMC_EVENTS) {
        p->lost = 1;
        counters.lost++;
        return;
    }
    uint32_t *e = record();
    if (p->lost)
        bits |= NICBED_VMMC_EVENT_LOST_LO_MASK;
    p->lost = 0;
    e[0] = bits | !(put & NICBED_VMMC_EVENTS) | node << NICBED_VMMC_EVENT_NODE_LO_SHIFT;
    e[1] = trace << NICBED_VMMC_EVENT_TRACE_HI_SHIFT;
    e[2] = place;
    e[3] = length;
    e[4] = key;
    e[5] = 0;
    p->put = put + 1;
    ticket_t written = dma_write_slot(
        e, p->events + (put & (NICBED_VMMC_EVENTS - 1)) * NICBED_VMMC_EVENT_BYTES,
        NICBED_VMMC_EVENT_BYTES, trace);
    if (p->armed || bits & NICBED_VMMC_EVENT_NOTIFY_LO_MASK) {
        p->armed = 0;
        dma_write_wait(written);
        host_interrupt();
    }
}

/* The command in a slot is over. Slots become free in order. */
APART void slot_ends(struct port *p, uint32_t slot, uint32_t status)
{
    uint32_t mask = settings.slots - 1;
    p->pending[slot] = 0;
    if (status) {
        uint32_t *r = record();
        p->failed++;
        r[0] = status;
        r[1] = p->failed;
        dma_write(r, p->statuses + 8 * slot, 8, 0);
    }
    while (p->done != p->taken && !p->pending[p->done & mask]) {
        uint32_t last = p->done + p->further[p->done & mask];
        while (p->done != last)
            *(volatile uint32_t *)&port_pages[p->number].words[(++p->done & mask) * 8
                                                               + NICBED_VMMC_SLOT_COMMAND] = 0;
        p->done++;
    }
    p->reporting = 1;
}

APART void report(struct port *p)
{
    uint32_t *r = record();
    r[0] = p->done;
    r[1] = p->failed;
    p->reporting = 0;
    dma_write(r, p->report, 8, 0);
}
