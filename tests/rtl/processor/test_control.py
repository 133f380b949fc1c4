"""The NIC processor's control blocks joined: a core that the test plays, and a host."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from nicbed.layouts.description import Description
from nicbed.layouts.processor import (
    DOORBELL_ENTRY,
    DOORBELL_OWNER,
    DOORBELL_WORDS,
    ENGINE_STRIDE,
    ENGINES_BASE,
    MMIO_BASE,
    STATUS,
    WINDOW_OWNER,
    CrashReason,
    Engine,
    EngineRegister,
    Pending,
    State,
    mmio_address,
)
from nicbed.layouts.trace import Block, Kind
from nicbed.rtl.processor.processor import Processor
from nicbed.rtl.processor.types import CoreSide

from tests.labs.control_bench import simulate
from tests.labs.rows import more

MEMORY = 1 << 14
WORDS_AT = 0x1000
DESCRIPTION = Description.model_validate(
    {"nic": {"processor": "picorv32"}, "processor": {"memory": MEMORY, "doorbell_queue": 4}})


class Played(wiring.Component):
    """Stands where the core is; what it does comes from the test."""

    SPECULATES = False

    def __init__(self) -> None:
        super().__init__(CoreSide)

    def elaborate(self, platform: object) -> Module:
        return Module()


class Stopped(Exception):
    """The core gets no clock any more."""


class Node:
    """The processor, its host, and time: every cycle goes by through :meth:`tick`."""

    def __init__(self, processor: Processor, core: Played) -> None:
        self.dut, self.core = processor, core
        self.cycle = 0
        self.idle = 0
        self.counts = dict.fromkeys(("window_refused", "page_refused", "page_lost"), 0)
        self.events: list[tuple[Block, int, int]] = []
        self.last_loss = 0

    async def start(self, ctx: Any, *, divider: int = 1, watchdog: int = 0) -> None:
        """Reset, over with the cycle in which the core makes its first access."""
        dut = self.dut
        ctx.set(dut.timing.processor_clock_divider, divider)
        ctx.set(dut.timing.processor_watchdog, watchdog)
        ctx.set(dut.timing.bus_max_burst, 64)
        ctx.set(dut.packets.tx.ready, 1)
        ctx.set(self.core.bus.valid, 0)
        ctx.set(dut.registers.run, 0)
        await self.tick(ctx)
        assert self.state(ctx) == State.RESET
        ctx.set(dut.registers.run, 1)
        for _ in range(400):
            if not ctx.get(self.core.reset):
                return
            await self.tick(ctx)
        raise AssertionError("in reset for ever")

    async def tick(self, ctx: Any, cycles: int = 1) -> None:
        dut = self.dut
        for _ in range(cycles):
            ctx.set(dut.cycle, self.cycle)
            for name, pulse in (("window_refused", dut.registers.window_refused),
                                ("page_refused", dut.pages.refused),
                                ("page_lost", dut.pages.lost)):
                self.counts[name] += ctx.get(pulse)
            for block, port in zip(dut.event_sources, dut.events, strict=True):
                if ctx.get(port.valid):
                    self.events.append((block, ctx.get(port.kind), ctx.get(port.arg)))
            if ctx.get(dut.pages.lost):
                self.last_loss = self.cycle
            self.idle = ctx.get(dut.idle)
            await ctx.tick()
            self.cycle += 1

    def state(self, ctx: Any) -> State:
        return State(STATUS.get(ctx.get(self.dut.registers.state.status), "state"))

    def crash(self, ctx: Any) -> tuple[CrashReason, int, int]:
        state = self.dut.registers.state
        assert self.state(ctx) == State.CRASHED and ctx.get(state.crashed)
        return (CrashReason(STATUS.get(ctx.get(state.status), "reason")),
                ctx.get(state.pc), ctx.get(state.cause))

    # The core.

    async def access(self, ctx: Any, address: int, data: int | None = None, limit: int = 600,
                     meanwhile: Callable[[int], None] | None = None) -> int:
        """An access of the core; :class:`Stopped` if it gets no answer."""
        bus = self.core.bus
        ctx.set(bus.valid, 1)
        ctx.set(bus.write, data is not None)
        ctx.set(bus.address, address)
        ctx.set(bus.data, data or 0)
        ctx.set(bus.strobe, 0xF if data is not None else 0)
        for waited in range(limit):
            if meanwhile is not None:
                meanwhile(waited)
            ctx.set(self.dut.cycle, self.cycle)
            done = ctx.get(bus.ack) and ctx.get(self.core.edge)
            value = ctx.get(bus.read)
            await self.tick(ctx)
            ctx.set(self.dut.window.valid, 0)
            ctx.set(self.dut.pages.valid, 0)
            ctx.set(self.dut.asks.watched, 0)
            if done:
                ctx.set(bus.valid, 0)
                return value
        raise Stopped

    async def read(self, ctx: Any, name: str, **options: Any) -> int:
        return await self.access(ctx, mmio_address(name), **options)

    async def write(self, ctx: Any, name: str, data: int) -> None:
        await self.access(ctx, mmio_address(name), data)

    async def give(self, ctx: Any, engine: Engine, **command: int) -> None:
        """A command for ``engine``."""
        base = MMIO_BASE + ENGINES_BASE + ENGINE_STRIDE * engine
        for name, value in command.items():
            await self.access(ctx, base + EngineRegister[name.upper()], value)
        await self.access(ctx, base + EngineRegister.START, 0)

    # The host. An access is in the cycle that follows.

    def window(self, ctx: Any, address: int, data: int | None = None, process: int = 0) -> None:
        port = self.dut.window
        ctx.set(port.valid, 1)
        ctx.set(port.write, data is not None)
        ctx.set(port.address, address)
        ctx.set(port.data, data or 0)
        ctx.set(port.process, process)

    def ring(self, ctx: Any, page: int, data: int = 0, offset: int = 0, process: int = 0) -> None:
        port = self.dut.pages
        ctx.set(port.valid, 1)
        ctx.set(port.page, page)
        ctx.set(port.offset, offset)
        ctx.set(port.data, data)
        ctx.set(port.process, process)

    async def peek(self, ctx: Any, address: int, process: int = 0) -> int:
        """A read of NIC memory by PIO."""
        self.window(ctx, address, process=process)
        await self.tick(ctx)
        value = ctx.get(self.dut.window.read)
        ctx.set(self.dut.window.valid, 0)
        await self.tick(ctx)
        return value

    async def own(self, ctx: Any, port: Any, word: int) -> None:
        ctx.set(port.valid, 1)
        ctx.set(port.payload, word)
        await self.tick(ctx)
        ctx.set(port.valid, 0)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Runs ``await body(ctx, node)``."""
    core = Played()
    monkeypatch.setattr("nicbed.rtl.processor.processor.make_core", lambda name, step: core)

    def run(body: Any, limit: int = 20_000) -> None:
        processor = Processor(description=DESCRIPTION)

        async def bench(ctx: Any) -> None:
            await body(ctx, Node(processor, core))

        simulate(processor, bench, limit=limit)

    return run


