"""The queue: order, bounds, latency."""

import random
from collections import deque
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.parts.queue import Queue

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
from tests.labs.rows import more


@cocotb.test()
async def keeps_order(dut: Any) -> None:
    await reset_and_clock(dut)
    source = Source(dut, "i", stall=parameters()["i_stall"], seed=seed())
    sink = Sink(dut, "o", stall=parameters()["o_stall"], seed=seed() + 1)
    sent = [random.Random(seed()).getrandbits(24) for _ in range(300)]
    source.send(*sent)
    inside: deque[int] = deque()

    async def count() -> None:
        """The level is what went in minus what came out, at every edge."""
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            assert int(dut.level.value) == len(inside)
            assert dut.i__ready.value == int(len(inside) < parameters()["depth"])
            if dut.i__valid.value == 1 and dut.i__ready.value == 1:
                inside.append(int(dut.i__payload.value))
            if dut.o__valid.value == 1 and dut.o__ready.value == 1:
                assert int(dut.o__payload.value) == inside.popleft()

    watch = cocotb.start_soon(count())
    assert await within(5000, sink.receive(300)) == sent
    await cycles(dut, 2)
    watch.cancel()
    if not parameters()["i_stall"] and not parameters()["o_stall"]:
        assert source.cycles == list(range(source.cycles[0], source.cycles[0] + 300))
        assert sink.cycles[0] - source.cycles[0] == 2


@pytest.mark.parametrize("depth", [2, 4, more(64)])
@pytest.mark.parametrize("i_stall, o_stall", [(0.0, 0.0), (0.5, 0.1), (0.1, 0.5), (0.0, 0.9)])
def test_keeps_order(depth: int, i_stall: float, o_stall: float) -> None:
    if depth == 2 and not i_stall and not o_stall:
        pytest.skip("two items cover a latency of two only every other cycle")
    run_bench(Queue(shape=24, depth=depth), __file__, depth=depth, i_stall=i_stall,
              o_stall=o_stall)


@pytest.mark.parametrize("depth", [0, 1, 3, 12, -4])
def test_depth_is_a_power_of_two(depth: int) -> None:
    with pytest.raises(ValueError, match=f"power of two, at least 2, not {depth}"):
        Queue(shape=8, depth=depth)


def test_depth_is_an_integer() -> None:
    with pytest.raises(TypeError, match="depth must be an integer, not 'four'"):
        Queue(shape=8, depth="four")  # type: ignore[arg-type]
