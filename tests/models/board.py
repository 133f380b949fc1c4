"""A toy machine to put a board's harness around, as RTL and as a model of it."""

from typing import Any

from amaranth.hdl import Cat, EnableInserter, Module, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from nicbed.layouts.board import IDENTITY_WORDS
from nicbed.layouts.operations import BLOCK, Status
from nicbed.layouts.processor import CRASH_WORDS
from nicbed.rtl.boards.harness import Harness
from nicbed.rtl.boards.line.deframer import WordLayout
from nicbed.rtl.bus.memory import MemoryPort
from nicbed.rtl.node.node import HostSide
from nicbed.rtl.parts.trace_sink import TracePort

__all__ = ["CRASH", "EVENTS", "IDENTITY", "NOTHING", "READ", "REST", "STOP", "SWEEP", "WRITE",
           "Rig", "ToyMachine", "ToyModel"]

NOTHING, WRITE, READ, REST, STOP, SWEEP = range(6)
"""What an entry does in the last of its ``work`` + 1 cycles: nothing; write ``data[0]`` to
``address`` with ``flags`` as the strobe; read there, and answer a cycle later; have the rest of the
block discarded; stop for good. SWEEP writes ``data[0]`` plus its number to a word in every cycle,
one after the other."""
IDENTITY = bytes(range(1, 1 + 4 * IDENTITY_WORDS))
EVENTS = 5
"""Sources of events that a port has: all of them tell of each event."""
CRASH = 0x0123_4567_89AB_CDEF_0011_2233
MASK = (1 << 64) - 1


