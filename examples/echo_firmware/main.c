/* Sends every packet of protocol RAW back to where it came from. */
#include "nic.h"

#define BUFFERS 4
#define BYTES 1056 /* completion word, wire header, the longest packet there is */

static uint64_t buffers[BUFFERS][BYTES / 8];
PARAMETER(routes)[16]; /* to each node */
SHARED(volatile uint32_t, turned);

int main(void)
{
    ticket_t received[BUFFERS];
    protocol_select(NICBED_PROTOCOL_RAW);
    for (int i = 0; i < BUFFERS; i++)
        received[i] = link_receive(buffers[i], BYTES);
    ready = 1;
    for (uint32_t i = 0;; i = (i + 1) % BUFFERS) {
        while (!link_received(received[i]))
            wait_and_clear(NICBED_PENDING_RECEIVE);
        uint32_t trace = received_trace(buffers[i]), bytes = received_length(buffers[i]);
        uint32_t *header = (uint32_t *)&buffers[i][1];
        uint32_t from = header[1] & NICBED_HEADER_SOURCE_HI_MASK;
        trace_event(NICBED_KIND_BEGIN, trace, from);
        header[0] = bytes << NICBED_HEADER_LENGTH_LO_SHIFT | (uint32_t)routes[from & 15];
        header[1] = from << NICBED_HEADER_DESTINATION_HI_SHIFT | node();
        link_send_wait(link_send(header, NICBED_HEADER_BYTES + bytes, trace));
        turned++;
        trace_event(NICBED_KIND_END, trace, from);
        received[i] = link_receive(buffers[i], BYTES);
    }
}
