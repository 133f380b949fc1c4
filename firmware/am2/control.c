/* Control packets: acknowledgements, refusals, questions and answers. */
#include "am2.h"

enum { CONTROL_SLOTS = 2 * NICBED_ENGINE_QUEUE };

static uint32_t controls[CONTROL_SLOTS][6] __attribute__((aligned(16)));
static uint32_t control_next;

/* `place`: sequence number and epoch. Room is left for the stages, which never wait for any: so the
 * firmware never does. */
APART bool control(uint32_t node, uint32_t endpoint, uint32_t detail, uint32_t place, uint32_t word)
{
    if (engine_space(ENGINE_SEND) <= STAGES)
        return false;
    uint32_t *c = controls[control_next++ & (CONTROL_SLOTS - 1)];
    c[0] = route_to(node) | 16 << NICBED_HEADER_LENGTH_LO_SHIFT;
    header_fill(c, node, detail);
    c[2] = place;
    c[3] = endpoint;
    c[4] = word;
    link_send(c, 24, 0);
    return true;
}