class ToyMachine(wiring.Component):
    """``nodes`` host ports that execute such entries, each on its own memory of ``words``."""

    def __init__(self, *, nodes: int, words: int) -> None:
        self._nodes = nodes
        super().__init__({
            "cfg_we": In(1), "cfg_index": In(8), "cfg_data": In(32), "trace_enable": In(1),
            "skip_enable": In(1), "limit": In(64), "stall": Out(1), "expired": Out(1),
            "cycle": Out(64), "needs": Out(nodes), "crash": Out(32 * CRASH_WORDS),
            "cpu": In(HostSide).array(nodes), "memory": Out(MemoryPort(words)).array(nodes),
            "trace": Out(TracePort).array(nodes * EVENTS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        following = Signal(64)
        setting = Signal(32, reset_less=True)
        m.d.comb += [following.eq(self.cycle + 1), self.crash.eq(CRASH),
                     self.stall.eq(self.needs.any() | self.expired)]
        m.d.sync += [self.cycle.eq(following),
                     self.expired.eq(self.expired | (following == self.limit))]
        with m.If(self.cfg_we & (self.cfg_index == 3)):
            m.d.sync += setting.eq(self.cfg_data)
        for number, (cpu, memory) in enumerate(zip(self.cpu, self.memory, strict=True)):
            entry, answer = cpu.entry, cpu.answer
            seen = Signal(name=f"seen_{number}")
            waiting = Signal(init=1, name=f"waiting_{number}")
            stopped = Signal(name=f"stopped_{number}")
            reading = Signal(name=f"reading_{number}")
            age = Signal(12, name=f"age_{number}")
            ends, acts = Signal(name=f"ends_{number}"), Signal(name=f"acts_{number}")
            last = age == entry.work[:12]
            m.d.comb += [
                self.needs[number].eq(waiting & (cpu.go == seen)),
                acts.eq(~waiting & ~stopped & ~reading),
                ends.eq(reading | (acts & last & (entry.op != READ))),
                memory.en.eq(acts & ((last & (entry.op == WRITE)) | (last & (entry.op == READ))
                                     | (entry.op == SWEEP))),
                memory.we.eq(entry.op != READ),
                memory.address.eq((entry.address >> 3) + age),
                memory.wdata.eq(entry.data[0] + age),
                memory.strobe.eq(entry.flags),
                cpu.answers.eq(ends), cpu.slot.eq(cpu.index),
                cpu.discards.eq(entry.op == REST),
                answer.cycle.eq(following), answer.status.eq(entry.process),
                answer.data.eq(entry.data[1] ^ setting),
            ]
            for block in range(EVENTS):
                event = self.trace[EVENTS * number + block]
                m.d.comb += [
                    event.valid.eq(ends | (acts & (entry.op == SWEEP))),
                    event.node.eq(number), event.block.eq(block), event.kind.eq(entry.op),
                    event.number.eq(entry.trace), event.arg.eq(entry.length + age),
                ]
            with m.If(reading):
                m.d.comb += answer.data.eq(memory.rdata)
            with m.If(acts):
                m.d.sync += age.eq(age + 1)
                with m.If(last):
                    m.d.sync += reading.eq(entry.op == READ)
            with m.If(ends):
                m.d.sync += [age.eq(0), reading.eq(0), cpu.index.eq(cpu.index + 1)]
                with m.If((entry.op == REST) | (cpu.index + 1 == cpu.count)):
                    m.d.sync += [waiting.eq(entry.op != STOP), cpu.index.eq(0)]
                with m.If(entry.op == STOP):
                    m.d.sync += stopped.eq(1)
            with m.If(waiting & (cpu.go != seen)):
                m.d.sync += [seen.eq(cpu.go), waiting.eq(0), age.eq(0)]
        return m


class ToyModel:
    """The same, a step at a time. ``memories`` are the nodes' words and outlive a reset."""

    def __init__(self, *, nodes: int, words: int) -> None:
        self.nodes = nodes
        self.words = words
        self.memories = [[0] * words for _ in range(nodes)]
        self.setting = 0
        self.limit = 0
        self.reset()

    def reset(self) -> None:
        self.cycle = 0
        self.expired = False
        self.blocks: list[list[dict[str, Any]] | None] = [None] * self.nodes
        self.counts = [0] * self.nodes
        self.answers = [[(0, 0, 0)] * BLOCK for _ in range(self.nodes)]
        self.begun = [False] * self.nodes
        self.stopped = [False] * self.nodes
        self.index = [0] * self.nodes
        self.age = [0] * self.nodes
        self.reading: list[int | None] = [None] * self.nodes
        self.writes: list[list[tuple[int, int, int]]] = [[] for _ in range(self.nodes)]
        """Of each node: strobe, address and data."""
        self.events: list[tuple[int, ...]] = []
        """Cycle, node, block, kind, number, arg."""

    def needs(self) -> int:
        return sum(1 << port for port in range(self.nodes)
                   if self.blocks[port] is None and not self.stopped[port])

    def stalls(self) -> bool:
        return self.expired or self.needs() != 0

    def give(self, port: int, block: list[dict[str, Any]]) -> None:
        assert self.needs() >> port & 1
        self.blocks[port] = block
        self.counts[port] = len(block)
        self.begun[port] = False

    def step(self) -> None:
        for port in range(self.nodes):
            self._port(port)
        self.cycle += 1
        self.expired |= self.cycle == self.limit

    def _port(self, port: int) -> None:
        block = self.blocks[port]
        if self.stopped[port] or block is None:
            return
        if not self.begun[port]:
            self.begun[port] = True
            self.index[port] = self.age[port] = 0
            return
        entry = block[self.index[port]]
        op, age = entry["op"], self.age[port]
        data = entry["data"][1] ^ self.setting
        place = (entry["address"] // 8 + age) % self.words
        ends = False
        if self.reading[port] is not None:
            data, ends = self.reading[port], True
            self.reading[port] = None
        else:
            self.age[port] += 1
            last = age == entry["work"]
            ends = last and op != READ
            if op == SWEEP or last and op == WRITE:
                self._write(port, place, entry["data"][0] + age & MASK, entry["flags"])
            if last and op == READ:
                self.reading[port] = self.memories[port][place]
        if ends or op == SWEEP:
            self.events += [(self.cycle, port, block, op, entry["trace"],
                             entry["length"] + age & 0xFFFF_FFFF) for block in range(EVENTS)]
        if not ends:
            return
        slot = self.index[port]
        self.answers[port][slot] = (self.cycle + 1 & 0xFFFF_FFFF, entry["process"], data)
        self.age[port] = 0
        self.index[port] += 1
        if op == REST:
            self.answers[port][slot + 1:] = [(0, Status.DISCARDED.value, 0)] * (BLOCK - slot - 1)
        if op == STOP:
            self.stopped[port] = True
        elif op == REST or self.index[port] == len(block):
            self.blocks[port] = None

    def _write(self, port: int, place: int, data: int, strobe: int) -> None:
        if strobe:
            self.memories[port][place] = merge(self.memories[port][place], data, strobe)
            self.writes[port].append((strobe, port * self.words + place, data))


def merge(old: int, new: int, strobe: int) -> int:
    """The word ``old`` after bytes of ``new`` were written to it."""
    mask = sum(0xFF << 8 * byte for byte in range(8) if strobe >> byte & 1)
    return old & ~mask | new & mask


class Rig(wiring.Component):
    """A harness around a toy machine."""

    def __init__(self, *, nodes: int, words: int, frames: int) -> None:
        self._machine = ToyMachine(nodes=nodes, words=words)
        self._harness = Harness(nodes=nodes, words=words, sources=nodes * EVENTS, identity=IDENTITY,
                                frames=frames)
        super().__init__({
            "command": In(stream.Signature(WordLayout)),
            "response": Out(stream.Signature(WordLayout)),
            "again": Out(1), "running": Out(1), "cycle": Out(64), "steps": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.harness = harness = self._harness
        machine = self._machine
        m.submodules.machine = EnableInserter(harness.step)(
            ResetInserter(harness.reset)(machine))
        connect(m, flipped(self.command), harness.command)
        connect(m, harness.response, flipped(self.response))
        m.d.comb += [
            Cat(self.again, self.running, self.cycle, self.steps).eq(
                Cat(harness.again, harness.running, machine.cycle, harness.step)),
            *(getattr(machine, name).eq(getattr(harness, name)) for name in (
                "cfg_we", "cfg_index", "cfg_data", "trace_enable", "skip_enable", "limit")),
            *(getattr(harness, name).eq(getattr(machine, name)) for name in (
                "stall", "expired", "cycle", "needs", "crash")),
        ]
        for inside, outside in ((machine.cpu, harness.cpu), (machine.memory, harness.memory),
                                (machine.trace, harness.trace)):
            for one, other in zip(inside, outside, strict=True):
                connect(m, one, other)
        return m
