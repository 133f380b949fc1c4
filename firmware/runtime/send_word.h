/* Word 0 of a slot from a host program: layouts.processor, SEND_WORD. */
#ifndef SEND_WORD_H
#define SEND_WORD_H

#include "nic.h"

/* A slot's word 0, read once because the host may write to it at any time. */
struct send_word {
    uint32_t low, high;
};

static inline struct send_word send_word(const uint64_t *slot)
{
    const volatile uint32_t *half = (const volatile uint32_t *)slot;
    return (struct send_word){half[0], half[1]};
}

static inline uint32_t word_kind(struct send_word word)
{
    return word.low >> NICBED_SEND_WORD_KIND_LO_SHIFT;
}

static inline uint32_t word_length(struct send_word word)
{
    return (word.low & NICBED_SEND_WORD_LENGTH_LO_MASK) >> NICBED_SEND_WORD_LENGTH_LO_SHIFT;
}

static inline uint32_t word_destination(struct send_word word)
{
    return word.high & NICBED_SEND_WORD_DESTINATION_HI_MASK;
}

static inline uint32_t word_trace(struct send_word word)
{
    return word.high >> NICBED_SEND_WORD_TRACE_HI_SHIFT;
}

#endif
