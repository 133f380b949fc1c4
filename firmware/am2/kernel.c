/* The kernel's commands: endpoints are opened and closed. */
#include "am2.h"

/* Where the frames' pages are. */
SHARED(uint32_t, frame_pages);

static RARE uint32_t endpoint_open(struct endpoint *e, uint32_t number, struct frame *f,
                                   const uint64_t *words)
{
    if (e->frame != NONE || f->open)
        return ANSWER_WRONG;
    memset((void *)f->page, 0, NICBED_WINDOW_PAGE);
    memset(&f->k, 0, sizeof f->k);
    f->hidden = 0;
    for (uint32_t reply = 0; reply < 2; reply++) {
        struct inbox *q = &f->k.inbox[reply];
        q->buffers = (1u << BUFFERS) - 1;
        memset(q->buffer, NO_BUFFER, sizeof q->buffer);
    }
    volatile uint32_t *tag = word_in(f, NICBED_AM2_WORD_TAG);
    tag[0] = low(words[1]);
    tag[1] = high(words[1]);
    f->k.report = low(words[2]);
    f->k.event = high(words[2]);
    f->k.send = low(words[3]);
    f->k.receive = high(words[3]);
    if (doorbells_are_words)
        *doorbell_word(f->number + 1, 0) = 0;
    streams_open(f, e->epoch);
    f->endpoint = number;
    f->open = 1;
    e->frame = f->number;
    e->state = INSIDE;
    return 0;
}

/* Whether messages of the frame are on their way. */
static bool busy(const struct frame *f)
{
    return f->k.taken[0] != f->k.done[0] || f->k.taken[1] != f->k.done[1];
}

static RARE uint32_t endpoint_stop(struct endpoint *e, uint32_t number, uint32_t state)
{
    if (e->state != INSIDE)
        return ANSWER_WRONG;
    arrivals_close(number);
    e->state = state;
    return 0;
}

/* When this has returned no transfer touches memory of the process any more. */
static RARE uint32_t endpoint_close(struct endpoint *e, bool always)
{
    if ((e->state != CLOSED && e->state != ENDED) || e->frame == NONE)
        return ANSWER_WRONG;
    struct frame *f = &frames[e->frame];
    if (!always) {
        commands(f);
        if (busy(f))
            return ANSWER_BUSY;
    }
    e->epoch = streams_close(f);
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
    show();
    f->open = 0;
    e->frame = NONE;
    return 0;
}

static RARE uint32_t perform(const uint64_t *words)
{
    uint32_t w0 = low(words[0]), number = w0 >> 8 & 0xFF, frame = w0 >> 16 & 0xFF;
    struct endpoint *e = &endpoints[number & (ENDPOINTS - 1)];
    if (number >= settings.numbers || frames + frame >= frames_end)
        return ANSWER_WRONG;
    switch (w0 & 0xFF) {
    case NICBED_AM2_KERNEL_OPEN:
        return endpoint_open(e, number, &frames[frame], words);
    case NICBED_AM2_KERNEL_STOP:
        return endpoint_stop(e, number, w0 >> 24 & 1 ? ENDED : CLOSED);
    case NICBED_AM2_KERNEL_CLOSE:
        return endpoint_close(e, w0 >> 24 & 1);
    default:
        return ANSWER_WRONG;
    }
}

SHARED(struct mailbox, mailbox);

RARE void kernel_command(void)
{
    uint64_t *words = mailbox_take(&mailbox);
    if (words)
        mailbox_answer(&mailbox, perform(words));
}

/* `count` frames. */
RARE void frames_open(uint32_t count)
{
    for (uint32_t i = 0; i < ENDPOINTS; i++)
        endpoints[i].frame = NONE;
    frames = take_memory(count * sizeof *frames, 8);
    frames_end = frames + count;
}

/* Their pages: behind what is smaller than a page. */
RARE void pages_open(void)
{
    uint32_t count = frames_end - frames;
    frame_pages = (uint32_t)take_memory(count * NICBED_WINDOW_PAGE, NICBED_WINDOW_PAGE);
    for (uint32_t i = 0; i < count; i++) {
        frames[i].number = i;
        frames[i].page = (volatile uint32_t *)(frame_pages + i * NICBED_WINDOW_PAGE);
    }
}
