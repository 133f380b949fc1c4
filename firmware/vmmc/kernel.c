/* The kernel's commands: ports, exports, imports, translations. */
#include "vmmc.h"

enum { FRAMES = 2 * (MAILBOX_WORDS - 1) };

SHARED(struct mailbox, mailbox);
static bool waiting; /* the command under way is answered later */

static RARE uint32_t port_open(uint32_t number, const uint64_t *words)
{
    struct port *p = &ports[number];
    if (p->open)
        return STATUS(BUSY);
    memset(p, 0, sizeof *p);
    memset(&port_pages[number], 0, sizeof port_pages[0]);
    p->report = low(words[1]);
    p->events = high(words[1]);
    p->statuses = low(words[2]);
    p->table = high(words[2]);
    p->first = words[3];
    p->pages = low(words[4]);
    p->number = number;
    p->open = 1;
    return STATUS(SUCCESS);
}

/* When this returns no transfer goes there any more. */
static RARE void export_end(struct export *e)
{
    for (uint32_t i = 0; i < e->pages; i++)
        incoming_pages[e->first + i].frame = 0;
    e->owner = 0;
    e->redirection.armed = 0;
    dma_write_wait(engine_given[ENGINE_N2H]);
}

static RARE uint32_t export_begin(uint32_t number, const uint64_t *words)
{
    struct export *e = &exports[number];
    uint32_t owner = words[0] >> 16 & 0xFF, first = words[1] & 0xFFFF;
    uint32_t pages = words[1] >> 16 & 0xFFFF, bytes = high(words[1]);
    if (number >= EXPORTS || owner >= PORTS || first + pages > settings.incoming || e->owner)
        return STATUS(INVALID);
    e->name = low(words[2]);
    e->nodes = high(words[2]);
    e->first = first;
    e->pages = pages;
    e->bytes = bytes;
    e->begun = 0;
    e->generation++;
    for (uint32_t i = 0; i < pages; i++) {
        struct incoming_page *in = &incoming_pages[first + i];
        in->bytes = bytes > settings.page_mask ? settings.page_mask + 1 : bytes;
        in->export = number;
        in->generation = e->generation;
        bytes -= in->bytes;
    }
    e->owner = owner + 1;
    return STATUS(SUCCESS);
}

static RARE uint32_t port_close(struct port *p)
{
    if (!p->open)
        return STATUS(INVALID);
    p->missing = 0;
    port_stop(p);
    p->open = p->reporting = 0;
    for (struct export *e = exports; e < exports + EXPORTS; e++)
        if (e->owner == p->number + 1)
            export_end(e);
    for (uint32_t i = 0; i < settings.outgoing; i++)
        if (outgoing_pages[i].owner == p->number + 1)
            outgoing_pages[i].owner = 0;
    translations_forget(p->number);
    return STATUS(SUCCESS);
}

static RARE void fill(struct port *p, const uint64_t *words)
{
    uint32_t page = low(words[1]), frames = high(words[1]);
    while (frames--) {
        uint32_t frame = frames & 1 ? high(words[2 + frames / 2]) : low(words[2 + frames / 2]);
        if (frame)
            translation_fill(p, page + frames, frame);
        else if (!frames)
            p->faulted = 1;
    }
    p->missing = 0;
}

/* A command of the kernel; `words` are those of the mailbox. */
static RARE uint32_t perform(const uint64_t *words)
{
    uint32_t number = words[0] >> 8 & 0xFF, third = words[0] >> 16 & 0xFF, index, count;
    switch (words[0] & 0xFF) {
    case NICBED_VMMC_KERNEL_OPEN:
        return number < PORTS ? port_open(number, words) : STATUS(INVALID);
    case NICBED_VMMC_KERNEL_CLOSE:
        return number < PORTS ? port_close(&ports[number]) : STATUS(INVALID);
    case NICBED_VMMC_KERNEL_PAGES:
        index = words[0] >> 32 & 0xFFFF;
        count = words[0] >> 48;
        if (count > FRAMES || index + count > settings.incoming)
            return STATUS(INVALID);
        /* Until EXPORT follows, packets for what these pages were before are not for them. */
        for (uint32_t i = 0; i < count; i++) {
            struct incoming_page *in = &incoming_pages[index + i];
            in->generation = ~in->generation;
            in->frame = i & 1 ? high(words[1 + i / 2]) : low(words[1 + i / 2]);
        }
        return STATUS(SUCCESS);
    case NICBED_VMMC_KERNEL_EXPORT:
        return export_begin(number, words);
    case NICBED_VMMC_KERNEL_UNEXPORT:
        if (number >= EXPORTS || !exports[number].owner)
            return STATUS(INVALID);
        export_end(&exports[number]);
        return STATUS(SUCCESS);
    case NICBED_VMMC_KERNEL_IMPORT:
        index = high(words[1]) & 0xFFFF;
        count = high(words[1]) >> 16;
        if (number >= PORTS || third >= settings.nodes || index + count > settings.outgoing)
            return STATUS(INVALID);
        waiting = true;
        naming_begin(number + 1, third, low(words[1]), index, count);
        return STATUS(SUCCESS);
    case NICBED_VMMC_KERNEL_UNIMPORT:
        index = low(words[1]);
        count = high(words[1]);
        if (index + count > settings.outgoing)
            return STATUS(INVALID);
        while (count--)
            outgoing_pages[index++].owner = 0;
        return STATUS(SUCCESS);
    case NICBED_VMMC_KERNEL_MISS:
        mailbox.answer[0] = 0;
        for (struct port *p = ports; p < ports + PORTS; p++)
            if (p->missing)
                mailbox.answer[0] = word_of(p->missing - 1, p->number | 1 << 8);
        return STATUS(SUCCESS);
    case NICBED_VMMC_KERNEL_FILL:
        if (number >= PORTS || high(words[1]) > FRAMES - 2)
            return STATUS(INVALID);
        fill(&ports[number], words);
        return STATUS(SUCCESS);
    default:
        return STATUS(INVALID);
    }
}

RARE void kernel_command(void)
{
    if (import_end.over) {
        import_end.over = 0;
        waiting = false;
        mailbox.answer[0] = import_end.bytes;
        mailbox_answer(&mailbox, import_end.status);
    }
    uint64_t *words = waiting ? NULL : mailbox_take(&mailbox);
    if (words) {
        uint32_t status = perform(words);
        if (!waiting)
            mailbox_answer(&mailbox, status);
    }
}
