/* Rings: opening. */
#include "ring.h"

void ring_open(struct ring *r, uint32_t host_base, uint32_t entries, uint32_t slot_bytes)
{
    *r = (struct ring){
        .base = host_base, .entries = entries, .slot_bytes = slot_bytes, .at = host_base,
    };
}
