"""The event queue: order, every source served, and nothing lost without CATASTROPHIC."""

import random
from collections import Counter
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import EVENT, Event
from nicbed.rtl.vi.event_queue import EventQueue
from nicbed.rtl.vi.types import EngineEvent

from tests.labs.bench import Source, cycles, parameters, reset_and_clock, run_bench, seed, unpack


@cocotb.test()
async def keeps_order(dut: Any) -> None:
    """Against a model, with pops too rare at times; and no source waits for long."""
    p = parameters()
    rng = random.Random(seed())
    await reset_and_clock(dut)
    sources = [Source(dut, f"i__{n}", shape=EngineEvent, stall=0.7, seed=seed() + n)
               for n in range(p["sources"])]
    for n, source in enumerate(sources):
        source.send(*({"code": rng.choice([0, 1, 3, 32, 34]), "number": n << 8 | k & 0xFF}
                      for k in range(p["events"])))
    inside: list[tuple[int, int]] = []
    got: list[tuple[int, int]] = []
    lost = told = 0
    waits = [0] * p["sources"]
    late = 0
    edge = RisingEdge(dut.clk)
    cycle = 0
    busy = 0.5
    while len(inside) or sum(source.sent for source in sources) < p["events"] * p["sources"]:
        cycle += 1
        assert cycle < 50 * p["events"] * p["sources"], "no end"
        if cycle % 64 == 0:
            busy = rng.choice([0.01, 0.3, 1.0])
            for source in sources:
                source.stall = rng.choice([0.2, 0.9])
        dut.read__pop.value = int(rng.random() < busy)
        await edge
        head = EVENT.unpack(int(dut.read__head.value))
        assert dut.waiting.value == head["valid"]
        popped = None
        if head["valid"]:
            late = 0
            assert head["reserved"] == 0
            assert (head["code"], head["number"]) == inside[0]
            if dut.read__pop.value == 1:
                popped = inside[0]
        else:
            assert int(dut.read__head.value) == 0
            late = late + 1 if inside else 0
            assert late < 2, "an event does not show"
        arrived = [n for n in range(p["sources"])
                   if getattr(dut, f"i__{n}__valid").value == 1
                   and getattr(dut, f"i__{n}__ready").value == 1]
        assert len(arrived) <= 1
        for n in range(p["sources"]):
            if getattr(dut, f"i__{n}__valid").value == 1 and n not in arrived:
                waits[n] += 1
                assert waits[n] < p["sources"]
            else:
                waits[n] = 0
        loses = False
        if arrived:
            value = unpack(EngineEvent, int(getattr(dut, f"i__{arrived[0]}__payload").value))
            if len(inside) < p["depth"] - 1:
                inside.append((value["code"], value["number"]))
            else:
                loses = True
                if (Event.CATASTROPHIC, 0) not in inside:
                    inside.append((Event.CATASTROPHIC, 0))
                    told += 1
        assert dut.read__lost.value == loses
        lost += loses
        if popped:
            inside.pop(0)
            got.append(popped)
    dut.read__pop.value = 0
    await cycles(dut, 3)
    assert dut.idle.value == 1 and dut.waiting.value == 0
    assert lost and told > 1 and told < lost
    assert len(got) + lost - told == p["events"] * p["sources"]
    assert Counter(code for code, _ in got)[Event.CATASTROPHIC] == told
    # Each source's events in its order.
    for n in range(p["sources"]):
        mine = [number & 0xFF for code, number in got
                if number >> 8 == n and code != Event.CATASTROPHIC]
        assert sum(b < a for a, b in zip(mine, mine[1:], strict=False)) <= p["events"] // 256 + 1


@pytest.mark.parametrize("depth, sources", [(4, 4), (64, 3), (16, 1)])
def test_keeps_order(depth: int, sources: int) -> None:
    run_bench(EventQueue(depth=depth, sources=sources), __file__, depth=depth, sources=sources,
              events=1200 // sources, seed=depth + sources)


def test_parameters() -> None:
    with pytest.raises(ValueError, match="depth must be a power of two, at least 4, not 6"):
        EventQueue(depth=6, sources=1)
    with pytest.raises(ValueError, match="sources must be at least 1, not 0"):
        EventQueue(depth=8, sources=0)
    with pytest.raises(TypeError, match="depth must be an integer, not '8'"):
        EventQueue(depth="8", sources=1)  # type: ignore[arg-type]
