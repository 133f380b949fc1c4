/* Entry: address 0 of NIC memory. */
#include "nicbed.h"

    .section .start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
#ifdef NICBED_MTVEC
    la t0, trap
    csrw mtvec, t0
#endif
    la sp, __stack_top
    la t0, started
    lw t1, 0(t0)
    bnez t1, 3f
    li t1, 1
    sw t1, 0(t0)
    la t0, __bss
    la t1, __bss_end
    li t2, NICBED_MMIO_WATCHDOG
1:  bgeu t0, t1, 2f
    sw t2, 0(t2) /* a bit-serial core takes a million cycles for gm's */
    sw zero, 0(t0)
    sw zero, 4(t0)
    sw zero, 8(t0)
    sw zero, 12(t0)
    addi t0, t0, 16
    j 1b
2:  call main
    li a0, 0xFFFF0000
    call panic
3:  li a0, 0xFFFF0003 /* a null pointer was called: panic() names the caller */
    tail panic
    .size _start, . - _start

#ifdef NICBED_MTVEC
    .align 2
    .globl trap
    .type trap, @function
trap:
    li t0, NICBED_MMIO_CRASH_PC
    csrr t1, mepc
    sw t1, 0(t0)
    csrr t1, mcause
    sw t1, (NICBED_MMIO_CRASH_CAUSE - NICBED_MMIO_CRASH_PC)(t0)
    li t1, NICBED_CRASH_EXCEPTION
    sw t1, (NICBED_MMIO_CRASH - NICBED_MMIO_CRASH_PC)(t0)
4:  j 4b
    .size trap, . - trap
#endif

    .section .data.started, "aw", @progbits
    .align 2
started:
    .word 0
