"""The host ports of the functional target (:mod:`.target`): operations and their times."""

from collections import deque
from typing import TYPE_CHECKING, Any

from ....layouts.operations import (
    ANSWER,
    ANSWER_WORDS,
    BLOCK,
    ENTRY,
    NIC_BASE,
    NIC_BYTES,
    Flag,
    Op,
    Status,
)
from ....layouts.trace import TICKS

if TYPE_CHECKING:
    from .target import Model

__all__ = ["ModelPort"]

# Plain numbers: an enumeration's own operators take as long as the rest of an operation.
_OPS = tuple(Op)
_ONCE, _NOT_EQUAL, _INTERRUPTIBLE, _POSTED, _STORE = map(int, (
    Flag.ONCE, Flag.NOT_EQUAL, Flag.INTERRUPTIBLE, Flag.POSTED, Flag.STORE))
_IRQ, _TIMEOUT, _INTERRUPTED, _DISCARDED = map(int, (
    Status.IRQ, Status.TIMEOUT, Status.INTERRUPTED, Status.DISCARDED))


class ModelPort:
    """The host port of CPU ``cpu`` of ``node``."""

    def __init__(self, model: "Model", node: int, cpu: int = 0) -> None:
        self.model, self.node, self.cpu = model, node, cpu
        self.waiting, self.stopped = True, False
        self.answers = bytearray(BLOCK * ANSWER_WORDS * 4)
        self.block = bytearray(BLOCK * ENTRY.size)
        self.entries: list[tuple] = []
        self.index = 0
        self.fraction = 0
        self.nic_free = 0
        self.posted: deque[int] = deque(maxlen=model.description.bus.posted_writes)
        """When the last beats that fit the posted-write buffer reach the NIC."""
        self.watches: list[tuple] = []
        self.spin: tuple | None = None
        self.spins = 0
        self.resting: tuple[bool, int, int] | None = None
        """A wait for the interrupt (or a delay that one ends), its end, and its number."""
        self.rests = 0
        self.log: list[tuple[int, int, int]] = []

    def give(self, count: int) -> None:
        assert self.waiting and 1 <= count <= BLOCK
        self.entries = [ENTRY.unpack_from(self.block, i * ENTRY.size) for i in range(count)]
        self.model.was_given(self.node * self.model.cpus + self.cpu, self.entries)
        self.index = 0
        self.waiting = False
        self.execute()

    def spend(self, work: int) -> int:
        total = self.fraction + work
        self.fraction = total & TICKS - 1
        return total // TICKS

    def answer(self, status: int = 0, data: int = 0, check: int = 0) -> None:
        status |= check << 8 | self.fraction << 24
        if self.model.seen(self):
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
            end = start
            for beat in range(count):
                cost = bus.pio_write_cycles if beat == 0 else bus.pio_beat_cycles
                if len(self.posted) == self.posted.maxlen:
                    end = max(end, self.posted[0])  # room in the posted-write buffer
                end += 1
                self.nic_free = max(self.nic_free, end) + cost
                self.posted.append(self.nic_free)
                model.at(self.nic_free, lambda beat=beat: self.nic(address).write(
                    address % NIC_BYTES + 8 * beat, data[beat], trace, process))
            model.at(end if flags & _POSTED else self.nic_free, self.answer)
        elif op is Op.PIO_READ:
            end = self.nic_free = max(start, self.nic_free) + bus.pio_read_cycles
            model.at(end, lambda: self.answer(data=self.nic(address).read(address % NIC_BYTES,
                                                                          process)))
        elif op is Op.TOUCH:
            assert length > 0 and address + length <= memory.size
            lines = (address + length - 1) // 32 - address // 32 + 1

            def touched() -> None:
                for nic in model.nics_of(self.node):
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
            if model.seen(self):
                self.interrupt()

        model.at(max(begin, model.now + 1), begins)
        if timeout or not waits:
            model.at(max(end, model.now + 1), over)

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

    def nic(self, address: int) -> Any:
        """The NIC that has ``address``."""
        nics = self.model.nics_of(self.node)
        return nics[min((address - NIC_BASE) // NIC_BYTES, len(nics) - 1)]

    def holds(self, watch: tuple) -> tuple[bool, int]:
        flags, _, address, compare, mask = watch
        if address >= NIC_BASE:
            word = self.nic(address).read(address % NIC_BYTES)
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
        end = began + self.spend(watch[1])
        if watch[2] < NIC_BASE:
            end += 1
        else:  # behind the posted writes before it
            end = self.nic_free = (max(end, self.nic_free)
                                   + self.model.description.bus.pio_read_cycles)

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

        self.model.at(end, done)
