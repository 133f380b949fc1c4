"""The NIC processor of the functional target: the core of :mod:`.core`, NIC memory, registers,
doorbells and engines after layouts.processor, running the real firmware images.

Its times are plausible, not the target's.
"""

import functools
from collections import deque
from typing import TYPE_CHECKING

from ....layouts.description import Description
from ....layouts.packet import HEADER
from ....layouts.processor import (
    CONTROL,
    DOORBELL_ENTRY,
    DOORBELL_OWNER,
    DOORBELL_WORDS,
    ENGINE_QUEUE,
    ENGINE_STRIDE,
    ENGINES_BASE,
    HOST_BASE,
    MMIO_BASE,
    MMIO_REGISTERS,
    PROTOCOL_SELECT,
    WINDOW_OWNER,
    WINDOW_PAGE,
    Engine,
    EngineRegister,
    Pending,
    StartFlag,
    State,
)
from ....layouts.registers import PROCESSOR_REGISTERS, Irq
from ....layouts.rings import COMPLETION
from ....layouts.trace import Kind
from ....layouts.via import PAGE
from .core import Core, Held

if TYPE_CHECKING:
    from .nic import ModelNic

__all__ = ["PROCESSOR_NAMES", "ModelProcessor", "Crash"]

PROCESSOR_NAMES = {register.name for register in PROCESSOR_REGISTERS}
REGISTERS = {register.offset: register.name for register in MMIO_REGISTERS}
QUANTUM = 40
WORD = (1 << 64) - 1
MASK = 0xFFFF_FFFF


class Crash(Exception):
    """The firmware crashed."""