def test_each_source_wakes(play: Any) -> None:
    """A wait for one bit ends with what sets that bit and with nothing else; asleep, the processor
    is idle but for a timer that runs; the divider changes nothing of it."""
    async def body(ctx: Any, node: Node) -> None:
        dut = node.dut
        for divider in (1, 3):
            await node.start(ctx, divider=divider)
            causes = {
                Pending.WINDOW: lambda: node.window(ctx, 0x100, 5),
                Pending.DOORBELL: lambda: node.ring(ctx, 3),
                Pending.WATCH: lambda: ctx.set(dut.asks.watched, 1),
            }
            for bit, cause in causes.items():
                others = [other for one, other in causes.items() if one is not bit]

                def meanwhile(waited: int, cause: Any = cause, others: Any = others) -> None:
                    if 10 <= waited < 30 and waited % 5 == 0:
                        others[waited % 2]()
                    if waited == 45:
                        assert node.state(ctx) == State.ASLEEP and node.idle
                        cause()

                before = node.cycle
                await node.write(ctx, "wait_mask", bit)
                assert await node.read(ctx, "wait", meanwhile=meanwhile) == bit
                assert 45 <= node.cycle - before < 70 and node.state(ctx) == State.RUNNING
                # What is a level stays while there is one.
                while await node.read(ctx, "doorbell"):
                    await node.write(ctx, "doorbell_pop", 1)
                pending = await node.read(ctx, "pending")
                assert not pending & Pending.DOORBELL and pending & Pending.WINDOW
                await node.write(ctx, "pending", 0xFF)
                assert await node.read(ctx, "pending") == 0

            await node.write(ctx, "wait_mask", Pending.TIMER)
            deadline = node.cycle + 100
            await node.write(ctx, "timer", deadline)

            def never_idle(waited: int, deadline: int = deadline) -> None:
                assert node.cycle >= deadline or not ctx.get(dut.idle)

            assert await node.read(ctx, "wait", meanwhile=never_idle) == Pending.TIMER
            assert deadline < node.cycle < deadline + 8
            await node.write(ctx, "timer_off", 1)
            assert await node.read(ctx, "pending") == 0

            # The engines, by commands that end at once.
            for engine, bit in ((Engine.H2N, Pending.H2N), (Engine.N2H, Pending.N2H),
                                (Engine.SEND, Pending.SEND)):
                await node.write(ctx, "wait_mask", bit)
                await node.give(ctx, engine, length=0)
                assert await node.read(ctx, "wait") == bit
                await node.write(ctx, "pending", bit)
                assert await node.read(ctx, "pending") == 0
        sleeps = [kind for block, kind, _ in node.events if block is Block.PROCESSOR]
        assert len(sleeps) > 20

    play(body)


