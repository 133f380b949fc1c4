// How Python gives operations to the host ports and reads their answers: a struct it maps with
// ctypes, and the model's own port arrays, which it reads and writes in place.
// nicbed_ports.h is generated: PORTS, and EACH_PORT(X) = X(0) X(1) ...

#pragma once

#include <cstdint>

#include "Vtop.h"
#include "nicbed_ports.h"

struct Mailbox {
    uint64_t cycle;       // target cycles since reset
    uint32_t waiting;     // ports that wait for their program
    uint32_t stopped;     // ports whose program has ended
    uint32_t expired;     // the cycle limit was reached
    uint32_t go;          // Python flips a port's bit to give it a block
    uint32_t quiet;       // Python waits for attention alone
    uint32_t ports;
    void* entries[32];
    void* answers[32];
    uint8_t count[32];    // entries in each port's block
    uint64_t python_ns;   // CPU time of attention callbacks, if it is asked for
    uint32_t timed;       // Python asks for it
    uint32_t crash[3];    // of a NIC processor, as layouts/processor.py says
};

static Mailbox mailbox;
static uint8_t mailbox_seen = 0;

extern "C" Mailbox* nicbed_mailbox() { return &mailbox; }

static void mailbox_bind(Vtop* top) {
    mailbox.ports = PORTS;
#define BIND(p)                                     \
    mailbox.entries[p] = &top->port##p##_entries[0]; \
    mailbox.answers[p] = &top->port##p##_answers[0];
    EACH_PORT(BIND)
#undef BIND
}

static inline void mailbox_load(const Vtop* top) {
    mailbox.cycle = top->cycle;
    mailbox.waiting = top->waiting;
    mailbox.stopped = top->stopped;
    mailbox.expired = top->expired;
    for (int word = 0; word < 3; word++) mailbox.crash[word] = top->crash[word];
}

static inline void mailbox_store(Vtop* top) {
    top->go = mailbox.go;
#define STORE(p) top->port##p##_count = mailbox.count[p];
    EACH_PORT(STORE)
#undef STORE
}

// Did attention flip since the last look?
static inline bool mailbox_attention(const Vtop* top) {
    if (top->attention == mailbox_seen) return false;
    mailbox_seen = top->attention;
    return true;
}
