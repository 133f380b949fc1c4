"""Pending bits, timer, sleep: nothing is lost, nothing wakes by itself."""

import random
from typing import Any

import pytest
from nicbed.layouts.processor import Pending
from nicbed.rtl.processor.control.pending_bits import PENDING_BITS, PendingBits

from tests.labs.control_bench import simulate

LEVELS = Pending.DOORBELL | Pending.TIMER
WORD = 1 << 32


class Model:
    """The registers as layouts.processor describes them."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.sticky = self.mask = self.timer = 0
        self.armed = self.fired = False

    def bits(self, now: int, doorbell: int, run: int) -> int:
        if self.armed and (now - self.timer) % WORD < WORD // 2:
            self.fired = True
        return (self.sticky | Pending.DOORBELL * (doorbell & run)
                | Pending.TIMER * (self.armed and self.fired))

    def step(self, i: dict[str, int]) -> None:
        self.sticky = (self.sticky & ~i["clear"] | i["set"]) & ~LEVELS & 0xFF
        if i["mask_write"]:
            self.mask = i["data"] & 0xFF
        if i["timer_write"]:
            self.timer, self.armed, self.fired = i["data"], True, False
        if i["timer_off"]:
            self.armed = self.fired = False
        if not i["run"]:
            self.reset()


def drive(ctx: Any, dut: PendingBits, **values: int) -> None:
    for name, value in values.items():
        ctx.set(getattr(dut if name in dut.signature.members else dut.port, name), value)


@pytest.mark.parametrize("seed", range(2))
def test_does_what_the_model_does(seed: int) -> None:
    rng = random.Random(seed)
    dut = PendingBits()
    slept = woken = fired = 0

    async def bench(ctx: Any) -> None:
        nonlocal slept, woken, fired
        model = Model()
        now = WORD - 200
        asleep = False
        for _ in range(1500):
            def some(chance: float) -> int:
                return int(rng.random() < chance)

            def bits(chance: float) -> int:
                return sum(some(chance) << n for n in range(PENDING_BITS))

            inputs = {
                "run": some(0.995), "set": bits(0.04), "doorbell": some(0.1), "now": now,
                "clear": bits(0.5) if some(0.1) else 0, "mask_write": some(0.02),
                "timer_write": some(0.02), "timer_off": some(0.005),
                "wait": some(0.9), "data": (now + rng.randrange(-4, 60)) % WORD,
            }
            drive(ctx, dut, **inputs)
            expected = model.bits(now, inputs["doorbell"], inputs["run"])
            wake = int(expected & model.mask != 0)
            assert ctx.get(dut.port.bits) == expected
            assert ctx.get(dut.port.mask) == model.mask
            assert ctx.get(dut.port.timer) == model.timer
            assert ctx.get(dut.port.wake) == wake
            assert ctx.get(dut.asleep) == (inputs["run"] & inputs["wait"] & (1 - wake))
            if not model.armed or not expected & Pending.TIMER:
                assert ctx.get(dut.idle) == (not model.armed)
            slept += ctx.get(dut.asleep)
            woken += asleep and wake
            fired += bool(expected & Pending.TIMER)
            asleep = bool(ctx.get(dut.asleep))
            model.step(inputs)
            await ctx.tick()
            now = (now + 1) % WORD

    simulate(dut, bench)
    assert slept > 100 and woken > 20 and fired > 50


@pytest.mark.parametrize("bit", list(Pending))
def test_each_bit_wakes(bit: Pending) -> None:
    """A wait for one bit sleeps through all others, and ends with that one."""
    dut = PendingBits()
    deadline = int(bit) + 0x100

    async def bench(ctx: Any) -> None:
        drive(ctx, dut, run=1, mask_write=1, timer_write=bit is Pending.TIMER, data=deadline,
              now=0)
        await ctx.tick()
        drive(ctx, dut, mask_write=0, timer_write=0, wait=1,
              set=0xFF & ~bit, doorbell=bit is not Pending.DOORBELL)
        for now in range(5):
            drive(ctx, dut, now=now)
            await ctx.tick()
            assert ctx.get(dut.asleep)
        if bit is Pending.TIMER:
            assert not ctx.get(dut.idle)
            drive(ctx, dut, now=deadline - 1)
            await ctx.tick()
            assert ctx.get(dut.asleep)
            drive(ctx, dut, now=deadline)
        elif bit is Pending.DOORBELL:
            drive(ctx, dut, doorbell=1)
        else:
            drive(ctx, dut, set=bit)
            assert ctx.get(dut.asleep)
            await ctx.tick()
        assert not ctx.get(dut.asleep) and ctx.get(dut.port.wake)
        assert ctx.get(dut.port.bits) & bit

    simulate(dut, bench)


def test_set_beats_clear() -> None:
    dut = PendingBits()

    async def bench(ctx: Any) -> None:
        drive(ctx, dut, run=1, set=0xFF, clear=0xFF)
        await ctx.tick()
        assert ctx.get(dut.port.bits) == 0xFF & ~LEVELS
        drive(ctx, dut, set=0)
        await ctx.tick()
        assert ctx.get(dut.port.bits) == 0

    simulate(dut, bench)


def test_timer_holds() -> None:
    """Once it fired, TIMER stays, though the difference turns negative; idle until then not."""
    dut = PendingBits()

    async def bench(ctx: Any) -> None:
        drive(ctx, dut, run=1, timer_write=1, data=5, now=WORD - 3)
        assert ctx.get(dut.idle)
        await ctx.tick()
        drive(ctx, dut, timer_write=0, now=WORD - 2)
        assert not ctx.get(dut.idle) and not ctx.get(dut.port.bits)
        drive(ctx, dut, now=4)
        assert not ctx.get(dut.port.bits)
        drive(ctx, dut, now=5)
        assert ctx.get(dut.port.bits) == Pending.TIMER
        await ctx.tick()
        assert ctx.get(dut.idle)
        drive(ctx, dut, now=5 + WORD // 2 + 1)
        assert ctx.get(dut.port.bits) == Pending.TIMER
        drive(ctx, dut, timer_off=1)
        await ctx.tick()
        assert not ctx.get(dut.port.bits) and ctx.get(dut.idle)

    simulate(dut, bench)
