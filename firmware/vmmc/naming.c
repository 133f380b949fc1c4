/* Imports: a question for the name of an export goes to the node, whose NIC answers. */
#include "vmmc.h"

static struct {
    uint32_t deadline, name, first, most;
    uint8_t waiting, id, node, owner, tries;
} question;
struct import_end import_end;

static RARE void ask(void)
{
    control(question.node, PACKET(NAME), PLACE(question.id, HEADER_EPOCH_LO), 0, 0, question.name);
    question.deadline = now() + settings.timeout;
    timer_start();
}

/* An import that was tried again after its node had failed is what makes sends to it possible. */
RARE void naming_begin(uint32_t owner, uint32_t node, uint32_t name, uint32_t first, uint32_t most)
{
    question.owner = owner;
    question.node = node;
    question.name = name;
    question.first = first;
    question.most = most;
    question.tries = 0;
    question.id++;
    question.waiting = 1;
    ask();
}

static RARE uint32_t found(const uint32_t *packet)
{
    uint32_t word = packet[4], status = word & NICBED_VMMC_HEADER_SEQUENCE_LO_MASK;
    uint32_t page = FIELD(packet[5], HEADER_PAGE_HI), bytes = packet[6], index = 0;
    if (status)
        return status;
    if ((bytes + settings.page_mask) >> settings.page_shift > question.most)
        return STATUS(NO_ROOM);
    for (uint32_t left = bytes; left; index++) {
        uint32_t here = left > settings.page_mask ? settings.page_mask + 1 : left;
        outgoing_pages[question.first + index] = (struct outgoing_page){
            .page = page + index, .node = question.node, .owner = question.owner, .bytes = here,
            .generation = FIELD(word, HEADER_GENERATION_LO),
        };
        left -= here;
    }
    streams[question.node].dead = 0;
    return STATUS(SUCCESS);
}

static RARE void answer(uint32_t node, const uint32_t *packet)
{
    uint32_t status = STATUS(NOT_EXPORTED), high = 0, bytes = 0, generation = 0;
    for (const struct export *e = exports; e < exports + EXPORTS; e++)
        if (e->owner && e->name == packet[7]) {
            status = e->nodes >> node & 1 ? STATUS(SUCCESS) : STATUS(DENIED);
            if (status)
                break;
            high = e->first;
            bytes = e->bytes;
            generation = e->generation;
            break;
        }
    control(node, PACKET(NAME) | DETAIL(ANSWERS),
            status | (packet[4] & NICBED_VMMC_HEADER_EPOCH_LO_MASK)
            | PLACE(generation, HEADER_GENERATION_LO), high, bytes, packet[7]);
}

static void over(uint32_t status, uint32_t bytes)
{
    question.waiting = 0;
    import_end = (struct import_end){1, status, bytes};
}

RARE void naming_packet(uint32_t node, const uint32_t *packet, uint32_t detail)
{
    if (!(detail & DETAIL(ANSWERS))) {
        answer(node, packet);
    } else if (question.waiting && question.node == node
               && question.id == FIELD(packet[4], HEADER_EPOCH_LO)) {
        over(found(packet), packet[6]);
    }
}

/* Whether it goes on waiting. */
RARE bool naming_tick(void)
{
    if (question.waiting && reached(question.deadline)) {
        if (++question.tries > settings.retries) {
            over(STATUS(UNREACHABLE), 0);
        } else {
            ask();
        }
    }
    return question.waiting;
}