def test_receive_wakes(play: Any) -> None:
    async def body(ctx: Any, node: Node) -> None:
        await node.start(ctx)
        word = node.dut.packets.rx.payload
        header = 8 << 16
        await node.give(ctx, Engine.RECEIVE, local=0x200, length=64)
        await node.write(ctx, "wait_mask", Pending.RECEIVE)
        sent = [(header, 1, 1, 0), (0x1122_3344_5566_7788, 0, 0, 1)]
        taken: list[bool] = []

        def meanwhile(waited: int) -> None:
            assert waited != 20 or node.idle
            if ctx.get(node.dut.packets.rx.valid) and taken:
                sent.pop(0)
            ctx.set(node.dut.packets.rx.valid, waited >= 20 and bool(sent))
            if sent:
                data, following, first, last = sent[0]
                ctx.set(word.data, data)
                ctx.set(word.following, following)
                ctx.set(word.first, first)
                ctx.set(word.last, last)
            taken[:] = [True] * ctx.get(node.dut.packets.rx.ready)

        assert await node.read(ctx, "wait", meanwhile=meanwhile) == Pending.RECEIVE
        # What woke it is in memory by then.
        assert await node.access(ctx, 0x210) == 0x5566_7788
        assert await node.access(ctx, 0x208) == header
        assert await node.access(ctx, 0x200) != 0

    play(body)


def test_crashes(play: Any) -> None:
    """Each reason, with its pc and cause; the clock stops, and reset is the way out."""
    async def body(ctx: Any, node: Node) -> None:
        core = node.core
        pc = 0x1230
        ctx.set(core.pc, pc)

        async def crashed(*expected: int) -> None:
            assert node.crash(ctx) == expected
            events = len(node.events)
            for _ in range(20):
                await node.tick(ctx)
                assert not ctx.get(core.edge)
                assert node.crash(ctx) == expected
            assert node.idle and len(node.events) <= events + 1
            await node.start(ctx)
            assert node.state(ctx) == State.RUNNING
            assert not ctx.get(node.dut.registers.state.crashed)

        await node.start(ctx)
        for address, data in ((MEMORY, None), (MEMORY + 0x2000, 1), (0x7FFF_FFFC, None),
                              (MMIO_BASE + 0x1000, 5), (0xFFFF_FFF0, None)):
            with pytest.raises(Stopped):
                await node.access(ctx, address, data, limit=30)
            await crashed(CrashReason.BUS, pc, address)
        for offset in (0x80, 0x11C, 0xFFC):
            ctx.set(core.bus.valid, 0)
            await node.access(ctx, MMIO_BASE + offset)
            await crashed(CrashReason.BUS, pc, MMIO_BASE + offset)
        await node.access(ctx, MEMORY - 4)

        for reason in (CrashReason.PANIC, CrashReason.EXCEPTION):
            await node.write(ctx, "crash_pc", 0x4444)
            await node.write(ctx, "crash_cause", 0xDEAD_0000 + reason)
            await node.write(ctx, "crash", reason)
            await crashed(reason, 0x4444, 0xDEAD_0000 + reason)
            assert await node.read(ctx, "crash_pc") == 0

        ctx.set(core.trap, 1)
        await node.tick(ctx)
        ctx.set(core.trap, 0)
        await crashed(CrashReason.TRAP, pc, 0)

        await node.give(ctx, Engine.H2N, host=0, local=MEMORY - 8, length=64)
        await node.tick(ctx, 20)
        assert node.crash(ctx)[0] == CrashReason.BUS

    play(body)


