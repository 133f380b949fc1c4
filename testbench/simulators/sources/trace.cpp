// The event trace: a vector that grows as needed and that Python reads in place.

#include <cstdint>
#include <vector>

namespace {
struct Event {
    uint64_t cycle;
    uint32_t number;
    uint32_t arg;
    uint32_t node;
    uint32_t block_kind;  // block << 8 | kind
};
std::vector<Event> events;
}  // namespace

extern "C" void nicbed_trace_event(unsigned long long cycle, unsigned int node, unsigned int block,
                                   unsigned int kind, unsigned int number, unsigned int arg) {
    events.push_back({cycle, number, arg, node, block << 8 | kind});
}

// For Python.
extern "C" uint64_t nicbed_trace_count() { return events.size(); }
extern "C" const void* nicbed_trace_data() { return events.data(); }
extern "C" void nicbed_trace_clear() {
    events.clear();
    events.shrink_to_fit();
}
