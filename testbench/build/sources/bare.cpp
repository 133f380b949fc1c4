// The speed limit: the target's netlist in a plain loop, no Python, no VPI. Every attention is
// answered with delay(GRANT) for each waiting port. Arguments: CYCLES [index=value ...], the values
// of timing registers. Prints CPU seconds and cycles.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Vtop.h"
#include "nicbed_ports.h"
#include "verilated.h"

static constexpr uint32_t GRANT = 2000;

double sc_time_stamp() { return 0; }

static double cpu_seconds() {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec
           + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static inline void tick(Vtop* top) {
    top->clk = 1;
    top->eval();
    top->clk = 0;
    top->eval();
}

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    Vtop* const top = new Vtop("");
    const uint64_t cycles = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1000000;
    top->rst = 1;
    tick(top);
    for (int i = 2; i < argc; i++) {
        const char* const equals = std::strchr(argv[i], '=');
        if (!equals) continue;
        top->cfg_we = 1;
        top->cfg_index = std::strtoul(argv[i], nullptr, 0);
        top->cfg_data = std::strtoul(equals + 1, nullptr, 0);
        tick(top);
    }
    top->cfg_we = 0;
    tick(top);
    top->rst = 0;
    top->eval();
    const double begin = cpu_seconds();
    uint64_t ticks = 0;
    for (; ticks < cycles; ticks++) {
        if (top->stall) {
#define GIVE(p)                                              \
    if (top->waiting >> p & 1) {                             \
        std::memset(&top->port##p##_entries[0], 0, 13 * 4);  \
        top->port##p##_entries[1] = GRANT << 8;              \
        top->port##p##_count = 1;                            \
        top->go = top->go ^ (1u << p);                       \
    }
            EACH_PORT(GIVE)
#undef GIVE
            top->eval();  // inputs are taken over before the edge
        }
        tick(top);
    }
    std::printf("{\"seconds\": %.6f, \"cycles\": %llu, \"counter\": %llu}\n",
                cpu_seconds() - begin, static_cast<unsigned long long>(ticks),
                static_cast<unsigned long long>(top->cycle));
    top->final();
    return 0;
}
