"""How a host port executes operations: the parts of its control, an operation a method."""

from typing import TYPE_CHECKING

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.utils import ceil_log2

from ..layouts.operations import (
    BURST,
    CACHE_LINE,
    NIC_BASE,
    WATCHES,
    WORK_BITS,
    Flag,
    Op,
    Status,
)
from .atomic import CompareSwap
from .irq_delay import IrqDelay
from .kept_words import KeptWords
from .posted import PostedBuffer
from .tag_cache import TagCache

if TYPE_CHECKING:
    from .host_port import HostPort

__all__ = ["Executor"]

_NIC_BIT = ceil_log2(NIC_BASE)
_LINE_BITS = ceil_log2(CACHE_LINE)


class State(enum.Enum, shape=2):
    FETCH = 0
    WORK = 1
    RUN = 2
    STOPPED = 3


class Executor:
    """One elaboration of a :class:`HostPort`: the signals that its parts share, and the parts, a
    method each. ``module`` is the result."""

    def __init__(self, port: "HostPort", posted: PostedBuffer, cache: TagCache) -> None:
        self.module = m = Module()
        self.port = port
        m.submodules.posted = self.posted = posted
        m.submodules.cache = self.cache = cache
        m.submodules.kept = self.kept = KeptWords(source=port.source)
        m.submodules.swap = self.swap = CompareSwap()
        m.submodules.irq = self.irq = IrqDelay()
        self.entry = port.entry

        self.state = Signal(State)
        self.begins = Signal()      # the entry's first cycle; of a poll, the check's
        self.executes = Signal()    # its work is done: the operation itself
        self.finishes = Signal()    # its last cycle
        self.discard = Signal()
        self.status = Signal(8)
        self.result = Signal(64)
        self.slot = Signal(3)       # the entry that is answered
        self.turn = Signal()        # on to entry `following` of the same poll
        self.following = Signal(3)

        # A poll has WATCH entries from `base` on, or none; then its POLL entry, `last`.
        self.watching = Signal()
        self.polling = Signal()
        self.base = Signal(3)
        self.last = Signal(3)
        self.timeout = Signal(32)
        self.once = Signal()
        self.opens = Signal()
        self.begun = Signal(32)
        self.check_begun = Signal(32)
        self.check_cycles = Signal(16)

        self.until = Signal(32)
        self.fraction = Signal(WORK_BITS)
        self.remainder = Signal(WORK_BITS)
        # What an operation of several cycles has done; clear when one begins.
        self.sent = Signal()
        self.beat = Signal(range(BURST))
        self.touching = Signal()
        self.waits = Signal()

        self._connect(m)
        self._work(m)
        with m.If(self.executes):
            with m.Switch(self.entry.op):
                with m.Case(Op.PIO_READ):
                    self._pio_read(m)
                with m.Case(Op.PIO_WRITE):
                    self._pio_write(m)
                with m.Case(Op.WATCH):
                    with m.If(self.polling):
                        self._check(m)
                    with m.Else():
                        self._watch(m)
                with m.Case(Op.POLL):
                    self._check(m)
                with m.Case(Op.WAIT_IRQ):
                    self._wait_irq(m)
                with m.Case(Op.CAS):
                    m.d.comb += [self.swap.valid.eq(1), self.kept.drop.eq(1),
                                 self.finishes.eq(self.swap.done), self.result.eq(self.swap.old)]
                with m.Case(Op.TOUCH):
                    pass  # in _touch, which steers the cache's address in any cycle
                with m.Default():
                    m.d.comb += self.finishes.eq(1)
        self._touch(m)
        self._sequence(m)
        self._rest(m)

    def _flag(self, flag: Flag) -> Value:
        return (self.entry.flags & flag.value).any()

    def _connect(self, m: Module) -> None:
        port, entry = self.port, self.entry
        wiring.connect(m, self.posted.o, wiring.flipped(port.pio.beat))
        m.d.comb += [
            self.irq.irq.eq(port.irq),
            self.irq.now.eq(port.now),
            self.irq.timing.eq(port.timing),
            self.cache.snoop.eq(port.snoop),
            self.kept.snoop.eq(port.snoop),
            self.kept.address.eq(entry.address),
            self.kept.line.eq(self.cache.address),
            self.kept.data.eq(self.cache.word),
            self.swap.address.eq(entry.address),
            self.swap.expected.eq(entry.data[0]),
            self.swap.replacement.eq(entry.data[1]),
            port.lock.eq(self.swap.lock),
            self.posted.i.payload.address.eq(entry.address + (self.beat << 3)),
            self.posted.i.payload.data.eq(entry.data[self.beat]),
            self.posted.i.payload.trace.eq(entry.trace),
        ]
        # One of the two at most is at work, so both may listen to what comes back.
        swap, cache = self.swap.memory, self.cache.memory
        for side in (swap, cache):
            m.d.comb += [
                side.request.ready.eq(port.memory.request.ready),
                side.write.ready.eq(port.memory.write.ready),
                side.read.valid.eq(port.memory.read.valid),
                side.read.payload.eq(port.memory.read.payload),
                side.done.eq(port.memory.done),
            ]
        m.d.comb += [
            port.memory.request.valid.eq(swap.request.valid | cache.request.valid),
            port.memory.request.payload.eq(Mux(swap.request.valid, swap.request.payload,
                                               cache.request.payload)),
            port.memory.write.valid.eq(swap.write.valid | cache.write.valid),
            port.memory.write.payload.data.eq(swap.write.payload.data),
            port.memory.write.payload.strobe.eq(swap.write.valid.replicate(8)),
            port.memory.read.ready.eq(swap.read.ready | cache.read.ready),
        ]

    def _work(self, m: Module) -> None:
        """What precedes an operation, and DELAY; when the operation itself executes."""
        port, entry, now = self.port, self.entry, self.port.now
        seen = Signal(reset_less=True)
        running = Signal()
        self.running = running
        fetches = self.state == State.FETCH
        m.d.comb += [
            port.waiting.eq(fetches & ~running),
            port.needs.eq(port.waiting & (port.go == seen)),
            self.begins.eq(fetches & ~port.needs),
            port.stopped.eq(self.state == State.STOPPED),
        ]
        with m.If(ResetSignal() | self.begins):
            m.d.sync += seen.eq(port.go)

        # A poll's own work comes once, with that of its check if there is but one watch.
        sets_up = Signal()
        own = Signal(33)
        total = Signal(34)
        own_cycles = own[WORK_BITS:]
        cycles = total[WORK_BITS:]
        m.d.comb += [
            self.opens.eq((entry.op == Op.POLL) & ~self.polling),
            sets_up.eq(~self.polling & ((entry.op == Op.WATCH) | (self.opens & self.watching))),
            own.eq(self.fraction + Mux(self.opens, entry.data[2][:32], 0)),
            total.eq(own + Mux(sets_up, 0, entry.work)),
            self.remainder.eq(Mux(self.begins, total[:WORK_BITS], self.fraction)),
        ]
        with m.If(self.begins):
            m.d.sync += [self.fraction.eq(self.remainder), self.check_begun.eq(now)]
            with m.If(self.opens):
                m.d.sync += [self.begun.eq(now + own_cycles), self.check_begun.eq(now + own_cycles),
                             self.last.eq(port.index), self.timeout.eq(entry.length),
                             self.once.eq(self._flag(Flag.ONCE))]
                with m.If(self.watching):
                    m.d.sync += self.begun.eq(now + Mux(own_cycles == 0, 1, own_cycles))
                with m.Else():
                    m.d.sync += [self.base.eq(port.index), self.polling.eq(1)]
            with m.Elif(~self.polling):
                m.d.sync += self.begun.eq(now)

        is_delay = entry.op == Op.DELAY
        opens_round = self.opens & self.watching
        spends = Signal()
        until = Signal(32)
        due = Signal()
        m.d.comb += [
            spends.eq(Mux(self.begins, cycles.any() | is_delay | opens_round,
                          self.state == State.WORK)),
            until.eq(Mux(self.begins, now + cycles - cycles.any(), self.until)),
            due.eq(until == now),
            self.executes.eq((self.begins & ~spends) | (self.state == State.RUN)),
            self.following.eq(self.base),
        ]
        with m.If(spends):
            m.d.sync += [self.state.eq(State.WORK), self.until.eq(until)]
            with m.If(due):
                m.d.sync += self.state.eq(State.RUN)
                m.d.comb += [self.finishes.eq(is_delay), self.turn.eq(opens_round)]
            with m.Elif(is_delay & self._flag(Flag.INTERRUPTIBLE) & self.irq.seen):
                m.d.comb += [self.finishes.eq(1), self.discard.eq(1),
                             self.status.eq(Status.INTERRUPTED),
                             self.result.eq((until - now) << WORK_BITS)]
        with m.If(self.executes):
            m.d.sync += self.state.eq(State.RUN)

    def _pio_read(self, m: Module) -> None:
        m.d.comb += [
            self.posted.i.valid.eq(~self.sent),
            self.posted.i.payload.last.eq(1),
            self.posted.i.payload.answer.eq(1),
            self.finishes.eq(self.port.pio.done),
            self.result.eq(self.port.pio.data),
        ]
        with m.If(self.posted.i.ready):
            m.d.sync += self.sent.eq(1)

    def _pio_write(self, m: Module) -> None:
        posted = self._flag(Flag.POSTED)
        last = Signal()
        m.d.comb += [
            last.eq((self.beat == BURST - 1) | (self.beat + 1 >= self.entry.count)),
            self.posted.i.valid.eq(~self.sent),
            self.posted.i.payload.write.eq(1),
            self.posted.i.payload.last.eq(last),
            self.posted.i.payload.answer.eq(last & ~posted),
            self.finishes.eq(self.port.pio.done),
        ]
        with m.If(~self.sent & self.posted.i.ready):
            with m.If(last):
                m.d.sync += self.sent.eq(1)
                m.d.comb += self.finishes.eq(posted)
            with m.Else():
                m.d.sync += self.beat.eq(self.beat + 1)

    def _touch(self, m: Module) -> None:
        entry = self.entry
        at = Signal(32 - _LINE_BITS)
        left = Signal.like(at)
        line = Signal.like(at)
        further = Signal.like(at)
        reach = Signal(33)
        m.d.comb += [
            reach.eq(entry.address[:_LINE_BITS] + Mux(entry.length == 0, 0, entry.length - 1)),
            line.eq(Mux(self.touching, at, entry.address[_LINE_BITS:])),
            further.eq(Mux(self.touching, left, reach[_LINE_BITS:])),
            self.cache.address.eq(entry.address),
        ]
        with m.If(entry.op == Op.TOUCH):
            m.d.comb += self.cache.address.eq(line << _LINE_BITS)
            with m.If(self.executes):
                m.d.comb += [
                    self.cache.valid.eq(1),
                    self.cache.store.eq(self._flag(Flag.STORE)),
                    self.kept.drop.eq(self.cache.store),
                    self.finishes.eq(self.cache.done & (further == 0)),
                ]
                m.d.sync += [self.touching.eq(1), at.eq(line + self.cache.done),
                             left.eq(further - self.cache.done)]

    def _watch(self, m: Module) -> None:
        m.d.comb += self.finishes.eq(1)
        with m.If(~self.watching):
            m.d.sync += self.base.eq(self.port.index)

    def _check(self, m: Module) -> None:
        """A check of the poll's watch that ``entry`` is."""
        port, entry, now = self.port, self.entry, self.port.now
        alone = self.opens  # it executes in its first cycle: what the registers will hold is here
        is_last = Signal()
        once = Signal()
        timeout = Signal(32)
        spent = Signal(32)
        checked = Signal()
        word = Signal(64)
        number = Signal(ceil_log2(WATCHES))
        m.d.comb += [
            is_last.eq(alone | (port.index == self.last)),
            once.eq(Mux(alone, self._flag(Flag.ONCE), self.once)),
            timeout.eq(Mux(alone, entry.length, self.timeout)),
            spent.eq(Mux(alone, 0, now - self.begun)),
            number.eq(Mux(alone, 0, port.index - self.base)),
            self.kept.number.eq(number),
        ]
        with m.If(entry.address[_NIC_BIT]):
            m.d.comb += [
                self.posted.i.valid.eq(~self.sent),
                self.posted.i.payload.last.eq(1),
                self.posted.i.payload.answer.eq(1),
                checked.eq(port.pio.done),
                word.eq(port.pio.data),
            ]
            with m.If(self.posted.i.ready):
                m.d.sync += self.sent.eq(1)
        with m.Elif(self.kept.held & self.cache.hit):
            m.d.comb += [checked.eq(1), word.eq(self.kept.word)]
        with m.Else():
            m.d.comb += [
                self.cache.valid.eq(1),
                self.cache.fetch.eq(1),
                self.kept.store.eq(self.cache.done & ~self.cache.stale),
                checked.eq(self.cache.done),
                word.eq(self.cache.word),
            ]

        length = Signal(32)
        matches = Signal()
        late = Signal()
        m.d.comb += [
            length.eq(Mux(self.begins, 0, now - self.check_begun) + 1),
            self.check_cycles.eq(Mux(length[16:].any(), ~0, length)),
            matches.eq(((word & entry.data[1]) == entry.data[0]) ^ self._flag(Flag.NOT_EQUAL)),
            late.eq((timeout != 0) & (spent >= timeout - 1)),
            self.result.eq(word),
        ]
        with m.If(checked):
            with m.If(matches):
                m.d.comb += [self.finishes.eq(1),
                             self.status.eq(number << Status.WATCH_SHIFT.value)]
            with m.Elif(late | (once & is_last)):
                m.d.comb += [self.finishes.eq(1), self.status.eq(Status.TIMEOUT),
                             self.discard.eq(~(once & is_last))]
            with m.Else():
                m.d.comb += self.turn.eq(1)
                with m.If(~is_last):
                    m.d.comb += self.following.eq(port.index + 1)
                with m.Elif(alone):
                    m.d.comb += self.following.eq(port.index)

    def _wait_irq(self, m: Module) -> None:
        now, timeout = self.port.now, self.entry.length
        spent = Signal(32)
        m.d.comb += spent.eq(Mux(self.begins, 0, now - self.begun))
        m.d.sync += [self.waits.eq(1), self.until.eq(now - spent + timeout - 1)]
        with m.If(self.irq.seen):
            m.d.comb += self.finishes.eq(1)
        with m.Elif((timeout != 0) & (spent >= timeout - 1)):
            m.d.comb += [self.finishes.eq(1), self.discard.eq(1), self.status.eq(Status.TIMEOUT)]

    def _sequence(self, m: Module) -> None:
        """From an entry to the next, and the answers."""
        port, entry = self.port, self.entry
        stops = entry.op == Op.STOP
        ends = Signal()
        m.d.comb += [
            self.slot.eq(Mux(self.polling, self.last, port.index)),
            ends.eq(self.discard | (self.slot + 1 >= port.count)),
            port.asks.eq(self.finishes & ends & ~stops),
            port.answers.eq(self.finishes),
            port.discards.eq(self.discard),
            port.slot.eq(self.slot),
            port.answer.cycle.eq(port.now + 1),
            port.answer.status.eq(Cat(self.status, self.check_cycles, self.remainder)),
            port.answer.data.eq(self.result),
        ]
        with m.If(self.begins):
            m.d.sync += self.running.eq(1)
        with m.If(self.turn | self.finishes):
            m.d.sync += [self.state.eq(State.FETCH), self.sent.eq(0), self.beat.eq(0),
                         self.touching.eq(0), self.waits.eq(0)]
        with m.If(self.turn):
            m.d.sync += [port.index.eq(self.following), self.polling.eq(1)]
        with m.If(self.finishes):
            m.d.sync += [
                self.running.eq(~ends),
                port.index.eq(Mux(ends, 0, self.slot + 1)),
                self.polling.eq(0),
                self.watching.eq(entry.op == Op.WATCH),
            ]
            with m.If(self.polling | ends):
                m.d.sync += self.watching.eq(0)
            with m.If(stops):
                m.d.sync += self.state.eq(State.STOPPED)

    def _rest(self, m: Module) -> None:
        port = self.port
        spends = self.state == State.WORK
        waits = (self.state == State.RUN) & self.waits
        deadline = Signal(32)
        m.d.comb += [
            port.rests.eq((spends | waits | port.stopped) & self.posted.empty & self.irq.settled),
            deadline.eq(~0),
            port.distance.eq(deadline),
        ]
        with m.If(spends | (waits & (self.entry.length != 0))):
            m.d.comb += deadline.eq(self.until - port.now)
        with m.If(self.irq.pending & ~port.stopped & (self.irq.distance < deadline)):
            m.d.comb += port.distance.eq(self.irq.distance)
