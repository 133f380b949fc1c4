/* Firmware fm: forwards, and knows nothing of what it forwards. */
#include "fm/forward.h"

int main(void)
{
    bool busy = false;
    forward_open(NICBED_PROTOCOL_FM);
    for (;;) {
        forward_turn(busy, 0);
        busy = forward_receive();
        if (forward_can_send(1)) {
            uint64_t *slot = forward_next();
            if (slot) {
                forward_inline(slot, send_word(slot));
                busy = true;
            }
        }
        if (queue.next - queue.taken >= release_at)
            forward_release(queue.next);
    }
}
