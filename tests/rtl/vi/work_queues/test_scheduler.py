"""The scheduler: every wake-up is a turn, in order, each queue waiting at most once."""

import random
from collections import deque
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.rtl.parts.distinct_queue import DistinctQueue
from nicbed.rtl.vi.work_queues.scheduler import Scheduler

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
async def takes_turns(dut: Any) -> None:
    p = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    count = 2 * p["vis"]
    sources = [Source(dut, f"wake__{n}", stall=p["stall"], seed=seed() + n)
               for n in range(p["wakers"])]
    sink = Sink(dut, "next", stall=p["o_stall"], seed=seed() + 100)
    for source in sources:
        source.send(*(rng.randrange(count) for _ in range(p["wakes"])))

    waiting: deque[int] = deque()
    coming: list[int] = []
    turns = 0
    merged = 0
    most = 0
    edge = RisingEdge(dut.clk)

    async def watch() -> None:
        nonlocal turns, merged, most
        waits = [0] * p["wakers"]
        while True:
            await edge
            # What came in the cycle before joins unless it waits (still) as of this cycle.
            taken = None
            if dut.next__valid.value == 1:
                assert waiting and int(dut.next__payload.value) == waiting[0]
                if dut.next__ready.value == 1:
                    taken = waiting[0]
            for item in coming:
                if item in waiting:
                    merged += 1
                else:
                    waiting.append(item)
            coming.clear()
            if taken is not None:
                turns += 1
                assert waiting.popleft() == taken
            most = max(most, len(waiting))
            for n in range(p["wakers"]):
                if getattr(dut, f"wake__{n}__valid").value == 1:
                    if getattr(dut, f"wake__{n}__ready").value == 1:
                        coming.append(int(getattr(dut, f"wake__{n}__payload").value))
                        waits[n] = 0
                    else:
                        waits[n] += 1
                        assert waits[n] < p["wakers"] + p["vis"] + 2
            assert len(coming) <= 1

    cocotb.start_soon(watch())
    for source in sources:
        await within(60000, source.drain())
    sink.stall = 0.0
    await cycles(dut, 2 * count + 10)
    assert not waiting and dut.next__valid.value == 0
    assert turns + merged == p["wakes"] * p["wakers"]
    assert turns == len(sink.taken) and merged
    assert dut.idle.value == 1
    if p["o_stall"] > 0.9:
        assert most == count, f"never full: {most}"


@cocotb.test()
async def is_quick(dut: Any) -> None:
    """2 cycles from wake-up to turn; a wake-up and a turn a cycle."""
    await reset_and_clock(dut)
    await cycles(dut, parameters()["vis"])
    source = Source(dut, "wake__0")
    sink = Sink(dut, "next")
    source.send(5)
    assert await within(20, sink.receive()) == [5]
    assert sink.cycles[0] - source.cycles[0] == 2
    source.send(*range(16))
    assert await within(100, sink.receive(16)) == list(range(16))
    assert sink.cycles[-1] - source.cycles[1] <= 17


@pytest.mark.parametrize("vis, wakers, stall, o_stall", [
    (8, 3, 0.0, 0.0), (8, 3, 0.5, 0.5), more(8, 1, 0.0, 0.97), more(4, 2, 0.9, 0.1),
    more(64, 3, 0.2, 0.5)])
def test_takes_turns(vis: int, wakers: int, stall: float, o_stall: float) -> None:
    run_bench(Scheduler(vis=vis, wakers=wakers), __file__, testcase="takes_turns", vis=vis,
              wakers=wakers, stall=stall, o_stall=o_stall, wakes=1000, seed=vis + wakers)


def test_is_quick() -> None:
    run_bench(Scheduler(vis=8, wakers=3), __file__, testcase="is_quick", vis=8)


def test_parameters() -> None:
    with pytest.raises(ValueError, match="vis must be a power of two, at least 2, not 12"):
        Scheduler(vis=12, wakers=1)
    with pytest.raises(ValueError, match="wakers must be at least 1, not 0"):
        Scheduler(vis=8, wakers=0)
    with pytest.raises(TypeError, match="wakers must be an integer, not True"):
        Scheduler(vis=8, wakers=True)
    with pytest.raises(ValueError, match="items must be a power of two, at least 4, not 6"):
        DistinctQueue(items=6)
    with pytest.raises(TypeError, match="items must be an integer, not None"):
        DistinctQueue(items=None)  # type: ignore[arg-type]
