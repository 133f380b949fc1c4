"""The completion unit: status, entries, order, breaks, armed events, counts."""

import random
from typing import Any

import cocotb
import pytest
from nicbed.layouts.trace import Block, Kind
from nicbed.layouts.via import ADDRESS, CQ_ARM, CQ_CONFIG, CQ_CONSUMED, CQ_ENTRY, Event, Status
from nicbed.rtl.vi.complete.completion_queues import CompletionQueues
from nicbed.rtl.vi.complete.completion_unit import CompletionUnit
from nicbed.rtl.vi.types import Arm, Break, Completion, Control, ControlAction, EngineEvent

from tests.labs.bench import (
    Monitor,
    Sink,
    Source,
    cycles,
    parameters,
    reset_and_clock,
    run_bench,
    seed,
    within,
)
from tests.labs.rows import more
from tests.models.nic import BurstMemory, Events
from tests.models.vi.consumer import Memory, TranslatorModel
from tests.models.vi.contexts import ContextModel

TAG = 7


class Bench:
    """The unit with memory, translator, contexts, and everything that goes in and comes out."""

    def __init__(self, dut: Any) -> None:
        from cocotb.triggers import RisingEdge
        self.dut = dut
        self.values = parameters()
        self.edge = RisingEdge(dut.clk)
        self.memory = Memory(size=1 << 19, seed=seed())
        self.rings: dict[int, dict[str, int]] = {}
        self.time = 0

    async def start(self, *, stall: float = 0.0, beats: int = 32, take: float = 0.0,
                    latency: int = 2) -> None:
        dut = self.dut
        await reset_and_clock(dut, memory__max_beats=beats)
        self.bus = BurstMemory(dut, "memory__bus", self.memory.image, stall=stall, seed=seed(),
                               max_beats=min(beats, 2))
        self.translator = TranslatorModel(dut, "memory__translate", self.memory, latency=latency,
                                          stall=stall / 2, seed=seed() + 1)
        self.contexts = ContextModel(dut)
        self.inputs = [Source(dut, f"i__{n}", shape=Completion, stall=stall, seed=seed() + n)
                       for n in range(2)]
        self.taken = [Monitor(dut, f"i__{n}") for n in range(2)]
        self.arm = Source(dut, "arm", shape=Arm)
        self.armed = Monitor(dut, "arm")
        self.control = Source(dut, "control", shape=Control)
        self.event = Sink(dut, "event", shape=EngineEvent, stall=take, seed=seed() + 5)
        self.break_ = Sink(dut, "break_", shape=Break, stall=take, seed=seed() + 6)
        self.order: list[tuple[str, Any]] = []
        self.landed: list[int] = []
        self.foreign = 0
        cocotb.start_soon(self._watch())
        for _ in range(self.values["vis"] + 12):
            if dut.ready.value == 1:
                break
            await self.edge
        assert dut.ready.value == 1
        for vi in range(self.values["vis"]):
            self.control.send({"vi": vi, "action": ControlAction.CREATE.value})
        await within(100, self.control.drain())

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await self.edge
            self.time += 1
            self.foreign += int(dut.pages__refused.value)
            if dut.events__0__valid.value == 1 and dut.events__0__kind.value == Kind.END:
                self.landed.append(int(dut.events__0__arg.value))
            for number, monitor in enumerate(self.taken):
                if monitor.taken:
                    self.order.append((f"i{number}", monitor.taken.pop()))
            if self.armed.taken:
                self.order.append(("arm", self.armed.taken.pop()))

    def open(self, vi: int, *, send: int | None = None, receive: int | None = None) -> None:
        """VI ``vi`` with its queues on these completion queues."""
        self.contexts.open(vi, tag=TAG, send_cq=send or 0, send_on_cq=int(send is not None),
                           receive_cq=receive or 0, receive_on_cq=int(receive is not None))

    async def set_up(self, cq: int, log: int, *, owner: int = 3, enable: int = 1) -> None:
        """Configure ``cq`` with 2**log entries of new memory."""
        dut = self.dut
        va, handle = self.memory.region(8 << log, tag=TAG, offset=8 * (cq % 5))
        self.memory.write(va, handle, bytes(8 << log))
        self.rings[cq] = {"va": va, "handle": handle, "log": log, "seen": 0}
        dut.registers__setup__valid.value = 1
        dut.registers__setup__cq.value = cq
        dut.registers__setup__base.value = ADDRESS.pack(va=va, handle=handle)
        dut.registers__setup__config.value = CQ_CONFIG.pack(log_entries=log, enable=enable,
                                                            tag=TAG, owner=owner)
        await self.edge
        dut.registers__setup__valid.value = 0

    async def pio(self, cq: int, offset: int, value: int, process: int = 3) -> None:
        """Write to a completion queue's page."""
        dut = self.dut
        dut.pages__valid.value = 1
        dut.pages__page.value = cq
        dut.pages__offset.value = offset
        dut.pages__data.value = value
        dut.pages__process.value = process
        await self.edge
        dut.pages__valid.value = 0

    def entry(self, cq: int) -> dict[str, int] | None:
        """The next entry of ``cq``, if it is there."""
        ring = self.rings[cq]
        at = ring["va"] + 8 * (ring["seen"] % (1 << ring["log"]))
        found = CQ_ENTRY.unpack(int.from_bytes(self.memory.read(at, ring["handle"], 8), "little"))
        if found["phase"] != 1 - (ring["seen"] >> ring["log"]) % 2:
            return None
        ring["seen"] += 1
        return found

    def completion(self, queue: int, *, good: bool = True, **values: int) -> dict[str, Any]:
        """A completion for a new descriptor."""
        va, handle = self.memory.region(64, tag=TAG if good else TAG + 1)
        return {"queue": queue, "address": {"va": va, "handle": handle}, "trace": 0} | values

    async def settle(self, count: int) -> None:
        """Wait until ``count`` completions in all have landed."""
        for _ in range(400 * count):
            if len(self.landed) >= count:
                break
            await self.edge
        assert len(self.landed) == count
        for _ in range(60):
            if self.dut.idle.value == 1:
                return
            await self.edge
        raise AssertionError("not idle")

    async def counts(self, vi: int) -> tuple[int, int]:
        """What ``completed`` says of ``vi``: send, receive."""
        self.dut.registers__completed__vi.value = vi
        await cycles(self.dut, 2)
        both = int(self.dut.registers__completed__counts.value)
        return both & 0xFFFF, both >> 16


