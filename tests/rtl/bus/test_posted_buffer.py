"""The posted-write buffer and the interrupt's way to the CPU."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, RisingEdge
from nicbed.rtl.bus.posted_buffer import PioBeat, PostedBuffer
from nicbed.rtl.cpu.irq_delay import IrqDelay
from nicbed.rtl.parts.timing import Timing

from tests.labs.bench import (
    Sink,
    Source,
    pack,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)


@cocotb.test()
async def keeps_order(dut: Any) -> None:
    await reset_and_clock(dut)
    given = parameters()
    source = Source(dut, "i", shape=PioBeat, stall=given["i_stall"], seed=seed())
    sink = Sink(dut, "o", shape=PioBeat, stall=given["o_stall"], seed=seed() + 1)
    rng = random.Random(seed())
    beats = [{"write": rng.randrange(2), "address": rng.getrandbits(16),
              "data": rng.getrandbits(64), "trace": rng.getrandbits(24), "last": rng.randrange(2),
              "process": rng.getrandbits(8), "answer": rng.randrange(2)} for _ in range(200)]
    inside = 0
    full = 0
    source.send(*beats)

    async def watch() -> None:
        nonlocal inside, full
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            assert int(dut.empty.value) == int(inside == 0)
            assert int(dut.i__ready.value) == int(inside < given["depth"])
            assert int(dut.o__valid.value) == int(inside > 0)
            full += inside == given["depth"]
            inside += int(dut.i__valid.value) & int(dut.i__ready.value)
            inside -= int(dut.o__valid.value) & int(dut.o__ready.value)

    cocotb.start_soon(watch())
    assert await within(5000, sink.receive(200)) == beats
    if not given["i_stall"] and not given["o_stall"]:
        assert sink.cycles == [cycle + 1 for cycle in source.cycles]
    if given["o_stall"] > given["i_stall"]:
        assert full


@pytest.mark.parametrize("depth", [2, 3, 16])
@pytest.mark.parametrize("i_stall, o_stall", [(0.0, 0.0), (0.5, 0.1), (0.1, 0.6)])
def test_posted(depth: int, i_stall: float, o_stall: float) -> None:
    run_bench(PostedBuffer(depth=depth), __file__, testcase="keeps_order", depth=depth,
              i_stall=i_stall, o_stall=o_stall)


@cocotb.test()
async def shows_the_line_late(dut: Any) -> None:
    await reset_and_clock(dut)
    falling, rising = FallingEdge(dut.clk), RisingEdge(dut.clk)
    rng = random.Random(seed())
    now = rng.choice([0, (1 << 32) - 700])
    rose: int | None = None
    before = 0
    for _ in range(40):
        latency = rng.choice([0, 1, 2, 5, 20])
        await falling
        dut.irq.value = 0
        dut.timing.value = pack(Timing, {"nic_irq_latency": latency})
        dut.now.value = now & (1 << 32) - 1
        await rising
        before, rose = 0, None
        for _ in range(60):
            now += 1
            await falling
            irq = before if rng.random() < 0.9 else 1 - before
            dut.irq.value = irq
            dut.now.value = now & (1 << 32) - 1
            await rising
            if irq and not before:
                rose = now
            if not irq:
                rose = None
            # Ends an operation at edge now + 1.
            seen = rose is not None and now + 1 >= rose + max(latency, 1)
            assert int(dut.seen.value) == int(seen), (now, rose, latency)
            assert int(dut.settled.value) == int(irq == before)
            pending = rose is not None and rose < now and now < rose + latency
            assert int(dut.pending.value) == int(pending)
            if pending:
                assert int(dut.distance.value) == rose + latency - 1 - now
            before = irq
        now += 1


def test_irq_delay() -> None:
    run_bench(IrqDelay(), __file__, testcase="shows_the_line_late")


@pytest.mark.parametrize("depth, error, text", [
    (1, ValueError, "depth must be at least 2, not 1"),
    ("2", TypeError, "depth must be an integer, not '2'"),
])
def test_refuses(depth: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        PostedBuffer(depth=depth)
    assert PostedBuffer(depth=3).depth == 3
