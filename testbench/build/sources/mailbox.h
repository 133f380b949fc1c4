// How Python gives operations to the host ports and reads their answers: a struct that it maps with
// ctypes (backends/verilator.py), and the models' own port arrays, read and written in place.

#pragma once

#include <cstdint>
#include <ctime>

constexpr unsigned MAX_PORTS = 64;

struct Mailbox {
    uint64_t cycle;            // target cycles since reset
    uint64_t waiting;          // ports that wait for their program, a bit each
    uint64_t go;               // Python flips a port's bit to give it a block
    uint64_t python_ns;        // CPU time of attention callbacks, if it is asked for
    uint32_t timed;            // Python asks for python_ns
    uint32_t expired;          // the cycle limit was reached
    uint32_t quiet;            // Python waits for attention alone
    uint32_t ports;            // of all nodes: CPU c of node n is n * ports / nodes + c
    uint32_t crash[3];         // of a NIC processor, as layouts/processor.py says
    uint32_t nodes;
    void* entries[MAX_PORTS];
    void* answers[MAX_PORTS];
    uint8_t count[MAX_PORTS];  // entries in each port's block
};

inline Mailbox mailbox;

inline uint64_t cpu_ns() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1000000000ull * time.tv_sec + time.tv_nsec;
}
