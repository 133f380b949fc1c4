"""A node's host port in a check: it executes what drivers and programs do, over the NIC's PIO."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from ...host.port.memory import ArrayMemory
from ...layouts.operations import (
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
from ...layouts.trace import TICKS
from .nic_ports import NicPorts
from .sides import Stalls

__all__ = ["HostPort"]

POSTED = 8
"""Beats of writes that wait for the NIC."""
LINE = 2
"""Cycles of a touch."""


class HostPort:
    """The only CPU of a node. Its operations take plausible cycles, with ``stalls`` between its
    accesses to the NIC."""

    def __init__(self, nic: NicPorts, memory: ArrayMemory, stalls: Stalls) -> None:
        self._nic, self._memory, self._stalls = nic, memory, stalls
        self.waiting = True
        self.stopped = False
        self.answers = bytearray(BLOCK * ANSWER_WORDS * 4)
        self.block = bytearray(BLOCK * ENTRY.size)
        self._entries: list[tuple[int, ...]] = []
        self._posted: deque[tuple[int, int, int, int]] = deque()
        self._fraction = 0
        self._read: tuple[int, int] | None = None
        self._found: int | None = None
        self._asks = self._awaits = False
        self._cpu = self._run()
        next(self._cpu)

    def give(self, count: int) -> None:
        """Execute the first ``count`` entries of the block."""
        self._entries = [ENTRY.unpack_from(self.block, at * ENTRY.size) for at in range(count)]
        self.waiting = False

    @property
    def idle(self) -> bool:
        """No write waits for the NIC."""
        return not self._posted and not self._asks

    def sampled(self) -> None:
        """Take what the NIC did in the cycle that ends, and go on by a cycle."""
        nic = self._nic
        if self._asks and nic.get("pio__ready"):
            self._asks = False
            nic.set("pio__valid", 0)
            if self._read is not None:
                self._awaits = True
            else:
                nic.bus_free(self)
        elif self._awaits and nic.get("pio__answer__valid"):
            self._found = nic.get("pio__answer__data")
            self._awaits, self._read = False, None
            nic.moved("pio.answer", self._found)
            nic.bus_free(self)
        next(self._cpu)

    def drive(self) -> None:
        """Set what the NIC sees in the cycle that begins."""
        nic = self._nic
        if self._asks or self._awaits or self._stalls():
            return
        access = self._posted[0] if self._posted else self._read and (*self._read, 0, 0)
        if not access or not nic.bus_for(self, True):
            return
        address, process, data, trace = access
        writes = bool(self._posted)
        if writes:
            self._posted.popleft()
        self._asks = True
        for name, value in (("valid", 1), ("write", int(writes)), ("strobe", 0xFF),
                            ("address", address % NIC_BYTES), ("data", data), ("trace", trace),
                            ("process", process)):
            nic.set(f"pio__{name}", value)
        nic.moved("pio.write" if writes else "pio.read", address % NIC_BYTES)

    def _run(self) -> Iterator[None]:
        while True:
            while self.waiting:
                yield
            watches: list[tuple[int, ...]] = []
            ended = 0
            for index, entry in enumerate(self._entries):
                status = data = 0
                if ended:
                    status = int(Status.DISCARDED)
                elif entry[0] & 15 == Op.STOP:
                    self.stopped = True
                    while True:
                        yield
                elif entry[0] & 15 in (Op.WATCH, Op.POLL):
                    watches.append(entry)
                    if entry[0] & 15 == Op.POLL:
                        status, data = yield from self._poll(watches)
                        watches = []
                        if status & Status.TIMEOUT and not entry[0] >> 8 & Flag.ONCE:
                            ended = status
                else:
                    data = yield from self._execute(entry)
                if self._nic.irq:
                    status |= Status.IRQ
                ANSWER.pack_into(self.answers, index * ANSWER.size,
                                 self._nic.now & 0xFFFFFFFF,
                                 status | self._fraction << Status.FRACTION_SHIFT, data)
            self.waiting = True

    def _spend(self, work: int) -> Iterator[None]:
        total = self._fraction + work
        self._fraction = total % TICKS
        for _ in range(total // TICKS):
            yield

    def _execute(self, entry: tuple[int, ...]) -> Any:
        word, work, address, length, *data, trace = entry
        op, flags, count, process = word & 15, word >> 8 & 255, word >> 16 & 15, word >> 20 & 255
        yield from self._spend(work)
        if op == Op.PIO_WRITE:
            for beat in range(count):
                while len(self._posted) >= POSTED:
                    yield
                self._posted.append((address + 8 * beat, process, data[beat], trace))
                yield
            while not flags & Flag.POSTED and not self.idle:
                yield
        elif op == Op.PIO_READ:
            return (yield from self._load(address, process))
        elif op == Op.TOUCH:
            for _ in range(LINE):
                yield
        elif op == Op.CAS:
            old = self._memory.word(address)
            if old == data[0]:
                self._memory.write(address, data[1].to_bytes(8, "little"))
            yield
            return old
        elif op == Op.WAIT_IRQ:
            left = length or -1
            while not self._nic.irq and left:
                left -= 1
                yield
        else:
            yield
        return 0

    def _load(self, address: int, process: int = 0) -> Any:
        if address < NIC_BASE:
            yield
            return self._memory.word(address)
        while not self.idle:
            yield
        self._found, self._read = None, (address, process)
        while self._found is None:
            yield
        return self._found

    def _poll(self, watches: list[tuple[int, ...]]) -> Any:
        last = watches[-1]
        timeout, once = last[3], last[0] >> 8 & Flag.ONCE
        yield from self._spend(last[6] & 0xFFFFFFFF)
        began = self._nic.now
        while True:
            for index, (word, work, address, _, compare, mask, *_) in enumerate(watches):
                yield from self._spend(work)
                found = yield from self._load(address)
                if (found & mask == compare) != bool(word >> 8 & Flag.NOT_EQUAL):
                    return index << 4, found
            if once or timeout and self._nic.now - began >= timeout:
                return int(Status.TIMEOUT), 0
