"""A NIC of the functional target: its registers, rings, uplink and receive side."""

import random
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....layouts.packet import CRC_BYTES, HEADER, Protocol
from ....layouts.processor import NIC_MEMORY
from ....layouts.registers import (
    ENGINE_REGISTERS,
    RECEIVE_WINDOW,
    RECHECK,
    REGISTERS,
    SEND_WINDOW,
    WINDOW_BYTES,
    Irq,
)
from ....layouts.rings import COMPLETION, DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL
from ....layouts.via import CQ_PAGES, DOORBELL_PAGES
from .processor import PROCESSOR_NAMES, ModelProcessor
from .vi.engine import Engine

if TYPE_CHECKING:
    from .target import Model

__all__ = ["ModelNic"]

NAMES = {register.offset: register.name for register in REGISTERS}
ENGINE_NAMES = {register.name for register in ENGINE_REGISTERS}


class ModelNic:
    """A NIC, uplink and receive side: ``node`` is its wire address, ``home`` the number of the node
    that has it. The VI engine is :class:`nicbed.testbench.backends.model.vi.engine.Engine`; its
    packets share the uplink with the others, but never wait behind them once they have arrived."""

    def __init__(self, model: "Model", node: int) -> None:
        self.model, self.node = model, node
        self.home = node // model.description.node.nics
        self.memory = model.memories[self.home]
        self.registers = {register.name: register.reset for register in REGISTERS}
        self.registers["node"] = node
        self.registers["send_space"] = model.description.nic.send_fifo
        self.window: list[int] = []
        self.window_trace = 0
        self.queue: deque = deque()
        self.busy = False
        self.posted = 0
        self.filled = 0
        self.room = model.description.nic.receive_fifo
        self.received: deque = deque()
        self.read_bytes = 0
        self.storing = False
        self.random = random.Random(f"{model.description.faults.seed} {node}")
        self.blocked: deque[ModelNic] = deque()
        self.lose: Callable[[bytes], bool] = lambda data: False
        """Whether to drop this packet, beside what chance drops."""
        self.level = self.seen = False
        self.risen = -1
        self.via_received: deque = deque()
        self.via = (Engine(self) if model.description.via.design not in ("kernel", "firmware")
                    else None)
        self.processor = (ModelProcessor(self, model.description)
                          if model.description.nic.processor != "none" else None)

    def write(self, offset: int, word: int, trace: int, process: int = 0) -> None:
        if self.processor is not None and (offset >= DOORBELL_PAGES
                                           or NIC_MEMORY <= offset < CQ_PAGES):
            if offset >= DOORBELL_PAGES:
                self.processor.doorbell(offset - DOORBELL_PAGES, word, process)
            else:
                self.processor.window_write(offset - NIC_MEMORY, word, process)
            return
        if offset >= CQ_PAGES:
            if self.via is not None:
                self.via.page(offset, word, process)
            return
        if process:
            self.registers["process_refused"] += 1
            return
        if SEND_WINDOW <= offset < SEND_WINDOW + WINDOW_BYTES:
            if not self.window:
                self.window_trace = trace
            self.window.append(word)
            beats = 1 + -(-HEADER.get(self.window[0], "length") // 8)
            if len(self.window) == beats:
                if self.registers["send_space"] < 8 * beats:
                    self.registers["send_refused"] += 1
                else:
                    self.registers["send_space"] -= 8 * beats
                    data = b"".join(w.to_bytes(8, "little") for w in self.window)
                    data = data[:8 + HEADER.get(self.window[0], "length")]
                    self.queue.append((data, self.window_trace, 8 * beats))
                    self.send()
                self.window = []
            return
        name = NAMES[offset]
        if name in PROCESSOR_NAMES:
            if self.processor is not None:
                self.processor.write(name, word)
            return
        if name in ENGINE_NAMES:
            if self.via is not None:
                self.via.write(name, word)
            return
        if name in ("irq_status", "irq_enable"):
            self.registers[name] = (self.registers[name] & ~word if name == "irq_status" else word)
            if name == "irq_status":
                self.recheck(word)
            self.line()
            return
        if name == "send_doorbell":
            done, word = self.registers["send_done"], word & 0xFFFF
            pending, wanted = self.posted - done & 0xFFFF, word - done & 0xFFFF
            ring_on = self.registers["control"] & 1
            if not (ring_on and pending <= wanted <= self.model.description.nic.send_ring):
                self.registers["doorbells_refused"] += 1
                return
            while self.posted != word:
                self.queue.append((None, self.posted, 0))
                self.posted = self.posted + 1 & 0xFFFF
            self.send()
        if name == "receive_taken":
            if word - self.registers[name] & 0x8000 == 0:
                self.registers[name] = word & 0xFFFF
            self.recheck(word)
        else:
            self.registers[name] = word
        if name in ("receive_taken", "control"):
            self.store()

    def read(self, offset: int, process: int = 0) -> int:
        if self.processor is not None and NIC_MEMORY <= offset < CQ_PAGES:
            return self.processor.window_read(offset - NIC_MEMORY, process)
        if offset >= CQ_PAGES:
            return 0
        if process:
            self.registers["process_refused"] += 1
            return 0
        if RECEIVE_WINDOW <= offset < RECEIVE_WINDOW + WINDOW_BYTES:
            return self.window_word()
        name = NAMES[offset]
        if name == "receive_trace":
            return self.received[0][1] if self.received else 0
        if name in PROCESSOR_NAMES:
            return 0 if self.processor is None else self.processor.read(name)
        if name in ENGINE_NAMES:
            return 0 if self.via is None else self.via.read(name)
        return self.model.now if name == "cycle" else self.registers[name]

    def window_word(self) -> int:
        """The next 8 bytes of the receive FIFO's head packet."""
        if not self.received or self.registers["control"] & 2:
            return 0
        data, _, length = self.received[0]
        at, self.read_bytes = self.read_bytes, self.read_bytes + 8
        if self.read_bytes >= len(data):
            self.received.popleft()
            self.read_bytes = 0
            self.free(length)
        return int.from_bytes(data[at:at + 8], "little")

    def recheck(self, word: int) -> None:
        """Behind the write of ``word`` to a register of the receive ring."""
        left = self.filled - self.registers["receive_taken"] & 0xFFFF
        if word & RECHECK and 0 < left < 0x8000:
            self.cause(Irq.RECEIVE)

    def cause(self, cause: Irq) -> None:
        self.registers["irq_status"] |= cause
        self.line()

    def line(self) -> None:
        """The interrupt line, and when the CPU sees it."""
        causes = self.registers["irq_status"]
        if self.via is not None and self.via.events.waiting:
            causes |= Irq.VIA
        level = bool(causes & self.registers["irq_enable"])
        if level == self.level:
            return
        self.level, self.seen = level, False
        if level:
            now = self.risen = self.model.now

            def arrives() -> None:
                if self.level and self.risen == now and not self.seen:
                    self.seen = True
                    for host in self.model.interrupted(self):
                        host.interrupt()

            self.model.at(now + max(1, self.model.description.nic.irq_latency), arrives)

    def send(self) -> None:
        if self.busy or not self.queue:
            return
        model = self.model
        data, number, space = self.queue[0]
        setup = 4
        if data is None:
            ring = model.description.nic.send_ring
            at = self.registers["send_base"] + number % ring * DESCRIPTOR_BYTES
            words = [self.memory.word(at + 8 * i) for i in range(7)]
            control = DESCRIPTOR_CONTROL.unpack(words[6])
            data = self.memory.read(at, 8 + control["inline"])
            data += self.memory.read(words[5], control["payload"])
            assert HEADER.get(words[0], "length") == len(data) - 8, "descriptor's length"
            self.queue[0] = (data, control["trace"], 0)
            self.registers["send_done"] = number + 1 & 0xFFFF
            if self.registers["send_report"]:
                model.dma_write(self.home, self.registers["send_report"],
                                self.registers["send_done"].to_bytes(8, "little"))
            if self.registers["send_done"] == self.posted:
                self.cause(Irq.SEND)
            data, number, space = self.queue[0]
            setup = 20 + len(data) // 8
        destination = model.nics[HEADER.get(int.from_bytes(data[:8], "little"), "destination")]
        length = len(data) + CRC_BYTES
        if destination.room < length:
            destination.blocked.append(self)
            self.busy = True
            return
        self.busy = True
        faults = model.description.faults
        copies = 1
        late = 0
        draw = self.random.random
        if faults.drop and draw() < faults.drop or self.lose(data):
            copies = 0
        if faults.corrupt and draw() < faults.corrupt:
            copies = 0
        if faults.duplicate and draw() < faults.duplicate:
            copies *= 2
        if faults.delay and draw() < faults.delay:
            late = faults.delay_cycles
        destination.room -= copies * length
        busy = setup + late + int(length / model.description.link.bytes_per_cycle)
        flight = 2 * model.description.link.latency + model.description.switch.latency
        model.at(model.now + busy, lambda: self.sent(space))
        for copy in range(copies):
            model.at(model.now + busy + flight + copy,
                     lambda: destination.arrive(data, number, length))

    def sent(self, space: int) -> None:
        data = self.queue.popleft()[0]
        self.registers["send_space"] += space
        self.registers["packets_sent"] += 1
        self.busy = False
        self.model.recheck(self.home)
        if self.via is not None:
            self.via.link.sent(data)
        if self.processor is not None:
            self.processor.left(data)
        self.send()

    def arrive(self, data: bytes, number: int, length: int) -> None:
        if self.via is not None and data[6] == Protocol.VIA:
            self.registers["packets_received"] += 1
            self.via_received.append((data, number, length))
            if len(self.via_received) == 1:
                self.model.at(self.model.now + 10 + length // 8, self.via_taken)
            return
        self.registers["packets_received"] += 1
        if self.processor is not None and self.processor.wants(data[6]):
            self.processor.arrived(data, number, length)
            return
        self.received.append((data, number, length))
        self.store()

    def store(self) -> None:
        ring = self.model.description.nic.receive_ring
        taken = self.registers["receive_taken"]
        if (self.storing or not self.received or not self.registers["control"] & 2
                or (self.filled - taken & 0xFFFF) >= ring):
            return
        self.storing = True
        self.model.at(self.model.now + 10 + self.received[0][2] // 8, self.stored)

    def via_taken(self) -> None:
        """The VI engine has taken a packet."""
        assert self.via is not None
        data, number, length = self.via_received.popleft()
        self.via.receiver.arrive(data, number)
        self.free(length)
        if self.via_received:
            self.model.at(self.model.now + 10 + self.via_received[0][2] // 8, self.via_taken)

    def free(self, length: int) -> None:
        """Room in the receive FIFO."""
        self.room += length
        for other in list(self.blocked):
            self.blocked.remove(other)
            other.busy = False
            other.send()

    def stored(self) -> None:
        data, number, length = self.received.popleft()
        ring = self.model.description.nic.receive_ring
        index = self.filled % ring
        slot = self.registers["receive_base"] + index * self.model.description.slot_bytes
        self.filled = self.filled + 1
        self.registers["receive_filled"] = self.filled & 0xFFFF
        self.model.dma_write(self.home, slot + 8, data)
        phase = 1 - (self.filled - 1) // ring % 2
        word = COMPLETION.pack(phase=phase, length=len(data) - 8, trace=number, index=index)
        self.model.dma_write(self.home, slot, word.to_bytes(8, "little"))
        self.cause(Irq.RECEIVE)
        self.storing = False
        self.free(length)
        self.store()