class ModelProcessor:
    """The processor of ``nic``.

    Attributes
    ----------
    memory
        NIC memory.
    core
        The core, which counts its instructions.
    log
        (node, destination, bytes) of every packet sent, in order.
    again
        Message and peer of every packet that the firmware says it sent again.
    """

    def __init__(self, nic: "ModelNic", description: Description) -> None:
        self.nic = nic
        self.model = nic.model
        self.memory = bytearray(description.processor.memory)
        self.core = Core(self.memory, self.outside)
        core = description.core
        assert core is not None
        self.cpi = core.cycles * description.processor.clock_divider
        self.depth = description.processor.doorbell_queue
        self.host_bytes = (description.memory.bytes
                           if description.processor.host_access == "uncached" else 0)
        self.state = State.RESET
        self.generation = 0
        self.registers = dict.fromkeys(PROCESSOR_NAMES, 0)
        self.mmio = dict.fromkeys(REGISTERS.values(), 0)
        self.sticky = 0
        self.armed = False
        self.doorbells: deque[tuple[int, int, int, int, int]] = deque()
        self.lost = 0
        self.owners: dict[int, int] = {}
        self.window: dict[int, int] = {}
        self.engines = [ModelEngine(self, engine) for engine in Engine]
        self.partial = b""
        self.on_wire: bytes | None = None
        self.waiting: deque = deque()
        self.log: list[bytes] = []
        self.again: list[tuple[int, int]] = []

    # The host's side

    def write(self, name: str, word: int) -> None:
        registers = self.registers
        if name == "window_owner":
            fields = WINDOW_OWNER.unpack(word)
            self.window[fields["page"]] = fields["process"]
        elif name == "doorbell_owner":
            fields = DOORBELL_OWNER.unpack(word)
            self.own(fields["page"], fields["enable"] << 8 | fields["process"])
        elif name == "load_words":
            registers["load_words"] = registers["load_sum"] = 0
        elif name == "processor_control":
            registers[name] = word
            if CONTROL.get(word, "run"):
                if self.state is State.RESET:
                    self.state = State.RUNNING
                    self.core.reset()
                    self.run_on()
            else:
                self.state = State.RESET
                self.generation += 1
        elif name in ("processor_status", "processor_pc", "processor_cause") \
                or name.endswith(("_refused", "_lost")):
            pass
        else:
            registers[name] = word

    def read(self, name: str) -> int:
        if name == "processor_status":
            return int(self.state)
        if name == "processor_pc":
            return self.core.pc
        return self.registers[name]

    def window_allowed(self, offset: int, process: int) -> bool:
        page = offset // WINDOW_PAGE
        if offset + 8 > len(self.memory) or process and self.window.get(page, 0) != process:
            self.registers["window_refused"] += 1
            return False
        return True

    def window_write(self, offset: int, word: int, process: int) -> None:
        if not self.window_allowed(offset, process):
            return
        self.memory[offset:offset + 8] = word.to_bytes(8, "little")
        total = self.registers["load_sum"]
        self.registers["load_sum"] = (total << 1 | total >> 63) + word & WORD
        self.registers["load_words"] += 1
        self.happens(Pending.WINDOW)

    def window_read(self, offset: int, process: int) -> int:
        if not self.window_allowed(offset, process):
            return 0
        return int.from_bytes(self.memory[offset:offset + 8], "little")

    def own(self, page: int, owner: int) -> None:
        if owner >> 8:
            self.owners[page] = owner & 255
        else:
            self.owners.pop(page, None)

    def doorbell(self, offset: int, word: int, process: int) -> None:
        page, place = divmod(offset, PAGE)
        if process and self.owners.get(page) != process or place >= 512:
            self.registers["page_refused"] += 1
            return
        words = DOORBELL_WORDS.unpack(self.registers["doorbell_words"])
        if words["enable"]:
            if place < 16:
                at = words["address"] + 16 * page + place
                self.memory[at:at + 8] = word.to_bytes(8, "little")
                self.happens(Pending.WINDOW)
            else:
                self.registers["page_refused"] += 1
            return
        if len(self.doorbells) >= self.depth:
            self.registers["page_lost"] += 1
            self.lost = 1
            return
        self.doorbells.append((page, place // 8, process, self.lost, word))
        self.lost = 0
        self.wake()

    # The core

    def run_on(self) -> None:
        generation = self.generation

        def run() -> None:
            if generation == self.generation and self.state is State.RUNNING:
                self.quantum()
        self.model.at(self.model.now + 1, run)

    def quantum(self) -> None:
        core = self.core
        before = core.executed
        self.before = before
        try:
            for _ in range(QUANTUM):
                core.step()
        except Held:
            self.state = State.ASLEEP
        generation = self.generation

        def again() -> None:
            if generation == self.generation and self.state is State.RUNNING:
                self.quantum()
        if self.state is State.RUNNING:
            self.model.at(self.model.now + self.cpi * (core.executed - before), again)

    def wake(self) -> None:
        """Something has happened: an access that was held may be answered."""
        if self.state is State.ASLEEP:
            self.state = State.RUNNING
            self.run_on()

    def happens(self, what: Pending) -> None:
        self.sticky |= what
        self.wake()

    @property
    def pending(self) -> int:
        timer = self.armed and (self.clock() - self.mmio["timer"] & MASK) < 1 << 31
        return self.sticky | (Pending.DOORBELL if self.doorbells else 0) | (
            Pending.TIMER if timer else 0)

    def clock(self) -> int:
        return self.model.now & MASK

    def outside(self, write: bool, address: int, value: int) -> int:
        if 0 <= address - HOST_BASE < self.host_bytes:
            place = address - HOST_BASE
            assert place % 4 == 0, "host memory is accessed in words of 32 bits"
            if write:
                self.model.dma_write(self.nic.home, place, value.to_bytes(4, "little"))
                return 0
            return int.from_bytes(self.nic.memory.read(place, 4), "little")
        offset = address - MMIO_BASE
        if 0 <= offset - ENGINES_BASE < 4 * ENGINE_STRIDE:
            number, place = divmod(offset - ENGINES_BASE, ENGINE_STRIDE)
            return self.engines[number].access(write, place, value)
        name = REGISTERS.get(offset)
        if name is None:
            raise Crash(f"node {self.nic.node}: access to {address:#x} at {self.core.pc:#x}")
        if write:
            self.mmio_write(name, value)
            return 0
        return self.mmio_read(name)

    def mmio_read(self, name: str) -> int:
        if name == "node":
            return self.nic.node
        if name == "cycle":
            self.mmio["cycle_high"] = self.model.now >> 32
            return self.clock()
        if name == "memory_bytes":
            return len(self.memory)
        if name == "pending":
            return int(self.pending)
        if name == "wait":
            found = self.pending & self.mmio["wait_mask"]
            if not found:
                raise Held
            return int(found)
        if name.startswith("doorbell") and name != "doorbell_page":
            if not self.doorbells:
                return 0
            page, place, process, lost, word = self.doorbells[0]
            if name == "doorbell":
                return DOORBELL_ENTRY.pack(page=page, offset=place, process=process, lost=lost,
                                           valid=1)
            return word & MASK if name == "doorbell_low" else word >> 32
        return self.mmio[name]

    def mmio_write(self, name: str, value: int) -> None:
        if name == "pending":
            self.sticky &= ~value
            return
        self.mmio[name] = value
        if name == "timer":
            self.armed = True
            ahead = value - self.clock() & MASK
            if ahead < 1 << 31:
                self.model.at(self.model.now + ahead, self.wake)
        elif name == "timer_off":
            self.armed = False
        elif name == "protocol":
            if not self.nic.storing:
                before = list(self.nic.received)
                self.nic.received.clear()
                for packet in before:
                    if self.wants(packet[0][6]):
                        self.arrived(*packet)
                    else:
                        self.nic.received.append(packet)
        elif name == "doorbell_pop":
            if self.doorbells:
                self.doorbells.popleft()
        elif name == "doorbell_enable":
            self.own(self.mmio["doorbell_page"], value)
        elif name == "event" and value == Kind.AGAIN:
            self.again.append((self.mmio["event_number"], self.mmio["event_arg"]))
        elif name == "host_irq":
            self.nic.cause(Irq.PROCESSOR)
        elif name == "crash":
            raise Crash(f"node {self.nic.node}: reason {value}, cause {self.mmio['crash_cause']:#x}"
                        f" at {self.mmio['crash_pc']:#x}")

    # The network's side

    def wants(self, protocol: int) -> bool:
        select = PROTOCOL_SELECT.unpack(self.mmio["protocol"])
        return bool(select["enable"]) and select["protocol"] == protocol

    def arrived(self, data: bytes, number: int, length: int) -> None:
        self.waiting.append((data, number, length))
        self.engines[Engine.RECEIVE].go()

    def left(self, data: bytes) -> None:
        """A packet has left the NIC: perhaps the one that the engine SEND gave to the link."""
        if data is self.on_wire:
            self.on_wire = None
            self.engines[Engine.SEND].finish()

    def stored(self, address: int, length: int) -> None:
        """A CPU has taken lines for writing."""
        base, size = self.mmio["watch_base"], self.mmio["watch_bytes"]
        if address < base + size and base < address + length:
            self.happens(Pending.WATCH)


class ModelEngine:
    """One of the four engines."""

    def __init__(self, processor: ModelProcessor, engine: Engine) -> None:
        self.processor, self.engine = processor, engine
        self.fields = {"host": 0, "local": 0, "length": 0, "trace": 0}
        self.queue: deque[tuple[int, int, int, int, int]] = deque()
        self.busy = False
        self.done = 0

    def access(self, write: bool, place: int, value: int) -> int:
        name = EngineRegister(place).name.lower()
        if not write:
            return {"space": ENGINE_QUEUE - len(self.queue), "done": self.done & MASK,
                    **self.fields}[name]
        if name != "start":
            self.fields[name] = value & (0xF_FFFF if name == "local" else 0xFFFF if name == "length"
                                         else MASK)
            return 0
        if len(self.queue) == ENGINE_QUEUE:
            raise Held
        fields = self.fields
        limit = len(self.processor.memory)
        assert fields["local"] + fields["length"] <= limit, f"{self.engine.name} beyond NIC memory"
        self.queue.append((fields["host"], fields["local"], fields["length"], fields["trace"],
                           value))
        self.go()
        return 0

    def go(self) -> None:
        if self.busy or not self.queue:
            return
        processor = self.processor
        model = processor.model
        length = self.queue[0][2]
        if self.engine is Engine.RECEIVE:
            if not processor.waiting:
                return
            length = processor.waiting[0][2]
        self.busy = True
        act = {Engine.H2N: self.pull, Engine.N2H: self.push, Engine.SEND: self.send,
               Engine.RECEIVE: self.receive}[self.engine]
        model.at(model.now + 12 + length // 8, functools.partial(act, *self.queue[0]))

    def finish(self) -> None:
        self.queue.popleft()
        self.done += 1
        self.busy = False
        self.processor.happens(Pending[self.engine.name])
        self.go()

    def pull(self, host: int, local: int, length: int, trace: int, flags: int) -> None:
        data = self.processor.nic.memory.read(host, length)
        self.processor.memory[local:local + length] = data
        self.finish()

    def push(self, host: int, local: int, length: int, trace: int, flags: int) -> None:
        if flags & StartFlag.FIRST_LAST:
            assert host % 8 == local % 8 == 0
        data = bytes(self.processor.memory[local:local + length])
        self.processor.model.dma_write(self.processor.nic.home, host, data)
        self.finish()

    def send(self, host: int, local: int, length: int, trace: int, flags: int) -> None:
        processor = self.processor
        assert local % 8 == 0
        processor.partial += bytes(processor.memory[local:local + length])
        if flags & StartFlag.MORE:
            assert length % 8 == 0
            self.finish()
            return
        data, processor.partial = processor.partial, b""
        assert HEADER.get(int.from_bytes(data[:8], "little"), "length") == len(data) - 8
        processor.log.append(data)
        processor.nic.queue.append((data, trace, 0))
        processor.on_wire = data
        processor.nic.send()

    def receive(self, host: int, local: int, length: int, trace: int, flags: int) -> None:
        processor = self.processor
        assert local % 8 == 0 and length % 8 == 0 and length >= 24
        data, number, room = processor.waiting.popleft()
        word = COMPLETION.pack(phase=0, length=len(data) - 8, trace=number, index=0)
        image = (word.to_bytes(8, "little") + data)[:length]
        processor.memory[local:local + len(image)] = image
        processor.nic.free(room)
        self.finish()
