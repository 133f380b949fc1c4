"""Execution of a host port's operations: the parts of its control, one method for each
operation."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.utils import ceil_log2

from ...layouts.operations import BURST, WORK_BITS, Flag, Op, Status
from ..bus.pio import PIO_ADDRESS_BITS
from ..bus.posted_buffer import PostedBuffer
from .address_bus import covers
from .cache.fault import Fault
from .coherent_cache import CoherentCache
from .execution import Execution
from .inner_cache import InnerCache
from .owned_swap import OwnedSwap
from .poll import check, watch
from .port_members import PortMembers
from .spin import spin
from .state import State
from .tag_cache import TagCache

__all__ = ["Executor"]

_IRQ = ceil_log2(Status.IRQ)
_STALE = ceil_log2(Status.STALE)


class Executor(Execution):
    """One elaboration of a host port: the parts of its control, one method each. ``module`` is the
    result."""

    def __init__(self, port: PortMembers, posted: PostedBuffer,
                 cache: TagCache | CoherentCache, inner: InnerCache | None) -> None:
        super().__init__(port, posted, cache)
        m = self.module
        if inner is not None:
            self._connect_inner(m, inner)
        self._connect(m)
        self._work(m)
        checks = Signal()
        with m.If(self.executes):
            with m.Switch(self.entry.op):
                with m.Case(Op.PIO_READ):
                    self._pio_read(m)
                with m.Case(Op.PIO_WRITE):
                    self._pio_write(m)
                with m.Case(Op.POLL):
                    m.d.comb += checks.eq(1)
                with m.Case(Op.WATCH):
                    with m.If(self.polling):
                        m.d.comb += checks.eq(1)
                    with m.Else():
                        watch(self, m)
                with m.Case(Op.WAIT_IRQ):
                    self._wait_irq(m)
                with m.Case(Op.CAS):
                    self._cas(m)
                with m.Case(Op.TOUCH):
                    self._touch(m)
                with m.Default():
                    m.d.comb += self.finishes.eq(1)
        with m.If(checks):
            check(self, m)
        self._post(m)
        self._sequence(m)
        self._rest(m)
        spin(self, m)

    def _connect(self, m: Module) -> None:
        port, entry = self.port, self.entry
        self._connect_nics(m)
        m.d.comb += [
            self.irq.irq.eq(port.irq),
            self.irq.now.eq(port.now),
            self.irq.timing.eq(port.timing),
            self.cache.snoop.eq(port.snoop),
            self.kept.snoop.eq(port.snoop),
            self.kept.address.eq(entry.address),
            self.kept.data.eq(self.cache.word),
            self.swap.address.eq(entry.address),
            self.swap.expected.eq(entry.data[0]),
            self.swap.replacement.eq(entry.data[1]),
            port.lock.eq(self.swap.lock),
        ]
        if isinstance(self.swap, OwnedSwap):
            m.d.comb += self.swap.timing.eq(port.timing)
        if self.shape.peers:
            self._connect_peers(m)
        if self.shape.coherent:
            m.d.comb += [port.taken.valid.eq(self.cache.taken.valid),
                         port.taken.address.eq(self.cache.taken.address)]
            with m.If(self.swap.done & self.swap.memory.write.valid):
                m.d.comb += [port.taken.valid.eq(1), port.taken.address.eq(
                    Cat(Const(0, self.line_bits), entry.address[self.line_bits:]))]
        self._connect_cache(m)
        # At most one of the two is active, so both may use the responses.
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
            port.memory.write.valid.eq(swap.write.valid | cache.write.valid),
            port.memory.write.payload.data.eq(swap.write.payload.data),
            port.memory.write.payload.strobe.eq(swap.write.payload.strobe
                                                & swap.write.valid.replicate(8)),
            port.memory.read.ready.eq(swap.read.ready | cache.read.ready),
        ]
        with m.If(swap.request.valid):
            m.d.comb += port.memory.request.payload.eq(swap.request.payload)
        with m.Elif(cache.request.valid):
            m.d.comb += port.memory.request.payload.eq(cache.request.payload)

    def _connect_cache(self, m: Module) -> None:
        """Accesses to the cache. One to a line that is in the buffer for block stores waits, and a
        block store until the buffer is empty."""
        cache, blocks = self.cache, self.blocks
        if blocks is None:
            return
        line = cache.address[self.line_bits:]
        meets = blocks.posted.valid & (blocks.posted.address[self.line_bits:] == line)
        m.d.comb += [
            cache.valid.eq(self.accesses & Mux(cache.block, blocks.ready, ~meets)),
            blocks.take.eq(cache.block & cache.done),
            blocks.address.eq(cache.address),
            self.port.posted.eq(blocks.posted),
        ]
        wiring.connect(m, blocks.memory, wiring.flipped(self.port.block_memory))

    def _connect_inner(self, m: Module, inner: InnerCache) -> None:
        """The first level of the cache: it says when an access ends that needs no memory."""
        m.submodules.inner = inner
        cache, self.accessed = self.cache, Signal()
        m.d.comb += [
            inner.valid.eq(cache.valid),
            inner.address.eq(cache.address),
            inner.load.eq(~cache.store & (~cache.flush if self.shape.flushes else 1)),
            inner.fetch.eq(cache.fetch),
            inner.hit.eq(cache.hit),
            inner.done.eq(cache.done),
            inner.change.eq(cache.change),
            self.accessed.eq(cache.done & ~inner.waits),
        ]

    def _connect_nics(self, m: Module) -> None:
        """The NICs' buses: the oldest beat goes to that of its NIC."""
        port, posted = self.port, self.posted.o
        if self.shape.nics == 1:
            wiring.connect(m, posted, wiring.flipped(port.pio.beat))
            self.pio_done, self.pio_data = port.pio.done, port.pio.data
            return
        self.pio_done, self.pio_data = Signal(), Signal(64)
        m.d.comb += self.pio_done.eq(Cat(pio.done for pio in port.pio).any())
        last = self.shape.nics - 1
        with m.Switch(posted.payload.nic):
            for number, pio in enumerate(port.pio):
                with m.Case(number) if number < last else m.Default():
                    m.d.comb += [pio.beat.valid.eq(posted.valid), posted.ready.eq(pio.beat.ready)]
        for pio in port.pio:
            m.d.comb += pio.beat.payload.eq(posted.payload.beat)
            with m.If(pio.done):
                m.d.comb += self.pio_data.eq(pio.data)

    def _connect_peers(self, m: Module) -> None:
        """The other CPUs' caches and stores."""
        port, entry, stored = self.port, self.entry, self.port.stored
        wiring.connect(m, self.cache.bus, wiring.flipped(port.bus))
        for number, news in enumerate(port.news):
            m.d.comb += [self.cache.news[number].eq(news), self.kept.news[number].eq(news)]
        m.d.comb += [
            self.cache.timing.eq(port.timing),
            self.cache.hold.eq(self.owns),
            self.swap.missed.eq(Cat(covers(news, entry.address[self.line_bits:], self.line_bits)
                                    for news in port.news).any()),
            stored.first.eq(entry.address),
            stored.last.eq(entry.address),
            stored.valid.eq(self.swap.done & self.swap.writes),
        ]
        with m.If((entry.op == Op.TOUCH) & self.flag(Flag.STORE) & self.finishes):
            m.d.comb += stored.valid.eq(1)
            with m.If(entry.length != 0):
                m.d.comb += stored.last.eq(entry.address + entry.length - 1)

    def _work(self, m: Module) -> None:
        """The work before an operation, and DELAY; when the operation itself executes."""
        host, entry, now = self.host, self.entry, self.port.now
        seen = Signal(reset_less=True)
        running = Signal()
        self.running = running
        fetches = self.state == State.FETCH
        m.d.comb += [
            host.waiting.eq(fetches & ~running),
            host.needs.eq(host.waiting & (host.go == seen)),
            self.begins.eq(fetches & ~host.needs),
            host.stopped.eq(self.state == State.STOPPED),
        ]
        with m.If(ResetSignal() | self.begins):
            m.d.sync += seen.eq(host.go)

        # A poll's own work is spent once, together with its check's if there is only one watch.
        own = Signal(33)
        total = self.total
        own_cycles = own[WORK_BITS:]
        cycles = total[WORK_BITS:]
        spends = Signal()
        due = Signal()
        with m.If(self.begins):
            m.d.comb += [
                self.opens.eq((entry.op == Op.POLL) & ~self.polling),
                own.eq(self.fraction + Mux(self.opens, entry.data[2][:32], 0)),
                total.eq(own),
                spends.eq(cycles.any() | (entry.op == Op.DELAY) | (self.opens & self.watching)),
                due.eq(cycles <= 1),
                self.executes.eq(~spends),
            ]
            works = Signal()
            m.d.comb += works.eq(self.polling | ((entry.op != Op.WATCH)
                                                 & ~(self.opens & self.watching)))
            with m.If(works):
                m.d.comb += total.eq(own + entry.work)
            m.d.sync += [self.fraction.eq(total[:WORK_BITS]), self.check_begun.eq(now),
                         self.until.eq(now + cycles - cycles.any())]
            with m.If(self.opens):
                m.d.sync += [self.begun.eq(now + own_cycles), self.check_begun.eq(now + own_cycles),
                             self.last.eq(host.index), self.timeout.eq(entry.length),
                             self.once.eq(self.flag(Flag.ONCE))]
                with m.If(self.watching):
                    m.d.sync += self.begun.eq(now + Mux(own_cycles == 0, 1, own_cycles))
                with m.Else():
                    m.d.sync += [self.base.eq(host.index), self.polling.eq(1)]
            with m.Elif(~self.polling):
                m.d.sync += self.begun.eq(now)
        with m.Elif(self.state == State.WORK):
            m.d.comb += [spends.eq(1), due.eq(self.until == now)]
        with m.Elif(self.state == State.RUN):
            m.d.comb += self.executes.eq(1)

        with m.If(spends):
            with m.If(due):
                m.d.sync += self.state.eq(State.RUN)
                m.d.comb += [self.finishes.eq(entry.op == Op.DELAY), self.following.eq(self.base),
                             self.turn.eq((entry.op == Op.POLL) & ~self.polling & self.watching)]
            with m.Else():
                m.d.sync += self.state.eq(State.WORK)
                with m.If(self.irq.seen):
                    ends = Signal()
                    m.d.comb += ends.eq((entry.op == Op.DELAY) & self.flag(Flag.INTERRUPTIBLE))
                    with m.If(ends):
                        left = Mux(self.begins, (cycles - 1)[:32], (self.until - now)[:32])
                        m.d.comb += [self.finishes.eq(1), self.discard.eq(1),
                                     self.status.eq(Status.INTERRUPTED),
                                     self.result.eq(Cat(Const(0, WORK_BITS), left))]
        with m.If(self.executes):
            m.d.sync += self.state.eq(State.RUN)

    def _post(self, m: Module) -> None:
        """The entries that go into the posted-write buffer."""
        entry, beat = self.entry, self.posted.i.payload
        if self.shape.nics > 1:
            m.d.comb += beat.nic.eq(entry.address[PIO_ADDRESS_BITS:])
            beat = beat.beat
        with m.If(self.posted.i.valid):
            m.d.comb += [
                beat.write.eq(self.writes),
                beat.address.eq(entry.address + (self.beat << 3)),
                beat.data.eq(entry.data[self.beat]),
                beat.trace.eq(entry.trace),
                beat.process.eq(entry.process),
                beat.last.eq(~self.writes | self.last_beat),
                beat.answer.eq(~self.writes | (self.last_beat & ~self.flag(Flag.POSTED))),
            ]

    def _pio_read(self, m: Module) -> None:
        m.d.comb += [
            self.posted.i.valid.eq(~self.sent),
            self.finishes.eq(self.pio_done),
            self.result.eq(self.pio_data),
        ]
        with m.If(self.posted.i.ready):
            m.d.sync += self.sent.eq(1)

    def _pio_write(self, m: Module) -> None:
        m.d.comb += [
            self.writes.eq(1),
            self.last_beat.eq((self.beat == BURST - 1) | (self.beat + 1 >= self.entry.count)),
            self.posted.i.valid.eq(~self.sent),
            self.finishes.eq(self.pio_done),
        ]
        with m.If(~self.sent & self.posted.i.ready):
            with m.If(self.last_beat):
                m.d.sync += self.sent.eq(1)
                m.d.comb += self.finishes.eq(self.flag(Flag.POSTED))
            with m.Else():
                m.d.sync += self.beat.eq(self.beat + 1)

    def _cas(self, m: Module) -> None:
        """In the cache: the line first, as a store takes it, then the swap, from the cycle on in
        which it is owned."""
        m.d.comb += [
            self.swap.valid.eq(1 if self.blocks is None else self.blocks.ready),
            self.kept.drop.eq(1),
            self.kept.line.eq(self.entry.address),
            self.finishes.eq(self.swap.done),
            self.result.eq(self.swap.old),
        ]
        if self.shape.owned_swaps:
            m.d.comb += [
                self.accesses.eq(~self.owns),
                self.cache.address.eq(self.entry.address),
                self.cache.store.eq(1),
                self.swap.valid.eq(self.owns | self.cache.done),
            ]
            m.d.sync += self.owns.eq(self.owns | self.cache.done)

    def _touch(self, m: Module) -> None:
        entry, line_bits = self.entry, self.line_bits
        at = Signal(32 - line_bits)
        left = Signal.like(at)
        line = Signal.like(at)
        further = Signal.like(at)
        reach = Signal(33)
        m.d.comb += [
            reach.eq(entry.address[:line_bits] + Mux(entry.length == 0, 0, entry.length - 1)),
            line.eq(Mux(self.touching, at, entry.address[line_bits:])),
            further.eq(Mux(self.touching, left, reach[line_bits:])),
            self.accesses.eq(1),
            self.cache.address.eq(line << line_bits),
            self.cache.store.eq(self.flag(Flag.STORE)),
            self.kept.drop.eq(self.cache.store),
            self.kept.line.eq(self.cache.address),
            self.finishes.eq(self.accessed & (further == 0)),
        ]
        if self.shape.block_stores:
            m.d.comb += self.cache.block.eq(self.cache.store & self.flag(Flag.BLOCK))
        if self.shape.flushes:
            m.d.comb += self.cache.flush.eq(~self.cache.store & self.flag(Flag.FLUSH))
        m.d.sync += [self.touching.eq(1), at.eq(line + self.accessed),
                     left.eq(further - self.accessed)]

    def _wait_irq(self, m: Module) -> None:
        now, timeout = self.port.now, self.entry.length
        begun = Signal(32)
        late = Signal()
        m.d.comb += [begun.eq(Mux(self.begins, now, self.begun)),
                     late.eq((timeout != 0) & ((now - begun)[:32] + 1 >= timeout))]
        m.d.sync += [self.waits.eq(1), self.until.eq(begun + timeout - 1)]
        with m.If(self.irq.seen):
            m.d.comb += self.finishes.eq(1)
        with m.Elif(late):
            m.d.comb += [self.finishes.eq(1), self.discard.eq(1), self.status.eq(Status.TIMEOUT)]

    def _sequence(self, m: Module) -> None:
        """The sequence of entries, and their answers."""
        host, entry = self.host, self.entry
        stops = entry.op == Op.STOP
        ends = Signal()
        m.d.comb += [
            host.answers.eq(self.finishes),
            host.discards.eq(self.discard),
            host.slot.eq(self.slot),
        ]
        with m.If(self.finishes):
            m.d.comb += [
                self.slot.eq(Mux(self.polling, self.last, host.index)),
                ends.eq(self.discard | (self.slot + 1 >= host.count)),
                host.asks.eq(ends & ~stops),
                host.answer.cycle.eq(self.port.now + 1),
                host.answer.status.eq(Cat(self.status | self.irq.seen << _IRQ, self.check_cycles,
                                          Mux(self.begins, self.total[:WORK_BITS],
                                              self.fraction))),
                host.answer.data.eq(self.result),
            ]
            if self.shape.flushes:
                self._tell_fault(m)
        with m.If(self.begins):
            m.d.sync += self.running.eq(1)
        with m.If(self.turn | self.finishes):
            m.d.sync += [self.state.eq(State.FETCH), self.sent.eq(0), self.beat.eq(0),
                         self.touching.eq(0), self.waits.eq(0), self.owns.eq(0)]
        with m.If(self.turn):
            m.d.sync += [host.index.eq(self.following), self.polling.eq(1)]
        with m.If(self.finishes):
            m.d.sync += [
                self.running.eq(~ends),
                host.index.eq(Mux(ends, 0, self.slot + 1)),
                self.polling.eq(0),
                self.watching.eq(entry.op == Op.WATCH),
            ]
            with m.If(self.polling | ends):
                m.d.sync += self.watching.eq(0)
            with m.If(stops):
                m.d.sync += self.state.eq(State.STOPPED)

    def _tell_fault(self, m: Module) -> None:
        """The first forgotten flush, in all answers from then on."""
        fault, kept = self.cache.fault, Signal(Fault)
        with m.If(~kept.valid):
            m.d.sync += kept.eq(fault)
        told = Signal(Fault)
        m.d.comb += told.eq(Mux(kept.valid, kept, fault))
        with m.If(told.valid):
            m.d.comb += [self.host.answer.status[_STALE].eq(1),
                         self.host.answer.data.eq(Cat(told.address, told.what))]

    def _rest(self, m: Module) -> None:
        host, now = self.host, self.port.now
        spends = self.state == State.WORK
        waits = (self.state == State.RUN) & self.waits
        m.d.comb += [
            self.quiet.eq(self.posted.empty & self.irq.settled),
            host.rests.eq((spends | waits | host.stopped) & self.quiet),
            host.distance.eq(~0),
        ]
        with m.If(spends):
            m.d.comb += host.distance.eq(self.until - now)
        with m.Elif(waits):
            with m.If(self.entry.length != 0):
                m.d.comb += host.distance.eq(self.until - now)
        with m.If(self.irq.pending & ~host.stopped):
            with m.If(spends & (self.irq.distance < (self.until - now)[:32])
                      | waits & ((self.entry.length == 0)
                                 | (self.irq.distance < (self.until - now)[:32]))):
                m.d.comb += host.distance.eq(self.irq.distance)
