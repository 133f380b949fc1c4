// Host memories as arrays that Python views in place. Anonymous pages: a memory costs what of it
// was touched, and clearing gives the pages back.

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {
struct Memory {
    uint64_t* words;
    uint32_t mask;
    size_t bytes;
};
Memory memories[256];
}  // namespace

extern "C" void* nicbed_memory_open(int node, int words) {
    Memory& memory = memories[node & 255];
    memory.bytes = static_cast<size_t>(words) * 8;
    memory.mask = static_cast<uint32_t>(words) - 1;
    void* pages = mmap(nullptr, memory.bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        std::fprintf(stderr, "nicbed: no room for the memory of node %d\n", node);
        std::exit(4);
    }
    memory.words = static_cast<uint64_t*>(pages);
    return &memory;
}

extern "C" unsigned long long nicbed_memory_read(void* handle, unsigned int addr) {
    const Memory* const memory = static_cast<const Memory*>(handle);
    return memory->words[addr & memory->mask];
}

extern "C" void nicbed_memory_write(void* handle, unsigned int addr, unsigned long long data,
                                    unsigned char strobe) {
    const Memory* const memory = static_cast<const Memory*>(handle);
    uint64_t& word = memory->words[addr & memory->mask];
    if (strobe == 0xff) {
        word = data;
        return;
    }
    uint64_t lanes = 0;
    for (int lane = 0; lane < 8; lane++)
        if (strobe >> lane & 1) lanes |= 0xffULL << (8 * lane);
    word = (word & ~lanes) | (data & lanes);
}

// For Python.
extern "C" void* nicbed_memory_base(int node) { return memories[node & 255].words; }
extern "C" uint64_t nicbed_memory_bytes(int node) { return memories[node & 255].bytes; }
extern "C" void nicbed_memory_clear(int node) {
    const Memory& memory = memories[node & 255];
    if (memory.words) madvise(memory.words, memory.bytes, MADV_DONTNEED);
}
