// The speed limit: the machine's netlists in a plain loop, no Python, no VPI. Every attention is
// answered as it was in a recorded run (testbench/run/recording.py). Arguments: RECORDING WORDS
// TIMING TOPOLOGY: the words of a node's memory, the timing registers as packed words in hexadecimal
// with commas between, and the topology as machine.h has it. Prints CPU seconds and cycles.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "machine.h"
#include "mailbox.h"

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

// What was given at one attention. Returns where the next begins, or nullptr if there is no more.
const unsigned char* answer(const unsigned char* at, const unsigned char* end, uint32_t words) {
    while (end - at >= static_cast<ptrdiff_t>(sizeof(Record))) {
        Record record;
        std::memcpy(&record, at, sizeof record);
        at += sizeof record;
        if (record.kind == END) return at;
        if (record.kind == GIVE) {
            std::memcpy(mailbox.entries[record.place], at, record.bytes);
            mailbox.count[record.place] = record.where;
        } else {
            std::memcpy(static_cast<char*>(nicbed_memory_base(record.place, words)) + record.where,
                        at, record.bytes);
        }
        at += (record.bytes + 3) & ~3u;
    }
    return nullptr;
}

}  // namespace

double sc_time_stamp() { return 0; }

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    if (argc < 4) {
        std::fprintf(stderr, "usage: RECORDING WORDS TIMING TOPOLOGY\n");
        return 2;
    }
    const std::vector<unsigned char> recording = contents(argv[1]);
    const uint32_t words = std::strtoul(argv[2], nullptr, 0);
    machine::Machine machine(machine::topology(argc, argv));
    std::vector<uint32_t> timing;
    for (char* text = argv[3]; *text; text += *text == ',')
        timing.push_back(std::strtoul(text, &text, 16));
    if (timing.size() * sizeof timing[0] != sizeof(Vstation::timing)) {
        std::fprintf(stderr, "%zu words of timing registers\n", timing.size());
        return 2;
    }
    machine.reset(timing.data(), false, false, true, 0);
    const unsigned char* at = recording.data();
    const unsigned char* const end = at + recording.size();
    const double begin = cpu_seconds();
    while ((at = answer(at, end, words))) {
        if (at == end) break;  // the last program has ended
        if (!machine.run()) {
            std::fprintf(stderr, "the recording does not answer cycle %llu\n",
                         static_cast<unsigned long long>(mailbox.cycle));
            return 1;
        }
    }
    std::printf("{\"seconds\": %.6f, \"cycles\": %llu}\n", cpu_seconds() - begin,
                static_cast<unsigned long long>(mailbox.cycle));
    return 0;
}
