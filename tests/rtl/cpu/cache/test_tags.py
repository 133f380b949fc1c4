"""The tags of a cache, against a plain model, with resets of any length."""

import random
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.lib import data
from amaranth.sim import Simulator
from nicbed.rtl.cpu.cache.tags import Tags

LINE = 32
STATE = data.StructLayout({"held": 1, "dirty": 1})


@pytest.mark.parametrize("lines", [2, 8])
def test_looks_answer_as_the_model(lines: int) -> None:
    rng = random.Random(lines)
    tags = Tags(lines=lines, line_bytes=LINE, state=STATE, looks=2)
    sync, m = ClockDomain("sync"), Module()
    m.domains += sync
    m.submodules.tags = tags
    held: dict[int, tuple[int, int]] = {}

    def address() -> int:
        return rng.randrange(3 * lines * LINE)

    async def bench(ctx: Any) -> None:
        for _ in range(600):
            reset = rng.random() < 0.1
            ctx.set(sync.rst, reset)
            for look in tags.look:
                at = address()
                line = at // LINE
                ctx.set(look.address, at)
                found, state = held.get(line % lines, (0, 0))
                assert ctx.get(look.state.as_value()) == state
                if state:
                    assert ctx.get(look.same) == (found == line)
                    assert ctx.get(look.line) == found * LINE
            valid, line, state = rng.random() < 0.5, address() // LINE, rng.randrange(4)
            ctx.set(tags.change, {"valid": valid, "address": line * LINE + rng.randrange(LINE),
                                  "state": {"held": state & 1, "dirty": state >> 1}})
            await ctx.tick()
            if reset:
                held.clear()
            elif valid:
                held[line % lines] = (line, state)

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("given, error, text", [
    ({"lines": 3}, ValueError, "lines must be a power of two, at least 2, not 3"),
    ({"line_bytes": 8}, ValueError, "line_bytes must be a power of two, at least 16, not 8"),
    ({"looks": 0}, ValueError, "looks must be at least 1, not 0"),
    ({"looks": "1"}, TypeError, "looks must be an integer, not '1'"),
])
def test_refuses(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tags(**{"lines": 4, "line_bytes": LINE, "state": STATE, "looks": 1, **given})


def test_parameters_are_readable() -> None:
    tags = Tags(lines=4, line_bytes=64, state=1, looks=3)
    assert (tags.lines, tags.line_bytes, tags.looks) == (4, 64, 3)
