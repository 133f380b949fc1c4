// The simulator's main: it owns the clock, and hands a time step to VPI only when someone waits.
//
// Callbacks come in the order in which cocotb's stock main for Verilator calls them; a test holds
// the two against each other. What differs: here the clock is no VPI callback, and its edges are
// withheld while the target stalls. With NICBED_PORTS (the target) the host ports' operations and
// answers go through the mailbox, in place; without (any other design) only the clock differs.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
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

#ifdef NICBED_PORTS
#include "mailbox.h"
#endif

extern "C" void vlog_startup_routines_bootstrap(void);

namespace {

constexpr uint64_t HALF = 5000;     // time steps of half a clock cycle
constexpr uint64_t NEVER = ~0ULL;

Vtop* top;
uint64_t now = 0;
uint64_t edge = HALF;  // time of the next clock edge

void load() {
#ifdef NICBED_PORTS
    mailbox_load(top);
#endif
}

void store() {
#ifdef NICBED_PORTS
    mailbox_store(top);
#endif
}

bool attention() {
#ifdef NICBED_PORTS
    return mailbox_attention(top);
#else
    return false;
#endif
}

// True when only the attention callback is registered, so that nothing else need be looked at.
bool quiet() {
#ifdef NICBED_PORTS
    return mailbox.quiet;
#else
    return false;
#endif
}

// No rising edge is given while a port waits for its program.
bool blocked() {
#ifdef NICBED_PORTS
    return !top->clk && !top->rst && top->stall;
#else
    return false;
#endif
}

bool value_callbacks() {
    load();
    const bool called = VerilatedVpi::callValueCbs();
    if (called) store();
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

// One time step, from its first evaluation on or, when that is done, from the check for more.
void time_step(bool evaluated, bool toggle) {
    do {
        while (!evaluated || VerilatedVpi::evalNeeded()) {
            store();
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
    while (edge < deadline && !blocked()) {
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

#ifdef NICBED_PORTS
uint64_t cpu_ns() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1000000000ull * time.tv_sec + time.tv_nsec;
}

// The same while Python waits for nothing but attention.
bool run_quiet(uint64_t deadline, bool& evaluated) {
    evaluated = true;
    mailbox_attention(top);  // what changed before is known
    if (top->clk && edge < deadline) {
        now = edge;
        edge += HALF;
        top->clk = 0;
        top->eval();
        dump();
    }
    while (edge + HALF < deadline && !blocked()) {
        now = edge;
        top->clk = 1;
        top->eval();
        dump();
        edge += HALF;
        if (attention()) {
            const uint64_t begin = mailbox.timed ? cpu_ns() : 0;
            load();
            VerilatedVpi::callValueCbs();
            store();
            if (begin) mailbox.python_ns += cpu_ns() - begin;
            if (!quiet() || VerilatedVpi::evalNeeded() || step_callbacks_pending()
                || Verilated::gotFinish())
                return true;
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
    for (int i = 1; i + 1 < argc; i++)
        if (std::string(argv[i]) == "--trace-file") {
            wave = new Wave;
            top->trace(wave, 99);
            wave->open(argv[i + 1]);
        }
#endif
#ifdef NICBED_PORTS
    mailbox_bind(top);
    top->rst = 1;
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
#ifdef NICBED_PORTS
            const bool called = quiet() ? run_quiet(deadline, evaluated)
                                        : run_clock(deadline, evaluated);
#else
            const bool called = run_clock(deadline, evaluated);
#endif
            if (called) continue;
            evaluated = false;
        }
        uint64_t next = deadline;
        if (blocked()) {
            if (deadline == NEVER) {
#ifdef NICBED_PORTS
                std::fprintf(stderr, "nicbed: attention at cycle %llu was not answered "
                             "(ports waiting: %#llx)\n",
                             static_cast<unsigned long long>(top->cycle),
                             static_cast<unsigned long long>(top->waiting));
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
