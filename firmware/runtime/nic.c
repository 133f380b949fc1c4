/* The functions of nic.h that are not inline. */
#include "nic.h"

/* Part of the image: otherwise this program would find the value of an earlier one. */
__attribute__((section(".data"))) volatile uint64_t ready;
ticket_t engine_given[ENGINES];
PARAMETER(doorbells_are_words);
__attribute__((weak, aligned(16))) volatile uint64_t doorbell_words[2];

extern char __free[], __stack_limit[];
static char *memory_next = __free;

void *take_memory(uint32_t bytes, uint32_t align)
{
    uint32_t at = ((uint32_t)memory_next + align - 1) & -align;
    if (at > (uint32_t)__stack_limit || bytes > (uint32_t)__stack_limit - at)
        panic(PANIC_MEMORY);
    memory_next = (char *)(at + bytes);
    return memset((void *)at, 0, bytes);
}

uint32_t memory_left(void)
{
    return (uint32_t)(__stack_limit - memory_next);
}

__attribute__((noinline)) _Noreturn void panic(uint32_t code)
{
    reg_write(NICBED_MMIO_CRASH_PC, (uint32_t)__builtin_return_address(0) - 4);
    reg_write(NICBED_MMIO_CRASH_CAUSE, code);
    reg_write(NICBED_MMIO_CRASH, NICBED_CRASH_PANIC);
    for (;;) { }
}