def test_watchdog(play: Any) -> None:
    """It counts cycles awake alone; a kick and a look at wait begin it anew."""
    async def body(ctx: Any, node: Node) -> None:
        limit = 60
        await node.start(ctx, watchdog=limit)
        kicked = 0
        for number in range(20):
            for _ in range(10):
                await node.read(ctx, "cycle")
            if number % 2:
                await node.write(ctx, "watchdog", 1)
            else:
                # Asleep for longer than the watchdog's patience.
                await node.write(ctx, "wait_mask", Pending.TIMER)
                await node.write(ctx, "timer", node.cycle + 3 * limit * (number % 4 == 0))
                await node.read(ctx, "wait")
            kicked = node.cycle
            assert node.state(ctx) == State.RUNNING
        with pytest.raises(Stopped):
            while True:
                await node.read(ctx, "cycle", limit=3 * limit)
        assert node.crash(ctx)[0] == CrashReason.WATCHDOG
        ends = [kind for block, kind, _ in node.events if block is Block.PROCESSOR]
        assert ends[-1] == Kind.END
        # Stopped waited for 3 * limit cycles more.
        assert limit <= node.cycle - 3 * limit - kicked <= limit + 4

    play(body)


def test_foreign_accesses(play: Any) -> None:
    """Pages of memory and doorbell pages, granted by the kernel and by the firmware."""
    async def body(ctx: Any, node: Node) -> None:
        registers = node.dut.registers
        await node.start(ctx)

        async def write(address: int, data: int, process: int) -> None:
            node.window(ctx, address, data, process)
            await node.tick(ctx)
            ctx.set(node.dut.window.valid, 0)

        await write(0x2008, 1, 0)
        await write(0x2008, 2, 7)
        assert node.counts["window_refused"] == 1
        assert await node.peek(ctx, 0x2008, 7) == 0
        assert await node.peek(ctx, 0x2008) == 1
        await node.own(ctx, registers.window_owner, WINDOW_OWNER.pack(page=2, process=7))
        await write(0x2008, 3, 7)
        await write(0x3008, 4, 7)
        await write(0x2008, 5, 8)
        await write(MEMORY, 6, 0)
        assert await node.access(ctx, 0x2008) == 3
        assert await node.peek(ctx, 0x2008, 7) == 3
        assert node.counts["window_refused"] == 5
        assert ctx.get(registers.load.words) == 2 and ctx.get(registers.load.sum) == 2 * 1 + 3

        async def ring(page: int, process: int) -> bool:
            """Whether it is taken."""
            node.ring(ctx, page, data=0x5_0000_0006, offset=0x20, process=process)
            await node.tick(ctx)
            ctx.set(node.dut.pages.valid, 0)
            await node.tick(ctx, 4)
            entry = DOORBELL_ENTRY.unpack(await node.read(ctx, "doorbell"))
            if not entry["valid"]:
                return False
            assert entry == {"page": page, "offset": 4, "process": process, "reserved": 0,
                             "lost": 0, "valid": 1}
            assert await node.read(ctx, "doorbell_low") == 6
            assert await node.read(ctx, "doorbell_high") == 5
            await node.write(ctx, "doorbell_pop", 1)
            return True

        assert await ring(9, 0) and not await ring(9, 7)
        await node.own(ctx, registers.doorbell_owner,
                       DOORBELL_OWNER.pack(page=9, process=7, enable=1))
        assert await ring(9, 7) and not await ring(9, 8) and not await ring(8, 7)
        await node.write(ctx, "doorbell_page", 8)
        await node.write(ctx, "doorbell_enable", 7 | 1 << 8)
        assert await ring(8, 7)
        await node.write(ctx, "doorbell_enable", 7)
        assert not await ring(8, 7) and await ring(8, 0)
        assert node.counts["page_refused"] == 4 and node.counts["page_lost"] == 0
        rung = [arg for block, _, arg in node.events if block is Block.DOORBELL]
        assert rung == [9, 9, 8, 8]

    play(body)


