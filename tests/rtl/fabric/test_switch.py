"""The crossbar: routes, order, turns, misrouted packets."""

import random

import cocotb
import pytest
from nicbed.layouts.fabric import Routing
from nicbed.layouts.packet import HEADER
from nicbed.layouts.trace import Kind
from nicbed.rtl.fabric.switch import Switch
from nicbed.rtl.parts.flit import Flit

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.packets import Watch, flits, packet
from tests.labs.rows import more
from tests.models.routes import step


def leading(to: int, rng: random.Random, routing: Routing) -> int:
    """A route that leads to output port ``to`` first."""
    while True:
        route = rng.getrandbits(16) & rng.choice([0, 0xFF, 0xFF00, 0xFFFF])
        if step(route, routing)[0] == to:
            return route


def event_names(count):
    return [f"events__{n}__{name}" for n in range(count + 1)
            for name in ("valid", "kind", "number", "arg")]


def events(rows):
    """(output index, kind, number, arg) of every event, in time."""
    return [(n, *row[4 * n + 2:4 * n + 5]) for row in rows for n in range((len(row) - 1) // 4)
            if row[4 * n + 1]]


async def ends(dut, used, stall_in, stall_out):
    await reset_and_clock(dut)
    sources = [Source(dut, f"i__{n}", shape=Flit, stall=stall_in, seed=seed() + n)
               for n in range(len(used))]
    sinks = [Sink(dut, f"o__{n}", shape=Flit, stall=stall_out, seed=seed() + 100 + n)
             for n in range(len(used))]
    return sources, sinks


@cocotb.test()
async def switches(dut):
    p = parameters()
    used, count, routing = p["used"], len(p["used"]), Routing(p["routing"])
    rng = random.Random(seed())
    sources, sinks = await ends(dut, used, p["stall_in"], p["stall_out"])
    watch = Watch(dut, *event_names(count))
    expected = {(source, to): [] for source in range(count) for to in range(count)}
    lost = set()
    for source in range(count):
        for n in range(p["packets"]):
            number = source * 1000 + n + 1
            route = rng.getrandbits(16)
            if rng.random() < 0.8:
                route = leading(rng.choice(used), rng, routing)
            data = packet(rng, rng.choice([0, 1, 8, 23, 64]), route=route, source=source)
            sent = flits(data + bytes(4), number)
            sources[source].send(*sent)
            port, rest = step(route, routing)
            if port in used:
                sent[0]["data"] = HEADER.pack(**HEADER.unpack(sent[0]["data"]) | {"route": rest})
                expected[source, used.index(port)].append(sent)
            else:
                lost.add(number)
    for source in sources:
        await within(100000, source.drain())
    await cycles(dut, 5)
    for to, sink in enumerate(sinks):
        found = {source: [] for source in range(count)}
        rest = list(sink.taken)
        while rest:
            whole = 1 + next(k for k, flit in enumerate(rest) if flit["last"])
            one, rest = rest[:whole], rest[whole:]
            assert [flit["first"] for flit in one] == [1] + [0] * (whole - 1), "packets mixed"
            found[one[0]["trace"] // 1000].append(one)
        for source in range(count):
            assert found[source] == expected[source, to], f"input {source} to output {to}"
    told = events(watch.rows)
    assert {number for n, kind, number, arg in told
            if (n, kind, arg) == (count, Kind.DROP, 2)} == lost
    assert sum(n == count for n, *_ in told) == len(lost)
    for to in range(count):
        mine = [event for event in told if event[0] == to]
        order = [(kind, number) for _, kind, number, _ in mine]
        packets = [flit["trace"] for flit in sinks[to].taken if flit["first"]]
        assert order == [(kind, n) for n in packets for kind in (Kind.BEGIN, Kind.END)]
        assert all(arg == used[to] for *_, arg in mine)
    assert dut.idle.value == 1


@cocotb.test()
async def takes_turns(dut):
    used = parameters()["used"]
    count = len(used)
    sources, sinks = await ends(dut, used, 0, 0)
    rounds = 6
    for n, source in enumerate(sources):
        for k in range(rounds):
            source.send(*flits(HEADER.pack(route=used[-1]).to_bytes(8, "little") * 3,
                               1000 * n + k))
    got = await within(1000, sinks[-1].receive(3 * rounds * count))
    assert [flit["trace"] for flit in got[::3]] == [1000 * n + k for k in range(rounds)
                                                    for n in range(count)]
    # No cycle is lost between packets, and none passes between input and output.
    first = sinks[-1].cycles[0]
    assert sinks[-1].cycles == list(range(first, first + 3 * rounds * count))
    assert sources[0].cycles[0] == first


@cocotb.test()
async def misrouted_do_not_hold(dut):
    used = parameters()["used"]
    sources, sinks = await ends(dut, used, 0, 0)
    nowhere = next(port for port in range(16) if port not in used)
    for n, source in enumerate(sources):
        for _ in range(5):
            source.send(*flits(HEADER.pack(route=nowhere).to_bytes(8, "little") * 5, 1))
        source.send(*flits(HEADER.pack(route=used[n]).to_bytes(8, "little") * 2, 1))
    for sink in sinks:
        await within(5 * 5 * len(used) + 20, sink.receive(2))


@pytest.mark.parametrize(("ports", "used"), [more(2, [0, 1]), (16, [0, 5, 15]), (8, list(range(8))),
                                             more(4, [2])])
@pytest.mark.parametrize(("stall_in", "stall_out"), [(0, 0), (0.4, 0.4), (0, 0.8)])
def test_switches(ports, used, stall_in, stall_out):
    run_bench(Switch(ports=ports, used=used), __file__, testcase="switches", used=used,
              packets=25, stall_in=stall_in, stall_out=stall_out, routing="ports")


@pytest.mark.parametrize("used", [[0, 1, 2, 3, 4], more([0, 2, 4])])
@pytest.mark.parametrize(("stall_in", "stall_out"), [(0.2, 0.3), more(0, 0)])
def test_a_mesh(used: list[int], stall_in: float, stall_out: float) -> None:
    """Routes are displacements; those that lead off the edge are misrouted."""
    run_bench(Switch(ports=5, used=used, routing=Routing.DISPLACEMENT), __file__,
              testcase="switches", used=used, packets=60, stall_in=stall_in, stall_out=stall_out,
              routing="displacement")


@pytest.mark.parametrize("testcase", ["takes_turns", "misrouted_do_not_hold"])
@pytest.mark.parametrize("used", [[0, 1], [1, 2, 7], list(range(12))])
def test_directed(testcase, used):
    run_bench(Switch(ports=14, used=used), __file__, testcase=testcase, used=used)


def test_errors():
    for wrong in (1, 17):
        with pytest.raises(ValueError, match=f"ports must be 2 to 16, not {wrong}"):
            Switch(ports=wrong)
    with pytest.raises(TypeError, match="ports must be an integer"):
        Switch(ports="4")
    with pytest.raises(TypeError, match="used must be port numbers"):
        Switch(ports=4, used=["0"])
    for wrong in ([], [1, 0], [1, 1]):
        with pytest.raises(ValueError, match="used must be one or more port numbers, ascending"):
            Switch(ports=4, used=wrong)
    for wrong in ([0, 4], [-1, 0]):
        with pytest.raises(ValueError, match="used must be ports 0 to 3"):
            Switch(ports=4, used=wrong)
    with pytest.raises(TypeError, match="routing must be a Routing, not 'ports'"):
        Switch(ports=5, routing="ports")
    with pytest.raises(ValueError, match="ports must be 5 in a mesh, not 6"):
        Switch(ports=6, routing=Routing.DISPLACEMENT)
    assert Switch(ports=4).used == (0, 1, 2, 3) and Switch(ports=4).routing is Routing.PORTS
