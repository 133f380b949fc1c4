/* The kernel's commands: ports are opened and closed, translations forgotten. */
#include "gm.h"

PAGED_ARRAY(struct port_page, port_pages, PORTS - 1);

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