def test_doorbell_words(play: Any) -> None:
    async def body(ctx: Any, node: Node) -> None:
        await node.start(ctx)
        ctx.set(node.dut.registers.doorbell_words,
                DOORBELL_WORDS.pack(address=WORDS_AT, enable=1))
        await node.write(ctx, "wait_mask", Pending.WINDOW)

        def meanwhile(waited: int) -> None:
            if waited == 20:
                node.ring(ctx, 5, data=0x77_0000_0088, offset=8)

        assert await node.read(ctx, "wait", meanwhile=meanwhile) == Pending.WINDOW
        assert await node.access(ctx, WORDS_AT + 16 * 5 + 8) == 0x88
        assert await node.access(ctx, WORDS_AT + 16 * 5 + 12) == 0x77
        assert await node.read(ctx, "doorbell") == 0

    play(body)


@pytest.mark.parametrize("divider, seed", [more(1, 1), (2, 2), more(7, 3)])
def test_no_wake_is_lost(play: Any, divider: int, seed: int) -> None:
    """Firmware that sleeps whenever it sees nothing takes every doorbell, or learns of a loss, and
    sees every word written, at whatever cycle they come."""
    rng = random.Random(seed)

    async def body(ctx: Any, node: Node) -> None:
        await node.start(ctx, divider=divider)
        await node.write(ctx, "wait_mask", Pending.DOORBELL | Pending.WINDOW | Pending.TIMER)
        rung: list[int] = []
        taken: list[int] = []
        told = words = seen = 0  # told: the cycle in which the firmware last learnt of a loss
        quiet = rng.randrange(60)

        def host(waited: int) -> None:
            nonlocal quiet, words
            quiet -= 1
            if quiet > 0 or len(rung) + words >= 150:
                return
            quiet = rng.choice([1, 1, 2, 5, rng.randrange(80)])
            if rng.random() < 0.6:
                rung.append(len(rung))
                node.ring(ctx, rng.randrange(1024), data=rung[-1])
            else:
                words += 1
                node.window(ctx, 0x400, words)

        finished = 0
        for _ in range(2000):
            if len(rung) + words >= 150 and not finished:
                finished = node.cycle + 3000
                await node.write(ctx, "timer", finished)
            bits = await node.read(ctx, "wait", limit=5000, meanwhile=host)
            await node.access(ctx, mmio_address("pending"), bits, meanwhile=host)
            seen = await node.access(ctx, 0x400, meanwhile=host)
            entry = await node.read(ctx, "doorbell", meanwhile=host)
            if entry:
                if DOORBELL_ENTRY.get(entry, "lost"):
                    told = node.cycle
                taken.append(await node.read(ctx, "doorbell_low", meanwhile=host))
                await node.access(ctx, mmio_address("doorbell_pop"), 1, meanwhile=host)
            if bits & Pending.TIMER:
                break
        assert bits & Pending.TIMER and seen == words > 20
        assert node.counts["page_refused"] == 0
        assert len(taken) + node.counts["page_lost"] == len(rung) > 50
        assert taken == sorted(set(taken)) and set(taken) <= set(rung)
        assert told > node.last_loss > 0

    play(body, limit=60_000)
