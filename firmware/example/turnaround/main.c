/* Sends every packet of protocol RAW back to where it came from. */
#include "nic.h"

#define BUFFERS 4
#define BYTES (8 + NICBED_HEADER_BYTES + 1024 + 16)

struct buffer {
    uint64_t word[BYTES / 8]; /* completion word, wire header, what follows it */
};

static struct buffer buffers[BUFFERS];
PARAMETER(routes)[16]; /* routes[n]: the way to node n */
SHARED(volatile uint32_t, turned);

int main(void)
{
    ticket_t received[BUFFERS], sent = 0;
    protocol_select(NICBED_PROTOCOL_RAW);
    for (int i = 0; i < BUFFERS; i++)
        received[i] = link_receive(&buffers[i], BYTES);
    ready = 1;
    for (uint32_t i = 0;; i = (i + 1) % BUFFERS) {
        uint64_t *packet = buffers[i].word;
        while (!link_received(received[i]))
            wait_and_clear(NICBED_PENDING_RECEIVE);
        uint32_t trace = received_trace(packet), bytes = received_length(packet);
        uint32_t *header = (uint32_t *)&packet[1];
        uint32_t from = header[1] & NICBED_HEADER_SOURCE_HI_MASK;
        trace_event(NICBED_KIND_BEGIN, trace, from);
        header[0] = bytes << NICBED_HEADER_LENGTH_LO_SHIFT | (uint32_t)routes[from];
        header[1] = (header[1] & ~0xFFFFu) | node()
                    | from << NICBED_HEADER_DESTINATION_HI_SHIFT;
        sent = link_send(header, NICBED_HEADER_BYTES + bytes, trace);
        link_send_wait(sent);
        turned++;
        trace_event(NICBED_KIND_END, trace, from);
        received[i] = link_receive(packet, BYTES);
    }
}
