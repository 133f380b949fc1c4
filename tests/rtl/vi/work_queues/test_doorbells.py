"""Doorbells: who may, what is refused, what is lost and says so, and how fast."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.trace import Kind
from nicbed.layouts.via import ADDRESS, Doorbell, Event, ViState
from nicbed.rtl.vi.types import Arm, Break, Token
from nicbed.rtl.vi.work_queues.doorbells import Doorbells

from tests.labs.bench import (
    Sink,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    unpack,
    within,
)
from tests.labs.rows import more
from tests.models.vi.contexts import ContextModel


class Page:
    """Writes to doorbell pages, one a cycle; counts what the block says about them."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.foreign = self.lost = 0
        self.edge = RisingEdge(dut.clk)
        self.events: list[tuple[int, int]] = []
        self.cycle = 0
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            await self.edge
            self.cycle += 1
            self.foreign += self.dut.pages__refused.value == 1
            self.lost += self.dut.pages__lost.value == 1
            if self.dut.event__valid.value == 1:
                assert self.dut.event__kind.value == Kind.BEGIN
                assert self.dut.event__number.value == 0
                self.events.append((self.cycle, int(self.dut.event__arg.value)))

    async def write(self, vi: int, offset: int, data: int, process: int) -> None:
        dut = self.dut
        dut.pages__valid.value, dut.pages__page.value, dut.pages__offset.value = 1, vi, offset
        dut.pages__data.value, dut.pages__process.value = data, process
        await self.edge
        dut.pages__valid.value = 0


def token(vi: int, offset: int, data: int) -> dict[str, int]:
    return {"queue": 2 * vi + (offset == Doorbell.RECEIVE), "address": data}


@cocotb.test()
async def sorts_what_comes(dut: Any) -> None:
    """Any write: a token, an arming, a break, or refused, as a model says."""
    p = parameters()
    rng = random.Random(seed())
    context = ContextModel(dut)
    pool = [0, 1, 3, p["vis"] - 1]
    for vi, state in zip(pool, (ViState.CONNECTED, ViState.IDLE, ViState.ERROR, ViState.CONNECTED),
                         strict=True):
        context.open(vi, state, owner=7 + vi % 2)
    context.open(2, ViState.CLOSED, owner=9)
    await reset_and_clock(dut)
    await cycles(dut, p["vis"])
    tokens = Sink(dut, "token", shape=Token, stall=p["stall"], seed=seed())
    arms = Sink(dut, "arm", shape=Arm, stall=p["stall"], seed=seed() + 1)
    breaks = Sink(dut, "break_", shape=Break, stall=p["stall"], seed=seed() + 2)
    page = Page(dut)
    foreign = 0
    expected: dict[str, list[Any]] = {"token": [], "arm": [], "break": []}
    for _ in range(p["writes"]):
        vi = rng.choice([*pool, 2])
        offset = rng.choice([*Doorbell] * 3 + [0x20, 0x800, 4, 0x1008 & 0xFFF])
        process = rng.choice([0, 7, 8, 9])
        data = rng.getrandbits(64)
        if rng.random() < 0.8:
            data &= ~63
        await page.write(vi, offset, data, process)
        known = offset in list(Doorbell)
        if not known or vi == 2 or process not in (0, 7 + vi % 2):
            foreign += 1
        elif offset in (Doorbell.ARM_SEND, Doorbell.ARM_RECEIVE):
            expected["arm"].append({"queue": 2 * vi + (offset == Doorbell.ARM_RECEIVE),
                                    "count": data & 0xFFFF})
        elif ADDRESS.get(data, "va") % 64:
            expected["break"].append({"vi": vi, "event": Event.POST_DESC})
        else:
            expected["token"].append(token(vi, offset, data))
        # Slow enough that nothing is lost.
        await cycles(dut, rng.randrange(p["pause"]) if p["pause"] else 0)
    await cycles(dut, 100)
    assert page.foreign == foreign and page.lost == 0
    assert tokens.taken == expected["token"]
    assert arms.taken == expected["arm"]
    assert [queue for _, queue in page.events] == [t["queue"] for t in expected["token"]]
    # A break that waits is not repeated.
    got, want = breaks.taken, expected["break"]
    assert {b["vi"] for b in got} == {b["vi"] for b in want} and 0 < len(got) <= len(want)
    assert all(b["event"] == Event.POST_DESC for b in got)
    assert min(map(len, expected.values())) > p["writes"] / 100
    assert dut.idle.value == 1


