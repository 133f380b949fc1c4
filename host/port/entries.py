"""Operations of a CPU, put into blocks of entries: a full block is queued, and another begun."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from ...layouts.operations import BLOCK, ENTRY, SHORT_ENTRIES, SHORT_ENTRY
from .block import Block
from .costs import Costs
from .words import (
    ENTRY_BYTES,
    MAX_WORK,
    OPERATION,
    PROCESS,
    W_DELAY,
    W_FLUSH,
    W_LOAD,
    W_POLL,
    W_POSTED,
    W_READ,
    W_STORE,
    W_WATCH,
    W_WRITE,
)
from .work import Work

__all__ = ["Entries"]

_pack = ENTRY.pack_into
_pack_short = SHORT_ENTRY.pack_into
_pack_two = SHORT_ENTRIES.pack_into


class Entries(Work):
    """A CPU's work and operations, as entries for the target. Work is a part of the next
    operation's entry.

    Parameters
    ----------
    entries
        Memory of a block, from which the target takes each; None: its own.
    """

    __slots__ = ("_block", "_queue", "_spare", "_check", "_process", "_write")

    def __init__(self, costs: Costs, entries: bytearray | memoryview | None = None) -> None:
        super().__init__(costs)
        self._block = Block(entries)
        """The block being put together. While the program waits: the one that was given, whose
        entries are in the target's memory."""
        self._queue: deque[Block] = deque()
        """Full blocks that go to the target before the one being put together. While the program
        waits: the blocks that follow the one given."""
        self._spare: list[Block] = []
        """Blocks that were executed, to be used again."""
        self._process = 0
        self._write = W_POSTED if costs.posted else W_WRITE
        self._check = divmod(self._price["poll_check"], costs.denominator)

    @property
    def process(self) -> int:
        """The process that issues the following PIO: 1 to 255, or 0 for the kernel."""
        return self._process >> PROCESS

    @process.setter
    def process(self, number: int) -> None:
        if not 0 <= number <= 255:
            raise ValueError(f"process must be 0 to 255, not {number}")
        self._process = number << PROCESS

    @contextmanager
    def in_kernel(self) -> Iterator[None]:
        """PIO inside this context is issued by the kernel."""
        before, self._process = self._process, 0
        try:
            yield
        finally:
            self._process = before

    @property
    def queued(self) -> bool:
        """Tells whether full blocks wait for the program to wait."""
        return bool(self._queue)

    def _put(self, word: int, address: int, length: int, d0: int, d1: int, d2: int, d3: int,
             trace: int) -> None:
        work, rest = divmod(self.parts, self._denominator)
        if work > MAX_WORK:
            work = self._work_off(MAX_WORK)
        block = self._block
        if block.count == BLOCK:
            block = self._next_block()
        self.rounded = self.parts = rest
        _pack(block.words, block.count * ENTRY_BYTES, word, work, address, length, d0, d1, d2, d3,
              trace)
        block.count += 1

    def _next_block(self) -> Block:
        """Queue the block and begin another one, which must get an entry; return that."""
        self._queue.append(self._block)
        self._block = block = self._spare.pop() if self._spare else Block()
        return block

    def _work_off(self, most: int) -> int:
        """More work waits than an entry holds: put it into delays, all but ``most`` ticks, and
        queue these. So the block that follows has all the room that was made, for watches of the
        same poll that were put already, too. Return the ticks that are left."""
        work, rest = divmod(self.parts, self._denominator)
        block = self._block
        first = end = block.count
        while first and block.words[(first - 1) * ENTRY_BYTES] & OPERATION == W_WATCH:
            first -= 1
        watches = bytes(block.words[first * ENTRY_BYTES:end * ENTRY_BYTES])
        block.count = first
        while work > most:
            if block.count == BLOCK:
                block = self._next_block()
            part = min(work, MAX_WORK)
            _pack(block.words, block.count * ENTRY_BYTES, W_DELAY, part, 0, 0, 0, 0, 0, 0, 0)
            block.count += 1
            work -= part
        block = self._next_block()
        block.words[:len(watches)] = watches
        block.count = end - first
        self.parts = work * self._denominator + rest
        return work

    def put_write(self, address: int, beats: int, d0: int, d1: int = 0, d2: int = 0, d3: int = 0,
                  trace: int = 0, process: int = 0) -> None:
        """A PIO write of ``beats`` words, posted if the bus posts them (``bus.posted``), issued by
        ``process`` if that is given."""
        block = self._block
        parts = self.parts
        work = parts // self._denominator
        word = self._write | beats << 16 | (process << PROCESS or self._process)
        if work > MAX_WORK:
            self._put(word, address, 0, d0, d1, d2, d3, trace)
            return
        count = block.count
        if count == BLOCK:
            block, count = self._next_block(), 0
        self.rounded = self.parts = parts % self._denominator
        _pack(block.words, count * ENTRY_BYTES, word, work, address, 0, d0, d1, d2, d3, trace)
        block.count = count + 1

    def put_touch(self, address: int, length: int, store: bool = False) -> None:
        """CPU traffic over memory, through the cache."""
        block = self._block
        parts = self.parts
        work = parts // self._denominator
        if work > MAX_WORK:
            self._put(W_STORE if store else W_LOAD, address, length, 0, 0, 0, 0, 0)
            return
        count = block.count
        if count == BLOCK:
            block, count = self._next_block(), 0
        self.rounded = self.parts = parts % self._denominator
        _pack_short(block.words, count * ENTRY_BYTES, W_STORE if store else W_LOAD, work, address,
                    length)
        block.count = count + 1

    def put_two_touches(self, first: int, length: int, store: bool, second: int,
                        second_length: int) -> None:
        """CPU traffic over two places, as by :meth:`put_touch` of each: stores, at the first one
        only with ``store``."""
        block = self._block
        count = block.count
        parts = self.parts
        work = parts // self._denominator
        if work > MAX_WORK or count > BLOCK - 2:
            self.put_touch(first, length, store)
            self.put_touch(second, second_length, True)
            return
        self.rounded = self.parts = parts % self._denominator
        _pack_two(block.words, count * ENTRY_BYTES, W_STORE if store else W_LOAD, work, first,
                  length, W_STORE, 0, second, second_length)
        block.count = count + 2

    def put_flush(self, address: int, length: int) -> None:
        """On a bus that is not coherent: flush the lines of ``length`` bytes of memory, with the
        cost item ``flush_line`` for each. They are written back if they are dirty, and leave the
        cache."""
        line = self.costs.flush_bytes
        self.work("flush_line", (address + length - 1) // line - address // line + 1)
        self._put(W_FLUSH, address, length, 0, 0, 0, 0, 0)

    def put_read(self, address: int) -> None:
        """A PIO read; the word is ``data`` if it is the last operation put before the program
        waits."""
        self._put(W_READ | self._process, address, 0, 0, 0, 0, 0, 0)

    def put_poll(self, address: int, compare: int, mask: int, timeout: int = 0,
                 flags: int = 0) -> None:
        """The last, or only, watch of a poll, with the cost item ``poll_check`` for each check. It
        must be the last operation before the program waits, except in polls of one check
        (``flags`` = F_ONCE)."""
        parts, denominator = self.parts, self._denominator
        ticks, rest = self._check
        self._check_count += 1
        if parts == self.rounded:
            before = parts // denominator
            parts = parts % denominator + rest
        else:
            # Work since the last operation or mark is rounded together with the check.
            parts += rest
            before = parts // denominator
            parts %= denominator
        if before > MAX_WORK:
            self.parts = before * denominator
            before = self._work_off(0)
        block = self._block
        count = block.count
        if count == BLOCK:
            block, count = self._next_block(), 0
        self.rounded = self.parts = parts
        _pack(block.words, count * ENTRY_BYTES, W_POLL | flags, ticks, address, timeout,
              compare, mask, before, 0, 0)
        block.count = count + 1

    def put_watch(self, address: int, compare: int, mask: int, flags: int = 0) -> None:
        """A further watch of the poll that follows, with ``poll_check`` for each check. A poll and
        its watches are in one block: before the first there must be :meth:`.Port.room` for all."""
        block = self._block
        _pack(block.words, block.count * ENTRY_BYTES, W_WATCH | flags, self._check[0], address, 0,
              compare, mask, 0, 0, 0)
        block.count += 1
