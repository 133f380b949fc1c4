// How Python gives operations to the host ports and reads their answers: a struct that it maps with
// ctypes as it is declared here (simulators/structures.py), and the models' own port arrays, read and
// written in place.

#pragma once

#include <cstdint>
#include <ctime>

constexpr unsigned MAX_PORTS = 64;

// A port's answer to an entry (layouts/operations.py).
struct Answer {
    uint32_t cycle;  // low half
    uint32_t status;
    uint64_t data;
};
static_assert(sizeof(Answer) == 16);

struct Mailbox {
    uint64_t cycle;            // target cycles since reset
    uint64_t waiting;          // ports that wait for their program, a bit each
    uint64_t go;               // a bit each that flips when its port gets a block
    uint64_t python_ns;        // CPU time of attention callbacks, if it is asked for
    uint32_t timed;            // Python asks for python_ns
    uint32_t expired;          // the cycle limit was reached
    uint32_t quiet;            // Python waits for attention alone
    uint32_t ports;            // of all nodes: CPU c of node n is n * ports / nodes + c
    uint32_t crash[3];         // of a NIC processor, as layouts/processor.py says
    uint32_t nodes;
    void* entries[MAX_PORTS];
    void* answers[MAX_PORTS];
    uint8_t count[MAX_PORTS];  // entries of the block that Python gives a port; 0: none
    uint8_t given[MAX_PORTS];  // entries of the block that a port was given last
};

inline Mailbox mailbox;

// Take the block that Python has given `port`, if there is one: the number of its entries.
template <typename Count>
inline void take_block(unsigned port, Count& count) {
    if (!mailbox.count[port]) return;
    count = mailbox.given[port] = mailbox.count[port];
    mailbox.count[port] = 0;
    mailbox.go ^= 1ULL << port;
}

inline uint64_t cpu_ns() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1000000000ull * time.tv_sec + time.tv_nsec;
}

// CPU time of what happens at an attention. To read the clock is a system call, which takes as long
// as several calls of Python's functions: it is read twice at the beginning, and the time between
// these two, which is what a reading takes, does not count.
class Stopwatch {
public:
    void start() {
        const uint64_t first = cpu_ns();
        begin = cpu_ns();
        reading = begin - first;
        runs = true;
    }
    void stop() {
        if (!runs) return;
        mailbox.python_ns += cpu_ns() - begin - reading;
        runs = false;
    }

private:
    uint64_t begin = 0, reading = 0;
    bool runs = false;
};
