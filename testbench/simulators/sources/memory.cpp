// Host memories as arrays that Python views in place. Anonymous pages: a memory costs what of it
// was touched, and clearing gives the pages back.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {
struct Memory {
    uint64_t* words;
    uint64_t count;
};
Memory memories[256];

[[gnu::noinline]] void open(unsigned node, uint32_t words) {
    void* const pages = mmap(nullptr, static_cast<size_t>(words) * 8, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        std::fprintf(stderr, "nicbed: no room for the memory of node %u\n", node);
        std::exit(4);
    }
    memories[node] = {static_cast<uint64_t*>(pages), words};
}

inline uint64_t& word(unsigned char node, uint32_t words, uint32_t addr) {
    if (__builtin_expect(!memories[node].words, 0)) open(node, words);
    return memories[node].words[addr & (words - 1)];
}
}  // namespace

extern "C" unsigned long long nicbed_memory_read(unsigned char node, unsigned int words,
                                                 unsigned int addr) {
    return word(node, words, addr);
}

extern "C" void nicbed_memory_write(unsigned char node, unsigned int words, unsigned int addr,
                                    unsigned long long data, unsigned char strobe) {
    uint64_t& place = word(node, words, addr);
    if (strobe == 0xff) {
        place = data;
        return;
    }
    uint64_t lanes = 0;
    for (int lane = 0; lane < 8; lane++)
        if (strobe >> lane & 1) lanes |= 0xffULL << (8 * lane);
    place = (place & ~lanes) | (data & lanes);
}

// For Python: where the words of a node's memory are, opened now if they are not yet.
extern "C" void* nicbed_memory_base(unsigned int node, unsigned int words) {
    return &word(static_cast<unsigned char>(node), words, 0);
}
extern "C" void nicbed_memory_clear(unsigned int node) {
    const Memory& memory = memories[node & 255];
    if (memory.words) madvise(memory.words, memory.count * 8, MADV_DONTNEED);
}
