"""The traffic of lines: exact cycles, one burst each, and the word that a read looks at, with a
memory that stalls."""

import random
from typing import Any

import pytest
from amaranth.sim import Simulator
from nicbed.rtl.cpu.cache.refill import Refill, Traffic
from nicbed.rtl.cpu.cache_shape import CacheShape


async def transfer(ctx: Any, refill: Refill, kind: Traffic, address: int, rng: random.Random,
                   stall: float) -> int:
    """Cycles of one transfer. What the memory sees of it is right."""
    shape, memory = refill.shape, refill.memory
    beats = 1 if kind == Traffic.UPGRADE else shape.beats
    words = [rng.getrandbits(64) for _ in range(shape.line_bytes // 8)]
    left: int | None = None
    ctx.set(refill.valid, 1)
    ctx.set(refill.kind, kind)
    ctx.set(refill.address, address)
    for cycle in range(1, 500):
        go = rng.random() >= stall
        at = (shape.beats - (left or 0)) * shape.beat_bytes // 8
        ctx.set(memory.request.ready, go and left is None)
        ctx.set(memory.write.ready, go)
        ctx.set(memory.read.valid, go and left is not None and kind == Traffic.READ)
        if left is not None and kind == Traffic.READ:
            # The burst begins with the word of its first beat; each beat hands over one of its own.
            ctx.set(memory.read.payload, words[at + address % shape.beat_bytes // 8])
        assert ctx.get(memory.request.valid) == (left is None)
        assert ctx.get(memory.write.valid) == (left is not None and kind != Traffic.READ)
        assert ctx.get(refill.reads) == (left is not None and kind == Traffic.READ)
        ended = go and left == 1
        assert ctx.get(refill.arrived) == (ended and kind == Traffic.READ)
        assert ctx.get(refill.written) == (ended and kind != Traffic.READ)
        if go and left is None:
            request = memory.request.payload
            assert ctx.get(request.write) == (kind != Traffic.READ)
            assert ctx.get(request.beats) == beats
            assert ctx.get(request.address) // shape.line_bytes == address // shape.line_bytes
            left = beats
        elif go and left:
            if kind != Traffic.READ:
                assert not ctx.get(memory.write.payload.strobe)
            left -= 1
        if ended and kind == Traffic.READ:
            assert ctx.get(refill.word) == words[address % shape.line_bytes // 8]
        await ctx.tick()
        if ended:
            ctx.set(refill.valid, 0)
            return cycle
    raise AssertionError("no end after 500 cycles")


@pytest.mark.parametrize("line_bytes, beat_bytes", [(32, 8), (64, 16), (32, 32)])
def test_each_is_one_burst(line_bytes: int, beat_bytes: int) -> None:
    rng = random.Random(beat_bytes)
    refill = Refill(shape=CacheShape(lines=4, line_bytes=line_bytes, beat_bytes=beat_bytes))
    beats = line_bytes // beat_bytes

    async def bench(ctx: Any) -> None:
        for turn in range(120):
            kind = rng.choice(list(Traffic))
            stall = rng.choice([0.0, 0.6])
            took = await transfer(ctx, refill, kind, 8 * rng.randrange(64), rng, stall)
            if not stall:
                assert took == (2 if kind == Traffic.UPGRADE else 1 + beats), turn
            if rng.random() < 0.3:
                await ctx.tick()

    simulator = Simulator(refill)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
