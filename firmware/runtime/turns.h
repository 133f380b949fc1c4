/* Turns of a main loop whose work may be left unfinished.
 *
 *      for (;;) {
 *          uint32_t bits = turn(mask);
 *          ...
 *          unfinished |= NICBED_PENDING_WINDOW;
 *      }
 *
 * For the file that has the main loop.
 */
#ifndef TURNS_H
#define TURNS_H

#include "nic.h"

/* A pending bit of a turn in which not all could be done; the next one begins with it, at once. */
static uint32_t unfinished;

/* Begins a turn: sleeps until a bit of `mask` is pending, unless something is unfinished. The
 * pending bits, of which the sticky ones are cleared. */
static inline uint32_t turn(uint32_t mask)
{
    if (!unfinished)
        return wait_and_clear(mask);
    uint32_t bits = unfinished | (pending() & mask);
    watchdog_kick();
    pending_clear(bits);
    unfinished = 0;
    return bits;
}

#endif
