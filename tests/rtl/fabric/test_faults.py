"""The fault injector, against a model that knows the generator and the packets' order only."""

import random

import cocotb
import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Kind
from nicbed.rtl.fabric.faults import FaultInjector, seed_constant
from nicbed.rtl.parts.flit import Flit

from tests.labs.bench import Sink, Source, parameters, reset_and_clock, run_bench, seed, within
from tests.labs.packets import Watch, packet, timing, with_crc
from tests.labs.rows import more

MASK = (1 << 32) - 1


def draws(faults_seed, node):
    """The generator's numbers."""
    x = (faults_seed + seed_constant(node) & MASK) or 1
    while True:
        yield x
        x ^= x << 13 & MASK
        x ^= x >> 17
        x ^= x << 5 & MASK


def model(sent, faults, node, depth):
    """What comes out for the packets ``sent``, and the events: (kind, number, arg)."""
    numbers = draws(faults.get("seed", 1), node)
    out, told = [], []
    for flits in sent:
        hit = {name: next(numbers) >> 8 < round(faults.get(name, 0) * (1 << 24))
               for name in ("drop", "corrupt", "duplicate", "delay")}
        place = next(numbers) >> 8
        number = flits[0]["trace"]
        if hit["drop"]:
            told.append((Kind.DROP, number, 4))
            continue
        if hit["delay"] and faults.get("delay_cycles", 100):
            told.append((Kind.DELAY, number, 0))
        passed = [dict(flit) for flit in flits]
        if hit["corrupt"]:
            at = (place >> 8) * len(flits) >> 16
            size = passed[at]["size"]
            bit = 16 + ((place & 255) * 48 >> 8) if at == 0 else (place & 255) * size >> 5
            passed[at]["data"] ^= 1 << bit
            told.append((Kind.CORRUPT, number, 64 * at + bit))
        out += passed
        if hit["duplicate"] and len(flits) <= depth:
            told.append((Kind.DUPLICATE, number, 0))
            out += passed
    return out, told


@cocotb.test()
async def follows_the_model(dut):
    p = parameters()
    faults = p["faults"]
    rng = random.Random(seed())
    await reset_and_clock(dut, timing=timing(Description(faults=faults)),
                          draws=seed_constant(p["node"]))
    sent = [with_crc(packet(rng, rng.randint(1, p["mtu"] + 16)), n + 1)
            for n in range(p["packets"])]
    source = Source(dut, "i", shape=Flit, stall=p["stall_in"], seed=seed())
    sink = Sink(dut, "o", shape=Flit, stall=p["stall_out"], seed=seed() + 1)
    watch = Watch(dut, "event__valid", "event__kind", "event__number", "event__arg",
                  start=(1 << 32) - 1000)
    out, told = model(sent, faults, p["node"], p["depth"])
    for flits in sent:
        source.send(*flits)
    await within(200000, source.drain())
    got = await within(5000, sink.receive(len(out)))
    assert got == out
    assert [(kind, number, arg if kind in (Kind.DROP, Kind.CORRUPT) else 0)
            for _, valid, kind, number, arg in watch.rows if valid] == told
    assert sink.taken == []


@cocotb.test()
async def is_a_wire(dut):
    await reset_and_clock(dut, timing=timing(Description(faults={"seed": 99})))
    rng = random.Random(seed())
    source = Source(dut, "i", shape=Flit)
    sink = Sink(dut, "o", shape=Flit)
    sent = [flit for n in range(20) for flit in with_crc(packet(rng, rng.choice([8, 40])), n)]
    source.send(*sent)
    assert await within(1000, sink.receive(len(sent))) == sent
    assert sink.cycles == source.cycles == list(range(source.cycles[0],
                                                      source.cycles[0] + len(sent)))


@cocotb.test()
async def delays_exactly(dut):
    cycles = parameters()["cycles"]
    await reset_and_clock(dut, timing=timing(Description(faults={"delay": 1.0,
                                                                 "delay_cycles": cycles})))
    rng = random.Random(seed())
    Watch(dut, "idle", start=(1 << 32) - 10)
    source = Source(dut, "i", shape=Flit)
    sink = Sink(dut, "o", shape=Flit)
    sent = [flit for n in range(5) for flit in with_crc(packet(rng, 64), n)]
    source.send(*sent)
    assert await within(5 * (cycles + 20), sink.receive(len(sent))) == sent
    firsts = [cycle for cycle, flit in zip(sink.cycles, sent, strict=True) if flit["first"]]
    lasts = [cycle for cycle, flit in zip(sink.cycles, sent, strict=True) if flit["last"]]
    assert [first - last for first, last in zip(firsts[1:], lasts, strict=False)] == \
        [cycles + 1] * 4


@pytest.mark.parametrize(("faults", "mtu"), [
    ({"drop": 0.3, "seed": 7}, 64), more({"drop": 1.0}, 64), more({"corrupt": 1.0, "seed": 3}, 64),
    more({"corrupt": 0.1, "seed": 4}, 200), ({"duplicate": 1.0}, 64), more({"duplicate": 0.5}, 8),
    ({"delay": 0.3, "delay_cycles": 17}, 64), more({"delay": 0.3, "delay_cycles": 0}, 64),
    ({"drop": 0.1, "corrupt": 0.2, "duplicate": 0.2, "delay": 0.2, "delay_cycles": 5,
      "seed": (1 << 32) - 1}, 64)])
@pytest.mark.parametrize(("stall_in", "stall_out"), [(0, 0), (0.4, 0.6)])
def test_model(faults, mtu, stall_in, stall_out):
    node = len(faults) + mtu % 5
    injector = FaultInjector(mtu=mtu)
    run_bench(injector, __file__, testcase="follows_the_model", faults=faults, node=node, mtu=mtu,
              depth=injector.depth, packets=100, stall_in=stall_in, stall_out=stall_out)


def test_wire():
    run_bench(FaultInjector(), __file__, testcase="is_a_wire")


@pytest.mark.parametrize("cycles", [1, 2, 30])
def test_delay(cycles):
    run_bench(FaultInjector(), __file__, testcase="delays_exactly", cycles=cycles)


def test_nodes_draw_different_numbers():
    assert len({seed_constant(node) for node in range(256)}) == 256


def test_errors():
    with pytest.raises(ValueError, match="mtu must be 8 or more, not 4"):
        FaultInjector(mtu=4)
    with pytest.raises(TypeError, match="mtu must be an integer, not '64'"):
        FaultInjector(mtu="64")
    assert FaultInjector(mtu=64).depth == 12
