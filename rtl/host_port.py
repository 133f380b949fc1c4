"""The host port: executes what a host program spends time on."""

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out
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
from ..layouts.packet import TRACE_BITS
from .atomic import CompareSwap
from .burst import Burst
from .bus import PioInitiator
from .irq_delay import IrqDelay
from .kept_words import KeptWords
from .memory import Snoop
from .posted import PostedBuffer
from .tag_cache import TagCache
from .timing import Timing

__all__ = ["EntryLayout", "AnswerLayout", "HostPort"]

_NIC_BIT = ceil_log2(NIC_BASE)
_LINE_BITS = ceil_log2(CACHE_LINE)


class _State(enum.Enum, shape=2):
    FETCH = 0
    WORK = 1
    RUN = 2
    STOPPED = 3



EntryLayout = data.StructLayout({
    "op": 4, "_op": 4, "flags": 8, "count": 4, "_count": 12,
    "work": 32,
    "address": 32,
    "length": 32,
    "data": data.ArrayLayout(64, BURST),
    "trace": TRACE_BITS, "_trace": 32 - TRACE_BITS,
})
"""An entry of a block, as :mod:`nicbed.layouts.operations` declares it."""

AnswerLayout = data.StructLayout({"cycle": 32, "status": 32, "data": 64})
"""An answer, as :mod:`nicbed.layouts.operations` declares it."""


class HostPort(wiring.Component):
    """Executes blocks of operations, one after the other, each in exact cycles.

    A block is given by flipping ``go``; an operation begins in the cycle in which the last one was
    answered, or in the first cycle with the block given. So a program takes the same cycles in
    blocks of any size. Cycles of an operation, where nobody else uses the bus and memory, after W
    whole cycles of ``work`` (the port's fraction added; the rest is the new fraction):

    ========================  ==============================================================
    DELAY                     max(W, 1); an interrupt seen ends an interruptible one early, and the
                              rest of the block is discarded
    PIO_READ                  W + 1 + ``bus.pio_read``, after the posted writes before it
    PIO_WRITE, posted         W + n for n beats; each waits for room in the buffer
    PIO_WRITE                 W + 1 + ``bus.pio_write`` + (n - 1) ``bus.burst_beat``, after the
                              posted writes before it
    TOUCH                     W + each line's access (:class:`TagCache`): 1, or latency + 6, or + 11
    POLL of 1 watch           P + sum over the checks made of (W + 1 if the line is there and the
                              word read there by the same watch is kept, else latency + 6; of a NIC
                              address 1 + ``bus.pio_read``), P the whole cycles of its own work
    POLL of n watches         max(P, 1) + sum over the checks as above; each WATCH before it is 1
    WAIT_IRQ                  to the edge :class:`IrqDelay` gives, at least W + 1
    CAS                       W + latency + 5 if it writes, else W + latency + 3
    STOP                      W + 1
    ========================  ==============================================================

    A poll's timeout counts from the end of its own work, a wait's from its beginning. It ends a
    wait at that cycle, if not yet in its work, and a poll with the check that is under way then
    (its work included), and discards the rest of the block. A poll with ONCE ends after one round.

    A word that a poll read is kept, one a watch number, until a snoop, a TOUCH that stores or a CAS
    of its line. Posted writes drain while the port runs on. Reset: waiting for a block, with the
    tags invalid and the buffer empty; the level of ``go`` in reset is the one to be flipped.

    Parameters
    ----------
    posted_writes : :class:`int`
        Depth of the posted-write buffer in beats, 2 or more.
    cache_lines : :class:`int`
        Lines of the tag cache: a power of two, 2 or more.
    source : :class:`int`
        This CPU's number among the memory controller's initiators, 0 to 15.

    Members
    -------
    go : ``In(1)``, count : ``In(3)``, entry : ``In(EntryLayout)``, index : ``Out(3)``
        The block: flips with each; its number of entries, 1 to BLOCK; the entry at ``index``. The
        environment holds all of them while the port works, and shows another entry in the cycle in
        which ``index`` changes.
    answer : ``Out(AnswerLayout)``, slot : ``Out(3)``, answers : ``Out(1)``, discards : ``Out(1)``
        In a cycle with ``answers``, ``answer`` is to be stored at ``slot``; with ``discards``, too,
        all slots behind it become DISCARDED.
    waiting : ``Out(1)``, stopped : ``Out(1)``, needs : ``Out(1)``, asks : ``Out(1)``
        The port waits for a block; its program has ended; it waits and none was given; it will wait
        from the next edge on.
    rests : ``Out(1)``, distance : ``Out(32)``
        Nothing happens here before a deadline (or at all), and the cycles from this one to that in
        which the port acts on it; all ones for none.
    pio : ``Out(PioInitiator)``, memory : ``Out(Burst)``, lock : ``Out(1)``, snoop : ``In(Snoop)``
        The bus; the memory controller, and what it tells the caches.
    irq : ``In(1)``
        The NIC's interrupt line.
    now : ``In(32)``, timing : ``In(Timing)``
        The cycle counter's low half, and the timing registers.

    Raises
    ------
    TypeError, ValueError
        As :class:`PostedBuffer` and :class:`TagCache` do.
    """

    go: In(1)
    count: In(3)
    entry: In(EntryLayout)
    index: Out(3)
    answer: Out(AnswerLayout)
    slot: Out(3)
    answers: Out(1)
    discards: Out(1)
    waiting: Out(1, init=1)
    stopped: Out(1)
    needs: Out(1)
    asks: Out(1)
    rests: Out(1)
    distance: Out(32)
    pio: Out(PioInitiator)
    memory: Out(Burst)
    lock: Out(1)
    snoop: In(Snoop)
    irq: In(1)
    now: In(32)
    timing: In(Timing)

    def __init__(self, *, posted_writes: int, cache_lines: int, source: int = 0) -> None:
        self._posted = PostedBuffer(depth=posted_writes)
        self._cache = TagCache(lines=cache_lines, source=source)
        super().__init__()

    @property
    def posted_writes(self) -> int:
        """Depth of the posted-write buffer in beats."""
        return self._posted.depth

    @property
    def cache_lines(self) -> int:
        """Lines of the tag cache."""
        return self._cache.lines

    @property
    def source(self) -> int:
        """Number among the memory controller's initiators."""
        return self._cache.source

    def elaborate(self, platform: object) -> Module:
        return _Port(self, self._posted, self._cache).module


