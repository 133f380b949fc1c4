/* Crashes in the way that a parameter asks for, once a packet of protocol RAW has come, or at once
 * with `how` + 100. */
#include "nic.h"

PARAMETER(how);
static uint64_t buffer[200];

__attribute__((noinline)) void illegal(void) { __asm__ volatile(".word 0xFFFFFFFF"); }
__attribute__((noinline)) void gives_up(void) { panic(0x1234); }
__attribute__((noinline)) void spins(void) { for (;;) __asm__ volatile(""); }
__attribute__((noinline)) void nowhere(void) { reg_write(0x40000000, 1); }
__attribute__((noinline)) void reads_nowhere(void) { reg_read(0x80000FF0); }
__attribute__((noinline)) void misaligned(void) { reg_read((uint32_t)buffer + 2); }
__attribute__((noinline)) void jumps_away(void) { ((void (*)(void))0x60000000)(); }

static void (*volatile nothing)(void);
__attribute__((noinline)) void calls_null(void)
{
    nothing();
    __asm__ volatile("");
}
__attribute__((noinline)) void fails(void)
{
    assert_that(nothing);
}

static void (*const ways[])(void) = {
    0, illegal, gives_up, spins, nowhere, reads_nowhere, misaligned, jumps_away, calls_null,
    fails,
};

int main(void)
{
    uint32_t way = (uint32_t)how;
    if (way == 100)
        return 0;
    if (way == 101)
        take_memory(1 << 20, 8);
    if (way == 102)
        for (;;)
            wait_for(NICBED_PENDING_RECEIVE); /* never ready */
    protocol_select(NICBED_PROTOCOL_RAW);
    ticket_t ticket = link_receive(buffer, sizeof(buffer));
    ready = 1;
    while (!link_received(ticket))
        wait_and_clear(NICBED_PENDING_RECEIVE);
    ways[way]();
    for (;;)
        wait_for(NICBED_PENDING_RECEIVE);
}
