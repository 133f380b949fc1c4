/* Ports: what their programs are told. */
#include "gm.h"

enum { EVENT_SLOTS = 2 * NICBED_ENGINE_QUEUE };

struct port ports[PORTS];

/* A slot is used again EVENT_SLOTS events later: the engine has long read it, for it holds no more
 * than ENGINE_QUEUE commands. */
static uint32_t slots[EVENT_SLOTS][4] __attribute__((aligned(16)));
static uint32_t slot_next;

/* The next event: `low_half` is kind and token, `from` where it is from, `end` the high half of its
 * last word. */
void event_put(struct port *p, uint32_t low_half, uint32_t trace, uint32_t from, uint32_t length,
               uint32_t end)
{
    uint32_t *e = slots[slot_next++ & (EVENT_SLOTS - 1)], put = p->put;
    e[0] = low_half | !(put & NICBED_GM_EVENTS) | trace << NICBED_GM_EVENT_TRACE_SHIFT;
    e[1] = from | trace >> (32 - NICBED_GM_EVENT_TRACE_SHIFT);
    e[2] = length;
    e[3] = end;
    p->put = put + 1;
    ticket_t written = dma_write_slot(
        e, p->events + (put & (NICBED_GM_EVENTS - 1)) * NICBED_GM_EVENT_BYTES,
        NICBED_GM_EVENT_BYTES, trace);
    if (p->armed) {
        p->armed = 0;
        dma_write_wait(written);
        host_interrupt();
    }
}

/* The send token goes back to the program. */
void sent(struct message *m, uint32_t status)
{
    m->state = FREE;
    if (status)
        counters.failed++;
    uint32_t token = (uint32_t)(m - messages) % SEND_TOKENS;
    event_put(port_of(m),
              PLACE(NICBED_GM_EVENT_KIND_SENT, EVENT_KIND_LO) | PLACE(token, EVENT_TOKEN_LO),
              m->trace, 0, m->length, PLACE(status, EVENT_END_STATUS_HI));
}
