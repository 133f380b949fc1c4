// The target as instances (machine.h). The model that cocotb sees is empty: the machine clocks
// itself. Python resets it by nicbed_reset(), and nicbed_serve() calls Python at each attention: what
// serves a port (host/serving.py), with the port's last answer, and the runtime where the run may
// end.

#pragma once

#include <cstdlib>
#include <cstring>
#include <iterator>

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

// Functions of Python's, under the names that they have there. They are given because there are no
// headers of Python to compile against.
struct Python {
    void* (*PyObject_CallNoArgs)(void*);
    void* (*PyObject_Vectorcall)(void*, void* const*, size_t, void*);
    int (*PyObject_IsTrue)(void*);
    void* (*PyLong_FromUnsignedLongLong)(unsigned long long);
    long (*PyLong_AsLong)(void*);
    void* (*PyErr_Occurred)();
    void (*Py_DecRef)(void*);
};

namespace design {

// Calls `serve` for `port`: entries of its next block, negative if the runtime is to be called, too.
// 0 ends the run: it has failed, or `serve` has raised or given no number.
inline long serve_port(const Python& python, void* serve, unsigned port) {
    Answer last;  // of the model's words, which are aligned as such
    std::memcpy(&last, static_cast<const char*>(mailbox.answers[port])
                       + sizeof last * (mailbox.given[port] - 1), sizeof last);
    const uint64_t now = mailbox.cycle;
    const uint64_t words[] = {now, now - static_cast<uint32_t>(now - last.cycle), last.status,
                              last.data};
    constexpr size_t COUNT = std::size(words);
    void* arguments[COUNT];
    bool made = true;
    for (size_t word = 0; word < COUNT; word++) {
        arguments[word] = python.PyLong_FromUnsignedLongLong(words[word]);
        made &= arguments[word] != nullptr;
    }
    void* const result =
        made ? python.PyObject_Vectorcall(serve, arguments, COUNT, nullptr) : nullptr;
    for (void* argument : arguments)
        if (argument) python.Py_DecRef(argument);
    if (!result) return 0;
    const long count = python.PyLong_AsLong(result);
    python.Py_DecRef(result);
    return count == -1 && python.PyErr_Occurred() ? 0 : count;
}

// Calls the runtime: whether there is more to come. Not if it raises, or asking for its truth does.
inline bool call(const Python& python, void* attention) {
    void* const answer = python.PyObject_CallNoArgs(attention);
    if (!answer) return false;
    const bool more = python.PyObject_IsTrue(answer) > 0;
    python.Py_DecRef(answer);
    return more;
}

// One attention: whether there is more to come. Without `serves`, what serves each port, it is the
// runtime's alone; so is the first one, at which no port has an answer.
inline bool attend(const Python& python, void* attention, void* const* serves) {
    if (!serves || mailbox.expired) return call(python, attention);
    bool may_end = false;
    for (; mailbox.waiting; mailbox.waiting &= mailbox.waiting - 1) {
        const unsigned port = __builtin_ctzll(mailbox.waiting);
        const long count = serve_port(python, serves[port], port);
        if (!count) return false;
        may_end |= count < 0;
        mailbox.count[port] = std::abs(count);
    }
    return !may_end || call(python, attention);
}

}  // namespace design

// For Python: call `attention` at once, and then answer each attention, until there is no more to
// come or until Machine::run() is false. With `often`, attention is called at each of so many, too.
// Python's lock is held throughout.
extern "C" void nicbed_serve(const Python* python, void* attention, void* const* serves,
                             uint32_t often) {
    uint32_t count = 0;
    do {
        Stopwatch watch;
        if (mailbox.timed) watch.start();
        const bool all = !count || (often && count % often == 0);
        const bool more = design::attend(*python, attention, all ? nullptr : serves);
        watch.stop();
        if (!more) return;
        count++;
    } while (design::machine->run());
}

extern "C" Mailbox* nicbed_mailbox() { return &mailbox; }
