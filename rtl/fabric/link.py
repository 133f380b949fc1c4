"""A link: one direction of a cable, from the sender's end to the receiver's buffer."""

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ...layouts.fabric import link_depth
from ...layouts.packet import FLIT_BYTES
from ...layouts.rate import FRACTION_BITS
from ...layouts.trace import Kind
from ..parts.block_ram import BlockRam
from ..parts.event import EventPort
from ..parts.flit import Flit, FlitStream
from ..parts.sizes import check_integer
from ..parts.timing import Timing

__all__ = ["Link"]


class Link(wiring.Component):
    """Carries flits at ``link.bytes_per_cycle`` with a delay of ``link.latency`` cycles, under
    credits.

    A flit of ``size`` bytes occupies the wire for size / rate cycles. This is exact over a run: the
    rest of a flit's last cycle goes to the next flit if one is waiting. A credit stands for the
    room of one flit in the receiver's buffer; the sender takes a flit only if it has a credit.

    Latency: a flit taken at edge t by a link whose wire is free is offered from cycle
    t + ceil(size / rate) + link.latency + hold on (cycle t: the cycle that edge t begins).
    A credit is usable in cycle u + link.latency for a flit handed over at edge u.
    Throughput: one flit a cycle or the rate, whatever is less. A stream of whole
    flits keeps the full rate if ``buffer + 8 * pipeline`` is at least
    (2 * link.latency + hold) * rate; a shorter flit takes a whole flit's room.
    Back-pressure: ``i.ready`` does not depend on ``i.valid``, nor ``o`` on ``o.ready``; a flit may
    wait in the buffer for up to 2**31 cycles. Reset: empty, all credits at the sender.

    Events: BEGIN in the cycle in which a packet's first flit is taken; END in the first cycle after
    the wire time of its last one, but a cycle later if a packet begins in that cycle. At full load
    these spans join without gaps. Packets have two flits or more.

    Parameters
    ----------
    buffer : :class:`int`
        Receiver's buffer in bytes, all of it credits; 64 or more, a multiple of 8.
    pipeline : :class:`int`
        Additional flits of room in the buffer, for the time of ``hold``.

    Members
    -------
    i : ``In(FlitStream)``
        The sender's end.
    o : ``Out(FlitStream)``
        The receiver's end.
    timing : ``In(Timing)``
        ``link_bytes_per_cycle``, ``link_latency``.
    now : ``In(32)``
        The cycle counter.
    hold : ``In(16)``
        Cycles that a flit waits in the receiver's buffer before it is offered.
    idle : ``Out(1)``
        No flit on the wire or in the buffer and no credit on its way back: all credits are at the
        sender.
    credit_stall : ``Out(1)``
        A flit waits only for a credit.
    event : ``Out(EventPort)``
        Events; ``arg`` is 0.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        ``buffer`` is less than 64 or no multiple of 8; ``pipeline`` is negative.
    """

    def __init__(self, *, buffer: int, pipeline: int = 0) -> None:
        for name, value in ("buffer", buffer), ("pipeline", pipeline):
            check_integer(name, value)
        if buffer < 64 or buffer % FLIT_BYTES:
            raise ValueError(f"buffer must be 64 or more and a multiple of {FLIT_BYTES} bytes, "
                             f"not {buffer}")
        if pipeline < 0:
            raise ValueError(f"pipeline must not be negative, not {pipeline}")
        self._buffer = buffer
        self._pipeline = pipeline

        # Places in the buffer, and the positions of the credits. They are members so that the
        # proofs can read them.
        depth = self.depth
        self._credits = Signal(range(depth + 1), init=depth)
        self._level = Signal(range(depth + 1))
        self._returning = Signal(range(depth + 1))
        self._on_wire = Signal()
        self._tail, self._land, self._head, self._back = (
            Signal(range(depth), name=name) for name in ("tail", "land", "head", "back"))
        super().__init__({
            "i": In(FlitStream),
            "o": Out(FlitStream),
            "timing": In(Timing),
            "now": In(32),
            "hold": In(16),
            "idle": Out(1),
            "credit_stall": Out(1),
            "event": Out(EventPort),
        })

    @property
    def buffer(self) -> int:
        return self._buffer

    @property
    def pipeline(self) -> int:
        return self._pipeline

    @property
    def depth(self) -> int:
        """Flits that the receiver's buffer holds: the number of credits."""
        return link_depth(self._buffer, self._pipeline)

    def elaborate(self, platform) -> Module:
        m = Module()
        depth = self.depth

        # A flit is written to its place in the receiver's buffer when it is taken. Its stamp, the
        # first cycle in which it may be seen there, follows at the end of its wire time. So no
        # register holds the flit on the wire. Stamps may be read in the cycle after they were
        # written, so their read port is transparent; flits were written at least a cycle earlier.
        m.submodules.flits = flits = BlockRam(shape=Flit, depth=depth)
        m.submodules.stamps = stamps = Memory(shape=32, depth=depth, init=[])
        m.submodules.returns = returns = Memory(shape=32, depth=depth, init=[])
        flit_w, stamp_w, return_w = (mem.write_port() for mem in (flits, stamps, returns))
        flit_r = flits.read_port()
        stamp_r = stamps.read_port(transparent_for=(stamp_w,))
        return_r = returns.read_port(transparent_for=(return_w,))

        credits, level, returning, on_wire = (
            self._credits, self._level, self._returning, self._on_wire)

        accept, done, leave, back = Signal(), Signal(), Signal(), Signal()

        def following(place: Signal, advance: Value) -> Signal:
            """``place`` advanced if ``advance``: its value after this cycle."""
            after = Signal.like(place, name=f"{place.name}_after")
            m.d.comb += after.eq(place)
            with m.If(advance):
                m.d.comb += after.eq(Mux(place == depth - 1, 0, place + 1))
                m.d.sync += place.eq(after)
            return after

        tail, land, head = self._tail, self._land, self._head
        following(tail, accept)
        following(land, done)
        head_after = following(head, leave)
        back_after = following(self._back, back)

        # Throttle: bytes of the flit on the wire still to go, in fixed point. Below zero is the
        # unused rest of a cycle, never more than a flit's worth.
        owed = Signal(signed(FRACTION_BITS + 6))
        left = Signal(signed(FRACTION_BITS + 6))
        rest = Signal(signed(FRACTION_BITS + 6))
        least = -(FLIT_BYTES << FRACTION_BITS)
        m.d.comb += [
            left.eq(owed - self.timing.link_bytes_per_cycle),
            done.eq(on_wire & (left <= 0)),
        ]
        with m.If(on_wire):
            m.d.comb += rest.eq(Mux(left < least, least, left))
        with m.If(accept):
            m.d.sync += owed.eq(rest + (self.i.p.size << FRACTION_BITS))
        with m.Elif(on_wire):
            m.d.sync += owed.eq(Mux(done, 0, left))

        # The sender.
        free = Signal()
        credited = Signal()
        m.d.comb += [
            free.eq(~on_wire | done),
            credited.eq((credits != 0) | back),
            self.i.ready.eq(free & credited),
            accept.eq(self.i.valid & self.i.ready),
            self.credit_stall.eq(self.i.valid & free & ~credited),
            flit_w.addr.eq(tail),
            flit_w.data.eq(self.i.p),
            flit_w.en.eq(accept),
        ]
        m.d.sync += on_wire.eq(accept | (on_wire & ~done))

        # The receiver.
        m.d.comb += [
            stamp_w.addr.eq(land),
            stamp_w.data.eq(self.now + 1 + self.timing.link_latency + self.hold),
            stamp_w.en.eq(done),
            flit_r.addr.eq(head_after),
            stamp_r.addr.eq(head_after),
            self.o.valid.eq((level != 0) & ~(self.now - stamp_r.data)[31]),
            self.o.p.eq(flit_r.data),
            leave.eq(self.o.valid & self.o.ready),
        ]
        m.d.sync += level.eq(level + done - leave)

        # Credits on their way back.
        m.d.comb += [
            return_w.addr.eq(head),
            return_w.data.eq(self.now + 1 + self.timing.link_latency),
            return_w.en.eq(leave),
            return_r.addr.eq(back_after),
            back.eq((returning != 0) & ~(self.now - return_r.data)[31]),
        ]
        m.d.sync += [
            returning.eq(returning + leave - back),
            credits.eq(credits + back - accept),
        ]

        # Events.
        begin = Signal()
        ended = Signal()
        last = Signal()
        number = Signal.like(self.event.number)
        ended_number = Signal.like(self.event.number)
        m.d.comb += [
            begin.eq(accept & self.i.p.first),
            self.event.valid.eq(begin | ended),
            self.event.kind.eq(Mux(begin, Kind.BEGIN, Kind.END)),
            self.event.number.eq(Mux(begin, self.i.p.trace, ended_number)),
            self.idle.eq((credits == depth) & ~ended),
        ]
        with m.If(accept):
            m.d.sync += last.eq(self.i.p.last)
        with m.If(begin):
            m.d.sync += number.eq(self.i.p.trace)
        with m.If(~begin):
            m.d.sync += ended.eq(0)
        with m.If(done & last):
            m.d.sync += [ended.eq(1), ended_number.eq(number)]

        return m
