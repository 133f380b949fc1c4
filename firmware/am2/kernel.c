/* The kernel's commands: endpoints are opened and closed, leave their frames and come back. */
#include "am2.h"

/* Where the frames' pages are. */
SHARED(uint32_t, frame_pages);
SHARED(struct mailbox, mailbox);

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
    f->k.sender = PLACE(number, MESSAGE_ENDPOINT_LO) | PLACE(node(), MESSAGE_NIC_LO);
    if (doorbells_are_words)
        *doorbell_word(f->number + 1, 0) = 0;
    streams_open(f, e->epoch);
    f->endpoint = number;
    f->open = 1;
    e->frame = f->number;
    e->state = INSIDE;
    return 0;
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
    lagging -= f->k.returning;
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
    show();
    f->open = 0;
    e->frame = NONE;
    return 0;
}

/* All of an endpoint between its frame and host memory: `move` moves a part. */
static RARE void endpoint_move(struct frame *f, uint32_t host,
                               ticket_t (*move)(uint32_t host, void *local, uint32_t bytes))
{
    move(host, (void *)f->page, NICBED_WINDOW_PAGE);
    move(host + NICBED_WINDOW_PAGE, &f->k, sizeof f->k);
    move(host + NICBED_WINDOW_PAGE + NICBED_AM2_FRAME_BYTES, f->streams,
         2 * settings.nics * sizeof *f->streams);
    watchdog_kick();
    dma_read_wait(engine_given[ENGINE_H2N]);
    dma_write_wait(engine_given[ENGINE_N2H]);
    watchdog_kick();
}

static ticket_t move_out(uint32_t host, void *local, uint32_t bytes)
{
    return dma_write(local, host, bytes, 0);
}

static ticket_t move_in(uint32_t host, void *local, uint32_t bytes)
{
    return dma_read(host, local, bytes, 0);
}

static RARE uint32_t endpoint_out(struct endpoint *e, uint32_t host)
{
    if (e->state != INSIDE)
        return ANSWER_WRONG;
    struct frame *f = &frames[e->frame];
    outgoing.held = 1;
    commands(f);
    outgoing.held = 0;
    dma_write_wait(engine_given[ENGINE_N2H]);
    show();
    streams_close(f);
    endpoint_move(f, host, move_out);
    f->open = 0;
    e->frame = NONE;
    e->state = OUTSIDE;
    e->wanted = 0;
    lagging -= f->k.returning;
    if (busy(f)) {
        e->patience = OUTSIDE_TICKS;
        lagging++;
        timer_on();
    }
    return 0;
}

static RARE uint32_t endpoint_in(struct endpoint *e, uint32_t number, struct frame *f,
                                 uint32_t host)
{
    if (e->state != OUTSIDE || f->open)
        return ANSWER_WRONG;
    endpoint_move(f, host, move_in);
    for (uint32_t reply = 0; reply < 2; reply++) {
        struct inbox *q = &f->k.inbox[reply];
        uint32_t held = arrivals_hold(number, reply), at = q->freed_at;
        for (uint32_t i = q->freed; i != q->put; i++) {
            if (q->buffer[at] != NO_BUFFER)
                held |= 1u << q->buffer[at];
            at = at + 1 == settings.packets ? 0 : at + 1;
        }
        q->buffers = ((1u << BUFFERS) - 1) & ~held;
    }
    lagging += f->k.returning;
    lagging -= e->patience != 0;
    e->patience = 0;
    f->hidden = 0;
    f->endpoint = number;
    f->open = 1;
    e->frame = f->number;
    e->state = INSIDE;
    streams_go_on(f);
    commands(f);
    return 0;
}

static RARE uint64_t wanted(void)
{
    uint32_t halves[2] = {0, 0};
    for (uint32_t i = 0; i < ENDPOINTS; i++)
        if (endpoints[i].state == OUTSIDE && endpoints[i].wanted)
            halves[i >> 5] |= 1u << (i & 31);
    return word_of(halves[0], halves[1]);
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
    case NICBED_AM2_KERNEL_OUT:
        return endpoint_out(e, low(words[1]));
    case NICBED_AM2_KERNEL_IN:
        return endpoint_in(e, number, &frames[frame], low(words[1]));
    case NICBED_AM2_KERNEL_WANTED:
        mailbox.answer[0] = wanted();
        return 0;
    default:
        return ANSWER_WRONG;
    }
}

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
        frame_at[i] = &frames[i];
        frames[i].number = i;
        frames[i].page = (volatile uint32_t *)(frame_pages + i * NICBED_WINDOW_PAGE);
    }
}
