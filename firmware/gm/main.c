/* GM message passing: the control program of a NIC. docs/tutorials/gm.md says what it promises. */
#include "gm.h"
#include "turns.h"

PARAMETER(nodes);
PARAMETER(window) = 8;
PARAMETER(retry_timeout) = 20000;
PARAMETER(retries) = 12;
PARAMETER(mtu) = DATA_BYTES;
PARAMETER(page_bytes) = 4096;
PARAMETER(doorbell_queue) = 64;
PARAMETER(coherent_base); /* of the ports' queues, where they are in host memory */
PARAMETER(coherent_bytes);
PARAMETER(routes[NODES]);
#ifdef GM_WORK_SEND
PARAMETER(work_send);
#endif

enum { DOORBELLS_A_TURN = 16 };

static RARE void configure(void)
{
    settings.node = node() | NICBED_PROTOCOL_GM << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    settings.nodes = nodes;
    settings.window = window;
    settings.timeout = retry_timeout;
    settings.tick = retry_timeout / 8 + 1;
    settings.patience = 8 * retries;
    while (2u << settings.shift <= mtu && 2u << settings.shift <= DATA_BYTES)
        settings.shift++;
    settings.payload = 1u << settings.shift;
    while (1u << settings.page_shift < page_bytes)
        settings.page_shift++;
    settings.page_mask = page_bytes - 1;
    for (uint32_t i = 0; i < NODES; i++)
        settings.route[i] = routes[i];
#ifdef GM_WORK_SEND
    settings.work_send = work_send;
#endif
    if (coherent_bytes)
        watch_set(coherent_base, coherent_bytes);
}

/* All queues, not only those whose doorbells came. */
static RARE void look_everywhere(bool watched)
{
    for (struct port *p = ports; p < ports + PORTS; p++) {
        if (!p->open)
            continue;
        if (watched)
            queue_watched(&p->queue);
        if (!commands(p))
            unfinished |= NICBED_PENDING_WINDOW;
    }
}

/* Doorbells were perhaps lost, the kernel's among them: what a queue holds is told by the phases in
 * the first and the last word of its slots. */
static RARE void look_at_slots(void)
{
    kernel_command();
    for (struct port *p = ports; p < ports + PORTS; p++) {
        struct queue *q = &p->queue;
        if (!p->open || q->host)
            continue;
        while (q->posted - q->taken < q->count) {
            const volatile uint32_t *w = (const volatile uint32_t *)queue_slot(q, q->posted);
            uint32_t phase = !(q->posted & q->count);
            if (FIELD(w[0], COMMAND_PHASE_LO) != phase
                || FIELD(w[7], COMMAND_END_PHASE_HI) != phase)
                break;
            q->posted++;
        }
    }
    look_everywhere(false);
}

/* Takes doorbells, a few a turn. With as many in a row as the hardware holds some were perhaps
 * lost. */
static void doorbells(void)
{
    static uint32_t row;
    struct doorbell d;
    for (uint32_t left = DOORBELLS_A_TURN; left; left--) {
        if (!doorbell_take(&d)) {
            if (row >= doorbell_queue)
                look_at_slots();
            row = 0;
            return;
        }
        row++;
        if (d.page >= PORTS) {
            counters.malformed++;
        } else if (d.page == MAILBOX_PAGE) {
            kernel_command();
        } else if (ports[d.page].open && !ports[d.page].queue.host) {
            queue_posted(&ports[d.page].queue, d.low);
            commands(&ports[d.page]);
        }
    }
    if (row >= doorbell_queue)
        unfinished |= NICBED_PENDING_DOORBELL; /* there may be none behind these to wake us */
}

int main(void)
{
    configure();
    sending_open();
    receiving_open();
    protocol_select(NICBED_PROTOCOL_GM);
    ready = 1;
    uint32_t always = NICBED_PENDING_TIMER
                      | (doorbells_are_words ? NICBED_PENDING_WINDOW : NICBED_PENDING_DOORBELL)
                      | (coherent_bytes ? NICBED_PENDING_WATCH | NICBED_PENDING_H2N : 0);
    uint32_t wanted = 0, receive = NICBED_PENDING_RECEIVE;
    for (;;) {
        uint32_t bits = turn(always | receive | wanted);
        wanted = 0;
        if (bits & (NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H))
            receive = receiving();
        if (bits & NICBED_PENDING_DOORBELL)
            doorbells();
        if (bits & NICBED_PENDING_WINDOW) {
            kernel_command();
            look_everywhere(false);
        }
        if (bits & (NICBED_PENDING_WATCH | NICBED_PENDING_H2N) && coherent_bytes)
            look_everywhere(bits & NICBED_PENDING_WATCH);
        if (pumping())
            wanted = pump();
        if (dues)
            wanted |= acknowledge();
        if (bits & NICBED_PENDING_TIMER)
            tick();
    }
}