@cocotb.test()
async def as_the_model(dut: Any) -> None:
    bench = Bench(dut)
    values = bench.values
    await bench.start(stall=values["stall"], beats=values["beats"], take=values["take"])
    rng = random.Random(seed())
    vis, cqs = values["vis"], values["cqs"]
    for cq in range(cqs):
        await bench.set_up(cq, rng.choice([4, 5, 6]))
    binding = {}
    for vi in range(vis):
        send, receive = (rng.choice([None, *range(cqs)]) for _ in range(2))
        bench.open(vi, send=send, receive=receive)
        binding[2 * vi], binding[2 * vi + 1] = send, receive
    events = Events(dut, "events__0")
    sent: dict[int, dict[str, Any]] = {}
    count = values["count"]
    for number in range(1, count + 1):
        kind = rng.randrange(12)
        made = bench.completion(
            rng.randrange(2 * vis), good=kind != 0, length=rng.getrandbits(32),
            status=rng.getrandbits(20) & ~int(Status.DONE), immediate=rng.getrandbits(32),
            silent=int(kind == 1), trace=number)
        if kind == 2:
            # Cut short: 31 bytes are left of its region.
            va, handle = bench.memory.region(31, tag=TAG)
            made["address"] = {"va": va, "handle": handle}
        if kind == 3:
            made["address"]["va"] += 8
        sent[number] = made | {"written": kind > 3, "refused": kind in (0, 2, 3)}
        bench.inputs[rng.randrange(2)].send(made)
    before = bytes(bench.memory.image)

    found: dict[int, list[tuple[int, int]]] = {cq: [] for cq in range(cqs)}
    armings = 0
    stop: list[str] = []

    async def consumer() -> None:
        """Takes entries of all queues, and arms those that it found empty."""
        nonlocal armings
        waiting: set[int] = set()
        events_seen = 0
        while not stop:
            for cq in range(cqs):
                for code in bench.event.taken[events_seen:]:
                    events_seen += 1
                    if code["code"] == Event.CQ_READY:
                        assert code["number"] in waiting, "an event nobody armed for"
                        waiting.discard(code["number"])
                if cq in waiting:
                    continue
                while entry := bench.entry(cq):
                    found[cq].append((entry["vi"], entry["receive"]))
                    await bench.pio(cq, CQ_CONSUMED, bench.rings[cq]["seen"] % 65536)
                if rng.random() < 0.3:
                    waiting.add(cq)
                    armings += 1
                    await bench.pio(cq, CQ_ARM, bench.rings[cq]["seen"] % 65536)
            await bench.edge

    async def armer() -> None:
        done = dict.fromkeys(range(2 * vis), 0)
        while not stop:
            for _ in range(rng.randrange(40)):
                await bench.edge
            queue = rng.randrange(2 * vis)
            done[queue] = bench.landed.count(queue)
            bench.arm.send({"queue": queue, "count": done[queue]})

    tasks = [cocotb.start_soon(consumer()), cocotb.start_soon(armer())]
    for _ in range(count * 400):
        if len(bench.landed) == count:
            break
        await bench.edge
    assert len(bench.landed) == count
    await cycles(dut, 200)
    stop.append("now")
    for task in tasks:
        await within(1000, task)
    await within(1000, bench.arm.drain())
    await cycles(dut, 200)
    assert dut.idle.value == 1

    # The model: what was taken, in its order.
    from tests.labs.bench import unpack
    writes: list[tuple[int, int]] = []
    image = bytearray(before)

    def write(at: int, word: int, first: int = 0) -> None:
        writes.append((at, word))
        image[at + first:at + 8] = word.to_bytes(8, "little")[first:]

    tails = dict.fromkeys(range(cqs), 0)
    entries: dict[int, list[tuple[int, int]]] = {cq: [] for cq in range(cqs)}
    counts = dict.fromkeys(range(2 * vis), 0)
    armed: set[int] = set()
    raised, broken = [], []
    for source, value in bench.order:
        if source == "arm":
            arm = unpack(Arm, value)
            if counts[arm["queue"]] != arm["count"]:
                raised.append(arm["queue"])
            else:
                armed.add(arm["queue"])
            continue
        made = sent[unpack(Completion, value)["trace"]]
        queue = made["queue"]
        counts[queue] += 1
        if queue in armed:
            armed.discard(queue)
            raised.append(queue)
        if made["refused"]:
            broken.append(queue // 2)
        if not made["written"]:
            continue
        at, room = bench.memory.lookup(made["address"]["va"], made["address"]["handle"], TAG)
        assert room >= 32
        if made["status"] & Status.IMMEDIATE:
            # Only the upper half of that word.
            write(at + 16, made["immediate"] << 32, first=4)
        write(at + 24, made["length"] | (made["status"] | Status.DONE) << 32)
        cq = binding[queue]
        if cq is not None:
            ring = bench.rings[cq]
            index, lap = tails[cq] % (1 << ring["log"]), tails[cq] >> ring["log"]
            tails[cq] += 1
            at, _ = bench.memory.lookup(ring["va"] + 8 * index, ring["handle"], TAG)
            write(at, CQ_ENTRY.pack(phase=1 - lap % 2, receive=queue & 1, vi=queue >> 1))
            entries[cq].append((queue >> 1, queue & 1))
    assert bench.bus.writes == writes
    assert bench.memory.image == image
    assert found == entries and max(map(len, entries.values())) > 16
    codes = bench.event.taken
    assert [code["number"] * 2 + (code["code"] == Event.RECEIVE_DONE) for code in codes
            if code["code"] != Event.CQ_READY] == raised
    assert len(raised) > 10
    ready = sum(code["code"] == Event.CQ_READY for code in codes)
    assert armings - cqs <= ready <= armings and ready > 10
    # Breaks of a VI that wait together are one.
    assert {item["event"] for item in bench.break_.taken} == {Event.COMP_PROT}
    assert {item["vi"] for item in bench.break_.taken} == set(broken)
    if not values["take"]:
        assert [item["vi"] for item in bench.break_.taken] == broken
    for vi in range(vis):
        assert await bench.counts(vi) == (counts[2 * vi], counts[2 * vi + 1])
    assert [(kind, number) for _, _, kind, number, _ in events.seen] == [
        (kind, unpack(Completion, value)["trace"]) for source, value in bench.order
        if source != "arm" for kind in (Kind.BEGIN, Kind.END)]
    assert all(asked["tag"] == TAG and asked["access"] == 0 for asked in bench.translator.asked)


def run(testcase: str, *, vis: int = 8, cqs: int = 4, seed: int = 1, **values: Any) -> None:
    run_bench(CompletionUnit(vis=vis, cqs=cqs), __file__, testcase=testcase, seed=seed, vis=vis,
              cqs=cqs, **values)


@pytest.mark.parametrize("vis, cqs, stall, beats, take", [
    more(8, 4, 0.0, 32, 0.0), (2, 2, 0.3, 1, 0.3), (16, 8, 0.1, 2, 0.8),
    more(64, 16, 0.5, 32, 0.0)])
def test_as_the_model(vis: int, cqs: int, stall: float, beats: int, take: float) -> None:
    run("as_the_model", vis=vis, cqs=cqs, stall=stall, beats=beats, take=take, count=250)


@cocotb.test()
async def keeps_its_pace(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.set_up(1, 5)
    bench.open(0, receive=1)
    for queue, status, want in ((0, 0, 8), (0, Status.IMMEDIATE, 9), (1, 0, 15)):
        monitor = Monitor(dut, "i__0")
        bench.inputs[0].send(*[bench.completion(queue, status=int(status)) for _ in range(5)])
        await within(200, bench.inputs[0].drain())
        await cycles(dut, 20)
        monitor.stop()
        gaps = {b - a for a, b in zip(monitor.cycles, monitor.cycles[1:], strict=False)}
        assert gaps == {want}, (queue, status)


def test_keeps_its_pace() -> None:
    run("keeps_its_pace")


@cocotb.test()
async def overruns_and_starts_anew(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.set_up(1, 2)
    await bench.set_up(0, 0)
    bench.open(3, send=1)
    bench.open(2, receive=0)
    bench.open(5, receive=2)
    ring = bench.rings[1]
    done = 0

    async def complete(queue: int, count: int) -> None:
        nonlocal done
        done += count
        bench.inputs[0].send(*[bench.completion(queue) for _ in range(count)])
        await bench.settle(done)

    await complete(6, 4)
    assert not bench.break_.taken
    full = bench.memory.read(ring["va"], ring["handle"], 32)
    await complete(6, 2)
    overrun = {"vi": 3, "event": int(Event.VI_OVERRUN)}
    assert bench.break_.taken == [overrun] * 2
    assert bench.memory.read(ring["va"], ring["handle"], 32) == full
    assert await bench.counts(3) == (6, 0), "counted all the same"
    # Neither a stranger nor a write elsewhere in the page makes room.
    await bench.pio(1, CQ_CONSUMED, 2, process=4)
    assert bench.foreign == 0
    await cycles(dut, 2)
    assert bench.foreign == 1
    await bench.pio(1, 16, 2)
    await complete(6, 1)
    assert bench.break_.taken == [overrun] * 3
    # The kernel may write, too; and now two entries have room.
    assert [bench.entry(1)["vi"] for _ in range(2)] == [3] * 2
    await bench.pio(1, CQ_CONSUMED, 2, process=0)
    await complete(6, 2)
    assert bench.break_.taken == [overrun] * 3
    assert [bench.entry(1)["vi"] for _ in range(4)] == [3] * 4 and bench.entry(1) is None
    await complete(6, 1)
    assert bench.break_.taken == [overrun] * 4
    # More consumed than there was: a consumer that lies overruns, no more.
    await bench.pio(1, CQ_CONSUMED, 100)
    await complete(6, 1)
    assert bench.break_.taken == [overrun] * 5
    # One entry is a queue, too.
    await complete(5, 2)
    assert bench.break_.taken[5:] == [{"vi": 2, "event": int(Event.VI_OVERRUN)}]
    assert bench.entry(0) is not None and bench.entry(0) is None
    # A queue without memory, never set up, or shut.
    await complete(11, 1)
    assert bench.break_.taken[6:] == [{"vi": 5, "event": int(Event.COMP_PROT)}]
    bench.memory.forget(bench.rings[0]["handle"])
    await bench.pio(0, CQ_CONSUMED, 1)
    await complete(5, 1)
    assert bench.break_.taken[7:] == [{"vi": 2, "event": int(Event.COMP_PROT)}]
    await bench.set_up(2, 3, enable=0)
    await complete(11, 1)
    assert bench.break_.taken[8:] == [{"vi": 5, "event": int(Event.COMP_PROT)}]
    assert bench.foreign == 1
    await bench.pio(2, CQ_CONSUMED, 0)
    await bench.pio(200, CQ_ARM, 0)
    await cycles(dut, 3)
    assert bench.foreign == 3
    # Set up anew: empty, first lap, disarmed.
    await bench.set_up(1, 3)
    await bench.pio(1, CQ_ARM, 0)
    await cycles(dut, 10)
    await bench.set_up(1, 3)
    await complete(6, 8)
    assert [bench.entry(1)["vi"] for _ in range(8)] == [3] * 8 and bench.entry(1) is None
    assert not bench.event.taken
    # CREATE forgets the counts and the arming.
    bench.arm.send({"queue": 6, "count": (await bench.counts(3))[0]})
    await cycles(dut, 10)
    bench.control.send({"vi": 3, "action": ControlAction.CREATE.value})
    await cycles(dut, 10)
    assert await bench.counts(3) == (0, 0)
    await bench.pio(1, CQ_CONSUMED, 8)
    await complete(6, 1)
    assert await bench.counts(3) == (1, 0) and not bench.event.taken


def test_overruns_and_starts_anew() -> None:
    run("overruns_and_starts_anew")


@cocotb.test()
async def no_arming_is_missed(dut: Any) -> None:
    """Arm a work queue, or a completion queue, in every cycle of a completion: one event."""
    bench = Bench(dut)
    await bench.start()
    await bench.set_up(2, 6)
    bench.open(1, send=2)
    for number in range(50):
        delay, on_cq = divmod(number, 2)
        bench.inputs[0].send(bench.completion(2))
        await cycles(dut, delay)
        if on_cq:
            await bench.pio(2, CQ_ARM, number)
        else:
            bench.arm.send({"queue": 2, "count": number})
        await bench.settle(number + 1)
        await cycles(dut, 10)
        assert bench.event.taken == [{"code": int(Event.CQ_READY), "number": 2} if on_cq else
                                     {"code": int(Event.SEND_DONE), "number": 1}], delay
        bench.event.taken.clear()
        assert bench.entry(2) is not None
        await bench.pio(2, CQ_CONSUMED, number + 1)


def test_no_arming_is_missed() -> None:
    run("no_arming_is_missed")


@cocotb.test()
async def set_up_during_a_completion(dut: Any) -> None:
    """A queue set up anew in any cycle of a completion: the entry is in the old memory, or in the
    new one's first place; and the next one behind it."""
    bench = Bench(dut)
    await bench.start()
    bench.open(1, receive=3)
    done = 0
    for delay in range(24):
        await bench.set_up(3, 3)
        bench.inputs[1].send(bench.completion(3), bench.completion(3))
        done += 3
        await bench.settle(done - 1)
        await bench.pio(3, CQ_ARM, 2)
        await bench.pio(3, CQ_CONSUMED, 2)
        await cycles(dut, 12)
        old = bench.rings[3]
        bench.inputs[1].send(bench.completion(3))
        await cycles(dut, delay)
        before = len(bench.landed)
        await bench.set_up(3, 2)
        await bench.edge
        at_once = len(bench.landed)
        await bench.settle(done)
        moved = bench.entry(3) is not None
        there = bench.memory.read(old["va"] + 16, old["handle"], 8) != bytes(8)
        assert moved != there, delay
        bench.inputs[1].send(bench.completion(3), bench.completion(3))
        done += 2
        await bench.settle(done)
        assert bench.entry(3) is not None and bench.entry(3) is not None, delay
        assert bench.entry(3) is None
        # Armed for, if it landed before; disarmed, if it was set up before; either in one cycle.
        events = len(bench.event.taken)
        assert events == 1 if before == done - 2 else events == 0 or at_once == done - 2, delay
        assert not bench.break_.taken
        bench.event.taken.clear()


def test_set_up_during_a_completion() -> None:
    run("set_up_during_a_completion")


@cocotb.test()
async def breaks_never_block(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(take=1.0)
    for vi in range(8):
        bench.open(vi)
    bench.inputs[1].send(*[bench.completion(n % 16, good=False) for n in range(80)])
    for _ in range(2000):
        if len(bench.landed) == 80:
            break
        await bench.edge
    assert len(bench.landed) == 80 and not bench.bus.writes
    bench.break_.stall = 0.0
    await within(100, bench.break_.receive(8))


def test_breaks_never_block() -> None:
    run("breaks_never_block")


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="vis must be a power of two, at least 2, not 12"):
        CompletionUnit(vis=12, cqs=4)
    with pytest.raises(TypeError, match="cqs must be an integer, not '4'"):
        CompletionUnit(vis=8, cqs="4")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cqs must be at most 256, not 512"):
        CompletionQueues(cqs=512)
    made = CompletionUnit(vis=8, cqs=4)
    assert (made.vis, made.cqs, made.event_sources) == (8, 4, (Block.COMPLETION,))
    assert CompletionQueues(cqs=2).cqs == 2
