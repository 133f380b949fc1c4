"""The watch: what is in the range, at its ends, beyond them."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from nicbed.layouts.trace import Block, Kind
from nicbed.rtl.bus.watch import Watch

from tests.labs.bench import reset_and_clock, run_bench, seed


@cocotb.test()
async def tells_of_its_range(dut: Any) -> None:
    await reset_and_clock(dut)
    rng = random.Random(seed())
    falling = FallingEdge(dut.clk)
    told = 0
    for turn in range(1500):
        await falling
        base = 32 * rng.choice((0, 1, 100, (1 << 27) - 64))
        size = 32 * rng.choice((0, 1, 4, 64))
        line = (base + 32 * rng.choice((-1, 0, 1, 3, 4, 63, 64, 500))) % (1 << 32)
        owns = turn % 4 != 0
        for name, value in (("base", base), ("bytes", size), ("taken__address", line),
                            ("taken__valid", owns)):
            getattr(dut, name).value = int(value)
        await ReadOnly()
        watched = owns and base <= line < base + size
        told += watched
        assert int(dut.watched__valid.value) == watched and int(dut.event__valid.value) == watched
        if watched:
            assert int(dut.event__kind.value) == Kind.BEGIN and int(dut.event__arg.value) == line
    assert told > 100


def test_watch() -> None:
    run_bench(Watch(), __file__)
    assert Watch.event_source is Block.WATCH
