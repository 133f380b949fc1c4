// The target as instances (machine.h). The model that cocotb sees has no clock and one signal,
// `attention`: the machine clocks itself, and Python resets it by nicbed_reset().

#pragma once

#include "Vtop.h"
#include "machine.h"
#include "mailbox.h"

#define NICBED_MAILBOX
#define NICBED_INSTANCES

namespace design {

inline ::machine::Machine* machine = nullptr;

inline void bind(Vtop*, int argc, char** argv, void (*dump)()) {
    machine = new ::machine::Machine(::machine::topology(argc, argv), dump);
}

inline void load(const Vtop*) {}
inline void store(Vtop*) {}
inline bool quiet() { return mailbox.quiet; }
inline bool blocked(const Vtop*) { return true; }

}  // namespace design

// For Python: the timing registers, and what else is set once a run.
extern "C" void nicbed_reset(const uint32_t* timing, uint32_t trace, uint32_t profile,
                             uint32_t skip, uint64_t limit) {
    design::machine->reset(timing, trace, profile, skip, limit);
}
