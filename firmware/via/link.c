/* What goes to the link: packets in slots, until they are sent (unreliable) or acknowledged, and
 * control packets, which go first. */
#include "via_fw.h"

enum { CONTROLS = 32, WAITING = CONTROLS - NICBED_ENGINE_QUEUE };

struct slot *slots;
static uint8_t first_free, last_free;
static uint32_t controls[CONTROLS][4] __attribute__((aligned(8)));
static uint32_t told, sent;

void link_open(void)
{
    uint32_t bytes = NICBED_HEADER_BYTES + 16 + set.mtu;
    slots = take_memory(set.slots * sizeof *slots, 4);
    for (uint32_t i = 0; i < set.slots; i++) {
        slots[i].packet = take_memory(bytes, 8);
        slots[i].vi = NO_VI;
        slots[i].next = (uint8_t)(i + 1);
    }
    last_free = (uint8_t)(set.slots - 1);
    slots[last_free].next = NO_SLOT;
}

bool slot_ready(void)
{
    return first_free != NO_SLOT && link_sent(slots[first_free].ticket);
}

uint32_t slot_take(void)
{
    uint32_t slot = first_free;
    first_free = slots[slot].next;
    return slot;
}

void slot_free(uint32_t slot)
{
    slots[slot].vi = NO_VI;
    slots[slot].next = NO_SLOT;
    if (first_free == NO_SLOT)
        first_free = (uint8_t)slot;
    else
        slots[last_free].next = (uint8_t)slot;
    last_free = (uint8_t)slot;
}

void slot_send(uint32_t number)
{
    struct slot *slot = &slots[number];
    slot->ticket = link_send(slot->packet, slot->bytes, slot->trace);
}

void tell(struct vi *vi, uint32_t kind, uint32_t sequence, uint32_t code)
{
    if (told - sent == WAITING)
        return;
    uint32_t *words = controls[told++ % CONTROLS];
    uint32_t detail = kind | NICBED_VIA_DETAIL_FIRST_MASK | NICBED_VIA_DETAIL_LAST_MASK;
    words[0] = vi->route | 8u << NICBED_HEADER_LENGTH_LO_SHIFT;
    words[1] = vi->header | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    words[2] = vi->peer | (uint32_t)vi->number << NICBED_VIA_HEADER_SOURCE_SHIFT
               | (sequence & 0xFF) << NICBED_VIA_HEADER_SEQUENCE_SHIFT;
    words[3] = code;
}

void control_serve(void)
{
    while (sent != told && engine_space(ENGINE_SEND))
        link_send(controls[sent++ % CONTROLS], NICBED_HEADER_BYTES + 8, 0);
}

bool control_waits(void) { return sent != told; }
