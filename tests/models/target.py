"""A functional target in Python: host ports, NICs and a network with faults, after the layouts.

For tests of layers without a simulator. Its times are plausible, not the target's: a packet crosses
whole, memory has no bandwidth, a hit and a miss cost the same.
"""

import heapq
import random
from collections import deque
from collections.abc import Callable

from nicbed.host.port.memory import ArrayMemory
from nicbed.host.port.node import Programs
from nicbed.host.runtime import Runtime
from nicbed.layouts.description import Description
from nicbed.layouts.operations import ANSWER, ANSWER_WORDS, BLOCK, ENTRY, NIC_BASE, Flag, Op, Status
from nicbed.layouts.packet import CRC_BYTES, HEADER, Protocol
from nicbed.layouts.processor import NIC_MEMORY
from nicbed.layouts.registers import (
    ENGINE_REGISTERS,
    RECEIVE_WINDOW,
    REGISTERS,
    SEND_WINDOW,
    WINDOW_BYTES,
    Irq,
)
from nicbed.layouts.rings import COMPLETION, DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL
from nicbed.layouts.trace import TICKS
from nicbed.layouts.via import CQ_PAGES, DOORBELL_PAGES

from tests.models.processor import PROCESSOR_NAMES, ModelProcessor
from tests.models.via.engine import Engine

# Plain numbers: an enumeration's own operators take as long as the rest of an operation.
_OPS = tuple(Op)
_ONCE, _NOT_EQUAL, _INTERRUPTIBLE, _POSTED, _STORE = map(int, (
    Flag.ONCE, Flag.NOT_EQUAL, Flag.INTERRUPTIBLE, Flag.POSTED, Flag.STORE))
_IRQ, _TIMEOUT, _INTERRUPTED, _DISCARDED = map(int, (
    Status.IRQ, Status.TIMEOUT, Status.INTERRUPTED, Status.DISCARDED))

WORD = (1 << 64) - 1
NAMES = {register.offset: register.name for register in REGISTERS}
ENGINE_NAMES = {register.name for register in ENGINE_REGISTERS}


