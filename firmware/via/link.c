/* What goes to the link: packets in slots, until they are sent (unreliable) or acknowledged, and
 * control packets, which go first. */
#include "via_fw.h"

enum { CONTROLS = 2 * NICBED_ENGINE_QUEUE };

struct slot *slots;
uint32_t slots_left;
static uint8_t first_free, last_free;
static uint32_t controls[CONTROLS][4] __attribute__((aligned(8)));
static uint32_t sent;
static uint16_t debtor = NO_VI, last_debtor; /* the list of VIs that owe */

void link_open(void)
{
    uint32_t bytes = NICBED_HEADER_BYTES + 16 + set.mtu;
    slots = take_memory(set.slots * sizeof *slots, 4);
    for (uint32_t i = 0; i < set.slots; i++) {
        slots[i].packet = take_memory(bytes, 8);
        slots[i].vi = NO_VI;
        slots[i].next = (uint8_t)(i + 1);
    }
    slots_left = set.slots;
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
    slots_left--;
    return slot;
}

void slot_free(uint32_t slot)
{
    slots[slot].vi = NO_VI;
    slots[slot].next = NO_SLOT;
    slots_left++;
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

static void into_debt(struct vi *vi)
{
    if (vi->debtor)
        return;
    vi->debtor = true;
    vi->next_debtor = NO_VI;
    if (debtor == NO_VI)
        debtor = vi->number;
    else
        vis[last_debtor].next_debtor = vi->number;
    last_debtor = vi->number;
}

APART void owe(struct vi *vi, uint32_t what)
{
    vi->owed |= what;
    into_debt(vi);
}

void owe_break(struct vi *vi, uint32_t sequence, uint32_t code)
{
    if (vi->owed & OWE_BREAK)
        return;
    vi->break_sequence = (uint8_t)sequence;
    vi->break_code = (uint8_t)code;
    owe(vi, OWE_BREAK);
}

static APART void control(const struct vi *vi, uint32_t detail, uint32_t sequence, uint32_t word)
{
    uint32_t *words = controls[sent++ % CONTROLS];
    detail |= NICBED_VIA_DETAIL_FIRST_MASK | NICBED_VIA_DETAIL_LAST_MASK;
    words[0] = vi->route | 8u << NICBED_HEADER_LENGTH_LO_SHIFT;
    words[1] = vi->header | detail << NICBED_HEADER_DETAIL_HI_SHIFT;
    words[2] = vi->peer | (uint32_t)vi->number << NICBED_VIA_HEADER_SOURCE_SHIFT
               | (sequence & 0xFF) << NICBED_VIA_HEADER_SEQUENCE_SHIFT;
    words[3] = word;
    link_send(words, NICBED_HEADER_BYTES + 8, 0);
}

/* A NAK before an answer that says the same: whoever has gone back heeds older answers no more. */
static void pay(struct vi *vi)
{
    if (vi->owed & OWE_NAK && vi->told) {
        control(vi, NICBED_VIA_PACKET_NAK, vi->expected, 0);
        vi->owed &= ~(OWE_ACK | OWE_NAK);
    } else if (vi->owed & (OWE_ACK | OWE_NAK | OWE_ANSWER)) {
        bool answer = vi->owed & OWE_ANSWER;
        control(vi, NICBED_VIA_PACKET_ACK | (answer ? NICBED_VIA_DETAIL_ACKNOWLEDGE_MASK : 0),
                vi->expected, answer ? vi->echo : 0);
        vi->owed &= ~(OWE_ACK | OWE_NAK | OWE_ANSWER);
    } else if (vi->owed & OWE_PROBE) {
        vi->owed &= ~OWE_PROBE;
        if (vi->oldest == NO_SLOT || vi->again != NO_SLOT)
            return;
        vi->probing = true;
        vi->probe_end = vi->sequence;
        control(vi, NICBED_VIA_PACKET_PROBE, vi->sequence, ++vi->probe);
    } else if (vi->owed & OWE_BREAK) {
        vi->owed = 0;
        control(vi, NICBED_VIA_PACKET_BREAK, vi->break_sequence, vi->break_code);
    }
}

void control_serve(void)
{
    while (debtor != NO_VI && engine_space(ENGINE_SEND)) {
        struct vi *vi = &vis[debtor];
        debtor = vi->next_debtor;
        vi->debtor = false;
        pay(vi);
        if (vi->owed)
            into_debt(vi);
    }
}

bool control_waits(void) { return debtor != NO_VI; }
