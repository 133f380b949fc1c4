/* The kernel's commands: endpoints and channels are opened and closed, misses are answered. */
#include "unet.h"

PAGED_ARRAY(struct endpoint_page, endpoint_pages, ENDPOINTS);

enum { WRONG = 1 };

static RARE uint32_t endpoint_open(uint32_t number, const uint64_t *words)
{
    struct endpoint *e = &endpoints[number];
    struct endpoint_page *page = &endpoint_pages[number];
    if (e->open)
        return WRONG;
    memset(e, 0, sizeof *e);
    memset(page, 0, sizeof *page);
    e->page = page;
    e->number = number;
    e->receive = low(words[1]);
    e->statuses = high(words[1]);
    e->entries = low(words[2]) >> 16;
    e->free_entries = high(words[2]) & 0xFFFF;
    e->bytes = low(words[3]);
    e->table = high(words[3]);
    queue_open(&e->queue, number + 1, page->slots, words[2] & 0xFFFF, low(words[4]), 0);
    if (doorbells_are_words) {
        *doorbell_word(number + 1, 0) = 0;
        *doorbell_word(number + 1, 8) = 0;
    }
    e->open = 1;
    return 0;
}

static RARE void channel_close(struct channel *c)
{
    channel_of[c->in] = 0;
    c->endpoint = 0;
}

/* When this has returned no transfer touches memory of the process any more. */
static RARE uint32_t endpoint_close(uint32_t number)
{
    if (!endpoints[number].open)
        return WRONG;
    endpoints[number].open = 0;
    for (struct channel *c = channels; c < channels + CHANNELS; c++)
        if (c->endpoint == number + 1)
            channel_close(c);
    translations_forget(number);
    return 0;
}

static RARE uint32_t channel_open(uint32_t number, const uint64_t *words)
{
    uint32_t at = words[1] & 0xFFFF, node = low(words[1]) >> 16, in = high(words[1]) >> 16;
    struct channel *c = &channels[at & (CHANNELS - 1)];
    if (!at || at >= CHANNELS || c->endpoint || node >= NODES || in >= TAGS || channel_of[in]
        || !endpoints[number].open)
        return WRONG;
    *c = (struct channel){
        .endpoint = number + 1, .node = node, .out = high(words[1]) & (TAGS - 1), .in = in,
        .assembly = NONE,
    };
    channel_of[in] = at;
    return 0;
}

/* A command of the kernel; `words` are those of the mailbox. */
static RARE uint32_t perform(const uint64_t *words)
{
    uint32_t number = words[0] >> 8 & 0xFF, at = words[1] & (CHANNELS - 1);
    if (number >= ENDPOINTS)
        return WRONG;
    switch (words[0] & 0xFF) {
    case NICBED_UNET_KERNEL_OPEN:
        return endpoint_open(number, words);
    case NICBED_UNET_KERNEL_CLOSE:
        return endpoint_close(number);
    case NICBED_UNET_KERNEL_CHANNEL:
        return channel_open(number, words);
    case NICBED_UNET_KERNEL_UNCHANNEL:
        if (channels[at].endpoint != number + 1)
            return WRONG;
        channel_close(&channels[at]);
        return 0;
    case NICBED_UNET_KERNEL_FORGET:
        translations_forget(number);
        return 0;
    case NICBED_UNET_KERNEL_FILL:
        translation_fill(low(words[1]));
        return 0;
    default:
        return WRONG;
    }
}

SHARED(struct mailbox, mailbox);

RARE void kernel_command(void)
{
    uint64_t *words = mailbox_take(&mailbox);
    if (words)
        mailbox_answer(&mailbox, perform(words));
}
