/* Completions in the consumer's memory: a descriptor's status, done visible last, then the entry of
 * its completion queue. */
#include "via_fw.h"

enum { STATUSES = 2 * NICBED_ENGINE_QUEUE };

/* As in a descriptor. N2H holds half as many commands: one comes round when its write has ended. */
static struct {
    uint32_t immediate, length, status, reserved;
} statuses[STATUSES] __attribute__((aligned(8)));
static uint32_t used;

bool completion_write(struct vi *vi, uint32_t receive, uint32_t length, uint32_t status,
                      uint32_t immediate, uint32_t *broken)
{
    struct message *m = receive ? &vi->receiving : &vi->sending;
    struct piece p = {m->physical, NICBED_VIA_CONTROL_BYTES};
    m->taken = false;
    *broken = NICBED_VIA_CODE_COMP_PROT;
    if ((m->era != era && !translate(m->at.low, m->at.high, m->at.handle, vi->tag, LOCAL, &p))
        || p.room < NICBED_VIA_CONTROL_BYTES)
        return false;
    uint32_t at = used++ % STATUSES;
    statuses[at].immediate = immediate;
    statuses[at].length = length;
    statuses[at].status = status | NICBED_VIA_STATUS_DONE;
    if (status & NICBED_VIA_STATUS_IMMEDIATE)
        dma_write(&statuses[at].immediate, p.physical + 20, 12, m->trace);
    else
        dma_write(&statuses[at].length, p.physical + 24, 8, m->trace);
    return !vi->on_cq[receive] || cq_append(vi, receive, broken);
}
