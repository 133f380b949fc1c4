// The whole target as one model: its clock is main's, its host ports are the mailbox's.
// nicbed_ports.h is generated: PORTS, NODES, and EACH_PORT(X) = X(0) X(1) ...

#pragma once

#include "Vtop.h"
#include "mailbox.h"
#include "nicbed_ports.h"

#define NICBED_MAILBOX

namespace design {

static uint8_t seen = 0;  // attention at the last look

inline void bind(Vtop* top, int, char**, void (*)()) {
    mailbox.ports = PORTS;
    mailbox.nodes = NODES;
#define BIND(p)                                     \
    mailbox.entries[p] = &top->port##p##_entries[0]; \
    mailbox.answers[p] = &top->port##p##_answers[0];
    EACH_PORT(BIND)
#undef BIND
    top->rst = 1;
}

inline void load(const Vtop* top) {
    mailbox.cycle = top->cycle;
    mailbox.waiting = top->waiting;
    mailbox.expired = top->expired;
    for (int word = 0; word < 3; word++) mailbox.crash[word] = top->crash[word];
}

inline void store(Vtop* top) {
#define TAKE(p) take_block(p, top->port##p##_count);
    EACH_PORT(TAKE)
#undef TAKE
    top->go = mailbox.go;
}

// Did attention flip since the last look?
inline bool attention(const Vtop* top) {
    if (top->attention == seen) return false;
    seen = top->attention;
    return true;
}

inline bool quiet() { return mailbox.quiet; }

// No rising edge is given while a port waits for its program.
inline bool blocked(const Vtop* top) { return !top->clk && !top->rst && top->stall; }

}  // namespace design
