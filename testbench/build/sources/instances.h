// The target as instances (machine.h). The model that cocotb sees is empty: the machine clocks
// itself. Python resets it by nicbed_reset() and calls nicbed_run() from one attention to the next.

#pragma once

#include "Vtop.h"
#include "machine.h"
#include "mailbox.h"


namespace design {

inline ::machine::Machine* machine = nullptr;
inline uint64_t since = 0;  // when Python began to answer, if that is timed

inline void bind(Vtop*, int argc, char** argv, void (*dump)()) {
    machine = new ::machine::Machine(::machine::topology(argc, argv), dump);
}

inline void load(const Vtop*) {}
inline void store(Vtop*) {}
inline bool quiet() { return false; }
inline bool blocked(const Vtop*) { return true; }

}  // namespace design

// For Python: the timing registers, and what else is set once a run.
extern "C" void nicbed_reset(const uint32_t* timing, uint32_t trace, uint32_t profile,
                             uint32_t skip, uint64_t limit) {
    design::machine->reset(timing, trace, profile, skip, limit);
    design::since = 0;
}

// For Python, when it has answered: on to the next attention. False as of Machine::run().
extern "C" bool nicbed_run() {
    if (design::since) mailbox.python_ns += cpu_ns() - design::since;
    const bool attention = design::machine->run();
    design::since = mailbox.timed ? cpu_ns() : 0;
    return attention;
}

extern "C" Mailbox* nicbed_mailbox() { return &mailbox; }
