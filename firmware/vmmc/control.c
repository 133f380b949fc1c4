/* Control packets: acknowledgements, refusals, questions for names and their answers. */
#include "vmmc.h"

enum { CONTROL_SLOTS = 2 * NICBED_ENGINE_QUEUE };

static uint32_t controls[CONTROL_SLOTS][6] __attribute__((aligned(16)));
static uint32_t control_next;

APART bool control(uint32_t node, uint32_t detail, uint32_t word, uint32_t high, uint32_t extent,
                   uint32_t key)
{
    if (engine_space(ENGINE_SEND) <= STAGES)
        return false;
    uint32_t *c = controls[control_next++ & (CONTROL_SLOTS - 1)];
    uint32_t bytes = (detail & DETAIL(KIND)) == PACKET(NAME) ? 16 : 8;
    c[0] = settings.route[node] | bytes << NICBED_HEADER_LENGTH_LO_SHIFT;
    c[1] = settings.node | node << NICBED_HEADER_DESTINATION_HI_SHIFT
           | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    c[2] = word;
    c[3] = high;
    c[4] = extent;
    c[5] = key;
    link_send(c, 8 + bytes, 0);
    return true;
}
