// A NIC processor alone, driven by commands on standard input, one a line; see processor_lab.py.

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

extern "C" uint64_t nicbed_profile_words(unsigned int node);
extern "C" const void* nicbed_profile_data(unsigned int node);
extern "C" void nicbed_profile_clear();

double sc_time_stamp() { return 0; }

namespace {

Vtop* top;
bool skip;
std::vector<uint64_t> marks;

void tick() {
    top->eval();
    if (top->event & 1) {
        marks.push_back(top->cycle);
        marks.push_back(top->event >> 1);
    }
    // With nothing to do, and nothing coming in, no edge: time goes on all the same.
    if (!(skip && top->idle && !top->window_valid && !top->pages_valid)) {
        top->clk = 1;
        top->eval();
        top->clk = 0;
    }
    top->cycle++;
    top->eval();
}

void reset(unsigned divider, unsigned watchdog) {
    top->run = 0;
    top->divider = divider;
    top->watchdog = watchdog;
    top->rst = 1;
    top->clk = 0;
    top->eval();
    tick();
    top->rst = 0;
    top->cycle = 0;
    top->eval();
    marks.clear();
    nicbed_profile_clear();
}

}  // namespace

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    top = new Vtop("");
    char line[256];
    while (std::fgets(line, sizeof line, stdin)) {
        char name[32];
        uint64_t a = 0, b = 0, c = 0, d = 0;
        std::sscanf(line, "%31s %" SCNi64 " %" SCNi64 " %" SCNi64 " %" SCNi64, name, &a, &b, &c,
                    &d);
        if (!std::strcmp(name, "reset")) {
            skip = false;
            reset(a, b);
            skip = c;
            top->profile = d;
        } else if (!std::strcmp(name, "run")) {
            top->run = a;
        } else if (!std::strcmp(name, "write")) {
            std::sscanf(line, "%*s %" SCNi64 " %" SCNu64, &a, &b);
            top->window_valid = 1;
            top->window_write = 1;
            top->window_address = a;
            top->window_data = b;
            tick();
            top->window_valid = 0;
        } else if (!std::strcmp(name, "doorbell")) {
            top->pages_valid = 1;
            top->pages_page = a >> 12;
            top->pages_offset = a & 0xFFF;
            top->pages_data = b;
            tick();
            top->pages_valid = 0;
        } else if (!std::strcmp(name, "read")) {
            for (uint64_t word = 0; word < b; word++) {
                top->window_valid = 1;
                top->window_write = 0;
                top->window_address = a + 8 * word;
                tick();
                top->window_valid = 0;
                std::printf("0x%" PRIx64 " ", static_cast<uint64_t>(top->window_read));
                tick();
            }
        } else if (!std::strcmp(name, "cycles")) {
            while (a--) tick();
        } else if (!std::strcmp(name, "until")) {
            top->eval();
            while (b-- && (top->status & 3) != a) tick();
            std::printf("%" PRIu64 " %u %u %u", static_cast<uint64_t>(top->cycle), top->status,
                        top->pc, top->cause);
        } else if (!std::strcmp(name, "marks")) {
            for (uint64_t word : marks) std::printf("%" PRIu64 " ", word);
        } else if (!std::strcmp(name, "profile")) {
            const uint64_t* const counts = static_cast<const uint64_t*>(nicbed_profile_data(5));
            for (uint64_t word = 0; word < nicbed_profile_words(5); word++)
                if (counts[word]) std::printf("%" PRIu64 " %" PRIu64 " ", 4 * word, counts[word]);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    delete top;
    return 0;
}
