/* Commands of the kernel (host/processor/mailbox.py): one at a time, in NIC memory.
 *
 *      SHARED(struct mailbox, mailbox);
 *      uint64_t *words = mailbox_take(&mailbox);
 *      if (words)
 *          mailbox_answer(&mailbox, status);
 *
 * The host writes `words`, then `sequence`, then rings doorbell 0 of page 0; `answered` equal to
 * `sequence` means that `status` and `answer` are valid.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include "nic.h"

#define MAILBOX_WORDS 7
#define MAILBOX_PAGE 0

struct mailbox {
    volatile uint64_t words[MAILBOX_WORDS];
    volatile uint64_t sequence;
    volatile uint32_t answered; /* sequence, low half */
    volatile uint32_t status;
    volatile uint64_t answer[2];
    uint64_t taken[MAILBOX_WORDS]; /* a copy: the host cannot change what was checked */
};

/* The words of a waiting command, or NULL. Word 0 is the command's number. */
uint64_t *mailbox_take(struct mailbox *m);

/* `status`: 0 for success. Set `answer` before. */
static inline void mailbox_answer(struct mailbox *m, uint32_t status)
{
    m->status = status;
    barrier();
    m->answered = *(volatile uint32_t *)&m->sequence;
}

#endif
