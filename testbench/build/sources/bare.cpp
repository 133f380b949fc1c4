// The speed limit: the target's netlist in a plain loop, no Python, no VPI. Every attention is
// answered as it was in a recorded run (testbench/run/recording.py). Arguments: RECORDING WORDS
// [index=value ...], the words of a node's memory and the values of timing registers. Prints CPU
// seconds and cycles.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vtop.h"
#include "nicbed_ports.h"
#include "verilated.h"

extern "C" void* nicbed_memory_base(unsigned int node, unsigned int words);

namespace {

enum Kind : uint32_t { END, GIVE, WRITE };

struct Record {
    Kind kind;
    uint32_t place;  // port or node
    uint32_t where;  // entries in the block, or address
    uint32_t bytes;
};

double cpu_seconds() {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec
           + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

inline void tick(Vtop* top) {
    top->clk = 1;
    top->eval();
    top->clk = 0;
    top->eval();
}

std::vector<unsigned char> contents(const char* name) {
    std::vector<unsigned char> all;
    FILE* const file = std::fopen(name, "rb");
    if (!file) return all;
    unsigned char part[1 << 16];
    for (size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;)
        all.insert(all.end(), part, part + got);
    std::fclose(file);
    return all;
}

void give(Vtop* top, const Record& record, const unsigned char* data) {
#define GIVE_TO(p)                                                     \
    if (record.place == p) {                                           \
        std::memcpy(&top->port##p##_entries[0], data, record.bytes);   \
        top->port##p##_count = record.where;                           \
    }
    EACH_PORT(GIVE_TO)
#undef GIVE_TO
    top->go = top->go ^ (1u << record.place);
}

// What was given at one attention. Returns where the next begins, or nullptr if there is no more.
const unsigned char* answer(Vtop* top, const unsigned char* at, const unsigned char* end,
                            uint32_t words) {
    while (end - at >= static_cast<ptrdiff_t>(sizeof(Record))) {
        Record record;
        std::memcpy(&record, at, sizeof record);
        at += sizeof record;
        if (record.kind == END) return at;
        if (record.kind == GIVE)
            give(top, record, at);
        else
            std::memcpy(static_cast<char*>(nicbed_memory_base(record.place, words)) + record.where,
                        at, record.bytes);
        at += (record.bytes + 3) & ~3u;
    }
    return nullptr;
}

}  // namespace

double sc_time_stamp() { return 0; }

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    if (argc < 3) {
        std::fprintf(stderr, "usage: RECORDING WORDS [index=value ...]\n");
        return 2;
    }
    const std::vector<unsigned char> recording = contents(argv[1]);
    const uint32_t words = std::strtoul(argv[2], nullptr, 0);
    Vtop* const top = new Vtop("");
    top->rst = 1;
    tick(top);
    for (int i = 3; i < argc; i++) {
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
    const unsigned char* at = recording.data();
    const unsigned char* const end = at + recording.size();
    const double begin = cpu_seconds();
    for (;;) {
        if (top->stall) {
            at = answer(top, at, end, words);
            if (!at) break;
            top->eval();  // inputs are taken over before the edge
            if (top->stall) {
                std::fprintf(stderr, "the recording does not answer cycle %llu\n",
                             static_cast<unsigned long long>(top->cycle));
                return 1;
            }
        }
        if (at == end) break;  // the last program has ended
        tick(top);
    }
    std::printf("{\"seconds\": %.6f, \"cycles\": %llu}\n", cpu_seconds() - begin,
                static_cast<unsigned long long>(top->cycle));
    top->final();
    return 0;
}
