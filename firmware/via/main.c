/* The main loop, and which VI is next. */
#include "via_fw.h"

PARAMETER(via_vis);
PARAMETER(via_cqs);
PARAMETER(via_slots);
PARAMETER(via_window);
PARAMETER(via_depth);
PARAMETER(via_events);
PARAMETER(via_event_ring);
PARAMETER(via_table);
PARAMETER(via_translations);
PARAMETER(via_page_bytes);
PARAMETER(via_cache);
PARAMETER(via_mtu);
PARAMETER(via_retry_timeout);
PARAMETER(via_retries);

SHARED(volatile uint64_t, vis_open); /* VIs that there is room for: at most via_vis */

struct settings set;
struct counter_word counters[COUNTERS] __attribute__((used, aligned(8)));

enum { TURNS = 2 }; /* of VIs, before it is seen again what has come in */

static uint16_t first = NO_VI, last;
static uint32_t length;

void wake_vi(struct vi *vi)
{
    if (vi->listed)
        return;
    vi->listed = true;
    vi->next = NO_VI;
    if (first == NO_VI)
        first = vi->number;
    else
        vis[last].next = vi->number;
    last = vi->number;
    length++;
}

static struct vi *next_vi(void)
{
    struct vi *vi = &vis[first];
    first = vi->next;
    vi->listed = false;
    length--;
    return vi;
}

/* A few turns of VIs with work; whether any came of it. */
static bool vis_serve(void)
{
    uint32_t worked = 0;
    for (uint32_t left = length; left && worked < TURNS; left--) {
        struct vi *vi = next_vi();
        enum turn turn = serve(vi);
        if (turn != TURN_IDLE)
            wake_vi(vi);
        worked += turn == TURN_WORKED;
    }
    return worked;
}

static uint32_t fewer(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void open_all(void)
{
    set = (struct settings){
        .vis = low(via_vis), .cqs = low(via_cqs), .slots = low(via_slots),
        .window = low(via_window), .depth = low(via_depth), .events = low(via_events),
        .event_ring = low(via_event_ring), .table = low(via_table),
        .translations = low(via_translations),
        .page_shift = (uint32_t)__builtin_ctz(low(via_page_bytes)), .cache = low(via_cache),
        .mtu = low(via_mtu), .retry_timeout = low(via_retry_timeout),
        .retries = low(via_retries), .words = doorbells_are_words,
    };
    cq_open();
    link_open();
    receive_open();
    translate_open();
    doorbells_open();
    set.vis = fewer(set.vis, memory_left() / sizeof *vis);
    vis = take_memory(set.vis * sizeof *vis, 4);
    vis_open = set.vis;
    protocol_select(NICBED_PROTOCOL_VIA);
    ready = 1;
}

int main(void)
{
    open_all();
    for (;;) {
        pending_clear(0xFF);
        bool worked = receive_serve();
        worked |= doorbells_serve();
        worked |= commands_serve();
        worked |= vis_serve();
        worked |= control_serve();
        if (pending() & NICBED_PENDING_TIMER)
            timers_serve();
        uint32_t wakes = NICBED_PENDING_WINDOW | NICBED_PENDING_DOORBELL | NICBED_PENDING_RECEIVE
                         | NICBED_PENDING_SEND | NICBED_PENDING_TIMER;
        bool untold = events_serve();
        if (untold || receive_waits())
            wakes |= NICBED_PENDING_N2H;
        if (worked)
            watchdog_kick();
        else
            wait_for(wakes);
    }
}
