"""CRC appended and checked, against zlib."""

import random

import cocotb
import pytest
from nicbed.rtl.nic.crc import CrcAppend, CrcCheck
from nicbed.rtl.parts.flit import Flit

from tests.labs.bench import (
    Monitor,
    Sink,
    Source,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.packets import Watch, flits, packet, with_crc
from tests.labs.rows import more

LENGTHS = [1, 3, 4, 7, 8, 9, 12, 15, 16, 24, 61, 64, 128]


def some_packets(rng, count):
    return [packet(rng, rng.choice(LENGTHS), route=rng.getrandbits(16),
                   source=rng.getrandbits(8), destination=rng.getrandbits(8))
            for _ in range(count)]


@cocotb.test()
async def appends(dut):
    rng = random.Random(seed())
    sent = [bytes(8), *some_packets(rng, 150)]
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=Flit, stall=parameters()["stall"], seed=seed())
    sink = Sink(dut, "o", shape=Flit, stall=parameters()["stall"], seed=seed() + 1)
    expected = []
    for n, data in enumerate(sent):
        source.send(*flits(data, n, rng))
        expected += with_crc(data, n)
    assert await within(20000, sink.receive(len(expected))) == expected
    if not parameters()["stall"]:
        # A flit a cycle, without latency, and one cycle for the CRC.
        assert sink.cycles == list(range(sink.cycles[0], sink.cycles[0] + len(expected)))
        assert source.cycles[0] == sink.cycles[0]
    assert dut.idle.value == 1


@cocotb.test()
async def checks(dut):
    rng = random.Random(seed())
    sent = some_packets(rng, 200)
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=Flit, stall=parameters()["stall"], seed=seed())
    sink = Sink(dut, "o", shape=Flit, stall=parameters()["stall"], seed=seed() + 1)
    watch = Watch(dut, "o__valid", "o__ready", "bad")
    taken = Monitor(dut, "o", shape=Flit)
    expected, verdicts = [], []
    for n, data in enumerate(sent):
        wire = with_crc(data, n)
        route = rng.getrandbits(16)
        wire[0]["data"] = wire[0]["data"] >> 16 << 16 | route
        bad = rng.random() < 0.5
        if bad:
            spoilt = rng.choice(wire)
            low = 16 if spoilt["first"] else 0
            spoilt["data"] ^= 1 << rng.randrange(low, 8 * spoilt["size"])
        source.send(*wire)
        expected += [dict(flit) for flit in wire[:-1]]
        expected[-1]["last"] = 1
        verdicts.append(int(bad))
    assert await within(20000, sink.receive(len(expected))) == expected
    found = [bad for _, valid, ready, bad in watch.rows if valid and ready]
    assert [bad for bad, flit in zip(found, taken.taken, strict=True) if flit["last"]] == verdicts
    assert not any(bad for bad, flit in zip(found, taken.taken, strict=True) if not flit["last"])
    if not parameters()["stall"]:
        # A flit leaves as its successor comes: the last with the CRC.
        crcs = [cycle for cycle, n in zip(source.cycles, range(len(source.cycles)), strict=True)]
        assert len(crcs) == len(expected) + len(sent)
        assert set(sink.cycles) <= set(crcs)
        assert sink.cycles[-1] == crcs[-1]


@cocotb.test()
async def swallows_a_lone_crc(dut):
    await reset_and_clock(dut)
    source = Source(dut, "i", shape=Flit)
    sink = Sink(dut, "o", shape=Flit)
    data = bytes(range(8)) + bytes(9)
    source.send({"data": 1, "size": 4, "first": 1, "last": 1, "trace": 9}, *with_crc(data, 1))
    assert await within(100, sink.receive(3)) == flits(data, 1)


@pytest.mark.parametrize("stall", [more(0), 0.3, more(0.8)])
def test_append(stall):
    run_bench(CrcAppend(), __file__, testcase="appends", stall=stall)


@pytest.mark.parametrize("stall", [more(0), 0.3, more(0.8)])
def test_check(stall):
    run_bench(CrcCheck(), __file__, testcase="checks", stall=stall)


def test_lone_crc():
    run_bench(CrcCheck(), __file__, testcase="swallows_a_lone_crc")