class ModelNic:
    """One node's NIC, uplink and receive side. The VI engine is
    :class:`tests.models.via.engine.Engine`; its
    packets share the uplink with the others, but never wait behind them once they have arrived."""

    def __init__(self, model: "Model", node: int) -> None:
        self.model, self.node = model, node
        self.memory = model.memories[node]
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
            self.line()
            return
        if name == "send_doorbell":
            count = (word - self.posted) & 0xFFFF
            open_ones = word - self.registers["send_done"] & 0xFFFF
            assert open_ones <= self.model.description.nic.send_ring, "doorbell beyond the ring"
            for _ in range(count):
                self.queue.append((None, self.posted, 0))
                self.posted = self.posted + 1 & 0xFFFF
            self.send()
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
                    for host in self.model.cpus_of(self.node):
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
                model.dma_write(self.node, self.registers["send_report"],
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
        self.model.recheck(self.node)
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
        self.model.dma_write(self.node, slot + 8, data)
        phase = 1 - (self.filled - 1) // ring % 2
        word = COMPLETION.pack(phase=phase, length=len(data) - 8, trace=number, index=index)
        self.model.dma_write(self.node, slot, word.to_bytes(8, "little"))
        self.cause(Irq.RECEIVE)
        self.storing = False
        self.free(length)
        self.store()


class ModelPort:
    """One host port: of CPU ``cpu`` of ``node``."""

    def __init__(self, model: "Model", node: int, cpu: int = 0) -> None:
        self.model, self.node, self.cpu = model, node, cpu
        self.waiting, self.stopped = True, False
        self.answers = bytearray(BLOCK * ANSWER_WORDS * 4)
        self.entries: list[tuple] = []
        self.index = 0
        self.fraction = 0
        self.nic_free = 0
        self.watches: list[tuple] = []
        self.spin: tuple | None = None
        self.spins = 0
        self.resting: tuple[bool, int, int] | None = None
        """A wait for the interrupt (or a delay that one ends), its end, and its number."""
        self.rests = 0
        self.log: list[tuple[int, int, int]] = []

    def give(self, entries: bytes | bytearray | memoryview, count: int) -> None:
        assert self.waiting and 1 <= count <= BLOCK
        self.entries = [ENTRY.unpack_from(entries, i * ENTRY.size) for i in range(count)]
        self.index = 0
        self.waiting = False
        self.execute()

    def spend(self, work: int) -> int:
        total = self.fraction + work
        self.fraction = total & TICKS - 1
        return total // TICKS

    def answer(self, status: int = 0, data: int = 0, check: int = 0) -> None:
        status |= check << 8 | self.fraction << 24
        if self.model.nics[self.node].seen:
            status |= _IRQ
        ANSWER.pack_into(self.answers, self.index * ANSWER.size, self.model.now & 0xFFFFFFFF,
                         status, data)
        self.log.append((self.entries[self.index][0] & 15, self.began, self.model.now))
        self.index += 1
        once = self.entries[self.index - 1][0] >> 8 & _ONCE
        if status & (_TIMEOUT | _INTERRUPTED) and not once:
            while self.index < len(self.entries):
                ANSWER.pack_into(self.answers, self.index * ANSWER.size,
                                 self.model.now & 0xFFFFFFFF,
                                 _DISCARDED | self.fraction << 24, 0)
                self.index += 1
        if self.index == len(self.entries):
            self.waiting = True
            self.model.attend = True
        else:
            self.execute()

    def execute(self) -> None:
        model = self.model
        word, work, address, length, *data, trace = self.entries[self.index]
        op, flags, count = _OPS[word & 15], word >> 8 & 255, word >> 16 & 15
        process = word >> 20 & 255
        now = model.now
        self.began = now
        nic = model.nics[self.node]
        memory = model.memories[self.node]
        bus = model.description.bus
        if op in (Op.WATCH, Op.POLL):
            self.watches.append((flags, work, address, data[0], data[1]))
            if op is Op.WATCH:
                self.answer()
            else:
                start = now + self.spend(data[2] & 0xFFFFFFFF)
                model.at(start, lambda: self.poll(start, length, bool(flags & _ONCE)))
            return
        start = now + self.spend(work)
        if op is Op.WAIT_IRQ or op is Op.DELAY and flags & _INTERRUPTIBLE:
            end = start + length if op is Op.WAIT_IRQ else max(start, now + 1)
            self.rest(op is Op.WAIT_IRQ, start if op is Op.WAIT_IRQ else now, end, length)
        elif op is Op.DELAY:
            model.at(max(start, now + 1), self.answer)
        elif op is Op.PIO_WRITE:
            assert address >= NIC_BASE and 1 <= count <= 4
            end = start + count
            for beat in range(count):
                cost = bus.pio_write_cycles if beat == 0 else bus.pio_beat_cycles
                self.nic_free = max(self.nic_free, start + beat + 1) + cost
                model.at(self.nic_free, lambda beat=beat: nic.write(
                    address - NIC_BASE + 8 * beat, data[beat], trace, process))
            model.at(end if flags & _POSTED else self.nic_free, self.answer)
        elif op is Op.PIO_READ:
            end = self.nic_free = max(start, self.nic_free) + bus.pio_read_cycles
            model.at(end, lambda: self.answer(data=nic.read(address - NIC_BASE, process)))
        elif op is Op.TOUCH:
            assert length > 0 and address + length <= memory.size
            lines = (address + length - 1) // 32 - address // 32 + 1

            def touched() -> None:
                if flags & _STORE and nic.processor is not None:
                    nic.processor.stored(address, length)
                self.answer()
            model.at(start + 2 * lines, touched)
        elif op is Op.CAS:
            def swap() -> None:
                old = memory.word(address)
                if old == data[0]:
                    memory.write(address, data[1].to_bytes(8, "little"))
                    model.recheck(self.node)
                self.answer(data=old)
            model.at(start + 4, swap)
        elif op is Op.STOP:
            self.stopped = True
            model.stopped_at = now
        else:
            raise NotImplementedError(op.name)

    def rest(self, waits: bool, begin: int, end: int, timeout: int) -> None:
        """Until an interrupt is seen: a wait from ``begin`` on, with or without a time-out, or a
        delay up to ``end``."""
        model = self.model
        self.rests += 1
        number = self.rests

        def over() -> None:
            if self.resting is not None and self.resting[2] == number:
                self.resting = None
                self.answer(_TIMEOUT if waits else 0)

        def begins() -> None:
            self.resting = (waits, end, number)
            if model.nics[self.node].seen:
                self.interrupt()

        if timeout or not waits:
            model.at(max(end, model.now + 1), over)
        model.at(max(begin, model.now + 1), begins)

    def interrupt(self) -> None:
        """The CPU sees the NIC's interrupt line rise."""
        if self.resting is None:
            return
        waits, end, _ = self.resting
        self.resting = None
        if waits:
            self.answer()
        elif end == self.model.now:
            self.answer()
        else:
            self.answer(_INTERRUPTED, (end - self.model.now) << 8)

    def holds(self, watch: tuple) -> tuple[bool, int]:
        flags, _, address, compare, mask = watch
        if address >= NIC_BASE:
            word = self.model.nics[self.node].read(address - NIC_BASE)
        else:
            word = self.model.memories[self.node].word(address)
        return (word & mask == compare) != bool(flags & _NOT_EQUAL), word

    def poll(self, start: int, timeout: int, once: bool) -> None:
        self.spins += 1
        deadline = start + timeout if timeout else None
        if len(self.watches) == 1 and not once and self.watches[0][2] < NIC_BASE:
            work = self.watches[0][1]
            self.spin = (start * TICKS + self.fraction, work + TICKS, deadline, self.spins)
            self.aim()
            if deadline is not None and self.spin:
                base, period, _, which = self.spin
                checks = max(1, -(-((deadline * TICKS) - base) // period))
                self.model.at((base + checks * period) // TICKS,
                              lambda: self.land(checks, which, True))
        else:
            self.check(0, deadline, once)

    def aim(self) -> None:
        """The watched word holds: the first check that ends from now on will see it."""
        if self.spin is None or not self.holds(self.watches[0])[0]:
            return
        base, period, _, which = self.spin
        checks = max(1, -(-(self.model.now * TICKS + TICKS - base) // period))
        self.model.at((base + checks * period) // TICKS, lambda: self.land(checks, which, False))

    def land(self, checks: int, which: int, late: bool) -> None:
        if self.spin is None or which != self.spin[3]:
            return
        held, word = self.holds(self.watches[0])
        if not held and not late:
            return
        base, period, _, _ = self.spin
        self.spin = None
        end = base + checks * period
        self.fraction = end & TICKS - 1
        self.watches = []
        begin = (end - period) // TICKS
        self.answer(0 if held else _TIMEOUT, word if held else 0, self.model.now - begin)

    def check(self, index: int, deadline: int | None, once: bool) -> None:
        began = self.model.now
        watch = self.watches[index]
        cost = 1 if watch[2] < NIC_BASE else self.model.description.bus.pio_read_cycles

        def done() -> None:
            held, word = self.holds(watch)
            took = self.model.now - began
            if held:
                self.watches = []
                self.answer(index << 4, word, took)
            elif once and index == len(self.watches) - 1 or (
                    deadline is not None and self.model.now >= deadline):
                self.watches = []
                self.answer(_TIMEOUT, 0, took)
            else:
                self.check((index + 1) % len(self.watches), deadline, once)

        self.model.at(began + self.spend(watch[1]) + cost, done)


class Model:
    """The target, and the mailbox and memories that a runtime wants of it."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.now = 0
        nodes, self.cpus = description.fabric.nodes, description.node.cpus
        self.ports = nodes * self.cpus
        self.memories = [ArrayMemory(description.memory.bytes) for _ in range(nodes)]
        self.nics = [ModelNic(self, node) for node in range(nodes)]
        self.hosts = [ModelPort(self, node, cpu) for node in range(nodes)
                      for cpu in range(self.cpus)]
        self.events: list = []
        self.sequence = 0
        self.limit = 0
        self.attend = True
        self.stopped_at = 0

    def at(self, cycle: int, action: Callable[[], None]) -> None:
        assert cycle >= self.now
        self.sequence += 1
        heapq.heappush(self.events, (cycle, self.sequence, action))

    def dma_write(self, node: int, address: int, data: bytes) -> None:
        self.memories[node].write(address, data)
        self.recheck(node)

    def cpus_of(self, node: int) -> list[ModelPort]:
        return self.hosts[node * self.cpus:(node + 1) * self.cpus]

    def recheck(self, node: int) -> None:
        for host in self.cpus_of(node):
            if host.spin:
                host.aim()

    # The mailbox

    def cycle(self) -> int:
        return self.now

    def look(self) -> tuple[int, int, int]:
        return (self.now, sum(1 << i for i, host in enumerate(self.hosts) if host.waiting),
                bool(self.limit) and self.now >= self.limit)

    def crash(self) -> tuple[int, ...]:
        return 0, 0, 0

    def answers(self, port: int) -> bytearray:
        return self.hosts[port].answers

    def block(self, _: int) -> bytearray:
        return bytearray(BLOCK * ENTRY.size)

    def give(self, port: int, entries: bytes | bytearray | memoryview, count: int) -> None:
        self.hosts[port].give(entries, count)

    # Running

    def attention(self) -> None:
        """Answer the programs; what one stored, the other CPUs of its node see."""
        self.runtime.attention()
        if self.cpus > 1:
            for node in range(len(self.nics)):
                self.recheck(node)

    def run(self, programs: Programs, *, limit: int = 0,
            tracing: bool = True) -> Runtime:
        """Run ``programs`` to their ends; what one raised is raised here."""
        self.limit = limit
        self.runtime = runtime = Runtime(self.description, self, self.memories, programs,
                                         tracing=tracing)
        events = self.events
        self.attention()
        while not runtime.done:
            if not events or limit and events[0][0] >= limit:
                assert limit, "the target is dead: nothing can happen any more"
                self.now = limit
                self.attention()
                break
            self.now = events[0][0]
            self.attend = False
            while events and events[0][0] == self.now:
                heapq.heappop(events)[2]()
            if self.attend:
                self.attention()
        if runtime.failed is not None:
            raise runtime.failed
        return runtime
