// The target as instances (machine.h). The model that cocotb sees is empty: the machine clocks
// itself. Python resets it by nicbed_reset(), and nicbed_serve() calls Python at each attention.

#pragma once

#include "Vtop.h"
#include "machine.h"
#include "mailbox.h"


namespace design {

inline ::machine::Machine* machine = nullptr;

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
}

// For Python: call it at once and then at each attention, until what it returns is false, or it or
// asking that raises, or until Machine::run() is false. `call`, `truth` and `release` are
// PyObject_CallNoArgs, PyObject_IsTrue and Py_DecRef, which are given because there are no headers
// of Python to compile against. Python's lock is held throughout.
extern "C" void nicbed_serve(void* (*call)(void*), int (*truth)(void*), void (*release)(void*),
                             void* attention) {
    do {
        Stopwatch watch;
        if (mailbox.timed) watch.start();
        void* const answer = call(attention);
        const bool more = answer && truth(answer) > 0;
        if (answer) release(answer);
        watch.stop();
        if (!more) return;
    } while (design::machine->run());
}

extern "C" Mailbox* nicbed_mailbox() { return &mailbox; }
