"""A node's host port for its program: work, operations, marks.

A call that charges CPU work is not awaited and causes no wake-up: the work is added to the next
operation. Operations are put into a block of up to BLOCK entries. How many a block has is the
port's to know alone: a full one is *queued*, and goes to the target when the program waits next.
What a program reads of the port (:attr:`Port.cycle`, ``status``, ``data``) is as of the last block
that was executed, so before it looks it waits: for an operation's result, or by :meth:`Port.room`
or :meth:`Port.settle`. Time is counted in ticks, 1/TICKS of a target cycle; the port executes whole
cycles and keeps the fraction, so no time is ever lost.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple, TypeVar

from ...layouts.operations import (
    ANSWER,
    BLOCK,
    BURST,
    ENTRY,
    WATCHES,
    WORK_BITS,
)
from ...layouts.trace import TICKS
from .costs import Costs
from .diagnosis import steps, work
from .entries import Entries
from .forgotten import forgotten
from .sent_again import SentAgain
from .suspension import EXECUTED, NOTHING
from .words import (
    ANSWER_BYTES,
    DISCARDED,
    ENTRY_BYTES,
    F_NOT_EQUAL,
    F_ONCE,
    FRACTION,
    IRQ,
    LOW,
    MAX_WORK,
    STALE,
    TIMEOUT,
    W_BLOCK,
    W_CAS,
    W_CHECK,
    W_DELAY,
    W_IRQ,
    W_POLL,
    W_READ,
    W_STOP,
    W_WATCH,
    W_WRITE,
    WORD,
)
from .work import Charge

__all__ = ["NEVER", "Mark", "Poll", "Port", "Watch"]

LONG = 10_000
"""Cycles of work that a diagnosis tells of."""

Result = TypeVar("Result")

Mark = list[int]
"""A mark: ticks, activity, kind, number."""
NEVER = 1 << 62
"""A cycle that does not come."""

_pack = ENTRY.pack_into
_unpack = ANSWER.unpack_from


class Watch(NamedTuple):
    """A location to poll: holds when ``word & mask == compare``, or ``!=`` with ``not_equal``."""

    address: int
    compare: int = 0
    mask: int = WORD
    not_equal: bool = False


class Poll(NamedTuple):
    """The end of a poll. ``watch`` and ``data``: which location held, and its word."""

    timed_out: bool
    watch: int
    data: int


class Port(Entries):
    """The port of CPU ``cpu`` of ``node``. It keeps no marks (:class:`~.marking.MarkingPort`).

    Attributes
    ----------
    cycle, ticks
        End of the last block: the target's cycle, and the CPU's own time in ticks (that cycle plus
        the fraction of a cycle of work done beyond it). Later work and operations are not included.
    status, data
        The answer of the last operation of the last block.
    executed
        Awaiting it has the target execute all operations that were put.
    log
        The marks that are kept, in the order they were made.
    sent_again
        The counters of packets that layers on this port sent again.
    """

    __slots__ = ("number", "node", "cpu", "cycle", "status", "data", "log", "waiting_text", "given",
                 "given_at", "_answers", "executed", "sent_again", "_settles", "_lined_up_at",
                 "_followed_at", "_unkept")

    def __init__(self, number: int, node: int, costs: Costs, cpu: int = 0,
                 entries: bytearray | memoryview | None = None,
                 answers: memoryview | bytes | bytearray = b"") -> None:
        """``entries``: memory of a block, from which the target takes each; None: its own.
        ``answers``: memory in which the target answers."""
        super().__init__(costs, entries)
        self.number = number
        self.node = node
        self.cpu = cpu
        self._settles = False
        self.cycle = 0
        self.status = 0
        self.data = 0
        self.log: list[Mark] = []
        self._unkept: Mark = [0, 0, 0, 0]
        """Returned in place of every mark that is not kept. What is read there means nothing."""
        self.sent_again: list[SentAgain] = []
        self.waiting_text: str | Callable[[], str] = ""
        self.given = 0
        self.given_at = self._lined_up_at = self._followed_at = 0
        self._answers = answers
        self.executed = EXECUTED

    @property
    def ticks(self) -> int:
        """The CPU's own time at the end of the last block."""
        return self.cycle << WORK_BITS | self.status >> FRACTION

    @property
    def interrupted(self) -> bool:
        """Tells whether the CPU saw the NIC's interrupt line high when the last block ended."""
        return bool(self.status & IRQ)

    # Marks: what a program does, when. None takes time or waits. This port keeps none, but a mark
    # that is not kept rounds work as one that is (MarkingPort): the times are the same.

    def mark(self, activity: int, kind: int, number: int) -> Mark:
        """Record that ``activity`` begins or ends here; return the mark. All fields but the ticks
        may be changed later, when the activity is known."""
        self.rounded = self.parts
        return self._unkept

    def begin(self, activity: int, number: int, charge: Charge) -> Mark:
        """Record that ``activity`` begins here, with a path (:meth:`spend`); return the mark."""
        self.rounded = parts = self.parts
        charge.count += 1
        self.parts = parts + charge.parts
        return self._unkept

    def finish(self, begin: Mark, activity: int, number: int) -> None:
        """Record that what began with the mark ``begin`` was ``activity``, and ends here."""
        self.rounded = self.parts

    def span(self, activity: int, number: int, charge: Charge) -> None:
        """Record that ``activity`` is here, a path and nothing else."""
        charge.count += 1
        self.rounded = self.parts = self.parts + charge.parts

    def marked(self, activity: int, awaitable: Awaitable[Result]) -> Awaitable[Result]:
        """Await ``awaitable``, and record that meanwhile ``activity`` was; return its result. No
        poll must follow before the next mark."""
        self.rounded = self.parts
        return awaitable

    def mark_check(self, ends: int, begins: int) -> Mark:
        """Record that ``ends`` ended and ``begins`` began with the check that ended the last poll;
        return the latter mark."""
        return self._unkept

    # Operations with the marks of an activity

    def put_copy(self, activity: int, source: int, destination: int, length: int) -> None:
        """``activity``, a copy of ``length`` bytes by the CPU: the cost item ``copy_word`` for each
        8 bytes, and the traffic over both places."""
        self.work("copy_word", -(-length // 8))
        self.put_two_touches(source, length, False, destination, length)

    def put_check(self, activity: int, number: int, address: int, compare: int, mask: int) -> Mark:
        """A poll of one watch and one check, with which ``activity`` begins; return the mark."""
        block, parts = self._block, self.parts
        before = parts // self._denominator
        if before > MAX_WORK:
            self.rounded = parts
            self.put_poll(address, compare, mask, 0, F_ONCE)
            return self._unkept
        count = block.count
        if count == BLOCK:
            block, count = self._next_block(), 0
        ticks, rest = self._check
        self._check_count += 1
        self.rounded = self.parts = parts % self._denominator + rest
        _pack(block.words, count * ENTRY_BYTES, W_CHECK, ticks, address, 0, compare, mask, before,
              0, 0)
        block.count = count + 1
        return self._unkept

    def put_spin(self, activity: int, address: int, compare: int, mask: int, until: int,
                 entries: int) -> bool:
        """A poll of one watch until the cycle ``until``, with which ``activity`` begins; of one
        cycle if that is over. False: nothing was put. As the block does not have room for so many
        ``entries``, it must be executed first, so that :attr:`cycle` is what it will be then."""
        block, parts = self._block, self.parts
        count = block.count
        if count + entries > BLOCK:
            return False
        timeout = 0
        if until != NEVER:
            timeout = until - self.cycle
            if timeout < 1:
                timeout = 1
        before = parts // self._denominator
        if before > MAX_WORK:
            self.rounded = parts
            self.put_poll(address, compare, mask, timeout)
            return True
        ticks, rest = self._check
        self._check_count += 1
        self.rounded = self.parts = parts % self._denominator + rest
        _pack(block.words, count * ENTRY_BYTES, W_POLL, ticks, address, timeout, compare, mask,
              before, 0, 0)
        block.count = count + 1
        return True

    # Operations: to await

    def room(self, entries: int) -> Awaitable[None]:
        """:meth:`settle`; and if the block does not have room for so many more ``entries``, have it
        executed, too. For what must be in one block, and before a look at the port's state behind
        which so many follow. It must be awaited at once, as there."""
        if self._block.count + entries > BLOCK:
            return self.executed
        return self.settle() if self._queue else NOTHING

    def spend_within(self, charge: Charge, entries: int) -> Awaitable[None]:
        """Spend a path if there is :meth:`room` for what it does, so many ``entries``. Otherwise it
        is not spent, and what is returned makes the room: it is not :data:`.NOTHING`."""
        if self._block.count + entries > BLOCK:
            return self.executed
        if self._queue:
            return self.settle()
        charge.count += 1
        self.parts += charge.parts
        return NOTHING

    def settle(self) -> Awaitable[None]:
        """Wait until all full blocks that were queued have been executed; the entries behind them
        stay. It must be awaited at once: another wait in between would end before its operation
        has."""
        if not self._queue:
            return NOTHING
        self._settles = True
        return self.executed

    async def flush(self) -> int:
        """Finish pending work and operations; return the current cycle."""
        if self._pending() < TICKS:
            if self._block.count:
                await self.executed
            if (self.ticks & TICKS - 1) + self._pending() < TICKS:
                return self.cycle
        self._put(W_DELAY, 0, 0, 0, 0, 0, 0, 0)
        await self.executed
        return self.cycle

    async def now(self) -> int:
        """Finish pending work and operations; return the CPU's exact time in ticks."""
        await self.flush()
        return self.ticks + self._pending()

    async def delay(self, cycles: int) -> None:
        """Spend ``cycles`` target cycles."""
        if cycles < 0:
            raise ValueError(f"cycles must not be negative, not {cycles}")
        if self._pending() > MAX_WORK:
            # A program that does nothing else comes to the run's limit, too.
            await self.flush()
        self.parts += cycles * TICKS * self._denominator

    async def pio_write(self, address: int, *words: int, posted: bool = True,
                        trace: int = 0) -> None:
        """Write 8-byte ``words`` to consecutive NIC addresses from ``address``. Unless ``posted``,
        returns once the NIC has them; a bus without posted writes (``bus.posted``) takes as long.
        ``trace`` numbers the packet that begins with the first."""
        for at in range(0, len(words), BURST):
            part = words[at:at + BURST]
            if self._block.count == BLOCK:
                await self.executed
            d0, d1, d2, d3 = (*part, *(0,) * (BURST - len(part)))
            self._put((self._write if posted else W_WRITE) | len(part) << 16 | self._process,
                      address + 8 * at, 0, d0, d1, d2, d3, trace if at == 0 else 0)
        if not posted:
            await self.executed

    async def pio_reads(self, address: int, count: int) -> list[int]:
        """Read ``count`` words at the NIC's ``address``, one behind the other."""
        words: list[int] = []
        while len(words) < count:
            part = min(count - len(words), BLOCK)
            await self.room(part)
            for _ in range(part):
                self.put_read(address)
            end = self._block.count
            await self.executed
            words += [_unpack(self._answers, index * ANSWER_BYTES)[2]
                      for index in range(end - part, end)]
        return words

    async def pio_read(self, address: int) -> int:
        """Read the 8-byte word at the NIC's ``address``."""
        self._put(W_READ | self._process, address, 0, 0, 0, 0, 0, 0)
        await self.executed
        return self.data

    def touch(self, address: int, length: int, store: bool = False) -> Awaitable[None]:
        """CPU traffic over ``length`` bytes of memory, through the cache."""
        if length > 0:
            if self._block.count == BLOCK:
                return self._touch(address, length, store)
            self.put_touch(address, length, store)
        return NOTHING

    async def _touch(self, address: int, length: int, store: bool) -> None:
        """The same with a full block."""
        await self.executed
        self.put_touch(address, length, store)

    async def flush_lines(self, address: int, length: int) -> None:
        """Flush the lines of ``length`` bytes of memory (:meth:`put_flush`). On a coherent bus it
        does nothing."""
        if length <= 0 or not self.costs.flush_bytes:
            return
        if self._block.count == BLOCK:
            await self.executed
        self.put_flush(address, length)

    async def store_blocks(self, address: int, length: int) -> None:
        """Block stores of ``length`` bytes of memory: whole lines, past the cache. Their data are
        there when it has ended, for all; only their writes occupy the memory later.

        Raises
        ------
        RuntimeError
            The CPU has no block stores (``cpu.copy_by``).
        ValueError
            ``address`` or ``length`` is not a multiple of a line.
        """
        line = self.costs.block_bytes
        if not line:
            raise RuntimeError("the CPU has no block stores: they need cpu.copy_by = 'block'")
        for name, value in (("address", address), ("length", length)):
            if value % line:
                raise ValueError(f"block stores are of whole lines of {line} bytes: {name} = "
                                 f"{value:#x}")
        if length <= 0:
            return
        if self._block.count == BLOCK:
            await self.executed
        self._put(W_BLOCK, address, length, 0, 0, 0, 0, 0)

    async def poll(self, watches: Watch | Iterable[Watch], timeout: int = 0,
                   once: bool = False) -> Poll:
        """Spin until one of up to WATCHES locations holds, or ``timeout`` cycles have passed (0: no
        limit). ``once``: check each location once."""
        places = [watches] if isinstance(watches, Watch) else list(watches)
        if not 1 <= len(places) <= WATCHES:
            raise ValueError(f"a poll has 1 to {WATCHES} watches, not {len(places)}")
        if self._block.count + len(places) > BLOCK:
            await self.executed
        before = self._pending()
        if before > MAX_WORK:
            before = self._work_off(0)
        self.parts %= self._denominator
        ticks, rest = self._check
        for index, (address, compare, mask, not_equal) in enumerate(places):
            last = index == len(places) - 1
            word = (W_POLL | (F_ONCE if once else 0)) if last else W_WATCH
            block = self._block
            _pack(block.words, block.count * ENTRY_BYTES, word | (F_NOT_EQUAL if not_equal else 0),
                  ticks, address, timeout if last else 0, compare, mask,
                  before if last else 0, 0, 0)
            block.count += 1
        await self.executed
        watch = self.status >> 4 & 15
        timed_out = bool(self.status & TIMEOUT)
        checks = (len(places) if once else 0) if timed_out else 1
        self._check_count += checks
        self.parts += checks * rest
        self.rounded = self.parts
        return Poll(timed_out, watch, self.data)

    async def wait_irq(self, timeout: int = 0) -> bool:
        """Wait for the NIC's interrupt; return whether it came within ``timeout`` cycles (0: no
        limit)."""
        self._put(W_IRQ, 0, timeout, 0, 0, 0, 0, 0)
        await self.executed
        return not self.status & TIMEOUT

    async def cas(self, address: int, expected: int, new: int) -> int:
        """Compare-and-swap of the 8-byte word at ``address``; return its old value."""
        self._put(W_CAS, address, 0, expected, new, 0, 0, 0)
        await self.executed
        return self.data

    def waiting_for(self, text: str | Callable[[], str]) -> None:
        """Set the text of what the program waits for, or a function that returns it. The diagnosis
        of a run that reaches its cycle limit prints it."""
        self.waiting_text = text

    # For the runtime

    def stop(self) -> None:
        """Put the STOP that ends the program. The block must be empty."""
        self._put(W_STOP, 0, 0, 0, 0, 0, 0, 0)
        if self._queue:
            self.line_up()

    def line_up(self) -> None:
        """The program waits, or has ended, and blocks are queued: the first of them, which is in
        the target's memory, goes there now."""
        self._queue.append(self._block)
        self._block = self._queue.popleft()
        self._lined_up_at = self.given_at

    def follow(self) -> bool:
        """Take the block that follows the one just executed. Whether it goes to the target at once;
        else it is the one being put together, and the program goes on."""
        block, next_one = self._block, self._queue.popleft()
        block.words[:] = next_one.words
        block.count, block.marks = next_one.count, next_one.marks
        next_one.count, next_one.marks = 0, []
        self._spare.append(next_one)
        self._followed_at = self.given_at
        if self._queue:
            return True
        settles, self._settles = self._settles, False
        return not settles

    def last_answer(self, now: int) -> tuple[int, int, int]:
        """At cycle ``now``, the answer to the last entry of the block that was given: its cycle,
        status and data. Without one, ``now`` and what was told last."""
        given = self.given
        if not given:
            return now, self.status, self.data
        low, status, data = _unpack(self._answers, (given - 1) * ANSWER_BYTES)
        return now - (now - low & LOW), status, data

    def look_back(self, now: int) -> None:
        """Tells where answers before the last one count: some were discarded, or marks wait.

        Raises
        ------
        ForgottenFlush
            A line was not flushed that had to be.
        """
        answers, last = self._answers, self.given - 1
        low, status, data = _unpack(answers, last * ANSWER_BYTES)
        while status & DISCARDED and last:
            last -= 1
            low, status, data = _unpack(answers, last * ANSWER_BYTES)
        for mark, after, pending in self._block.marks:
            begun, state, _ = _unpack(answers, min(after - 1, last) * ANSWER_BYTES)
            mark[0] = (now - (now - begun & LOW) << WORK_BITS | state >> FRACTION) + pending
        self._block.marks.clear()
        self.cycle = now - (now - low & LOW)
        self.status = status
        self.data = data
        if status & STALE:
            raise forgotten(self.node, data)

    def computes_until(self) -> int:
        """The cycle until which the work in the block, and in those that follow it, takes the CPU,
        at the least."""
        return self.given_at + work(self._block.words, self.given) + sum(
            work(block.words, block.count) for block in self._queue)

    def describe(self, now: int) -> str:
        """The port's state at cycle ``now``: its block, what its program waits for, and since which
        cycle; or that it computes, if it will do so for long."""
        text = self.waiting_text if isinstance(self.waiting_text, str) else self.waiting_text()
        if now + LONG < (until := self.computes_until()):
            follows = self._queue or self._followed_at == self.given_at
            since = self._lined_up_at if follows else self.given_at
            then = f", and then waits for {text}" if text else ""
            return f"has computed since cycle {since}, until cycle {until}{then}"
        reason = f"waits for {text}: " if text else ""
        return f"{reason}{steps(self._block.words, self.given)}, since cycle {self.given_at}"
