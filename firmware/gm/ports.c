/* Ports: opened and closed by the kernel; their events. */
#include "gm.h"

enum { EVENT_SLOTS = 2 * NICBED_ENGINE_QUEUE };

struct port ports[PORTS];
PAGED_ARRAY(struct port_page, port_pages, PORTS - 1);

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

static RARE uint32_t port_open(uint32_t number, const uint64_t *words)
{
    struct port *p = &ports[number];
    if (p->open)
        return STATUS(BUSY);
    memset(p, 0, sizeof *p);
    queue_open(&p->queue, number, port_pages[number - 1].slots, NICBED_GM_QUEUE_SLOTS,
               high(words[5]), low(words[5]));
    memset(&port_pages[number - 1], 0, sizeof port_pages[0].slots);
    if (doorbells_are_words)
        *doorbell_word(number, 0) = 0;
    p->events = low(words[1]);
    p->table = low(words[2]);
    p->first = words[3];
    p->pages = low(words[4]);
    p->send_tokens = words[6] & 0xFF;
    p->receive_tokens = words[6] >> 8 & 0xFF;
    if (p->send_tokens > SEND_TOKENS || p->receive_tokens > RECEIVE_TOKENS)
        return STATUS(INVALID_PARAMETER);
    p->number = number;
    p->accept[0] = p->accept[1] = ~0u;
    p->stopped = p->stopped_tail = NONE;
    p->open = 1;
    return STATUS(SUCCESS);
}

/* A command of the kernel; `words` are those of the mailbox. */
static RARE uint32_t perform(const uint64_t *words)
{
    uint32_t number = words[0] >> 8 & 0xFF;
    if (number == 0 || number >= PORTS)
        return STATUS(INVALID_PARAMETER);
    switch (words[0] & 0xFF) {
    case NICBED_GM_KERNEL_OPEN:
        return port_open(number, words);
    case NICBED_GM_KERNEL_CLOSE:
        if (!ports[number].open)
            return STATUS(INVALID_PARAMETER);
        ports[number].open = 0;
        streams_close(number);
        arrivals_close(number);
        translations_forget(number);
        return STATUS(SUCCESS);
    case NICBED_GM_KERNEL_FORGET:
        translations_forget(number);
        return STATUS(SUCCESS);
    default:
        return STATUS(INVALID_COMMAND);
    }
}

SHARED(struct mailbox, mailbox);

RARE void kernel_command(void)
{
    uint64_t *words = mailbox_take(&mailbox);
    if (words)
        mailbox_answer(&mailbox, perform(words));
}
