"""Doorbells of the NIC processor: who may, in order, and that a loss is told."""

import random
from collections import deque
from typing import Any

import pytest
from nicbed.layouts.processor import DOORBELL_ENTRY, DOORBELL_OWNER, DOORBELL_WORDS
from nicbed.layouts.trace import Kind
from nicbed.rtl.processor.control.doorbells import Doorbells

from tests.labs.control_bench import pulses, simulate

MEMORY = 1 << 14
POOL = (0, 1, 5, 1023)


def ring(ctx: Any, dut: Doorbells, page: int, offset: int = 0, data: int = 0, process: int = 0
         ) -> None:
    """A PIO write in this cycle; ``offset`` in bytes."""
    ctx.set(dut.pages.valid, 1)
    ctx.set(dut.pages.page, page)
    ctx.set(dut.pages.offset, offset)
    ctx.set(dut.pages.data, data)
    ctx.set(dut.pages.process, process)


async def settle(ctx: Any, dut: Doorbells) -> None:
    ctx.set(dut.pages.valid, 0)
    await ctx.tick().repeat(4)


class Firmware:
    """Takes doorbells, now looking at one several times, now not at all."""

    def __init__(self, dut: Doorbells, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.untold = self.told = False
        self.telling = 0

    def step(self, ctx: Any, queue: deque[tuple[int, int, int, int]], pace: float) -> None:
        port = self.dut.processor
        valid = bool(ctx.get(self.dut.waiting))
        assert not valid or queue
        if valid:
            page, offset, process, data = queue[0]
            lost = self.untold or self.told
            assert DOORBELL_ENTRY.unpack(ctx.get(port.entry)) == {
                "page": page, "offset": offset // 8, "process": process, "reserved": 0,
                "lost": lost, "valid": 1}
            assert ctx.get(port.data) == data
        else:
            assert ctx.get(port.entry) == ctx.get(port.data) == 0
        look = self.rng.random() < pace
        pop = not look and self.rng.random() < pace
        ctx.set(port.look, look)
        ctx.set(port.pop, pop)
        if valid and look and self.untold:
            self.untold, self.told = False, True
            self.telling += 1
        if valid and pop:
            queue.popleft()
            self.told = False


@pytest.mark.parametrize("depth, pace, seed", [(4, 0.4, 1), (16, 0.1, 2), (4, 0.9, 3)])
def test_queue(depth: int, pace: float, seed: int) -> None:
    """Any doorbell, from anyone, with both sides changing the owners: a model says which are
    taken, refused, lost; entries come out in order, and every loss is told."""
    rng = random.Random(seed)
    dut = Doorbells(depth=depth, memory_bytes=MEMORY)
    counts = dict.fromkeys(("taken", "refused", "lost", "told", "contended"), 0)

    async def bench(ctx: Any) -> None:
        owners: dict[int, tuple[int, int]] = {}
        queue: deque[tuple[int, int, int, int]] = deque()
        firmware = Firmware(dut, rng)
        came: tuple[int, int, int, int] | None = None
        allowed = False
        ctx.set(dut.run, 1)
        granting = False
        for cycle in range(2500):
            last = cycle > 2300
            full = len(queue) == depth
            # The doorbell of the cycle before gets its verdict in this one.
            verdict = pulses(ctx, dut.pages, "refused", "lost")
            accepted = bool(came) and allowed and not full
            if came is None:
                assert verdict == []
            else:
                assert verdict == ([] if accepted else ["lost"] if allowed else ["refused"])
            assert ctx.get(dut.event.valid) == accepted
            counts["taken"] += accepted
            for name in verdict:
                counts[name] += 1
            assert ctx.get(dut.pages.lost) <= full
            firmware.step(ctx, queue, 0.9 if last else pace)
            if accepted and came:
                assert ctx.get(dut.event.kind) == Kind.BEGIN
                assert (ctx.get(dut.event.arg), ctx.get(dut.event.number)) == (came[0], 0)
                queue.append(came)
            if verdict == ["lost"]:
                firmware.untold = True

            # A new one, now and then in bursts.
            ctx.set(dut.pages.valid, 0)
            came = None
            if not last and rng.random() < (0.9 if cycle // 64 % 2 else 0.2):
                page, offset = rng.choice(POOL), 8 * rng.choice([0, 1, 8, 63, 63, 64, 511])
                process, data = rng.choice([0, 7, 8]), rng.getrandbits(64)
                owner, enabled = owners.get(page, (0, 0))
                allowed = offset < 512 and (process == 0 or (bool(enabled) and process == owner))
                beyond = rng.random() < 0.05
                ring(ctx, dut, page + 1024 * beyond, offset, data, process)
                allowed &= not beyond
                came = (page, offset, process, data)

            # The kernel's grants come first; the firmware's waits.
            kernel = rng.random() < 0.1
            grant = {"page": rng.choice(POOL), "process": rng.choice([7, 8]),
                     "enable": rng.random() < 0.8}
            ctx.set(dut.owner.valid, kernel)
            ctx.set(dut.owner.payload, DOORBELL_OWNER.pack(**grant))
            port = dut.processor.grant
            if not granting:
                granting = rng.random() < 0.1
                held = {"page": rng.choice(POOL), "process": rng.choice([7, 8]),
                        "enable": rng.random() < 0.8}
                ctx.set(port.payload, DOORBELL_OWNER.pack(**held))
                ctx.set(port.valid, granting)
            assert ctx.get(port.ready) == (not kernel)
            if kernel:
                owners[grant["page"]] = grant["process"], grant["enable"]
                counts["contended"] += granting
            elif granting:
                owners[held["page"]] = held["process"], held["enable"]
                granting = False
                await ctx.tick()
                ctx.set(port.valid, 0)
                continue
            await ctx.tick()
        assert not queue and not firmware.untold
        assert ctx.get(dut.idle) and not ctx.get(dut.waiting)
        counts["told"] = firmware.telling

    simulate(dut, bench)
    assert min(count for name, count in counts.items() if name not in ("lost", "told")) > 10
    if pace < 0.5:
        assert min(counts["lost"], counts["told"]) > 10


@pytest.mark.parametrize("looked", [False, True])
def test_loss_is_told_without_another_doorbell(looked: bool) -> None:
    """A loss right behind the firmware's look at the entry it then pops: the next entry tells."""
    dut = Doorbells(depth=4, memory_bytes=MEMORY)
    lost = DOORBELL_ENTRY.mask("lost")

    async def bench(ctx: Any) -> None:
        port = dut.processor
        ctx.set(dut.run, 1)
        for number in range(4):
            ring(ctx, dut, 1, data=number)
            await ctx.tick()
        await settle(ctx, dut)
        assert not ctx.get(port.entry) & lost
        ctx.set(port.look, looked)
        ring(ctx, dut, 1, data=99)
        await ctx.tick()
        assert ctx.get(dut.pages.lost)
        ctx.set(dut.pages.valid, 0)
        await ctx.tick()
        ctx.set(port.look, 0)
        ctx.set(port.pop, 1)
        await ctx.tick()
        ctx.set(port.pop, 0)
        for number in range(1, 4):
            assert ctx.get(port.data) == number
            # It says so until popped, however often it is looked at.
            for _ in range(2):
                ctx.set(port.look, 1)
                assert bool(ctx.get(port.entry) & lost) == (number == 1)
                await ctx.tick()
            ctx.set(port.look, 0)
            ctx.set(port.pop, 1)
            await ctx.tick()
            ctx.set(port.pop, 0)
        await ctx.tick().repeat(3)
        assert ctx.get(port.entry) == 0

    simulate(dut, bench)


@pytest.mark.parametrize("stall, seed", [(0.0, 1), (0.3, 2)])
def test_words(stall: float, seed: int) -> None:
    """Doorbells as words: at their place, whole, in order; none beyond the memory's end."""
    rng = random.Random(seed)
    dut = Doorbells(depth=4, memory_bytes=MEMORY)
    base = MEMORY - 16 * 8
    counts = dict.fromkeys(("written", "refused"), 0)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        ctx.set(dut.words, DOORBELL_WORDS.pack(address=base, enable=1))
        expected: deque[tuple[int, int]] = deque()
        refused = 0
        for cycle in range(1500):
            counts["refused"] += ctx.get(dut.pages.refused)
            ready = rng.random() >= stall
            ctx.set(dut.port.ready, ready)
            assert not ctx.get(dut.pages.lost) and not ctx.get(dut.waiting)
            if ctx.get(dut.port.valid) and ready:
                assert ctx.get(dut.port.write) and ctx.get(dut.port.strobe) == 0xFF
                assert (ctx.get(dut.port.address), ctx.get(dut.port.data)) == expected.popleft()
                counts["written"] += 1
                assert ctx.get(dut.wrote)
            else:
                assert not ctx.get(dut.wrote)
            ctx.set(dut.pages.valid, 0)
            if cycle < 1400 and rng.random() < 0.4 and len(expected) < 8:
                page, offset = rng.choice([0, 3, 7, 8, 900]), rng.choice([0, 8, 8, 16, 512])
                data = rng.getrandbits(64)
                ring(ctx, dut, page, offset, data)
                place = base + 16 * page + offset
                if offset > 8 or place >= MEMORY:
                    refused += 1
                else:
                    expected.append((place // 8, data))
            await ctx.tick()
        assert not expected and counts["refused"] == refused
        assert ctx.get(dut.idle)

    simulate(dut, bench)
    assert min(counts.values()) > 100


def test_words_are_counted_when_lost() -> None:
    dut = Doorbells(depth=4, memory_bytes=MEMORY)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        ctx.set(dut.words, DOORBELL_WORDS.pack(address=0, enable=1))
        lost = 0
        for number in range(12):
            ring(ctx, dut, number)
            await ctx.tick()
            lost += ctx.get(dut.pages.lost)
        assert lost == 4

    simulate(dut, bench)


@pytest.mark.promise("doorbell to firmware", "the queue of a NIC processor is empty", "3")
def test_every_cycle_and_latency() -> None:
    """A doorbell a cycle, and the entry 3 cycles behind it."""
    dut = Doorbells(depth=16, memory_bytes=MEMORY)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.run, 1)
        for number in range(16):
            ring(ctx, dut, 2, data=number)
            assert ctx.get(dut.waiting) == (number >= 3)
            assert not ctx.get(dut.idle)
            await ctx.tick()
        await settle(ctx, dut)
        assert ctx.get(dut.idle)
        ctx.set(dut.processor.pop, 1)
        for number in range(16):
            assert ctx.get(dut.processor.data) == number
            await ctx.tick()
        assert not ctx.get(dut.waiting)

    simulate(dut, bench)


def test_reset_of_the_processor() -> None:
    """With run low all are refused, nothing waits, no loss is remembered; grants stay."""
    dut = Doorbells(depth=4, memory_bytes=MEMORY)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.owner.valid, 1)
        ctx.set(dut.owner.payload, DOORBELL_OWNER.pack(page=9, process=3, enable=1))
        ctx.set(dut.run, 1)
        await ctx.tick()
        ctx.set(dut.owner.valid, 0)
        for _ in range(6):
            ring(ctx, dut, 9, process=3)
            await ctx.tick()
        await settle(ctx, dut)
        assert ctx.get(dut.waiting)
        ctx.set(dut.run, 0)
        await ctx.tick().repeat(2)
        ring(ctx, dut, 9, process=3)
        await ctx.tick()
        assert ctx.get(dut.pages.refused)
        await settle(ctx, dut)
        ctx.set(dut.run, 1)
        await ctx.tick()
        assert not ctx.get(dut.waiting)
        ring(ctx, dut, 9, process=3)
        await ctx.tick()
        await settle(ctx, dut)
        assert DOORBELL_ENTRY.unpack(ctx.get(dut.processor.entry)) == {
            "page": 9, "offset": 0, "process": 3, "reserved": 0, "lost": 0, "valid": 1}

    simulate(dut, bench)


@pytest.mark.parametrize("depth", [2, 12])
def test_depth_is_a_power_of_two(depth: int) -> None:
    with pytest.raises(ValueError, match=f"depth must be a power of two, at least 4, not {depth}"):
        Doorbells(depth=depth, memory_bytes=MEMORY)


@pytest.mark.parametrize("size, rule", [
    (4, "a power of two, at least 8"), (12, "a power of two, at least 8"),
    (1 << 21, "at most 1048576")])
def test_memory_is_a_power_of_two(size: int, rule: str) -> None:
    with pytest.raises(ValueError, match=f"memory_bytes must be {rule}, not {size}"):
        Doorbells(depth=4, memory_bytes=size)


def test_sizes_are_integers() -> None:
    with pytest.raises(TypeError, match="depth must be an integer, not '4'"):
        Doorbells(depth="4", memory_bytes=MEMORY)  # type: ignore[arg-type]
