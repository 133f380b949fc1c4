"""The watchdog, and what becomes of a crash."""

import random
from typing import Any

import pytest
from nicbed.layouts.processor import STATUS, CrashReason, State
from nicbed.rtl.processor.control.crash import Crash
from nicbed.rtl.processor.control.watchdog import Watchdog

from tests.labs.control_bench import simulate


@pytest.mark.parametrize("limit", [0, 1, 2, 7, 20])
def test_watchdog_counts_what_is_awake(limit: int) -> None:
    rng = random.Random(limit)
    dut = Watchdog()
    expired = 0

    async def bench(ctx: Any) -> None:
        nonlocal expired
        ctx.set(dut.limit, limit)
        awake_for = 0
        for cycle in range(1500):
            lazy = cycle % 500 < 250
            awake, kick = rng.random() < (0.99 if lazy else 0.9), rng.random() < 0.05
            ctx.set(dut.awake, awake)
            ctx.set(dut.kick, kick)
            awake_for = awake_for + 1 if awake and not kick else 0
            assert ctx.get(dut.expired) == (0 < limit <= awake_for)
            expired += ctx.get(dut.expired)
            await ctx.tick()

    simulate(dut, bench)
    assert bool(expired) == bool(limit)


def test_limit_counts_at_once() -> None:
    """A limit that is written while the processor is awake counts from its last kick on."""
    dut = Watchdog()

    async def bench(ctx: Any) -> None:
        ctx.set(dut.awake, 1)
        await ctx.tick().repeat(100)
        ctx.set(dut.limit, 101)
        assert ctx.get(dut.expired)
        ctx.set(dut.limit, 102)
        assert not ctx.get(dut.expired)

    simulate(dut, bench)


CAUSES = ("report", "fault", "trap", "expired")
"""In the order in which they count."""


@pytest.mark.parametrize("seed", range(2))
def test_first_crash_wins(seed: int) -> None:
    rng = random.Random(seed)
    dut = Crash()
    seen: set[int] = set()

    async def bench(ctx: Any) -> None:
        crash: tuple[int, int, int] | None = None
        for _ in range(1500):
            run, asleep = rng.random() < 0.97, rng.random() < 0.3
            causes = {name for name in CAUSES if rng.random() < 0.02}
            word = {name: rng.getrandbits(32) for name in ("pc", "cause", "address", "core_pc")}
            reason = rng.choice([CrashReason.EXCEPTION, CrashReason.PANIC, 77])
            ctx.set(dut.run, run)
            ctx.set(dut.asleep, asleep)
            ctx.set(dut.report.valid, "report" in causes)
            ctx.set(dut.report.reason, reason)
            ctx.set(dut.report.pc, word["pc"])
            ctx.set(dut.report.cause, word["cause"])
            ctx.set(dut.fault.valid, "fault" in causes)
            ctx.set(dut.fault.address, word["address"])
            ctx.set(dut.trap, "trap" in causes)
            ctx.set(dut.expired, "expired" in causes)
            ctx.set(dut.core_pc, word["core_pc"])

            mode = (State.RESET if not run else State.CRASHED if crash else
                    State.ASLEEP if asleep else State.RUNNING)
            assert ctx.get(dut.state.crashed) == bool(crash)
            expected = crash or (CrashReason.NONE, word["core_pc"], 0)
            assert ctx.get(dut.state.status) == STATUS.pack(state=mode, reason=expected[0])
            assert (ctx.get(dut.state.pc), ctx.get(dut.state.cause)) == expected[1:]
            if not run:
                crash = None
            elif crash is None and causes:
                first = min(causes, key=CAUSES.index)
                crash = {
                    "report": (reason, word["pc"], word["cause"]),
                    "fault": (CrashReason.BUS, word["core_pc"], word["address"]),
                    "trap": (CrashReason.TRAP, word["core_pc"], 0),
                    "expired": (CrashReason.WATCHDOG, word["core_pc"], 0),
                }[first]
                seen.add(int(crash[0]))
            await ctx.tick()

    simulate(dut, bench)
    assert seen == {1, 2, 3, 4, 5, 77}
