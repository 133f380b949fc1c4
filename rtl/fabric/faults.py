"""Injected faults on a link: packets lost, corrupted, duplicated or delayed."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import ReadPort, WritePort
from amaranth.lib.wiring import In, Out

from ...layouts.packet import CRC_BYTES, FLIT_BYTES, HEADER, HEADER_BYTES, MAX_HEADER_BYTES
from ...layouts.timing import PROBABILITY_BITS
from ...layouts.trace import Kind
from ..parts.block_ram import BlockRam
from ..parts.event import EventPort
from ..parts.flit import Flit, FlitStream, Header
from ..parts.sizes import check_integer
from ..parts.timing import Timing

__all__ = ["FaultInjector", "Generator", "seed_constant"]

_INJECTED = 4
_ROUTE_BITS = HEADER.mask("route").bit_length()
_DRAWS = ("drop", "corrupt", "duplicate", "delay", "place")
_MASK = (1 << 32) - 1


def seed_constant(node: int) -> int:
    """Constant added to ``faults.seed`` for the generator of ``node``, ``draws`` of its injector: a
    hash of the node's number."""
    x = (node + 1) * 0x9E3779B9 & _MASK
    for shift, factor in (16, 0x21F0AAAD), (15, 0x735A2D97):
        x = (x ^ x >> shift) * factor & _MASK
    return x ^ x >> 15


class Generator(wiring.Component):
    """A 32-bit xorshift generator (Marsaglia, "Xorshift RNGs", 2003; shifts 13, 17, 5).

    Latency: none, ``value`` is the state. ``load`` sets the state to ``seed`` (to 1 if that is 0,
    which has no successor); ``step`` advances it. Reset: 1.

    Members
    -------
    load : ``In(1)``
    step : ``In(1)``
    seed : ``In(32)``
    value : ``Out(32)``
    """

    load: In(1)
    step: In(1)
    seed: In(32)
    value: Out(32, init=1)

    def elaborate(self, platform) -> Module:
        m = Module()
        left = Signal(32)
        right = Signal(32)
        # The condition keeps a simulation from evaluating this in every cycle.
        with m.If(self.step):
            m.d.comb += [
                left.eq(self.value ^ Cat(Const(0, 13), self.value[:-13])),
                right.eq(left ^ (left >> 17)),
            ]
        with m.If(self.load):
            m.d.sync += self.value.eq(Mux(self.seed == 0, 1, self.seed))
        with m.Elif(self.step):
            m.d.sync += self.value.eq(right ^ Cat(Const(0, 5), right[:-5]))
        return m


