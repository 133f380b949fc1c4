/* VMMC and VMMC-2: the control program of a NIC. vmmc.h tells what it does, docs/tutorials/vmmc.md
 * what it promises. */
#include "vmmc.h"
#include "turns.h"

PARAMETER(nodes);
PARAMETER(window) = 16;
PARAMETER(reliable) = 1;
PARAMETER(utlb) = 1;
PARAMETER(retry_timeout) = 20000;
PARAMETER(retries) = 12;
PARAMETER(mtu) = DATA_BYTES;
PARAMETER(page_bytes) = 4096;
PARAMETER(queue_slots) = SLOTS;
PARAMETER(imports) = 512;
PARAMETER(exported) = 512;
PARAMETER(translations) = 256;
PARAMETER(ways) = 2;
PARAMETER(prefetch) = 4;
PARAMETER(routes[NODES]);
#ifdef VMMC_WORK_SEND
PARAMETER(work_send);
#endif
#ifdef VMMC_WORK_RECEIVE
PARAMETER(work_receive);
#endif

static RARE void configure(void)
{
    settings.node = node() | NICBED_PROTOCOL_VMMC << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    settings.nodes = nodes;
    settings.window = window;
    settings.reliable = reliable;
    settings.utlb = utlb;
    settings.timeout = retry_timeout;
    settings.tick = retry_timeout / 8 + 1;
    settings.retries = retries;
    settings.payload = (mtu < DATA_BYTES ? mtu : DATA_BYTES) & ~7u;
    while (1u << settings.page_shift < page_bytes)
        settings.page_shift++;
    settings.page_mask = page_bytes - 1;
    settings.slots = queue_slots;
    settings.outgoing = imports;
    settings.incoming = exported;
    settings.ways = ways;
    settings.sets = translations / settings.ways;
    settings.prefetch = prefetch;
    for (uint32_t i = 0; i < NODES; i++)
        settings.route[i] = routes[i];
#ifdef VMMC_WORK_SEND
    settings.work_send = work_send;
#endif
#ifdef VMMC_WORK_RECEIVE
    settings.work_receive = work_receive;
#endif
    streams = take_memory(settings.nodes * sizeof *streams, 8);
    outgoing_pages = take_memory(settings.outgoing * sizeof *outgoing_pages, 8);
    incoming_pages = take_memory(settings.incoming * sizeof *incoming_pages, 8);
    translation_open();
}

/* Doorbells are the kernel's alone. */
static void doorbells(void)
{
    struct doorbell d;
    while (doorbell_take(&d))
        if (d.page != MAILBOX_PAGE)
            counters.malformed++;
}

int main(void)
{
    configure();
    receiving_open();
    protocol_select(NICBED_PROTOCOL_VMMC);
    ready = 1;
    uint32_t always = NICBED_PENDING_TIMER | NICBED_PENDING_WINDOW | NICBED_PENDING_DOORBELL;
    uint32_t wanted = 0, receive = NICBED_PENDING_RECEIVE;
    for (;;) {
        uint32_t bits = turn(always | receive | wanted);
        wanted = 0;
        if (bits & (NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H))
            receive = receiving();
        if (bits & NICBED_PENDING_DOORBELL)
            doorbells();
        if (bits & (NICBED_PENDING_WINDOW | NICBED_PENDING_DOORBELL)) {
            kernel_command();
            for (struct port *p = ports; p < ports + PORTS; p++)
                if (p->open && !p->busy)
                    commands(p);
        }
        if (bits & NICBED_PENDING_TIMER) /* behind the acknowledgements that have come */
            tick(naming_tick());
        while (sending()) {
            wanted = pump(receive);
            if (!ports_again || pending() & receive || !commands_behind())
                break;
        }
        if (dues)
            wanted |= acknowledge();
        if (import_end.over)
            kernel_command();
        if (ports_again) {
            ports_again = 0;
            unfinished |= NICBED_PENDING_WINDOW;
        }
        for (struct port *p = ports; p < ports + PORTS; p++)
            if (p->reporting && p->open)
                report(p);
    }
}
