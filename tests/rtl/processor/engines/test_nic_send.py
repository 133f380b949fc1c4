"""The engine SEND: packets in one piece and in several, refusals, speed."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.processor import StartFlag
from nicbed.layouts.trace import Kind
from nicbed.rtl.parts.flit import Flit
from nicbed.rtl.processor.engines.nic_send import NicSend

from tests.labs.bench import (
    Monitor,
    Sink,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.rows import more
from tests.models.nic import Events
from tests.models.processor_engines import Firmware, WideMemory

NIC = 1 << 14
MORE = StartFlag.MORE


def flits_of(content: bytes, trace: int) -> list[dict[str, int]]:
    """A packet's bytes as they must leave; of the last, bytes beyond the end are meaningless."""
    count = -(-len(content) // 8)
    return [{"data": int.from_bytes(content[8 * n:8 * n + 8], "little"),
             "size": min(8, len(content) - 8 * n), "first": int(n == 0),
             "last": int(n == count - 1), "trace": trace} for n in range(count)]


def cut(flits: list[dict[str, int]]) -> list[dict[str, int]]:
    return [{**flit, "data": flit["data"] & (1 << 8 * flit["size"]) - 1} for flit in flits]


@cocotb.test()
async def sends(dut: Any) -> None:
    values = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    image = rng.randbytes(NIC)
    memory = WideMemory(dut, "memory", bytearray(image), stall=values["stall"], seed=seed() + 1)
    sink = Sink(dut, "o", shape=Flit, stall=values["o_stall"], seed=seed() + 2)
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut, stall=values["stall"], seed=seed() + 3)
    want, want_events, words = [], [], 0
    pieces = 0
    for _ in range(values["packets"]):
        content = b""
        count = rng.choice([1, 1, 2, 3, 5])
        for piece in range(count):
            last = piece == count - 1
            size = rng.choice([0, 8, 16, rng.randrange(40), rng.randrange(600)])
            if piece == 0:
                size = max(size, 8)
            if not last:
                size &= ~7
            at = min(rng.randrange(0, NIC, 8), NIC - 8 * -(-size // 8))
            pieces += 1
            trace = rng.randrange(1 << 24)
            firmware.post({"local": at, "length": size, "trace": trace,
                           "flags": 0 if last else MORE})
            if piece == 0:
                packet_trace = trace
            content += image[at:at + size]
            words += -(-size // 8)
            want_events += [("events__0", Kind.BEGIN, trace), ("events__1", Kind.END, trace)]
        want += flits_of(content, packet_trace)
    got = await within(60_000, sink.receive(len(want)))
    assert cut(got) == want
    await firmware.finish(pieces, 1000)
    assert sink.taken == [] and firmware.errors == []
    assert len(memory.accesses) == words and not any(write for _, write, _ in memory.accesses)
    assert [(port, kind, number) for _, port, kind, number, _ in events.seen] == want_events


@cocotb.test()
async def refuses(dut: Any) -> None:
    """What is out of bounds or misaligned ends without an access; what comes after it is done."""
    await reset_and_clock(dut)
    image = random.Random(1).randbytes(NIC)
    WideMemory(dut, "memory", bytearray(image))
    sink = Sink(dut, "o", shape=Flit)
    events = Events(dut, "events__0", "events__1")
    firmware = Firmware(dut)
    firmware.post({"local": NIC - 8, "length": 9, "trace": 1},
                  {"local": 20, "length": 16, "trace": 2},
                  {"local": 24, "length": 12, "flags": MORE, "trace": 3},
                  {"local": 32, "length": 7, "trace": 4},
                  {"local": 40, "length": 0, "trace": 5},
                  {"local": 40, "length": 0, "flags": MORE, "trace": 6},
                  {"local": NIC - 8, "length": 8, "trace": 7})
    await firmware.finish(7, 200)
    assert [address for _, address in firmware.errors] == [NIC - 8, 20, 24, 32]
    assert await within(100, sink.receive()) == flits_of(image[-8:], 7)
    await cycles(dut, 20)
    assert sink.taken == []
    assert [(kind, number, arg) for _, _, kind, number, arg in events.seen] == [
        *((Kind.DROP, number, 5) for number in range(1, 5)),
        *((kind, number, 0) for number in (5, 6, 7) for kind in (Kind.BEGIN, Kind.END))]


@cocotb.test()
async def closes_a_packet(dut: Any) -> None:
    """A piece with MORE keeps its last word back: an empty piece without MORE ends the packet, and
    so does ``clear``."""
    await reset_and_clock(dut)
    image = random.Random(1).randbytes(NIC)
    WideMemory(dut, "memory", bytearray(image))
    sink = Sink(dut, "o", shape=Flit)
    firmware = Firmware(dut)
    want = flits_of(image[:24], 5)
    firmware.post({"local": 0, "length": 24, "trace": 5, "flags": MORE})
    await firmware.finish(1, 100)
    await cycles(dut, 30)
    assert await within(10, sink.receive(2)) == want[:2] and sink.taken == []
    firmware.post({"trace": 6})
    assert await within(30, sink.receive()) == want[2:]
    firmware.post({"local": 0, "length": 24, "trace": 5, "flags": MORE})
    assert await within(60, sink.receive(2)) == want[:2]
    await cycles(dut, 30)
    firmware.ended = 0
    dut.clear.value = 1
    await cycles(dut, 1)
    firmware.ended = 0
    dut.clear.value = 0
    assert await within(30, sink.receive()) == want[2:]
    firmware.post({"local": 8, "length": 16, "trace": 7})
    assert await within(30, sink.receive(2)) == flits_of(image[8:24], 7)


@cocotb.test()
async def is_fast(dut: Any) -> None:
    """Latency; a flit a cycle; packets behind each other without gaps on a slow link."""
    await reset_and_clock(dut)
    memory = WideMemory(dut, "memory", bytearray(NIC))
    sink = Sink(dut, "o", shape=Flit)
    firmware = Firmware(dut)
    offered = Monitor(dut, "o", shape=Flit)
    firmware.post({"local": 0, "length": 800})
    await within(300, sink.receive(100))
    assert memory.accesses[0][0] - firmware.source.cycles[0] == 2
    assert sink.cycles[0] - firmware.source.cycles[0] == 5
    assert sink.cycles[-1] - sink.cycles[0] == 99
    sink.cycles.clear()
    firmware.post(*({"local": 64 * n, "length": 32} for n in range(10)))
    await within(300, sink.receive(40))
    assert sink.cycles[-1] - sink.cycles[0] <= 39 + 2 * 9
    # A link takes a flit every 4 cycles: of memory that is free every other cycle it sees nothing.
    memory.stall, sink.stall = 0.5, 0.75
    firmware.post(*({"local": 64 * n, "length": 64} for n in range(8)))
    await cycles(dut, 150)
    await within(1000, sink.receive(64))
    offered.check()


@pytest.mark.parametrize("stall, o_stall", [
    (0.0, 0.0), (0.6, 0.5), more(0.3, 0.0), more(0.0, 0.75)])
def test_sends(stall: float, o_stall: float) -> None:
    run_bench(NicSend(memory_bytes=NIC), __file__, testcase="sends", stall=stall, o_stall=o_stall,
              packets=150, seed=int(stall * 10 + o_stall * 100))


@pytest.mark.parametrize("testcase", ["refuses", "closes_a_packet", "is_fast"])
def test_rules(testcase: str) -> None:
    run_bench(NicSend(memory_bytes=NIC), __file__, testcase=testcase)