class FaultInjector(wiring.Component):
    """Passes packets on and injects faults, by rates and a seed set at run time.

    Five numbers are drawn for each packet, independently of the traffic's timing: the faults of the
    n-th packet after reset depend only on ``faults.seed``, ``draws`` and n.

    - *drop*: the packet is removed; no other fault applies to it.
    - *delay*: its first flit is held for ``faults.delay_cycles``, and all behind it.
    - *corrupt*: one bit of one of its flits flips, CRC included, the header's route excepted. The
      flit is drawn with equal chances, then the bit.
    - *duplicate*: the packet is sent a second time, directly behind the first.

    Latency: none, flits pass combinationally; delayed packets take exactly ``delay_cycles``.
    Throughput: a flit a cycle; a duplicate takes as many cycles as the packet has flits, and one
    more. Unless all rates are 0, a packet's first flit waits until 6 cycles after that of the
    packet before it, or after reset, when its numbers are drawn. Back-pressure: ``i.ready`` follows
    ``o.ready``. Packets longer than ``mtu`` allows are not duplicated.

    Events: DROP with ``arg`` 4 in the cycle in which a dropped packet's first flit is swallowed;
    DELAY in the first cycle of a delay; CORRUPT as the flit with the flipped bit passes, ``arg`` is
    64 * flit + bit; DUPLICATE in the cycle before the copy. Packets have two flits
    or more.

    Parameters
    ----------
    mtu : :class:`int`
        Most bytes of a packet behind its header, 8 or more.

    Members
    -------
    i : ``In(FlitStream)``
        Packets with CRC.
    o : ``Out(FlitStream)``
        The packets with faults.
    timing : ``In(Timing)``
        ``faults_*``.
    draws : ``In(32)``
        :func:`seed_constant` of the node on whose uplink this is: so that nodes draw different
        numbers. A constant.
    now : ``In(32)``
        The cycle counter.
    idle : ``Out(1)``
        No packet is passing, held or being copied.
    event : ``Out(EventPort)``
        Events.

    Raises
    ------
    TypeError
        ``mtu`` is not an integer.
    ValueError
        ``mtu`` is less than 8.
    """

    def __init__(self, *, mtu: int = 1024) -> None:
        check_integer("mtu", mtu)
        if mtu < FLIT_BYTES:
            raise ValueError(f"mtu must be {FLIT_BYTES} or more, not {mtu}")
        self._mtu = mtu
        super().__init__({
            "i": In(FlitStream),
            "o": Out(FlitStream),
            "timing": In(Timing),
            "draws": In(32),
            "now": In(32),
            "idle": Out(1),
            "event": Out(EventPort),
        })

    @property
    def mtu(self) -> int:
        return self._mtu

    @property
    def depth(self) -> int:
        """Flits of the longest packet: header and payload, and the CRC in one of its own."""
        return -(-(self._mtu + MAX_HEADER_BYTES - CRC_BYTES) // FLIT_BYTES) + 1

    def elaborate(self, platform) -> Module:
        m = Module()
        i, o = self.i, self.o
        enabled = Signal()
        m.d.comb += enabled.eq(reduce(or_, (self.timing[f"faults_{name}"] != 0
                                            for name in _DRAWS[:4])))
        m.submodules.packet = packet = BlockRam(shape=Flit, depth=self.depth)
        packet_w = packet.write_port()
        packet_r = packet.read_port()
        m.d.comb += packet_r.en.eq(0)
        # Everything else is inside this condition, and most of it inside the condition of a
        # packet, so that a simulation of a fabric without faults does almost no work here.
        with m.If(enabled):
            self._inject(m, packet_w=packet_w, packet_r=packet_r)
        with m.Else():
            m.d.comb += [o.valid.eq(i.valid), o.p.eq(i.p), i.ready.eq(o.ready), self.idle.eq(1)]
        return m

    def _inject(self, m: Module, *, packet_w: WritePort, packet_r: ReadPort) -> None:
        i, o = self.i, self.o

        # One generator makes the five draws of a packet, a draw a cycle, while the packet before it
        # passes.
        m.submodules.generator = generator = Generator()
        drawn = Signal(range(len(_DRAWS) + 1))
        drop, corrupt, duplicate, delay = (Signal(name=name) for name in _DRAWS[:4])
        chance = Signal(16)
        fraction = Signal(8)
        loaded = Signal()
        ready = Signal()
        value = generator.value[-PROBABILITY_BITS:]
        m.d.comb += [
            ready.eq(drawn == len(_DRAWS)),
            generator.load.eq(~loaded),
        ]
        with m.If(~loaded):
            m.d.comb += generator.seed.eq(self.timing.faults_seed + self.draws)
            m.d.sync += loaded.eq(1)
        with m.Elif(~ready):
            m.d.comb += generator.step.eq(1)
            m.d.sync += drawn.eq(drawn + 1)
            with m.Switch(drawn):
                for k, flag in enumerate((drop, corrupt, duplicate, delay)):
                    with m.Case(k):
                        m.d.sync += flag.eq(value < self.timing[f"faults_{_DRAWS[k]}"])
                with m.Default():
                    m.d.sync += [chance.eq(value[-16:]), fraction.eq(value[:8])]

        # What happens to the packet: its draws, kept from its first flit on, when the next packet's
        # are begun. The flit to spoil, and the bit in it, are fractions of their number.
        begin = Signal()
        position = Signal(range(self.depth + 1))
        doomed, doubled = Signal(), Signal()
        target = Signal(14)
        place = Signal(8)
        flip = Signal()
        bit = Signal(6)
        copy = Signal()
        with m.If(i.p.first):
            length = data.View(Header, i.p.data).length
            flits = ((length + HEADER_BYTES + FLIT_BYTES - 1) >> 3) + 1
            chosen = Signal(14)
            m.d.comb += copy.eq(duplicate)
            with m.If(corrupt):
                m.d.comb += [
                    chosen.eq((chance * flits) >> 16),
                    flip.eq(chosen == 0),
                    bit.eq(_ROUTE_BITS + ((fraction * (64 - _ROUTE_BITS)) >> 8)),
                ]
            with m.If(begin):
                m.d.sync += [doomed.eq(corrupt), doubled.eq(duplicate), place.eq(fraction),
                             target.eq(chosen), drawn.eq(0)]
        with m.Else():
            m.d.comb += copy.eq(doubled & (position != self.depth))
            with m.If(doomed):
                m.d.comb += [flip.eq(position == target), bit.eq((place * i.p.size) >> 5)]

        copied = Signal(range(self.depth + 1))
        number = Signal.like(i.p.trace)
        m.d.comb += [
            packet_w.addr.eq(position),
            packet_w.data.eq(o.p),
            self.event.number.eq(i.p.trace),
        ]

        delaying = Signal()
        until = Signal(32)
        cycles = self.timing.faults_delay_cycles
        wait = Signal()
        with m.If(delay & i.p.first & (cycles != 0)):
            m.d.comb += wait.eq(~delaying | (self.now - until)[31])

        took = Signal()
        m.d.comb += [took.eq(i.valid & i.ready), begin.eq(took & i.p.first)]
        with m.If(took):
            m.d.sync += number.eq(i.p.trace)
            with m.If(i.p.last):
                m.d.sync += position.eq(0)
            with m.Elif(position != self.depth):
                m.d.sync += position.eq(position + 1)
            m.d.sync += delaying.eq(0)

        with m.FSM():
            with m.State("PASS"):
                m.d.comb += [self.idle.eq(ready & ~delaying), o.p.eq(i.p)]
                with m.If(i.p.first & ~ready):
                    pass
                with m.Elif(i.valid & i.p.first & drop):
                    m.d.comb += [
                        i.ready.eq(1),
                        self.event.valid.eq(1),
                        self.event.kind.eq(Kind.DROP),
                        self.event.arg.eq(_INJECTED),
                    ]
                    with m.If(~i.p.last):
                        m.next = "DROP"
                with m.Elif(i.valid & wait):
                    with m.If(~delaying):
                        m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.DELAY)]
                        m.d.sync += [delaying.eq(1), until.eq(self.now + cycles)]
                with m.Else():
                    m.d.comb += [o.valid.eq(i.valid), i.ready.eq(o.ready)]
                    with m.If(flip):
                        m.d.comb += [
                            o.p.data.eq(i.p.data ^ (Const(1, 1) << bit)),
                            self.event.valid.eq(i.valid & o.ready),
                            self.event.kind.eq(Kind.CORRUPT),
                            self.event.arg.eq(Cat(bit, position)),
                        ]
                    with m.If(i.valid & o.ready & copy):
                        m.d.comb += packet_w.en.eq(1)
                        with m.If(i.p.last):
                            m.next = "TURN"
            with m.State("DROP"):
                m.d.comb += i.ready.eq(1)
                with m.If(i.valid & i.p.last):
                    m.next = "PASS"
            with m.State("TURN"):
                m.d.comb += [
                    packet_r.en.eq(1),
                    self.event.valid.eq(1),
                    self.event.kind.eq(Kind.DUPLICATE),
                    self.event.number.eq(number),
                ]
                m.d.sync += copied.eq(1)
                m.next = "COPY"
            with m.State("COPY"):
                m.d.comb += [
                    o.valid.eq(1),
                    o.p.eq(packet_r.data),
                    packet_r.addr.eq(copied),
                    packet_r.en.eq(o.ready),
                ]
                with m.If(o.ready):
                    m.d.sync += copied.eq(copied + 1)
                    with m.If(packet_r.data.last):
                        m.next = "PASS"