@cocotb.test()
async def loses_nothing_silently(dut: Any) -> None:
    """``depth`` writes in as many cycles wait; every further one is counted and breaks its VI, and
    a VI that misbehaves takes no other's break."""
    p = parameters()
    depth, vis = p["depth"], p["vis"]
    context = ContextModel(dut)
    for vi in range(vis):
        context.open(vi, owner=5)
    await reset_and_clock(dut)
    await cycles(dut, vis)
    page = Page(dut)
    assert dut.idle.value == 1
    sent = []
    for n in range(depth):
        await page.write(n % 2, Doorbell.SEND, 64 * n, 5)
        sent.append(token(n % 2, Doorbell.SEND, 64 * n))
    await cycles(dut, 2)
    assert page.lost == 0
    for n in range(depth):
        await page.write(n % 2, Doorbell.ARM_RECEIVE, n, 5)
    await cycles(dut, 2)
    assert page.lost == 0 and page.foreign == 0
    # One VI rings misaligned doorbells without end, all others overrun, one by arming.
    for n in range(4 * vis):
        await page.write(1, Doorbell.RECEIVE, 8, 5)
        if n < vis:
            await page.write(n, Doorbell.ARM_SEND if n == 3 else Doorbell.RECEIVE, 64, 5)
    await cycles(dut, 4)
    assert page.lost == vis and len(page.events) == depth
    breaks = Sink(dut, "break_", shape=Break)
    got = await within(20 * vis, breaks.receive(vis + 1))
    await cycles(dut, 20)
    assert not breaks.taken
    assert sorted((b["vi"], b["event"]) for b in got) == sorted(
        [(1, Event.POST_DESC), *((vi, Event.VI_OVERRUN) for vi in range(vis))])
    tokens = Sink(dut, "token", shape=Token)
    arms = Sink(dut, "arm", shape=Arm)
    assert await within(100 + depth, tokens.receive(depth)) == sent
    assert await within(100, arms.receive(depth)) == [
        {"queue": 2 * (n % 2) + 1, "count": n} for n in range(depth)]
    # And on it goes; a misaligned one breaks again.
    await page.write(1, Doorbell.SEND, 128, 0)
    await page.write(1, Doorbell.SEND, 16, 0)
    assert await within(20, tokens.receive()) == [token(1, Doorbell.SEND, 128)]
    assert await within(20, breaks.receive()) == [{"vi": 1, "event": Event.POST_DESC}]
    await cycles(dut, 4)
    assert dut.idle.value == 1


@cocotb.test()
async def keeps_up(dut: Any) -> None:
    """A write every cycle for long, as tokens are taken; 3 cycles each."""
    context = ContextModel(dut)
    context.open(6, owner=5)
    await reset_and_clock(dut)
    await cycles(dut, 8)
    page = Page(dut)
    tokens = Sink(dut, "token", shape=Token)
    await cycles(dut, 2)
    for n in range(200):
        await page.write(6, Doorbell.SEND, 64 * n, 5)
    got = await within(300, tokens.receive(200))
    assert got == [token(6, Doorbell.SEND, 64 * n) for n in range(200)]
    assert page.lost == 0
    assert tokens.cycles == list(range(tokens.cycles[0], tokens.cycles[0] + 200))
    # The first write was made in the cycle before the edge at which Page said so.
    assert tokens.cycles[0] - (page.events[0][0] - 1) == 3
    assert unpack(Token, 0)["queue"] == 0


@pytest.mark.parametrize("vis, depth, stall, pause", [(8, 4, 0.5, 30), more(1024, 64, 0.0, 0),
                                                      more(16, 16, 0.2, 6)])
def test_sorts_what_comes(vis: int, depth: int, stall: float, pause: int) -> None:
    run_bench(Doorbells(vis=vis, depth=depth), __file__, testcase="sorts_what_comes", vis=vis,
              writes=800, stall=stall, pause=pause, seed=vis)


@pytest.mark.parametrize("vis, depth", [(8, 4), (64, 16)])
def test_loses_nothing_silently(vis: int, depth: int) -> None:
    run_bench(Doorbells(vis=vis, depth=depth), __file__, testcase="loses_nothing_silently",
              vis=vis, depth=depth)


def test_keeps_up() -> None:
    run_bench(Doorbells(vis=8, depth=4), __file__, testcase="keeps_up")


@pytest.mark.parametrize("vis, depth", [(12, 16), (8, 12), (8, 2)])
def test_sizes_are_powers_of_two(vis: int, depth: int) -> None:
    with pytest.raises(ValueError, match="must be a power of two"):
        Doorbells(vis=vis, depth=depth)


def test_sizes_are_integers() -> None:
    with pytest.raises(TypeError, match="depth must be an integer, not '16'"):
        Doorbells(vis=8, depth="16")  # type: ignore[arg-type]
