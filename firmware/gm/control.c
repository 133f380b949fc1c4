/* Control packets: acknowledgements, refusals, questions and answers. */
#include "gm.h"

enum { CONTROL_SLOTS = 2 * NICBED_ENGINE_QUEUE };

static uint32_t controls[CONTROL_SLOTS][4] __attribute__((aligned(16)));
static uint32_t control_next;

/* Room is left for the stages, which never wait for any: so the firmware never does. */
APART bool control(uint32_t number, uint32_t kind, uint32_t word, uint32_t epoch,
                   uint32_t expected)
{
    if (engine_space(ENGINE_SEND) <= STAGES)
        return false;
    uint32_t *c = controls[control_next++ & (CONTROL_SLOTS - 1)], node = STREAM_NODE(number);
    c[0] = settings.route[node] | 8 << NICBED_HEADER_LENGTH_LO_SHIFT;
    c[1] = settings.node | node << NICBED_HEADER_DESTINATION_HI_SHIFT
           | (kind | STREAM_PRIORITY(number) << NICBED_GM_DETAIL_PRIORITY_SHIFT)
             << NICBED_HEADER_DETAIL_HI_SHIFT;
    c[2] = expected | PLACE(epoch, HEADER_EPOCH_LO)
           | PLACE(STREAM_PORT(number), HEADER_SOURCE_LO);
    c[3] = word;
    link_send(c, 16, 0);
    return true;
}
