// The machine as instances of classes: a station a node, a crossbar a switch, a trunk a link
// between switches. They are joined as a topology says, and clocked here.
//
// A cycle: stations whose deadline has come wake up; stations in which nothing happens before a
// deadline or a flit fall asleep; the switches settle with what the others offer, and wake the
// stations that a flit comes to; then all that are awake get a clock edge. A station that sleeps
// gets none; the edge that wakes it brings the cycle in which it wakes, as if the edges in between,
// which only count time, had come. So a sleeping station costs nothing, and where all sleep time
// goes on to the next deadline at once.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "Vstation.h"
#include "Vtrunk.h"
#include "crossbar.h"

namespace machine {

constexpr uint64_t NEVER = ~0ULL;
constexpr unsigned MAX_NICS = 4;  // of a node

struct Topology {
    std::vector<std::pair<unsigned, unsigned>> places;  // switch and port of each wire address:
                                                        // of each node's NICs, one after the other
    std::vector<std::array<unsigned, 4>> trunks;        // switch and port at one end, and the other
    unsigned switches = 1;
    bool mesh = false;                                  // routes are displacements
    unsigned cpus = 1;                                  // of each node
};

// From the command line: --nodes 0.0,0.1,… --trunks 0.15-1.0,… --switches 2
// --routing ports --cpus 1.
// Exits if it is wrong.
Topology topology(int argc, char** argv);

struct Station {
    std::unique_ptr<Vstation> model;
    unsigned crossbar[MAX_NICS], port[MAX_NICS];  // of each NIC
    uint64_t at = 0;        // the cycle that it is in
    uint64_t wake = NEVER;  // of a sleeping one, the cycle of its deadline
    bool asleep = false;
    unsigned settling = 0;  // edges that the rest's clock has still to get after it was busy
};

struct Trunk {
    std::unique_ptr<Vtrunk> model;
    unsigned near, near_port, far, far_port;
    uint64_t at = 0;
    bool moves = false;  // it gets an edge in this cycle
};

class Machine {
public:
    // With `dump` nothing sleeps, so that a waveform has the edges of all; it is called after each
    // half of a cycle.
    explicit Machine(const Topology& topology, void (*dump)() = nullptr);
    ~Machine();

    // Reset. The machine is in cycle 0 then, and all ports wait. `timing`: the timing registers,
    // packed as rtl/parts/timing.py has them, TIMING_WORDS words.
    // Without `skip` nothing sleeps, and each cycle has its edge.
    void reset(const uint32_t* timing, bool trace, bool profile, bool skip, uint64_t limit);

    // Take over what the mailbox says was given, and go on to the cycle in which a port waits for
    // its program, or in which time ends; the mailbox has it then. False if ports that wait were
    // given nothing, or if nothing can ever happen again.
    bool run();

private:
    struct End {  // what a port of a switch leads to
        enum { NOTHING, STATION, TRUNK } kind = NOTHING;
        unsigned number = 0;
        unsigned nic = 0;  // of a station
    };

    bool take();
    bool step();
    uint64_t fall_asleep();
    void wake_due();
    void wake(unsigned number);
    void offer();
    void settle(unsigned number);
    void leap(Station& station, uint64_t following);
    void rise(Station& station, uint64_t following);
    void fall(Station& station);
    void rise(Trunk& trunk, uint64_t following);
    void fall(Trunk& trunk);
    void edges(uint64_t following);
    void tell();

    std::vector<Station> stations;
    std::vector<std::unique_ptr<Crossbar>> crossbars;
    std::vector<Trunk> trunks;
    std::vector<std::vector<End>> ends;  // of each switch, of each port
    std::vector<unsigned> awake;         // stations, in ascending order
    std::vector<unsigned> needing;       // stations with a port that waits
    std::vector<unsigned> passing;       // switches at which a flit is offered
    unsigned cpus;                       // of each node; CPUS are built
    uint64_t cycle = 0;
    uint64_t limit = 0;
    uint64_t next_wake = NEVER;          // the least of those that sleep
    bool expired = false;
    bool skip = true;
    void (*const dump)();
};

}  // namespace machine
