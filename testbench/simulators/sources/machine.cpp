// See machine.h. nicbed_machine.h is generated: CPUS, EACH_CPU(X) = X(0) X(1) …, NICS, the ports of
// a station to the links of its NICs as functions (up_valid(station, nic) …), FLIT_BYTES,
// SWITCH_PORTS, DRAWS (of each wire address, as rtl/fabric/faults.py has them), STATION_FALLS (a
// station is to be evaluated at falling edges), STATION_FRAME (only by eval()), and
// make_crossbar(joined, mesh, name): the switch of a mesh, or the smallest that has the ports whose
// bits are set in `joined`.

#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "Vstation___024root.h"
#include "mailbox.h"
#include "nicbed_machine.h"

void Vstation___024root___eval(Vstation___024root* root);

namespace machine {

namespace {

constexpr unsigned SETTLING = 3;
constexpr uint32_t NO_DEADLINE = ~0u;

// A port of a model, or of a switch, of which a pointer is known.
inline void set(CData& port, bool value) { port = value; }
inline void set(CData* port, bool value) { *port = value; }

// Once a model was evaluated for the first time: without what eval() does for messages of threads.
inline void evaluate(Vstation& top) {
#if STATION_FRAME
    top.eval();
#else
    Vstation___024root___eval(top.rootp);
#endif
}

inline void copy(EData* to, const EData* from) { std::memcpy(to, from, FLIT_BYTES); }

[[noreturn]] void refuse(const char* text) {
    std::fprintf(stderr, "nicbed: the topology is wrong at '%s'\n", text);
    std::exit(2);
}

}  // namespace

Topology topology(int argc, char** argv) {
    Topology found;
    for (int i = 1; i + 1 < argc; i++) {
        const std::string name = argv[i];
        const char* text = argv[i + 1];
        int used = 0;
        if (name == "--switches") {
            found.switches = std::strtoul(text, nullptr, 10);
        } else if (name == "--routing") {
            found.mesh = std::string(text) == "displacement";
            if (!found.mesh && std::string(text) != "ports") refuse(text);
        } else if (name == "--cpus") {
            found.cpus = std::strtoul(text, nullptr, 10);
            if (found.cpus < 1 || found.cpus > CPUS) refuse(text);
        } else if (name == "--nodes") {
            for (unsigned at, port; *text; text += used + (text[used] == ',')) {
                if (std::sscanf(text, "%u.%u%n", &at, &port, &used) != 2) refuse(text);
                found.places.push_back({at, port});
            }
        } else if (name == "--trunks") {
            for (unsigned a, b, c, d; *text; text += used + (text[used] == ',')) {
                if (std::sscanf(text, "%u.%u-%u.%u%n", &a, &b, &c, &d, &used) != 4) refuse(text);
                found.trunks.push_back({a, b, c, d});
            }
        }
    }
    const size_t nodes = found.places.size() / NICS;
    if (found.places.empty() || found.places.size() % NICS || nodes * found.cpus > MAX_PORTS)
        refuse("--nodes");
    return found;
}

Machine::Machine(const Topology& topology, void (*dump)()) : cpus(topology.cpus), dump(dump) {
    ends.assign(topology.switches, std::vector<End>(SWITCH_PORTS));
    const auto join = [&](unsigned at, unsigned port, End end) {
        if (at >= ends.size() || port >= SWITCH_PORTS || ends[at][port].kind != End::NOTHING)
            refuse("a port");
        ends[at][port] = end;
    };
    for (unsigned number = 0; number < topology.places.size() / NICS; number++) {
        Station station;
        station.model.reset(new Vstation(("node_" + std::to_string(number)).c_str()));
        station.model->number = number;
        for (unsigned nic = 0; nic < NICS; nic++) {
            const unsigned address = number * NICS + nic;
            const auto [at, port] = topology.places[address];
            join(at, port, {End::STATION, number, nic});
            station.crossbar[nic] = at;
            station.port[nic] = port;
            draws(*station.model, nic) = DRAWS[address];
        }
#if CPUS > 1
        station.model->cpus = cpus;
#endif
        stations.push_back(std::move(station));
    }
    for (const auto& [a, b, c, d] : topology.trunks)
        for (const auto& [near, near_port, far, far_port] : {std::array{a, b, c, d},
                                                             std::array{c, d, a, b}}) {
            const unsigned number = trunks.size();
            join(near, near_port, {End::TRUNK, number});
            Trunk trunk;
            trunk.model.reset(new Vtrunk(("trunk_" + std::to_string(number)).c_str()));
            trunk.near = near;
            trunk.near_port = near_port;
            trunk.far = far;
            trunk.far_port = far_port;
            trunk.model->number = near;
            trunk.model->toward = near_port;
            trunks.push_back(std::move(trunk));
        }
    for (unsigned number = 0; number < topology.switches; number++) {
        uint32_t joined = 0;
        for (unsigned port = 0; port < SWITCH_PORTS; port++)
            if (ends[number][port].kind != End::NOTHING) joined |= 1u << port;
        crossbars.emplace_back(make_crossbar(joined, topology.mesh,
                                             ("switch_" + std::to_string(number)).c_str()));
        *crossbars.back()->number = number;
        ends[number].resize(crossbars.back()->i_valid.size());
    }
    mailbox.ports = stations.size() * cpus;
    mailbox.nodes = stations.size();
    for (unsigned number = 0; number < stations.size(); number++) {
        Vstation* const top = stations[number].model.get();
#define BIND(p)                                                           \
    if (p < cpus) {                                                      \
        mailbox.entries[number * cpus + p] = &top->port##p##_entries[0]; \
        mailbox.answers[number * cpus + p] = &top->port##p##_answers[0]; \
    }
        EACH_CPU(BIND)
#undef BIND
    }
}

Machine::~Machine() = default;

void Machine::reset(const uint32_t* timing, bool trace, bool profile, bool skips,
                    uint64_t new_limit) {
    const auto all = [&](auto set) {
        for (Station& station : stations) set(*station.model);
        for (Trunk& trunk : trunks) set(*trunk.model);
        for (auto& crossbar : crossbars) set(*crossbar);
    };
    for (Station& station : stations) {
        Vstation& top = *station.model;
        std::memcpy(&top.timing[0], timing, sizeof top.timing);
        top.profile_enable = profile;
        for (unsigned nic = 0; nic < NICS; nic++) down_valid(top, nic) = up_ready(top, nic) = 0;
        top.following = 0;
        top.go = 0;
        top.leaps = 0;
        top.clk_rest = 0;
        station.at = 0;
        station.asleep = false;
        station.settling = 0;
    }
    for (Trunk& trunk : trunks) {
        Vtrunk& top = *trunk.model;
        std::memcpy(&top.timing[0], timing, sizeof top.timing);
        top.i_valid = top.o_ready = 0;
        top.following = 0;
        trunk.at = 0;
        trunk.moves = false;
    }
    for (auto& crossbar : crossbars) {
        for (CData* valid : crossbar->i_valid) *valid = 0;
        crossbar->active = false;
    }
    all([&](auto& model) {
        set(model.trace_enable, trace);
        set(model.rst, 1);
    });
    for (const bool high : {false, true, false}) {
        for (Station& station : stations) station.model->clk_rest = high;
        all([&](auto& model) {
            set(model.clk, high);
            model.eval();
        });
        if (dump) dump();
    }
    all([](auto& model) {
        set(model.rst, 0);
        model.eval();
    });
    mailbox.go = 0;
    std::memset(mailbox.count, 0, sizeof mailbox.count);
    std::memset(mailbox.crash, 0, sizeof mailbox.crash);
    mailbox.expired = 0;
    cycle = 0;
    limit = new_limit;
    skip = skips;
    next_wake = NEVER;
    expired = false;
    awake.clear();
    needing.clear();
    passing.clear();
    for (unsigned number = 0; number < stations.size(); number++) {
        awake.push_back(number);
        if (stations[number].model->needs) needing.push_back(number);
    }
    tell();
}

// What Python reads at an attention.

void Machine::tell() {
    mailbox.waiting = 0;
    for (const unsigned number : needing)
        for (unsigned cpu = 0; cpu < cpus; cpu++) {
            const unsigned port = number * cpus + cpu;
            if (stations[number].model->waiting >> cpu & 1)
                mailbox.waiting |= 1ULL << port;
        }
    mailbox.cycle = cycle;
    mailbox.expired = expired;
}

bool Machine::take() {
    for (const unsigned number : needing) {
        Vstation& top = *stations[number].model;
        const unsigned first = number * cpus;
#define TAKE(p) \
    if (p < cpus) take_block(first + p, top.port##p##_count);
        EACH_CPU(TAKE)
#undef TAKE
        top.go = mailbox.go >> first & ((1u << cpus) - 1);
        top.eval();
        if (top.needs) return false;
    }
    needing.clear();
    return true;
}

bool Machine::run() {
    if (expired || !take()) return false;
    while (needing.empty() && !expired)
        if (!step()) return false;
    tell();
    return true;
}

// One cycle, or on to the next deadline where all sleep. False if nothing can happen any more.
bool Machine::step() {
    if (cycle >= next_wake) wake_due();
    const uint64_t until = fall_asleep();
    bool fatal = false;
    for (const unsigned number : awake) fatal |= stations[number].model->crashed;
    bool moving = false;
    for (Trunk& trunk : trunks) moving |= trunk.moves = trunk.model->busy;
    if (until > cycle && !moving && !fatal) {
        uint64_t to = until;
        if (limit && limit < to) to = limit;
        if (to == NEVER) return false;
        if (dump) edges(to);
        cycle = to;
        expired = limit && cycle == limit;
        return true;
    }
    offer();
    const uint64_t following = cycle + 1;
    if (fatal)
        for (const Station& station : stations)
            if (station.model->crashed) {
                for (int word = 0; word < 3; word++) mailbox.crash[word] = station.model->crash[word];
                break;
            }
    edges(following);
    cycle = following;
    expired = fatal || (limit && cycle == limit);
    return true;
}

// Sends those to sleep in which nothing happens now. The next deadline if that is all of them, else
// this cycle. (With `dump` they stay awake, and get their edges when all may skip time.)
uint64_t Machine::fall_asleep() {
    if (!skip) return cycle;
    uint64_t earliest = next_wake;
    bool all = true;
    size_t left = 0;
    for (const unsigned number : awake) {
        Station& station = stations[number];
        const Vstation& top = *station.model;
        const uint32_t distance = top.distance;
        const bool rests = top.idle && !top.busy && !station.settling && distance >= 2;
        all &= rests;
        if (rests) {
            const uint64_t deadline = distance == NO_DEADLINE ? NEVER : station.at + distance;
            earliest = std::min(earliest, deadline);
            if (!dump) {
                station.asleep = true;
                station.wake = deadline;
                next_wake = std::min(next_wake, deadline);
            }
        }
        if (!station.asleep) awake[left++] = number;
    }
    awake.resize(left);
    return all ? earliest : cycle;
}

void Machine::wake(unsigned number) {
    Station& station = stations[number];
    station.asleep = false;
    if (station.at != cycle) {
        rise(station, cycle);
        fall(station);
    }
    awake.insert(std::lower_bound(awake.begin(), awake.end(), number), number);
}

void Machine::wake_due() {
    next_wake = NEVER;
    for (unsigned number = 0; number < stations.size(); number++) {
        Station& station = stations[number];
        if (!station.asleep) continue;
        if (station.wake <= cycle)
            wake(number);
        else
            next_wake = std::min(next_wake, station.wake);
    }
}

// Takes what stations and trunks offer through the switches.
void Machine::offer() {
    const auto put = [&](unsigned number, unsigned port, const EData* flit) {
        Crossbar& crossbar = *crossbars[number];
        *crossbar.i_valid[port] = 1;
        copy(crossbar.i_p[port], flit);
        if (!crossbar.active) passing.push_back(number);
        crossbar.active = true;
    };
    for (const unsigned number : awake) {
        const Station& station = stations[number];
        for (unsigned nic = 0; nic < NICS; nic++)
            if (up_valid(*station.model, nic))
                put(station.crossbar[nic], station.port[nic], up_payload(*station.model, nic));
    }
    for (const Trunk& trunk : trunks)
        if (trunk.moves && trunk.model->o_valid)
            put(trunk.far, trunk.far_port, &trunk.model->o_payload[0]);
    for (const unsigned number : passing) settle(number);
}

void Machine::settle(unsigned number) {
    Crossbar& crossbar = *crossbars[number];
    const std::vector<End>& joined = ends[number];
    for (size_t port = 0; port < joined.size(); port++) {
        if (joined[port].kind == End::STATION)
            *crossbar.o_ready[port] =
                down_ready(*stations[joined[port].number].model, joined[port].nic);
        else if (joined[port].kind == End::TRUNK)
            *crossbar.o_ready[port] = trunks[joined[port].number].model->i_ready;
    }
    *crossbar.clk = 0;
    crossbar.eval();
    for (size_t port = 0; port < joined.size(); port++) {
        if (!*crossbar.o_valid[port]) continue;
        const unsigned other = joined[port].number;
        if (joined[port].kind == End::STATION) {
            if (stations[other].asleep) wake(other);
            Vstation& top = *stations[other].model;
            down_valid(top, joined[port].nic) = 1;
            copy(down_payload(top, joined[port].nic), crossbar.o_p[port]);
        } else {
            Trunk& trunk = trunks[other];
            if (!trunk.moves && trunk.at != cycle) {
                rise(trunk, cycle);
                fall(trunk);
            }
            trunk.moves = true;
            trunk.model->i_valid = 1;
            copy(&trunk.model->i_payload[0], crossbar.o_p[port]);
        }
    }
}

// The phases that the station's spinning ports have in cycle `following`: each cycle moves a phase
// on by 256, modulo the port's period (rtl/cpu/spin.py).
void Machine::leap(Station& station, uint64_t following) {
    Vstation& top = *station.model;
    const uint64_t ticks = (following - station.at) << 8;
    top.leaps = top.spins;
#define LEAP(p) \
    if (top.spins >> p & 1) top.port##p##_to = (top.port##p##_phase + ticks) % top.port##p##_period;
    EACH_CPU(LEAP)
#undef LEAP
}

void Machine::rise(Station& station, uint64_t following) {
    Vstation& top = *station.model;
    bool busy = top.busy;
    for (unsigned nic = 0; nic < NICS; nic++) busy |= down_valid(top, nic);
    if (following > station.at + 1) leap(station, following);
    top.following = following;
    top.clk = 1;
    top.clk_rest = busy || station.settling;
    evaluate(top);
    if (busy)
        station.settling = SETTLING;
    else if (station.settling)
        station.settling--;
    station.at = following;
}

void Machine::fall(Station& station) {
    Vstation& top = *station.model;
    top.clk = top.clk_rest = 0;
    for (unsigned nic = 0; nic < NICS; nic++) down_valid(top, nic) = up_ready(top, nic) = 0;
    top.leaps = 0;
#if STATION_FALLS
    evaluate(top);
#else
    // Nothing changes at a falling edge: that the clocks are low is all there is to know.
    top.rootp->__Vtrigprevexpr___TOP__clk__0 = 0;
    top.rootp->__Vtrigprevexpr___TOP__clk_rest__0 = 0;
#endif
}

void Machine::rise(Trunk& trunk, uint64_t following) {
    Vtrunk& top = *trunk.model;
    top.following = following;
    top.clk = 1;
    top.eval();
    trunk.at = following;
}

void Machine::fall(Trunk& trunk) {
    Vtrunk& top = *trunk.model;
    top.clk = 0;
    top.i_valid = top.o_ready = 0;
    top.eval();
}

// The edge that ends this cycle, for all that are awake.
void Machine::edges(uint64_t following) {
    for (const unsigned number : passing) {
        Crossbar& crossbar = *crossbars[number];
        const std::vector<End>& joined = ends[number];
        for (size_t port = 0; port < joined.size(); port++) {
            if (!*crossbar.i_valid[port]) continue;
            const unsigned other = joined[port].number;
            if (joined[port].kind == End::STATION)
                up_ready(*stations[other].model, joined[port].nic) = *crossbar.i_ready[port];
            else
                trunks[other ^ 1].model->o_ready = *crossbar.i_ready[port];
        }
        *crossbar.cycle = cycle;
        *crossbar.clk = 1;
        crossbar.eval();
        for (CData* valid : crossbar.i_valid) *valid = 0;
        crossbar.active = false;
    }
    passing.clear();
    if (dump) {
        for (const unsigned number : awake) rise(stations[number], following);
        for (Trunk& trunk : trunks)
            if (trunk.moves) rise(trunk, following);
        dump();
    }
    for (const unsigned number : awake) {
        Station& station = stations[number];
        if (!dump) rise(station, following);
        fall(station);
        if (station.model->needs) needing.push_back(number);
    }
    for (Trunk& trunk : trunks) {
        if (!trunk.moves) continue;
        if (!dump) rise(trunk, following);
        fall(trunk);
    }
    if (dump) dump();
}

}  // namespace machine
