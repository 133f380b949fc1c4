"""A node of several CPUs whose NIC and memory the bench plays, and what drives it in benches."""

import random
from collections.abc import Generator
from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from nicbed.layouts.description import Description
from nicbed.layouts.operations import ANSWER, BLOCK, Answer, Op
from nicbed.layouts.timing import TIMING_REGISTERS, timing_values
from nicbed.rtl.bus.burst import Burst
from nicbed.rtl.bus.memory import MemoryPort
from nicbed.rtl.bus.pio import PioTarget
from nicbed.rtl.cpu.mailbox import add_mailboxes, mailbox_ports
from nicbed.rtl.parts.timing_registers import TimingRegisters
from nicbed.rtl.timekeeper import Timekeeper

from tests.labs.played_nic import WORDS, node_of
from tests.labs.port_system import entry

__all__ = ["Program", "SmpDriver", "SmpSystem", "spans"]

Program = Generator[list[bytes], list[Answer], None]
"""Yields blocks and is sent their answers."""


class SmpSystem(wiring.Component):
    """A node of several CPUs with its time; the bench plays the NIC and the memory. ``knobs`` are
    those of the node's structure, with two underscores for the dot."""

    def __init__(self, *, cpus: int, **knobs: Any) -> None:
        self._cpus = cpus
        self._node = node_of({
            "node.cpus": cpus, "bus.posted_writes": 4, "cpu.cache_lines": 4,
            **{name.replace("__", "."): value for name, value in knobs.items()}})
        super().__init__({
            "cfg_we": In(1), "cfg_index": In(8), "cfg_data": In(32),
            "stall": Out(1), "cycle": Out(64), "waiting": Out(cpus), **mailbox_ports(cpus),
            "pio": Out(PioTarget), "engine": In(Burst()), "memory": Out(MemoryPort(WORDS)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.node = node = self._node
        m.submodules.registers = registers = TimingRegisters(description=node.description)
        m.submodules.keeper = keeper = Timekeeper(ports=self._cpus)
        [nic] = node.nics
        connect(m, node.memory, flipped(self.memory))
        connect(m, flipped(nic.pio), flipped(self.pio))
        connect(m, flipped(nic.dma[0]), flipped(self.engine))
        add_mailboxes(m, self, node.cpu)
        m.d.comb += [
            registers.we.eq(self.cfg_we), registers.index.eq(self.cfg_index),
            registers.data.eq(self.cfg_data), node.timing.eq(registers.timing),
            node.cpus.eq(self._cpus), node.cycle.eq(keeper.cycle),
            self.stall.eq(keeper.stall), self.cycle.eq(keeper.cycle),
            self.waiting.eq(Cat(host.waiting for host in node.cpu)),
        ]
        for number, host in enumerate(node.cpu):
            m.d.comb += [
                keeper.distance[number].eq(host.distance), keeper.asks[number].eq(host.asks),
                keeper.needs[number].eq(host.needs),
            ]
        return m


class SmpDriver:
    """Runs a program on each port, in the order of the ports where several ask at once; a program
    that has ended leaves its port waiting, with nothing to do but delays.

    ``history`` has, for each word that was ever written, the cycles in whose beginning it got a
    value, and the values: those that hardware wrote at the edge, then those of programs.
    ``beats`` counts accesses to memory. ``on_cycle`` is called in each cycle with its number.
    """

    def __init__(self, dut: Any, cpus: int, **knobs: int) -> None:
        self.dut = dut
        self.cpus = cpus
        sections: dict[str, dict[str, int]] = {}
        for name, value in knobs.items():
            section, key = name.split("__")
            sections.setdefault(section, {})[key] = value
        self.values = timing_values(Description.model_validate(sections))
        self.memory: dict[int, int] = {}
        self.history: dict[int, list[tuple[int, int]]] = {}
        self.beats = 0
        self.cycle = 0
        self.on_cycle: list[Any] = []
        self.first = 0

    def write(self, address: int, value: int) -> None:
        """A program's store, whose operation has just ended."""
        self.memory[address] = value
        self.history.setdefault(address, [(-1, 0)]).append((self.cycle, value))

    def values_in(self, address: int, first: int, last: int) -> set[int]:
        """Values of the word in cycles ``first`` to ``last``: what a program stored while time
        stood still replaces what hardware wrote at that edge."""
        told = dict(self.history.get(address, [(-1, 0)]))
        before = max(cycle for cycle in told if cycle <= first)
        return {told[before]} | {value for cycle, value in told.items() if first < cycle <= last}

    async def reset(self) -> None:
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
        dut.rst.value = 0

    async def run(self, programs: list[Program], limit: int = 60_000) -> int:
        """The cycle in which the last program ended."""
        from cocotb.triggers import FallingEdge, ReadOnly, Timer
        dut = self.dut
        await self.reset()
        falling, settle = FallingEdge(dut.clk), Timer(1, "ns")
        blocks: list[list[bytes] | None] = [None] * self.cpus
        left = set(range(self.cpus))
        for _ in range(limit):
            await settle
            self.cycle = int(dut.cycle.value)
            if int(dut.stall.value):
                waiting, go = int(dut.waiting.value), int(dut.go.value)
                for port in range(self.cpus):
                    if waiting >> port & 1:
                        self._serve(port, programs, blocks, left)
                        go ^= 1 << port
                if not left:
                    return self.cycle
                dut.go.value = go
            for call in self.on_cycle:
                call(self.cycle)
            await ReadOnly()
            read = random.getrandbits(64)
            landed = None
            if int(dut.memory__en.value):
                self.beats += 1
                address = 8 * int(dut.memory__address.value)
                read = self.memory.get(address, 0)
                if int(dut.memory__we.value):
                    strobe = int(dut.memory__strobe.value)
                    mask = sum(255 << 8 * byte for byte in range(8) if strobe >> byte & 1)
                    value = (read & ~mask) | (int(dut.memory__wdata.value) & mask)
                    landed = (address, value) if strobe else None
            await falling
            dut.memory__rdata.value = read
            if landed:
                address, value = landed
                self.memory[address] = value
                self.history.setdefault(address, [(-1, 0)]).append((self.cycle + 1, value))
        raise AssertionError(f"no end after {limit} cycles: ports {sorted(left)}")

    def _serve(self, port: int, programs: list[Program], blocks: list[list[bytes] | None],
               left: set[int]) -> None:
        block = blocks[port]
        try:
            if block is None:
                block = next(programs[port])
            else:
                raw = int(getattr(self.dut, f"port{port}_answers").value)
                answers = [Answer(*item) for item in ANSWER.iter_unpack(
                    raw.to_bytes(ANSWER.size * BLOCK, "little"))][:len(block)]
                block = programs[port].send(answers)
        except StopIteration:
            left.discard(port)
            block = [entry(Op.DELAY, work=1000 << 8)]
        blocks[port] = block
        getattr(self.dut, f"port{port}_entries").value = int.from_bytes(b"".join(block), "little")
        getattr(self.dut, f"port{port}_count").value = len(block)


async def spans(driver: SmpDriver, steps: list[tuple[int, bytes]]) -> list[int]:
    """Cycles of operations that one port after the other executes."""
    left = list(steps)
    found: list[int] = []

    def program(port: int) -> Program:
        while left:
            if left[0][0] != port:
                yield [entry(Op.DELAY)]
                continue
            begun = driver.cycle
            [answer] = yield [left[0][1]]
            found.append(answer.cycle - begun)
            left.pop(0)

    await driver.run([program(port) for port in range(driver.cpus)])
    return found
