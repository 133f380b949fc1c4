// Cycles of each NIC processor by the instruction it was at, which Python reads in place.

#include <cstdint>
#include <vector>

namespace {
constexpr uint32_t WORDS = 1 << 18;  // NIC memory has at most 1 MiB
std::vector<uint64_t> cycles[256];
}  // namespace

extern "C" void nicbed_profile_count(unsigned int node, unsigned int pc) {
    std::vector<uint64_t>& counts = cycles[node & 255];
    if (counts.empty()) counts.resize(WORDS);
    counts[pc / 4 % WORDS]++;
}

// For Python: how many counters a node has (0: it was never awake), where they are, and a new start.
extern "C" uint64_t nicbed_profile_words(unsigned int node) { return cycles[node & 255].size(); }
extern "C" const void* nicbed_profile_data(unsigned int node) { return cycles[node & 255].data(); }
extern "C" void nicbed_profile_clear() {
    for (std::vector<uint64_t>& counts : cycles) {
        counts.clear();
        counts.shrink_to_fit();
    }
}
