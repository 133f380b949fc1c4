// A core and its double with a clock enable, side by side; see rtl/processor/core/test_enabled_core.py.
// Arguments: the program's image, a seed, the divider, the most clocks it may take.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr uint32_t MEMORY = 65536;

void same(const char* name, uint64_t clock, uint32_t plain, uint32_t enabled) {
    if (plain == enabled) return;
    std::printf("clock %llu: %s is %#x, with an enable %#x\n",
                static_cast<unsigned long long>(clock), name, plain, enabled);
    std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<uint32_t> memory(MEMORY / 4);
    std::FILE* const image = std::fopen(argv[1], "rb");
    const size_t words = std::fread(memory.data(), 4, memory.size(), image);
    std::fclose(image);
    std::mt19937 random(std::atoi(argv[2]));
    const uint64_t limit = std::strtoull(argv[4], nullptr, 0);

    Vtop* const top = new Vtop("");
    top->divider = std::atoi(argv[3]);
    top->rst = 1;
    top->clk = 0;
    top->eval();
    top->rst = 0;
    top->clk = 1;
    top->eval();
    bool acknowledged = false;
    uint64_t edges = 0, held = 0;
    for (uint64_t clock = 0; clock < limit; clock++) {
        const bool step = random() % 3 != 0;
        top->step = step;
        top->asleep = random() % 16 == 0;
        top->clk = 0;
        top->eval();
        const uint32_t address = top->plain_address;
        const bool inside = address < MEMORY;
        if (step) {
            acknowledged = top->plain_valid && (acknowledged || random() % 2);
            top->ack = acknowledged;
            top->read = inside ? memory[address / 4] : 0;
        } else {
            // What is there between two steps is nothing to a core.
            top->ack = random() % 2;
            top->read = random();
        }
        top->eval();
        if (step) {
            same("edge", clock, top->plain_edge, top->enabled_edge);
            same("reset", clock, top->plain_reset, top->enabled_reset);
        }
        if (step && !top->plain_reset) {
            same("valid", clock, top->plain_valid, top->enabled_valid);
            same("fetch", clock, top->plain_fetch, top->enabled_fetch);
            same("write", clock, top->plain_write, top->enabled_write);
            same("address", clock, top->plain_address, top->enabled_address);
            same("data", clock, top->plain_data, top->enabled_data);
            same("strobe", clock, top->plain_strobe, top->enabled_strobe);
            same("pc", clock, top->plain_pc, top->enabled_pc);
            same("trap", clock, top->plain_trap, top->enabled_trap);
        }
        held += !step && top->enabled_edge;
        if (step && top->plain_edge) {
            edges++;
            if (top->plain_valid && acknowledged && !top->plain_reset) {
                acknowledged = false;
                if (top->plain_write && !inside) {
                    std::printf("%llu %llu\n", static_cast<unsigned long long>(edges),
                                static_cast<unsigned long long>(held));
                    for (size_t word = 0; word < words; word++) std::printf("%08x", memory[word]);
                    std::printf("\n");
                    return 0;
                }
                for (int byte = 0; top->plain_write && byte < 4; byte++) {
                    if (!(top->plain_strobe >> byte & 1)) continue;
                    const uint32_t mask = 255u << 8 * byte;
                    memory[address / 4] = (memory[address / 4] & ~mask) | (top->plain_data & mask);
                }
            }
        }
        top->clk = 1;
        top->eval();
    }
    std::printf("not done after %llu clocks\n", static_cast<unsigned long long>(limit));
    return 0;
}
