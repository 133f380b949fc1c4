/* The kernel agent's commands. */
#include "via_fw.h"

SHARED(struct mailbox, mailbox);

static uint64_t counts(const struct vi *vi)
{
    const struct work_queue *s = &vi->queue[SEND_QUEUE], *r = &vi->queue[RECEIVE_QUEUE];
    return (uint64_t)s->completed | (uint64_t)r->completed << 16 | (uint64_t)s->posted << 32
           | (uint64_t)r->posted << 48;
}

/* False: not yet. */
static bool execute(const uint64_t *words)
{
    uint32_t number = low(words[1]);
    struct vi *vi = &vis[number];
    switch (low(words[0])) {
    case COMMAND_VI:
        return vi_command(number, low(words[2]), words[3], words[4], words[5]);
    case COMMAND_CQ:
        cq_config(number, words[2], words[3]);
        return true;
    case COMMAND_INVALIDATE:
        for (uint32_t i = 0; i < low(words[2]) && i <= set.index_mask; i++) {
            watchdog_kick(); /* thousands, on a slow core */
            translate_invalidate((number + i) & set.index_mask);
        }
        dma_write_wait(engine_given[ENGINE_N2H]);
        return true;
    }
    if (number >= set.vis)
        return true;
    switch (low(words[0])) {
    case COMMAND_QUERY:
        dma_write_wait(engine_given[ENGINE_N2H]);
        mailbox.answer[0] = vi->state;
        mailbox.answer[1] = counts(vi);
        break;
    case COMMAND_TOKENS:
        for (uint32_t receive = 0; receive < 2; receive++)
            token(vi, receive, low(words[2 + receive]), high(words[2 + receive]));
        break;
    case COMMAND_ARM:
        arm(vi, low(words[2]) & 1, low(words[3]));
        break;
    }
    return true;
}

/* Doorbells that were rung before a command count before it. Whether the command is to be tried
 * again. */
bool commands_serve(void)
{
    uint64_t *words = mailbox_take(&mailbox);
    if (!words)
        return false;
    doorbells_serve();
    if (!execute(words))
        return true;
    mailbox_answer(&mailbox, 0);
    return false;
}
