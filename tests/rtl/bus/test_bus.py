"""The bus and the memory controller: durations, order, fairness, what lands where."""

import random
from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

import cocotb
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from cocotb.triggers import FallingEdge, RisingEdge
from nicbed.layouts.trace import Kind
from nicbed.rtl.bus.burst import Burst
from nicbed.rtl.bus.bus import Bus, PioInitiator
from nicbed.rtl.bus.memory import HostMemory, MemoryController, Snoop
from nicbed.rtl.bus.pio import PioTarget
from nicbed.rtl.bus.posted_buffer import PioBeat
from nicbed.rtl.parts.event import EventPort
from nicbed.rtl.parts.timing import Timing

from tests.labs.bench import cycles, pack, reset_and_clock, run_bench, seed, unpack, within
from tests.labs.port_system import Engine

WORDS = 256


class BusSystem(wiring.Component):
    """A bus of one host port and two engines before a memory, which a third initiator shares."""

    def __init__(self) -> None:
        super().__init__({
            "port": In(PioInitiator), "first": In(Burst()), "second": In(Burst()),
            "third": In(Burst()),
            "lock": In(1), "pio": Out(PioTarget), "timing": In(Timing), "idle": Out(1),
            "snoop": Out(Snoop), "begin": Out(EventPort), "end": Out(EventPort), "cycle": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bus = bus = Bus(ports=1, engines=2)
        m.submodules.controller = controller = MemoryController(initiators=2, words=WORDS)
        m.submodules.memory = memory = HostMemory(words=WORDS, kind="array")
        connect(m, flipped(self.port), bus.port[0])
        connect(m, flipped(self.first), bus.engine[0])
        connect(m, flipped(self.second), bus.engine[1])
        connect(m, flipped(self.third), controller.burst[1])
        connect(m, bus.memory, controller.burst[0])
        connect(m, controller.port, memory.port)
        connect(m, bus.pio, flipped(self.pio))
        connect(m, bus.events[0], flipped(self.begin))
        connect(m, bus.events[1], flipped(self.end))
        m.d.comb += [bus.timing.eq(self.timing), controller.timing.eq(self.timing),
                     controller.lock[1].eq(self.lock), self.snoop.eq(controller.snoop),
                     self.idle.eq(bus.idle & controller.idle)]
        m.d.sync += self.cycle.eq(self.cycle + 1)
        return m


def timing(setup: int = 6, latency: int = 8, bus: Fraction = Fraction(8),
           memory: Fraction = Fraction(8), write: int = 4, read: int = 12, beat: int = 1) -> int:
    return pack(Timing, {
        "bus_dma_setup": setup, "memory_latency": latency, "bus_pio_write": write,
        "bus_pio_read": read, "bus_burst_beat": beat, "bus_bytes_per_cycle": round(bus * 65536),
        "memory_bytes_per_cycle": round(memory * 65536)})


class Events:
    """BEGIN and END events: (cycle, initiator, number)."""

    def __init__(self, dut: Any) -> None:
        self.begins: list[tuple[int, int, int]] = []
        self.ends: list[tuple[int, int, int]] = []
        self._dut = dut
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        dut = self._dut
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            for name, kind, log in (("begin", Kind.BEGIN, self.begins),
                                    ("end", Kind.END, self.ends)):
                if int(getattr(dut, f"{name}__valid").value):
                    assert int(getattr(dut, f"{name}__kind").value) == kind
                    log.append((int(dut.cycle.value), int(getattr(dut, f"{name}__arg").value),
                                int(getattr(dut, f"{name}__number").value)))

    def spans(self, initiator: int) -> list[int]:
        """Cycles that each of the initiator's transactions held the bus."""
        return [end[0] - begin[0] for begin, end in zip(self.begins, self.ends, strict=True)
                if begin[1] == initiator]

    def check(self) -> None:
        """One at a time, and what ends is what began."""
        assert [begin[1:] for begin in self.begins] == [end[1:] for end in self.ends]
        assert all(end[0] <= begin[0] for end, begin in
                   zip(self.ends, self.begins[1:], strict=False))


async def finished(*engines: Engine) -> None:
    """Until the engines have nothing left to do."""
    edge = FallingEdge(engines[0].dut.clk)
    while any(engine.busy for engine in engines):
        await edge


async def setting(dut: Any, **knobs: Any) -> None:
    await FallingEdge(dut.clk)
    dut.timing.value = timing(**knobs)


@cocotb.test()
async def holds_as_long_as_promised(dut: Any) -> None:
    await reset_and_clock(dut, timing=timing())
    engine = Engine(dut, "first")
    engine.start(dut)
    for setup, latency, beats in ((6, 8, 4), (0, 0, 1), (3, 20, 32), (0, 1, 7)):
        await setting(dut, setup=setup, latency=latency)
        events = Events(dut)
        engine.write(0, list(range(beats)), trace=beats)
        await within(200, finished(engine))
        engine.fetch(0, beats)
        await within(200, finished(engine))
        await cycles(dut, 3)
        assert events.spans(1) == [setup + beats + 2, setup + latency + beats + 3]
        assert events.begins[0][2] == beats
        events.check()
        assert engine.read[-1] == list(range(beats))
        assert int(dut.idle.value) == 1


@cocotb.test()
async def moves_at_its_rate(dut: Any) -> None:
    await reset_and_clock(dut, timing=timing())
    engine = Engine(dut, "first")
    engine.start(dut)
    for rate in (Fraction(8), Fraction(160, 33), Fraction(3), Fraction(1), Fraction(1, 16)):
        beats = 40 if rate >= 1 else 4
        for slow in ({"bus": rate}, {"memory": rate}, {"bus": rate, "memory": rate}):
            await setting(dut, setup=0, latency=0, **slow)
            events = Events(dut)
            engine.write(0, [7] * beats)
            engine.fetch(0, beats)
            await within(20000, finished(engine))
            await cycles(dut, 300)
            for span, fixed in zip(events.spans(1), (2, 3), strict=True):
                # A throttled memory makes the beat after a beat wait, a bus the beat itself.
                moved = 8 * (beats if "bus" in slow else beats - 1) / rate
                moved += 0 if "bus" in slow else 1
                # Where both do, each beat may end on a whole cycle. The memory may be busy still
                # with the last beat of the burst before.
                late = beats * (ceil(8 / rate) - 8 / rate) if len(slow) == 2 else 0
                late += 8 / rate if "memory" in slow else 0
                assert 0 <= span - fixed - moved < 2 + late, (rate, slow)


@cocotb.test()
async def writes_where_it_is_told(dut: Any) -> None:
    await reset_and_clock(dut, timing=timing(setup=0, latency=2))
    engines = [Engine(dut, name, stall=stall, seed=seed() + number) for number, (name, stall) in
               enumerate((("first", 0.3), ("second", 0.0), ("third", 0.5)))]
    rng = random.Random(seed())
    memory = [0] * WORDS
    for engine in engines:
        engine.start(dut)
    for _ in range(120):
        # Each engine has words of its own, so that the order between them does not matter.
        expected: list[tuple[Engine, list[int]]] = []
        for number, engine in enumerate(engines):
            low = 80 * number
            beats = rng.randint(1, 20)
            at = low + rng.randrange(80 - beats)
            address = 8 * at + rng.choice([0, 0, 8 * WORDS])
            if rng.random() < 0.5:
                words = [rng.getrandbits(64) for _ in range(beats)]
                strobe = rng.choice([255, 255, 0x0F, 0])
                jump = rng.choice([None, low + rng.randrange(80)])
                engine.write(address, words, strobe=strobe,
                             jump=None if jump is None else 8 * jump)
                mask = sum(255 << 8 * lane for lane in range(8) if strobe >> lane & 1)
                for beat, word in enumerate(words):
                    place = jump if jump is not None and beat == beats - 1 else at + beat
                    memory[place] = memory[place] & ~mask | word & mask
            else:
                engine.fetch(address, beats)
                expected.append((engine, memory[at:at + beats]))
        await within(3000, finished(*engines))
        for engine, words in expected:
            assert engine.read[-1] == words


class Pio:
    """Offers beats, and is the NIC: it takes an access ``wait()`` cycles after it is offered, and
    answers a read ``1 + wait()`` cycles later. ``done`` has (cycle, data) of each that was
    answered, ``waited`` the cycles of waiting for each transaction."""

    def __init__(self, dut: Any, wait: Callable[[], int] = lambda: 0) -> None:
        self.wait = wait
        self.waited: list[int] = []
        self.queue: list[dict[str, int]] = []
        self.done: list[tuple[int, int]] = []
        self.taken: list[int] = []
        self.reached: list[tuple[int, int, int]] = []
        self._dut = dut
        cocotb.start_soon(self._run())

    def write(self, *words: int, address: int = 0x40, trace: int = 0, answer: int = 0) -> None:
        for number, word in enumerate(words):
            last = int(number == len(words) - 1)
            self.queue.append({"write": 1, "address": address + 8 * number, "data": word,
                               "trace": trace, "last": last, "answer": answer & last})

    def read(self, address: int) -> None:
        self.queue.append({"write": 0, "address": address, "last": 1, "answer": 1})

    async def _run(self) -> None:
        dut = self._dut
        rising, falling = RisingEdge(dut.clk), FallingEdge(dut.clk)
        fields = [getattr(dut, f"pio__{name}") for name in ("write", "address", "data", "strobe")]
        left = self.wait()
        waited = 0
        offered: list[int] | None = None
        answer: tuple[int, int] | None = None
        while True:
            await falling
            dut.port__beat__valid.value = int(bool(self.queue))
            dut.pio__ready.value = int(not left)
            now = answer is not None and answer[0] == 0
            dut.pio__answer__valid.value = int(now)
            dut.pio__answer__data.value = answer[1] if answer and now else 0xBAD
            answer = None if answer is None or now else (answer[0] - 1, answer[1])
            if self.queue:
                dut.port__beat__payload.value = pack(PioBeat, self.queue[0])
            await rising
            cycle = int(dut.cycle.value)
            if int(dut.pio__valid.value):
                assert answer is None and not now, "an access before the answer"
                write, address, data, strobe = access = [int(field.value) for field in fields]
                assert offered in (None, access), "an access changed while it waited"
                offered = access
                if left:
                    left -= 1
                    waited += 1
                else:
                    offered, left = None, self.wait()
                    if write:
                        assert strobe == 0xFF
                        self.reached.append((cycle, address, data))
                    else:
                        answer = (self.wait(), ~address & (1 << 64) - 1)
                        waited += answer[0]
            else:
                assert offered is None, "an access was taken back"
            if self.queue and int(dut.port__beat__ready.value):
                self.taken.append(cycle)
                if self.queue.pop(0)["last"]:
                    self.waited.append(waited)
                    waited = 0
            if int(dut.port__done.value):
                self.done.append((cycle, int(dut.port__data.value)))


@cocotb.test()
async def carries_pio(dut: Any) -> None:
    await reset_and_clock(dut, timing=timing())
    pio = Pio(dut)
    for write, read, beat in ((4, 12, 1), (1, 2, 1), (2, 3, 5), (9, 2, 2)):
        await setting(dut, write=write, read=read, beat=beat)
        events = Events(dut)
        pio.reached.clear()
        pio.done.clear()
        pio.write(1, 2, 3, trace=9)
        pio.write(4, answer=1)
        pio.read(0x88)
        await cycles(dut, 80)
        events.check()
        assert events.spans(0) == [write + 2 * beat, write, read]
        start = events.begins[0][0]
        assert pio.reached == [
            (start + write - 1, 0x40, 1), (start + write - 1 + beat, 0x48, 2),
            (start + write - 1 + 2 * beat, 0x50, 3), (start + 2 * write + 2 * beat - 1, 0x40, 4)]
        # Back to back, and the answers in the last cycles.
        end = start + 2 * write + 2 * beat
        assert [cycle for cycle, _ in pio.done] == [end - 1, end + read - 1]
        assert pio.done[1][1] == ~0x88 & (1 << 64) - 1
        assert events.begins[0][2] == 9 and events.begins[1][2] == 0


@cocotb.test()
async def waits_for_a_slow_nic(dut: Any) -> None:
    """The bus is held for as many cycles more as the NIC lets its accesses wait."""
    await reset_and_clock(dut, timing=timing(write=3, read=5, beat=2))
    draw = random.Random(seed())
    pio, events, engine = Pio(dut, lambda: draw.choice((0, 0, 1, 2, 7))), Events(dut), Engine(
        dut, "first", stall=0.5, seed=seed())
    engine.start(dut)
    due, answered, spans = [], [], []
    for number in range(60):
        if draw.random() < 0.5:
            words = [draw.getrandbits(64) for _ in range(draw.randint(1, 4))]
            pio.write(*words, address=8 * number, answer=1)
            due += [(8 * (number + at), word) for at, word in enumerate(words)]
            answered.append(None)
            spans.append(3 + 2 * (len(words) - 1))
        else:
            pio.read(8 * number)
            answered.append(~(8 * number) & (1 << 64) - 1)
            spans.append(5)
        engine.fetch(0, draw.randint(1, 3))
    while pio.queue or engine.busy:
        await cycles(dut, 1)
        assert events.begins[-1:] == [] or events.begins[-1][0] < 8000, "no end"
    await cycles(dut, 3)
    events.check()
    assert [(address, word) for _, address, word in pio.reached] == due
    assert [data if wanted is not None else None for (_, data), wanted in
            zip(pio.done, answered, strict=True)] == answered
    assert sum(pio.waited) > 60
    assert events.spans(0) == [span + waited for span, waited in
                               zip(spans, pio.waited, strict=True)]


@cocotb.test()
async def is_fair(dut: Any) -> None:
    await reset_and_clock(dut, timing=timing(setup=1, latency=1))
    engines = [Engine(dut, name) for name in ("first", "second")]
    pio = Pio(dut)
    events = Events(dut)
    for _ in range(30):
        for engine in engines:
            engine.write(0, [1, 2, 3])
    for _ in range(60):
        pio.write(1)
    for engine in engines:
        engine.start(dut)
    await within(2000, finished(*engines))
    events.begins = events.begins[:len(events.ends)]
    events.check()
    for initiator in (0, 1, 2):
        turns = [at for at, begin in enumerate(events.begins[:80]) if begin[1] == initiator]
        assert max(b - a for a, b in zip(turns, turns[1:], strict=False)) <= 3
    assert {begin[1] for begin in events.begins} == {0, 1, 2}


@cocotb.test()
async def overlaps_latencies_and_shares_beats(dut: Any) -> None:
    """Reads of two initiators of the memory: latencies at once, beats in turn."""
    await reset_and_clock(dut, timing=timing(setup=0, latency=50))
    engines = [Engine(dut, name) for name in ("first", "third")]
    for engine in engines:
        engine.fetch(0, 16)
        engine.start(dut)
    begun = int(dut.cycle.value)
    await within(200, finished(*engines))
    assert int(dut.cycle.value) - begun < 50 + 32 + 10
    ends = sorted(engine.done[0] for engine in engines)
    assert ends[1] - ends[0] <= 3


@cocotb.test()
async def locks(dut: Any) -> None:
    """While an initiator holds the lock that its beat was granted with, no other gets a beat."""
    await reset_and_clock(dut, timing=timing(setup=0, latency=0))
    other, holder = Engine(dut, "first"), Engine(dut, "third")
    other.start(dut)
    holder.start(dut)
    await FallingEdge(dut.clk)
    dut.lock.value = 1
    holder.fetch(0, 1)
    await within(50, finished(holder))
    other.write(0, [1] * 4)
    await cycles(dut, 60)
    assert other.busy
    holder.write(8, [3])
    await within(50, finished(holder))
    await FallingEdge(dut.clk)
    dut.lock.value = 0
    await within(50, finished(other))


@cocotb.test()
async def snoops(dut: Any) -> None:
    """Each beat is told, in the cycle after it; one that changes no byte is not."""
    await reset_and_clock(dut, timing=timing(setup=0, latency=0))
    engines = [Engine(dut, name) for name in ("first", "third")]
    seen = []

    async def watch() -> None:
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            snoop = unpack(Snoop, int(dut.snoop.value))
            if snoop["valid"]:
                seen.append((snoop["write"], snoop["address"], snoop["source"]))

    cocotb.start_soon(watch())
    for engine in engines:
        engine.start(dut)
    engines[0].write(0x40, [1, 2, 3], jump=0x20)
    await within(50, finished(engines[0]))
    engines[1].write(0x80, [1, 2], strobe=0)
    engines[1].fetch(0x60, 2)
    await within(50, finished(engines[1]))
    await cycles(dut, 3)
    assert seen == [(1, 0x40, 0), (1, 0x48, 0), (1, 0x20, 0), (0, 0x60, 1), (0, 0x68, 1)]


@pytest.mark.promise("DMA write", "a burst of b beats, idle bus", "bus.dma_setup + b + 2")
@pytest.mark.promise("DMA read", "a burst of b beats, idle bus",
                     "bus.dma_setup + memory.latency + b + 3")
@pytest.mark.parametrize("testcase", [
    "holds_as_long_as_promised", "moves_at_its_rate", "writes_where_it_is_told", "carries_pio",
    "waits_for_a_slow_nic", "is_fair", "overlaps_latencies_and_shares_beats", "locks", "snoops"])
def test_bus(testcase: str) -> None:
    run_bench(BusSystem(), __file__, testcase=testcase)


@pytest.mark.parametrize("arguments, error, text", [
    ({"ports": 0}, ValueError, "ports must be at least 1, not 0"),
    ({"engines": -1}, ValueError, "engines must be at least 0, not -1"),
    ({"pio_width": 2}, ValueError, "pio_width must be 4 or 8, not 2"),
    ({"ports": "1"}, TypeError, "ports must be an integer, not '1'"),
])
def test_bus_refuses(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Bus(**arguments)


@pytest.mark.parametrize("make, error, text", [
    (lambda: MemoryController(initiators=0, words=16), ValueError, "initiators must be 1 to 16"),
    (lambda: MemoryController(initiators=17, words=16), ValueError, "1 to 16, not 17"),
    (lambda: MemoryController(initiators=1, words=16, writers=-1), ValueError,
     "writers must not be negative, not -1"),
    (lambda: MemoryController(initiators=1, words=12), ValueError, "power of two, .* not 12"),
    (lambda: MemoryController(initiators=1.5, words=16), TypeError, "initiators must be an int"),
    (lambda: HostMemory(words=3, kind="array"), ValueError, "words must be a power of two"),
    (lambda: HostMemory(words=4, kind="ram"), ValueError, "kind must be 'array' or 'dpi', not"),
    (lambda: HostMemory(words="4", kind="dpi"), TypeError, "words must be an integer, not '4'"),
])
def test_memory_refuses(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_parameters_are_readable() -> None:
    assert (Bus(ports=2, engines=3).ports, Bus(ports=2, engines=3).engines) == (2, 3)
    assert (Bus().pio_width, Bus(pio_width=4).pio_width) == (8, 4)
    memory = HostMemory(words=64, kind="dpi")
    assert (memory.words, memory.kind) == (64, "dpi")
