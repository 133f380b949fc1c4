"""Work queues: tokens, takes and links against a model, operation by operation."""

import random
from typing import Any

import cocotb
import pytest
from cocotb.triggers import RisingEdge
from nicbed.layouts.via import Event, ViState
from nicbed.rtl.vi.types import Address, Break, Control, ControlAction, Link, Token
from nicbed.rtl.vi.work_queues.queues import WorkQueues

from tests.labs.bench import (
    Sink,
    Source,
    cycles,
    pack,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    unpack,
    within,
)
from tests.labs.rows import more
from tests.models.vi.contexts import ContextModel


class Model:
    """What the docstring says, an operation at a time."""

    def __init__(self, depth: int, states: dict[int, int]) -> None:
        self.depth = depth
        self.states = states
        self.pending: dict[int, int] = {}
        self.head: dict[int, int | None] = {}
        self.posted: dict[int, int] = {}
        self.wakes: list[int] = []
        self.breaks: list[int] = []
        self.seen: set[str] = set()

    def closed(self, queue: int) -> bool:
        return self.states.get(queue // 2, ViState.CLOSED) == ViState.CLOSED

    def create(self, vi: int) -> None:
        for queue in (2 * vi, 2 * vi + 1):
            self.pending[queue] = self.posted[queue] = 0

    def token(self, queue: int, address: int) -> None:
        if self.closed(queue):
            self.seen.add("token to a closed VI")
        elif self.pending[queue] == self.depth:
            if self.states[queue // 2] != ViState.ERROR:
                self.breaks.append(queue // 2)
            self.seen.add(f"overrun, state {self.states[queue // 2]}")
        else:
            if self.pending[queue] == 0:
                self.head[queue] = address
            self.pending[queue] += 1
            self.posted[queue] += 1
            if queue % 2 == 0 or self.states[queue // 2] == ViState.ERROR:
                self.wakes.append(queue)
            self.seen.add(f"token, state {self.states[queue // 2]}, side {queue % 2}")

    def link(self, queue: int, address: int, lost: bool) -> None:
        if self.closed(queue) or self.pending[queue] == 0 or self.head[queue] is not None:
            self.seen.add("idle link")
        elif lost:
            self.posted[queue] -= self.pending[queue]
            self.pending[queue] = 0
            self.seen.add("lost")
        else:
            self.head[queue] = address
            self.seen.add("link")

    def take(self, queue: int) -> tuple[int, int, bool] | None:
        if self.closed(queue) or self.pending[queue] == 0:
            self.seen.add("nothing to take")
            return None
        address = self.head[queue]
        assert address is not None, f"take of queue {queue} answered before its link"
        self.pending[queue] -= 1
        self.head[queue] = None
        return 1, address, self.pending[queue] > 0

    def count(self, vi: int) -> int:
        return sum((self.posted.get(2 * vi + side, 0) & 0xFFFF) << 16 * side for side in (0, 1))


class Taker:
    """One of the takers: takes, and links where it must, from the given queues."""

    def __init__(self, dut: Any, number: int, queues: list[int], *, pause: float,
                 rng: random.Random) -> None:
        self._dut = dut
        self.name = f"take__{number}"
        self.queues = queues
        self.pause = pause
        self.rng = rng
        self.links = Source(dut, f"{self.name}__link", shape=Link, stall=pause, seed=number)
        self.requests = Source(dut, f"{self.name}__request", stall=pause, seed=number + 2)
        self.takes = 0
        self.ended = False

    def link(self, queue: int) -> None:
        self.links.send({"queue": queue, "address": self.rng.getrandbits(64),
                         "lost": self.rng.random() < 0.1})

    async def run(self, count: int) -> None:
        valid = getattr(self._dut, f"{self.name}__valid")
        follow = getattr(self._dut, f"{self.name}__follow")
        edge = RisingEdge(self._dut.clk)
        while self.takes < count:
            queue = self.rng.choice(self.queues)
            self.requests.send(queue)
            self.takes += 1

            async def answer() -> None:
                await edge
                while valid.value != 1:
                    await edge
            await within(400, answer())
            if follow.value == 1:
                for _ in range(self.rng.randrange(8) if self.pause else 0):
                    await edge
                self.link(queue)
            elif self.rng.random() < 0.05:
                self.link(self.rng.choice(self.queues))
            if self.rng.random() < 0.5:
                await self.links.drain()
        self.ended = True


@cocotb.test()
async def agrees_with_the_model(dut: Any) -> None:
    p = parameters()
    rng = random.Random(seed())
    context = ContextModel(dut)
    pool = rng.sample(range(p["vis"]), min(p["vis"], 6))
    for number, vi in enumerate(pool):
        context.open(vi, [ViState.CONNECTED, ViState.ERROR, ViState.IDLE, ViState.CLOSED,
                          ViState.CONNECTED, ViState.ERROR][number])
    model = Model(p["depth"], context.states)
    await reset_and_clock(dut)
    tokens = Source(dut, "token", shape=Token, stall=p["stall"], seed=seed())
    control = Source(dut, "control", shape=Control, seed=seed())
    wakes = Sink(dut, "wake", stall=p["o_stall"], seed=seed() + 1)
    breaks = Sink(dut, "break_", shape=Break, stall=p["o_stall"], seed=seed() + 2)
    control.send(*({"vi": vi, "action": ControlAction.CREATE.value} for vi in pool))

    before: tuple[Any, ...] | None = None
    watched = 0
    waits: dict[str, int] = {}

    async def watch() -> None:
        """Operations in the order of their second cycles; the counts as of the cycle before."""
        nonlocal before, watched
        edge = RisingEdge(dut.clk)
        count: int | None = None
        while True:
            await edge
            if count is not None:
                assert int(dut.posted__counts.value) == count
            said = int(dut.posted__vi.value)
            count = model.count(said) if said in pool or said >= p["vis"] else None
            if count is not None and said >= p["vis"]:
                count = 0
            match before:
                case ("token", value):
                    model.token(value["queue"], value["address"])
                case ("link", value):
                    model.link(value["queue"], value["address"], value["lost"] == 1)
                case ("create", vi):
                    model.create(vi)
            for n in (0, 1):
                if getattr(dut, f"take__{n}__valid").value == 1:
                    found = None
                    if getattr(dut, f"take__{n}__found").value == 1:
                        found = tuple(int(getattr(dut, f"take__{n}__{name}").value)
                                      for name in ("found", "address", "follow"))
                    queue = asked.pop(n)
                    assert found == model.take(queue), (n, queue)
                    watched += 1
            before = None
            dut.posted__vi.value = (rng.choice(pool) if rng.random() < 0.8
                                   else rng.randrange(4096))

            def taken(name: str) -> int | None:
                if getattr(dut, f"{name}__valid").value != 1:
                    return None
                if getattr(dut, f"{name}__ready").value != 1:
                    waits[name] = waits.get(name, 0) + 1
                    # Tokens also wait for the wake-up before them.
                    assert waits[name] <= 7 or name == "token" and p["o_stall"], name
                    return None
                waits[name] = 0
                return int(getattr(dut, f"{name}__payload").value)

            if (value := taken("token")) is not None:
                before = ("token", unpack(Token, value))
            if (value := taken("control")) is not None:
                order = unpack(Control, value)
                assert before is None
                before = ("create", order["vi"]) if order["action"] == 0 else None
            for n in (0, 1):
                if (value := taken(f"take__{n}__link")) is not None:
                    assert before is None
                    before = ("link", unpack(Link, value))
                if getattr(dut, f"take__{n}__request__valid").value == 1:
                    if getattr(dut, f"take__{n}__request__ready").value == 1:
                        asked[n] = int(getattr(dut, f"take__{n}__request__payload").value)

    asked: dict[int, int] = {}
    cocotb.start_soon(watch())
    await within(100, control.drain())
    queues = [2 * vi + side for vi in pool for side in (0, 1)]
    # The last VIs have no takers, so that their queues fill up.
    takers = [Taker(dut, n, queues[:-4], pause=p["stall"], rng=random.Random(seed() + n))
              for n in (0, 1)]
    tasks = [cocotb.start_soon(taker.run(p["takes"])) for taker in takers]
    while not all(taker.ended for taker in takers):
        if tokens.sent > 0.9 * p["takes"] * 3:
            tokens.stall = 0.5
        if len(tokens._queue) < 3:
            tokens.send({"queue": rng.choice(queues), "address": rng.getrandbits(64)})
        if rng.random() < 0.01:
            control.send({"vi": rng.choice(pool), "action": rng.choice(list(ControlAction)).value})
        await cycles(dut, 1)
        for task in tasks:
            if task.done():
                task.result()
    wakes.stall = breaks.stall = 0.0
    await within(1000, tokens.drain())
    for taker in takers:
        await within(1000, taker.links.drain())
    await cycles(dut, 20)
    assert wakes.taken == model.wakes
    assert breaks.taken == [{"vi": vi, "event": Event.VI_OVERRUN} for vi in model.breaks]
    assert watched == 2 * p["takes"]
    assert dut.idle.value == 1
    assert model.seen >= {"token to a closed VI", "overrun, state 2", "overrun, state 3",
                          "idle link", "lost", "link",
                          "nothing to take", *(f"token, state {state}, side {side}"
                                               for state in (1, 2, 3) for side in (0, 1))}


@cocotb.test()
async def follows_the_chain(dut: Any) -> None:
    """As software and the sender do it: what was posted is taken, all, in order; and how fast."""
    p = parameters()
    rng = random.Random(seed())
    context = ContextModel(dut)
    for vi in range(p["vis"]):
        context.open(vi)
    await reset_and_clock(dut)
    tokens = Source(dut, "token", shape=Token, stall=p["stall"], seed=seed())
    control = Source(dut, "control", shape=Control, seed=seed())
    Sink(dut, "wake")
    control.send(*({"vi": vi, "action": ControlAction.CREATE.value} for vi in range(p["vis"])))
    await within(100, control.drain())
    await cycles(dut, 2)
    posted: dict[int, list[int]] = {n: [] for n in range(2 * p["vis"])}
    taken: dict[int, list[int]] = {n: [] for n in range(2 * p["vis"])}
    for _ in range(p["messages"]):
        queue = rng.randrange(2 * p["vis"])
        posted[queue].append(rng.getrandbits(64))
        tokens.send({"queue": queue, "address": posted[queue][-1]})
    left = p["messages"]

    async def taker(side: int) -> None:
        """Takes what it can, links at once."""
        nonlocal left
        edge = RisingEdge(dut.clk)
        request = getattr(dut, f"take__{side}__request__payload")
        asks = getattr(dut, f"take__{side}__request__valid")
        ready = getattr(dut, f"take__{side}__request__ready")
        links = Source(dut, f"take__{side}__link", shape=Link)
        queue = side
        while left:
            queue = (queue + 2) % (2 * p["vis"])
            asks.value, request.value = 1, queue
            await edge
            while ready.value != 1:
                await edge
            asks.value = 0
            await edge
            while getattr(dut, f"take__{side}__valid").value != 1:
                await edge
            if getattr(dut, f"take__{side}__found").value == 1:
                left -= 1
                chain = taken[queue]
                chain.append(int(getattr(dut, f"take__{side}__address").value))
                if getattr(dut, f"take__{side}__follow").value == 1:
                    links.send({"queue": queue, "address": posted[queue][len(chain)]})

    tasks = [cocotb.start_soon(taker(side)) for side in (0, 1)]

    async def end() -> None:
        for task in tasks:
            await task
    await within(50 * p["messages"], end())
    assert taken == posted
    for vi in range(p["vis"]):
        dut.posted__vi.value = vi
        await cycles(dut, 2)
        assert int(dut.posted__counts.value) == len(posted[2 * vi]) | len(posted[2 * vi + 1]) << 16


@cocotb.test()
async def is_quick(dut: Any) -> None:
    """An operation a cycle; a wake-up and an answer the cycle after."""
    context = ContextModel(dut)
    for vi in range(8):
        context.open(vi)
    await reset_and_clock(dut)
    control = Source(dut, "control", shape=Control)
    wakes = Sink(dut, "wake")
    tokens = Source(dut, "token", shape=Token)
    control.send(*({"vi": vi, "action": ControlAction.CREATE.value} for vi in range(8)))
    await within(100, control.drain())
    await cycles(dut, 2)
    tokens.send(*({"queue": 2 * (n % 8), "address": n} for n in range(32)))
    await within(100, wakes.receive(32))
    assert tokens.cycles[-1] - tokens.cycles[0] == 31
    assert [b - a for a, b in zip(tokens.cycles, wakes.cycles, strict=True)] == [1] * 32
    # Takes and links of both ports and tokens, at once.
    tokens.stop()
    Sink(dut, "break_", shape=Break)
    edge = RisingEdge(dut.clk)
    done = {name: 0 for name in ("token", "take__0__request", "take__1__request", "take__0__link",
                                 "take__1__link")}
    for name in done:
        getattr(dut, f"{name}__valid").value = 1
    dut.token__payload.value = pack(Token, {"queue": 2, "address": pack(Address, 5)})
    dut.take__0__request__payload.value = 4
    dut.take__1__request__payload.value = 14
    dut.take__0__link__payload.value = pack(Link, {"queue": 4})
    dut.take__1__link__payload.value = pack(Link, {"queue": 14})
    await edge
    for _ in range(100):
        await edge
        for name in done:
            done[name] += getattr(dut, f"{name}__ready").value == 1
    assert sum(done.values()) >= 98, done
    assert min(done.values()) >= 16, done


@pytest.mark.parametrize("vis, depth, stall, o_stall", [
    (8, 4, 0.4, 0.6), more(1024, 16, 0.0, 0.3), more(8, 4, 0.0, 0.0), more(8, 2, 0.2, 0.0)])
def test_agrees_with_the_model(vis: int, depth: int, stall: float, o_stall: float) -> None:
    run_bench(WorkQueues(vis=vis, depth=depth), __file__, testcase="agrees_with_the_model",
              vis=vis, depth=depth, stall=stall, o_stall=o_stall, takes=1000,
              seed=vis + depth + round(10 * stall))


@pytest.mark.parametrize("stall", [0.0, 0.7])
def test_follows_the_chain(stall: float) -> None:
    run_bench(WorkQueues(vis=8, depth=1024), __file__, testcase="follows_the_chain", vis=8,
              messages=1000, stall=stall)


def test_is_quick() -> None:
    run_bench(WorkQueues(vis=8, depth=64), __file__, testcase="is_quick")


@pytest.mark.parametrize("vis, depth", [(12, 16), (8, 12), (8, 0), (8, 65536), (8192, 16)])
def test_sizes_are_powers_of_two(vis: int, depth: int) -> None:
    with pytest.raises(ValueError, match="must be "):
        WorkQueues(vis=vis, depth=depth)


def test_sizes_are_integers() -> None:
    with pytest.raises(TypeError, match="depth must be an integer, not 4.0"):
        WorkQueues(vis=8, depth=4.0)  # type: ignore[arg-type]
