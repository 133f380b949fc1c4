/* Events to the kernel agent: a ring of words in host memory, and the interrupt. */
#include "via_fw.h"

enum { WORDS = 2 * NICBED_ENGINE_QUEUE };

SHARED(volatile uint64_t, events_taken); /* the host says how many it has taken */

static uint32_t words[WORDS][2] __attribute__((aligned(8)));
static uint32_t put;
static ticket_t written;
static bool due; /* an interrupt, once `written` is */

/* A word with bit 0, on the ring's first lap, 1 in place of EVENT's `valid`. */
static void push(uint32_t code, uint32_t number)
{
    uint32_t *word = words[put % WORDS];
    word[0] = !(put & set.events) | (uint32_t)PLACE(code, VIA_EVENT_CODE)
              | (uint32_t)PLACE(number, VIA_EVENT_NUMBER);
    written = dma_write(word, set.event_ring + 8 * (put & (set.events - 1)), 8, 0);
    put++;
    due = true;
}

/* The last place is for CATASTROPHIC, which says that events were lost. */
void event(uint32_t code, uint32_t number)
{
    uint32_t waiting = put - *(volatile uint32_t *)&events_taken;
    if (waiting < set.events - 1) {
        push(code, number);
        return;
    }
    count(COUNT_EVENTS_LOST);
    if (waiting < set.events)
        push(NICBED_VIA_CODE_CATASTROPHIC, 0);
}

bool events_serve(void)
{
    if (due && dma_write_done(written)) {
        due = false;
        host_interrupt();
    }
    return due;
}
