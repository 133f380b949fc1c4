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
PARAMETER(via_doorbells) = 1024; /* the most that their queue holds */
#ifdef VIA_WORK_SEND
PARAMETER(via_work_send);
#endif
#ifdef VIA_WORK_RECEIVE
PARAMETER(via_work_receive);
#endif

SHARED(volatile uint64_t, vis_open); /* VIs that there is room for: at most via_vis */

/* A turn of each VI with work, until one did some; whether one did. None does while all wait for the
 * link, or for slots. */
static bool vis_serve(void)
{
    for (uint32_t left = vis_with_work; left; left--) {
        struct vi *vi = next_vi();
        enum turn turn = serve(vi);
        if (turn != TURN_IDLE)
            wake_vi(vi);
        if (turn == TURN_WORKED)
            return true;
    }
    return false;
}

static uint32_t fewer(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void open_all(void)
{
    set = (struct settings){
        .vis = low(via_vis), .cqs = low(via_cqs), .slots = low(via_slots),
        .window = low(via_window), .depth = low(via_depth), .events = low(via_events),
        .event_ring = low(via_event_ring), .table = low(via_table),
        .index_mask = low(via_translations) - 1,
        .page_shift = (uint32_t)__builtin_ctz(low(via_page_bytes)), .cache_mask = low(via_cache) - 1,
        .mtu = low(via_mtu), .retry_timeout = low(via_retry_timeout),
        .retries = low(via_retries), .doorbells = low(via_doorbells),
        .words = doorbells_are_words,
#ifdef VIA_WORK_SEND
        .work_send = low(via_work_send),
#endif
#ifdef VIA_WORK_RECEIVE
        .work_receive = low(via_work_receive),
#endif
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
    bool busy = false, arrived = false, command = false;
    open_all();
    for (;;) {
        uint32_t wakes = NICBED_PENDING_WINDOW | NICBED_PENDING_DOORBELL | NICBED_PENDING_RECEIVE
                         | NICBED_PENDING_TIMER;
        if (events_serve() || receive_starved())
            wakes |= NICBED_PENDING_N2H;
        if (vis_with_work || command || control_waits())
            wakes |= NICBED_PENDING_SEND;
        uint32_t bits = (busy || arrived) ? pending() : wait_for(wakes);
        pending_clear(bits);
        if (bits & NICBED_PENDING_RECEIVE || arrived)
            arrived = receive_serve();
        else if (bits & NICBED_PENDING_N2H)
            receive_replenish();
        if (bits & (NICBED_PENDING_DOORBELL | NICBED_PENDING_WINDOW))
            doorbells_serve();
        if (bits & NICBED_PENDING_WINDOW || command)
            command = commands_serve();
        if (bits & NICBED_PENDING_TIMER)
            timers_serve();
        busy = vis_with_work && vis_serve();
        control_serve();
        if (busy || arrived)
            watchdog_kick();
    }
}
