"""A node of one CPU whose NIC the bench plays, and what drives it in benches."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from nicbed.layouts.description import Description
from nicbed.layouts.operations import ANSWER, BLOCK, ENTRY, Answer, Op
from nicbed.layouts.timing import TIMING_REGISTERS, timing_values
from nicbed.rtl.bus.burst import Burst, BurstRequest, BurstWord
from nicbed.rtl.bus.memory import HostMemory
from nicbed.rtl.bus.pio import PioTarget
from nicbed.rtl.bus.watch import LineTaken
from nicbed.rtl.cpu.mailbox import add_mailboxes, mailbox_ports
from nicbed.rtl.parts.timing_registers import TimingRegisters
from nicbed.rtl.timekeeper import Timekeeper

from tests.labs.bench import pack
from tests.labs.played_nic import WORDS, node_of

__all__ = ["PortSystem", "Driver", "Engine", "entry"]


class PortSystem(wiring.Component):
    """A node of one CPU with its memory and its time; the bench plays the NIC. ``knobs`` are those
    of the node's structure, with two underscores for the dot."""

    def __init__(self, **knobs: Any) -> None:
        self._node = node_of({"cpu.cache_lines": 16, **{
            name.replace("__", "."): value for name, value in knobs.items()}})
        super().__init__({
            "cfg_we": In(1), "cfg_index": In(8), "cfg_data": In(32),
            "skip_enable": In(1), "limit": In(64), "calm": In(1),
            "attention": Out(1), "stall": Out(1), "expired": Out(1), "cycle": Out(64),
            "waiting": Out(1), "stopped": Out(1), **mailbox_ports(1),
            "pio": Out(PioTarget), "engine": In(Burst()), "irq": In(1),
            "taken": Out(LineTaken),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.node = node = self._node
        m.submodules.registers = registers = TimingRegisters(description=node.description)
        m.submodules.keeper = keeper = Timekeeper(ports=1)
        m.submodules.memory = memory = HostMemory(words=WORDS, kind="array")
        [host], [nic] = node.cpu, node.nics
        connect(m, node.memory, memory.port)
        connect(m, flipped(nic.pio), flipped(self.pio))
        connect(m, flipped(nic.dma[0]), flipped(self.engine))
        connect(m, flipped(nic.taken[0]), flipped(self.taken))
        add_mailboxes(m, self, node.cpu)
        m.d.comb += [
            registers.we.eq(self.cfg_we), registers.index.eq(self.cfg_index),
            registers.data.eq(self.cfg_data), node.timing.eq(registers.timing),
            node.cpus.eq(1), node.cycle.eq(keeper.cycle),
            nic.irq.eq(self.irq), nic.idle.eq(self.calm),
            self.waiting.eq(host.waiting), self.stopped.eq(host.stopped),
            keeper.skip_enable.eq(self.skip_enable), keeper.limit.eq(self.limit),
            keeper.quiescent.eq(node.idle & host.rests & ~host.stopped),
            keeper.distance[0].eq(host.distance), keeper.asks[0].eq(host.asks),
            keeper.needs[0].eq(host.needs),
            self.attention.eq(keeper.attention), self.stall.eq(keeper.stall),
            self.expired.eq(keeper.expired), self.cycle.eq(keeper.cycle),
        ]
        return m


def entry(op: Op, *, work: int = 0, address: int = 0, length: int = 0, data: tuple[int, ...] = (),
          flags: int = 0, count: int = 0, trace: int = 0, process: int = 0) -> bytes:
    """An entry; ``work`` in 1/256 of a cycle."""
    words = (*data, 0, 0, 0, 0)[:4]
    return ENTRY.pack(op | flags << 8 | count << 16 | process << 20, work, address, length, *words,
                      trace)


class Driver:
    """Runs one program on the port, plays the NIC's registers, and holds the rules of attention.

    ``on_cycle`` is called in each cycle with its number, and may set inputs. ``writes`` collects
    (cycle, address, data, trace) of PIO writes, ``processes`` that of each PIO access, ``edges``
    counts clock edges, ``wakes`` the blocks.
    """

    def __init__(self, dut: Any, timing: dict[str, Any], *, skip: bool = False,
                 limit: int = 0) -> None:
        self.dut = dut
        self.skip = skip
        self.limit = limit
        sections: dict[str, dict[str, Any]] = {}
        for name, value in timing.items():
            section, key = name.split(".")
            sections.setdefault(section, {})[key] = value
        self.values = timing_values(Description.model_validate(sections))
        self.registers: dict[int, int] = {}
        self.writes: list[tuple[int, int, int, int]] = []
        self.processes: list[int] = []
        self.on_cycle: list[Callable[[int], None]] = []
        self.edges = 0
        self.wakes = 0

    async def reset(self) -> None:
        """Reset with the timing registers written; leaves the target in its cycle 0."""
        from cocotb.triggers import FallingEdge
        dut = self.dut
        falling = FallingEdge(dut.clk)
        await falling
        dut.rst.value = 1
        dut.cfg_we.value = 1
        for register, value in zip(TIMING_REGISTERS, self.values, strict=True):
            dut.cfg_index.value = register.index
            dut.cfg_data.value = value
            await falling
        dut.cfg_we.value = 0
        dut.skip_enable.value = int(self.skip)
        dut.limit.value = self.limit
        dut.rst.value = 0
        self.registers.clear()

    async def run(self, program: Iterator[list[bytes]], limit: int = 20000) -> list[Answer]:
        """Reset; all answers of ``program``, which yields blocks and is sent their answers."""
        from cocotb.triggers import FallingEdge, ReadOnly, Timer
        dut = self.dut
        await self.reset()
        falling = FallingEdge(dut.clk)
        collected: list[Answer] = []
        block: list[bytes] | None = None
        toggled = None
        dut.pio__ready.value = 1
        read: int | None = None
        while True:
            # In the low phase of the clock: the cycle's values have settled.
            await Timer(1, "ns")
            cycle = int(dut.cycle.value)
            if int(dut.expired.value):
                assert int(dut.stall.value)
                raise TimeoutError(f"expired at cycle {cycle}")
            if int(dut.stall.value):
                assert int(dut.waiting.value) == 1
                attention = int(dut.attention.value)
                assert toggled is None or attention != toggled, f"no attention at {cycle}"
                toggled = attention
                answers = []
                if block is not None:
                    raw = int(dut.port0_answers.value).to_bytes(ANSWER.size * BLOCK, "little")
                    answers = [Answer(*item) for item in ANSWER.iter_unpack(raw)][:len(block)]
                    collected += answers
                self.wakes += 1
                try:
                    block = next(program) if block is None else program.send(answers)
                except StopIteration:
                    return collected
                dut.port0_entries.value = int.from_bytes(b"".join(block), "little")
                dut.port0_count.value = len(block)
                dut.go.value = 1 - int(dut.go.value)
            else:
                assert toggled is None or int(dut.attention.value) == toggled or \
                    int(dut.waiting.value) == 0 or block is None, f"attention at {cycle}"
            for call in self.on_cycle:
                call(cycle)
            dut.pio__answer__valid.value = int(read is not None)
            dut.pio__answer__data.value = 0xDEAD_0000_0000_0000 | cycle if read is None else read
            await ReadOnly()
            read = None
            if int(dut.pio__valid.value):
                address = int(dut.pio__address.value)
                self.processes.append(int(dut.pio__process.value))
                if int(dut.pio__write.value):
                    self.registers[address] = int(dut.pio__data.value)
                    self.writes.append((cycle, address, int(dut.pio__data.value),
                                        int(dut.pio__trace.value)))
                else:
                    read = self.registers.get(address, address)
            await falling
            self.edges += 1
            if self.edges > limit:
                raise AssertionError(f"no end after {limit} edges: cycle {cycle}, block {block}")


class Engine:
    """A DMA engine that does the bursts queued on it, one after the other, and checks ``done``.

    A burst is (request as a dict, words): words to write, or None. Words read are kept in ``read``,
    ``done`` has the cycle in which each burst ended. ``stall`` delays words and requests at random.
    """

    def __init__(self, dut: Any, name: str = "engine", *, stall: float = 0.0,
                 seed: int = 0) -> None:
        self._random = random.Random(seed)
        self.dut = dut
        self.stall = stall
        self.queue: list[tuple[dict[str, int], list[dict[str, int]]]] = []
        self.done: list[int] = []
        self.requested: list[int] = []
        self.taken: list[int] = []
        self.read: list[list[int]] = []
        self._pins = {pin: getattr(dut, f"{name}__{pin.replace('.', '__')}") for pin in (
            "request.valid", "request.ready", "request.payload", "write.valid", "write.ready",
            "write.payload", "read.valid", "read.ready", "read.payload", "done")}
        self._task: Any = None

    @property
    def busy(self) -> bool:
        """Bursts are left to do."""
        return bool(self.queue)

    def write(self, address: int, words: list[int], *, strobe: int = 255, jump: int | None = None,
              trace: int = 0) -> None:
        """Queue a write; with ``jump`` the last word goes there."""
        items = [{"data": word, "strobe": strobe, "jump": 0} for word in words]
        if jump is not None:
            items[-1]["jump"] = 1
        self.queue.append(({"write": 1, "address": address, "jump_address": jump or 0,
                            "beats": len(words), "trace": trace}, items))

    def fetch(self, address: int, beats: int, *, trace: int = 0) -> None:
        """Queue a read."""
        self.queue.append(({"write": 0, "address": address, "jump_address": 0, "beats": beats,
                            "trace": trace}, []))

    def start(self, dut: Any) -> None:
        """Begin to work."""
        import cocotb
        self._task = cocotb.start_soon(self._run(dut))

    def stop(self) -> None:
        """End the task, and offer nothing."""
        self._task.cancel()
        for pin in ("request.valid", "write.valid", "read.ready"):
            self._pins[pin].value = 0

    def _pause(self) -> bool:
        return self.stall > 0 and self._random.random() < self.stall

    async def _run(self, dut: Any) -> None:
        from cocotb.triggers import FallingEdge, RisingEdge
        pin = self._pins
        rising, falling = RisingEdge(dut.clk), FallingEdge(dut.clk)
        for name in ("request.valid", "write.valid", "read.ready"):
            pin[name].value = 0
        while True:
            await falling
            if not self.queue or self._pause():
                continue
            request, words = self.queue[0]
            self.requested.append(int(dut.cycle.value) if hasattr(dut, "cycle") else 0)
            pin["request.payload"].value = pack(BurstRequest, request)
            pin["request.valid"].value = 1
            await rising
            while not int(pin["request.ready"].value):
                assert not int(pin["done"].value), "done without a burst"
                await rising
            self.taken.append(int(dut.cycle.value) if hasattr(dut, "cycle") else 0)
            await falling
            pin["request.valid"].value = 0
            got: list[int] = []
            left = request["beats"]
            name = "write" if request["write"] else "read"
            offer = False
            while left:
                offer = offer if offer and request["write"] else not self._pause()
                if request["write"]:
                    pin["write.payload"].value = pack(BurstWord, words[request["beats"] - left])
                    pin["write.valid"].value = int(offer)
                else:
                    pin["read.ready"].value = int(offer)
                await rising
                moved = int(pin[f"{name}.valid"].value) and int(pin[f"{name}.ready"].value)
                if moved:
                    left -= 1
                    offer = False
                    if not request["write"]:
                        got.append(int(pin["read.payload"].value))
                assert int(pin["done"].value) == int(bool(moved) and left == 0), "done is wrong"
                if not left:
                    self.done.append(int(dut.cycle.value) if hasattr(dut, "cycle") else 0)
                await falling
            pin["write.valid"].value = 0
            pin["read.ready"].value = 0
            self.read.append(got)
            self.queue.pop(0)