class _Port:
    """One elaboration of a host port: the signals that its parts share."""

    def __init__(self, port: HostPort, posted: PostedBuffer, cache: TagCache) -> None:
        self.module = m = Module()
        self.port = port
        m.submodules.posted = self.posted = posted
        m.submodules.cache = self.cache = cache
        m.submodules.kept = self.kept = KeptWords(source=port.source)
        m.submodules.swap = self.swap = CompareSwap()
        m.submodules.irq = self.irq = IrqDelay()
        self.entry = port.entry

        self.state = Signal(_State)
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
        fetches = self.state == _State.FETCH
        m.d.comb += [
            port.waiting.eq(fetches & ~running),
            port.needs.eq(port.waiting & (port.go == seen)),
            self.begins.eq(fetches & ~port.needs),
            port.stopped.eq(self.state == _State.STOPPED),
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
                          self.state == _State.WORK)),
            until.eq(Mux(self.begins, now + cycles - cycles.any(), self.until)),
            due.eq(until == now),
            self.executes.eq((self.begins & ~spends) | (self.state == _State.RUN)),
            self.following.eq(self.base),
        ]
        with m.If(spends):
            m.d.sync += [self.state.eq(_State.WORK), self.until.eq(until)]
            with m.If(due):
                m.d.sync += self.state.eq(_State.RUN)
                m.d.comb += [self.finishes.eq(is_delay), self.turn.eq(opens_round)]
            with m.Elif(is_delay & self._flag(Flag.INTERRUPTIBLE) & self.irq.seen):
                m.d.comb += [self.finishes.eq(1), self.discard.eq(1),
                             self.status.eq(Status.INTERRUPTED),
                             self.result.eq((until - now) << WORK_BITS)]
        with m.If(self.executes):
            m.d.sync += self.state.eq(_State.RUN)

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
            m.d.sync += [self.state.eq(_State.FETCH), self.sent.eq(0), self.beat.eq(0),
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
                m.d.sync += self.state.eq(_State.STOPPED)

    def _rest(self, m: Module) -> None:
        port = self.port
        spends = self.state == _State.WORK
        waits = (self.state == _State.RUN) & self.waits
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
