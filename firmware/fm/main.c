/* Firmware fm: forwards packets without looking at their content. */
#include "fm/forward.h"

int main(void)
{
    forward_open(NICBED_PROTOCOL_FM);
    for (;;) {
        uint32_t bits = forward_wait();
        if (bits & FORWARD_RECEIVES)
            forward_receive();
        if (bits & FORWARD_SENDS) {
            uint64_t *slot;
            forward_posted(bits);
            do {
                while ((slot = forward_next()) && forward_can_send(1))
                    forward_inline(slot, send_word(slot));
            } while (forward_release(forward.queue.next));
        }
    }
}
