/* Active Messages II: the control program of a NIC. am2.h tells what it does. */
#include "am2.h"
#include "turns.h"

PARAMETER(nics);
PARAMETER(endpoint_numbers) = 32;
PARAMETER(frame_count) = 8;
PARAMETER(frame_packets) = PACKETS;
PARAMETER(window) = 16;
PARAMETER(retry_timeout) = 50000;
PARAMETER(retries) = 12;
PARAMETER(mtu) = DATA_BYTES;
PARAMETER(doorbell_queue) = 64;
#ifdef AM2_WORK_SEND
PARAMETER(work_send);
#endif
#ifdef AM2_WORK_RECEIVE
PARAMETER(work_receive);
#endif

enum { DOORBELLS_A_TURN = 16 };

static RARE void configure(void)
{
    settings.node = node() | NICBED_PROTOCOL_AM2 << NICBED_HEADER_PROTOCOL_HI_SHIFT;
    settings.nics = nics;
    settings.packets = frame_packets;
    settings.window = window;
    settings.quarter = (settings.window + 3) / 4;
    settings.timeout = retry_timeout;
    settings.tick = retry_timeout / 8 + 1;
    settings.patience = 8 * retries;
    while (2u << settings.shift <= mtu && 2u << settings.shift <= DATA_BYTES)
        settings.shift++;
    settings.payload = 1u << settings.shift;
    while (1u << settings.bits < endpoint_numbers)
        settings.bits++;
    settings.numbers = 1u << settings.bits;
#ifdef AM2_WORK_SEND
    settings.work_send = work_send;
#endif
#ifdef AM2_WORK_RECEIVE
    settings.work_receive = work_receive;
#endif
}

/* All queues, not only those whose doorbells came. */
static RARE void look_everywhere(void)
{
    kernel_command();
    for (struct frame *f = frames; f < frames_end; f++)
        if (f->open && !commands(f))
            unfinished |= NICBED_PENDING_WINDOW;
}

/* Takes doorbells, a few a turn. With as many in a row as the hardware holds some were perhaps
 * lost. */
static void doorbells(void)
{
    static uint32_t row;
    for (uint32_t left = DOORBELLS_A_TURN; left; left--) {
        uint32_t entry = reg_read(NICBED_MMIO_DOORBELL);
        if (!(entry & NICBED_DOORBELL_ENTRY_VALID_MASK)) {
            if (row >= doorbell_queue)
                look_everywhere();
            row = 0;
            return;
        }
        reg_write(NICBED_MMIO_DOORBELL_POP, 1);
        row++;
        uint32_t page = entry & NICBED_DOORBELL_ENTRY_PAGE_MASK;
        if (page == MAILBOX_PAGE) {
            kernel_command();
            continue;
        }
        struct frame *f = page - 1 < FRAMES ? frame_at[page - 1] : NULL;
        if (!f)
            counters.malformed++;
        else if (f->open && !commands(f))
            unfinished |= NICBED_PENDING_WINDOW;
    }
    if (row >= doorbell_queue)
        unfinished |= NICBED_PENDING_DOORBELL; /* there may be none behind these to wake us */
}

int main(void)
{
    configure();
    frames_open(frame_count);
    sending_open();
    receiving_open();
    pages_open();
    places_open();
    protocol_select(NICBED_PROTOCOL_AM2);
    ready = 1;
    uint32_t always = NICBED_PENDING_TIMER
                      | (doorbells_are_words ? NICBED_PENDING_WINDOW : NICBED_PENDING_DOORBELL);
    uint32_t wanted = 0, receive = NICBED_PENDING_RECEIVE;
    for (;;) {
        uint32_t bits = turn(always | receive | wanted);
        wanted = 0;
        if (bits & (NICBED_PENDING_RECEIVE | NICBED_PENDING_N2H))
            receive = receiving();
        if (bits & NICBED_PENDING_DOORBELL)
            doorbells();
        if (bits & NICBED_PENDING_WINDOW)
            look_everywhere();
        if (hiding)
            wanted = show();
        if (pumping())
            wanted |= pump();
        if (bits & NICBED_PENDING_TIMER) {
            tick();
            acknowledge();
        }
    }
}
