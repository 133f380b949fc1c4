// The simulator's main: it owns the clock, and hands a time step to VPI only when someone waits.
//
// Callbacks come in the order in which cocotb's stock main for Verilator calls them; a test holds
// the two against each other. What differs: here the clock is no VPI callback, and its edges are
// withheld while the target stalls. NICBED_DESIGN names the header that says what is simulated:
// instances.h (the target), one_design.h (the target as one model), block.h (any other design).

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"

#if VM_TRACE
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Wave = VerilatedFstC;
#else
#include "verilated_vcd_c.h"
using Wave = VerilatedVcdC;
#endif
static Wave* wave = nullptr;
#endif

#include NICBED_DESIGN

extern "C" void vlog_startup_routines_bootstrap(void);

namespace {

constexpr uint64_t HALF = 5000;     // time steps of half a clock cycle
constexpr uint64_t NEVER = ~0ULL;

Vtop* top;
uint64_t now = 0;
uint64_t edge = HALF;  // time of the next clock edge

bool value_callbacks() {
    design::load(top);
    const bool called = VerilatedVpi::callValueCbs();
    if (called) design::store(top);
    return called;
}

void settle() {
    while (value_callbacks()) {
    }
}

void dump() {
#if VM_TRACE
    if (wave) wave->dump(now);
#endif
}

// Of a design with clocks of its own: half a cycle has passed.
[[maybe_unused]] void dump_half() {
    now += HALF;
    dump();
}

// One time step, from its first evaluation on or, when that is done, from the check for more.
void time_step(bool evaluated, bool toggle) {
    do {
        while (!evaluated || VerilatedVpi::evalNeeded()) {
            design::store(top);
            top->eval_step();
            VerilatedVpi::clearEvalNeeded();
            evaluated = !toggle;
            if (toggle) {
                top->clk = !top->clk;
                toggle = false;
            }
            VerilatedVpi::doInertialPuts();
            settle();
        }
        VerilatedVpi::callCbs(cbReadWriteSynch);
        VerilatedVpi::doInertialPuts();
        settle();
    } while (VerilatedVpi::evalNeeded());
    top->eval_end_step();
    VerilatedVpi::callCbs(cbReadOnlySynch);
    dump();
}

bool step_callbacks_pending() {
    return VerilatedVpi::hasCbs(cbNextSimTime) || VerilatedVpi::hasCbs(cbReadWriteSynch)
           || VerilatedVpi::hasCbs(cbReadOnlySynch);
}

// Clock edges up to the deadline, until a callback ran. Returns true if one did: the time step is
// then to be finished, from its evaluation if `evaluated` is false.
bool run_clock(uint64_t deadline, bool& evaluated) {
    while (edge < deadline && !design::blocked(top)) {
        now = edge;
        edge += HALF;
        top->clk = !top->clk;
        if (value_callbacks()) {
            evaluated = false;
            settle();
            return true;
        }
        top->eval();
        VerilatedVpi::clearEvalNeeded();
        if (value_callbacks()) {
            evaluated = true;
            settle();
            return true;
        }
        dump();
    }
    return false;
}

#ifdef NICBED_MAILBOX
// For Python.
extern "C" Mailbox* nicbed_mailbox() { return &mailbox; }

// Python at an attention. True if it waits for something else, too, from now on.
bool call_python() {
    Stopwatch watch;
    if (mailbox.timed) watch.start();
    design::load(top);
    VerilatedVpi::callValueCbs();
    design::store(top);
    watch.stop();
    return !mailbox.quiet || VerilatedVpi::evalNeeded() || step_callbacks_pending()
           || Verilated::gotFinish();
}

// The same as run_clock() while Python waits for nothing but attention.
bool run_quiet(uint64_t deadline, bool& evaluated) {
    evaluated = true;
    design::attention(top);  // what changed before is known
    if (top->clk && edge < deadline) {
        now = edge;
        edge += HALF;
        top->clk = 0;
        top->eval();
        dump();
    }
    while (edge + HALF < deadline && !design::blocked(top)) {
        now = edge;
        top->clk = 1;
        top->eval();
        dump();
        edge += HALF;
        if (design::attention(top)) {
            if (call_python()) return true;
            deadline = VerilatedVpi::cbNextDeadline();
        }
        now = edge;
        edge += HALF;
        top->clk = 0;
        top->eval();
        dump();
    }
    return false;
}
#else
bool run_quiet(uint64_t deadline, bool& evaluated) { return run_clock(deadline, evaluated); }
#endif

void finish() {
    VerilatedVpi::callCbs(cbEndOfSimulation);
#if VM_TRACE
    if (wave) wave->close();
    wave = nullptr;
#endif
}

}  // namespace

double sc_time_stamp() { return static_cast<double>(now); }

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    top = new Vtop("");
    Verilated::fatalOnVpiError(false);
#if VM_TRACE
    Verilated::traceEverOn(true);
    std::string file;
    for (int i = 1; i + 1 < argc; i++)
        if (std::string(argv[i]) == "--trace-file") file = argv[i + 1];
    design::bind(top, argc, argv, file.empty() ? nullptr : dump_half);
    if (!file.empty()) {
        wave = new Wave;
        top->trace(wave, 99);
        wave->open(file.c_str());
    }
#else
    design::bind(top, argc, argv, nullptr);
#endif
    vlog_startup_routines_bootstrap();
    Verilated::addExitCb([](void*) { finish(); }, nullptr);
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle();
    int status = 0;
    bool evaluated = false;
    bool toggle = false;
    while (!Verilated::gotFinish()) {
        time_step(evaluated, toggle);
        evaluated = toggle = false;
        const uint64_t deadline = VerilatedVpi::cbNextDeadline();
        if (!step_callbacks_pending() && !Verilated::gotFinish()) {
            if (design::quiet() ? run_quiet(deadline, evaluated)
                                : run_clock(deadline, evaluated))
                continue;
            evaluated = false;
        }
        uint64_t next = deadline;
        if (design::blocked(top)) {
            if (deadline == NEVER) {
#ifdef NICBED_MAILBOX
                std::fprintf(stderr, "nicbed: attention at cycle %llu was not answered "
                             "(ports waiting: %#llx)\n",
                             static_cast<unsigned long long>(mailbox.cycle),
                             static_cast<unsigned long long>(mailbox.waiting));
#endif
                status = 3;
                break;
            }
            if (edge <= deadline) edge = deadline + HALF;
        } else if (edge < next) {
            next = edge;
        }
        now = next;
        VerilatedVpi::callCbs(cbNextSimTime);
        settle();
        VerilatedVpi::callTimedCbs();
        settle();
        if (edge == now) {
            toggle = true;
            edge += HALF;
        }
    }
    top->final();
    finish();
    if (Verilated::threadContextp()->errorCount() > 0) return 1;
    return status;
}
