"""The logs of a board: events and writes, in order, with room for what comes at once."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from nicbed.layouts.board import MEMORY_RECORD, TRACE_RECORD
from nicbed.rtl.boards.store.log import DEPTH, Log
from nicbed.rtl.boards.store.resident_memory import WriteLayout
from nicbed.rtl.boards.store.trace_log import EventLayout, TraceLog
from nicbed.rtl.boards.store.write_log import RecordLayout, WriteLog

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

FIELDS = {"node": 8, "block": 8, "kind": 8, "number": 24, "arg": 32}
WORDS = 1024


@cocotb.test()
async def logs_events(dut: Any) -> None:
    """Steps as often as there is room: so it fills up while nobody takes, and drops nothing."""
    await reset_and_clock(dut)
    rng = random.Random(seed())
    falling = FallingEdge(dut.clk)
    await falling
    sources = parameters()["sources"]
    sink = Sink(dut, "read__records", shape=EventLayout, stall=1.0, seed=seed())
    expected: list[dict[str, int]] = []
    cycle = (1 << 32) - 300
    full = 0
    for turn in range(5000):
        if full == 0 and not int(dut.read__room.value) and not int(dut.pending.value):
            assert DEPTH - sources <= int(dut.read__level.value) <= DEPTH
            full = turn
        sink.stall = 0.3 if full and turn > full + 20 else 1.0
        if full and turn > full + 800:
            break
        held = int(dut.pending.value) or not int(dut.read__room.value)
        step = not held and rng.random() < 0.9
        enable = not full or rng.random() < 0.8
        cycle += step
        dut.step.value, dut.enable.value, dut.cycle.value = int(step), int(enable), cycle
        many = rng.random() < 0.3
        for number in range(sources):
            valid = rng.random() < (0.9 if many else 0.1)
            values = {name: rng.getrandbits(width) for name, width in FIELDS.items()}
            getattr(dut, f"trace__{number}__valid").value = int(valid)
            for name, value in values.items():
                getattr(dut, f"trace__{number}__{name}").value = value
            if step and enable and valid:
                expected.append({"cycle": cycle & 0xFFFF_FFFF, "cycle_high": cycle >> 32, **values})
        await falling
    dut.step.value, sink.stall = 0, 0.0
    await cycles(dut, DEPTH + 50)
    assert await sink.receive(len(sink.taken)) == expected
    assert full and len(expected) > DEPTH and not sink.taken and not int(dut.read__level.value)
    assert int(dut.read__room.value) and not int(dut.pending.value)
    # Cleared, it forgets what is in it and what was captured.
    sink.stop()
    dut.read__records__ready.value = 0
    await falling
    for clear in (0, 3):
        dut.step.value = dut.enable.value = 1
        for number in range(sources):
            getattr(dut, f"trace__{number}__valid").value = 1
        await falling
        dut.step.value = 0
        for _ in range(clear):
            await falling
        assert int(dut.pending.value) or int(dut.read__level.value)
        # In reset every edge is a step.
        dut.read__clear.value = dut.step.value = 1
        await falling
        dut.read__clear.value = dut.step.value = 0
        for _ in range(5):
            assert not int(dut.pending.value) and not int(dut.read__level.value)
            assert not int(dut.read__records__valid.value)
            await falling


@cocotb.test()
async def logs_writes(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(seed())
    nodes = parameters()["nodes"]
    layout = WriteLayout(WORDS.bit_length() - 1)
    sources = [Source(dut, f"i__{node}", shape=layout, stall=0.5, seed=seed() + node)
               for node in range(nodes)]
    sink = Sink(dut, "read__records", shape=RecordLayout, stall=0.2, seed=seed())
    sent = [[{"strobe": rng.randrange(256), "address": rng.randrange(WORDS),
              "data": rng.getrandbits(64)} for _ in range(300)] for _ in range(nodes)]
    for source, values in zip(sources, sent, strict=True):
        source.send(*values)
    records = await within(5000, sink.receive(300 * nodes))
    for node, values in enumerate(sent):
        assert [record for record in records if record["address"] // WORDS == node] == [
            {**value, "address": value["address"] + node * WORDS} for value in values]
    # Of several at once the lowest node's is first.
    for source in sources:
        source.stall = 0.0
    await cycles(dut, 5)
    for source, values in zip(sources, sent, strict=True):
        source.send(values[0])
    records = await within(100, sink.receive(nodes))
    assert [record["address"] // WORDS for record in records] == list(range(nodes))
    # It says in time that it is full, and forgets all.
    sink.stall = 1.0
    await cycles(dut, 3)
    while int(dut.read__room.value):
        for source, values in zip(sources, sent, strict=True):
            source.send(values[1])
        await cycles(dut, nodes + 5)
    assert DEPTH - nodes <= int(dut.read__level.value) <= DEPTH
    sink.stop()
    dut.read__records__ready.value = 0
    assert int(dut.read__records__valid.value)
    dut.read__clear.value = 1
    await cycles(dut, 1)
    dut.read__clear.value = 0
    await cycles(dut, 3)
    assert not int(dut.read__records__valid.value) and not int(dut.read__level.value)
    assert int(dut.read__room.value)


@pytest.mark.parametrize("sources", [1, 5])
def test_trace_log(sources: int) -> None:
    run_bench(TraceLog(sources=sources), __file__, testcase="logs_events", sources=sources)


def test_write_log() -> None:
    run_bench(WriteLog(nodes=3, words=WORDS), __file__, testcase="logs_writes", nodes=3)


@pytest.mark.parametrize("make, error, text", [
    (lambda: TraceLog(sources="a"), TypeError, "sources must be an integer, not 'a'"),
    (lambda: TraceLog(sources=0), ValueError, "sources must be 1 to 253, not 0"),
    (lambda: TraceLog(sources=254), ValueError, "sources must be 1 to 253, not 254"),
    (lambda: Log(width=33, burst=1), ValueError, "width must be that of a record, not 33"),
    (lambda: Log(width=32 * MEMORY_RECORD, burst=None), TypeError, "burst must be an integer"),
    (lambda: WriteLog(nodes=2, words=100), ValueError, "words must be a power of two, at least 2"),
    (lambda: WriteLog(nodes=0, words=64), ValueError, "nodes must be 1 to 262144 where each has"),
    (lambda: WriteLog(nodes=3, words=1 << 23), ValueError, "nodes must be 1 to 2 where each has"),
    (lambda: WriteLog(nodes=True, words=64), TypeError, "nodes must be an integer, not True"),
])
def test_refuses_parameters(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_parameters() -> None:
    assert TraceLog(sources=7).sources == 7
    log = WriteLog(nodes=2, words=WORDS)
    assert (log.nodes, log.words) == (2, WORDS)
    inner = Log(width=32 * TRACE_RECORD, burst=9)
    assert (inner.width, inner.burst) == (128, 9)
