"""Faults on a link, on request: packets lost, corrupt, doubled or late."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts.packet import CRC_BYTES, FLIT_BYTES, HEADER, HEADER_BYTES, MAX_HEADER_BYTES
from ..layouts.timing import PROBABILITY_BITS
from ..layouts.trace import Kind
from .event import EventPort
from .flit import Flit, FlitStream, Header
from .timing import Timing

__all__ = ["FaultInjector", "Generator", "seed_constant"]

_INJECTED = 4
_ROUTE_BITS = HEADER.mask("route").bit_length()
_DRAWS = ("drop", "corrupt", "duplicate", "delay", "place")
_MASK = (1 << 32) - 1


def seed_constant(node: int, draw: int) -> int:
    """What ``faults.seed`` is XORed with for generator ``draw`` of ``node``: a hash of the two."""
    x = (node * len(_DRAWS) + draw + 1) * 0x9E3779B9 & _MASK
    for shift, factor in (16, 0x21F0AAAD), (15, 0x735A2D97):
        x = (x ^ x >> shift) * factor & _MASK
    return x ^ x >> 15


class Generator(wiring.Component):
    """A 32-bit xorshift generator (Marsaglia, "Xorshift RNGs", 2003; shifts 13, 17, 5).

    Latency: none, ``value`` is the state. ``load`` sets the state to ``seed`` (to 1 if that is 0,
    which has no successor); ``step`` goes on to the next. Reset: 1.

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
        m.d.comb += [
            left.eq(self.value ^ (self.value << 13)),
            right.eq(left ^ (left >> 17)),
        ]
        with m.If(self.load):
            m.d.sync += self.value.eq(Mux(self.seed == 0, 1, self.seed))
        with m.Elif(self.step):
            m.d.sync += self.value.eq(right ^ (right << 5))
        return m


class FaultInjector(wiring.Component):
    """Passes packets on, some of them spoilt, by rates and a seed set at run time.

    For each packet five numbers are drawn, whatever the traffic's timing: the faults of the n-th
    packet after reset depend on ``faults.seed``, ``node`` and n alone.

    - *drop*: the packet is swallowed; nothing else happens to it.
    - *delay*: its first flit is held for ``faults.delay_cycles``, and all behind it.
    - *corrupt*: one bit of one of its flits flips, CRC included, the header's route excepted. The
      flit is drawn with equal chances, then the bit.
    - *duplicate*: what was sent is sent once more, directly behind.

    Latency: none, flits pass combinationally, but for delayed packets:
    ``delay_cycles`` exactly.
    Throughput: a flit a cycle; a duplicate takes as many cycles as the packet has flits, and one
    more. Back-pressure: ``i.ready`` follows ``o.ready``. In the first cycle after reset the seed is
    loaded and nothing passes. Packets longer than ``mtu`` allows are not duplicated.

    Events: DROP with ``arg`` 4 in the cycle in which a dropped packet's first flit is swallowed;
    DELAY in the first cycle of a delay; CORRUPT as the flit with the flipped bit passes, ``arg`` is
    64 * flit + bit; DUPLICATE in the cycle before the copy. Packets have two flits
    or more.

    Parameters
    ----------
    node : :class:`int`
        The node on whose uplink this is, 0 to 255: so that nodes draw different numbers.
    mtu : :class:`int`
        Bytes that a packet carries behind its header at most, 8 or more.

    Members
    -------
    i : ``In(FlitStream)``
        Packets with CRC.
    o : ``Out(FlitStream)``
        What is left of them.
    timing : ``In(Timing)``
        ``faults_*``.
    now : ``In(32)``
        The cycle counter.
    idle : ``Out(1)``
        No packet is passing, held or being copied.
    event : ``Out(EventPort)``
        Events.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        ``node`` is not 0 to 255, or ``mtu`` is less than 8.
    """

    def __init__(self, *, node: int, mtu: int = 1024) -> None:
        for name, value in ("node", node), ("mtu", mtu):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, not {value!r}")
        if not 0 <= node <= 255:
            raise ValueError(f"node must be 0 to 255, not {node}")
        if mtu < FLIT_BYTES:
            raise ValueError(f"mtu must be {FLIT_BYTES} or more, not {mtu}")
        self._node = node
        self._mtu = mtu
        super().__init__({
            "i": In(FlitStream),
            "o": Out(FlitStream),
            "timing": In(Timing),
            "now": In(32),
            "idle": Out(1),
            "event": Out(EventPort),
        })

    @property
    def node(self) -> int:
        return self._node

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

        # Five draws a packet, all stepped as the packet's last flit comes in.
        loaded = Signal()
        step = Signal()
        draws = {}
        for k, name in enumerate(_DRAWS):
            m.submodules[f"draw_{name}"] = generator = Generator()
            m.d.comb += [
                generator.load.eq(~loaded),
                generator.step.eq(step),
                generator.seed.eq(self.timing.faults_seed ^ seed_constant(self._node, k)),
            ]
            draws[name] = generator.value
        m.d.sync += loaded.eq(1)

        def drawn(name: str) -> Value:
            return draws[name][-PROBABILITY_BITS:] < self.timing[f"faults_{name}"]

        # The flit to spoil and the bit in it: fractions of their number, by 16 and 8 random bits.
        position = Signal(range(self.depth + 1))
        target = Signal(14)
        target_kept = Signal(14)
        bit = Signal(6)
        fraction = draws["place"][8:16]
        with m.If(i.p.first):
            length = data.View(Header, i.p.data).length
            flits = ((length + HEADER_BYTES + FLIT_BYTES - 1) >> 3) + 1
            m.d.comb += [
                target.eq((draws["place"][16:] * flits) >> 16),
                bit.eq(_ROUTE_BITS + ((fraction * (64 - _ROUTE_BITS)) >> 8)),
            ]
            m.d.sync += target_kept.eq(target)
        with m.Else():
            m.d.comb += [target.eq(target_kept), bit.eq((fraction * i.p.size) >> 5)]
        flip = drawn("corrupt") & (position == target)

        m.submodules.packet = packet = Memory(shape=Flit, depth=self.depth, init=[])
        packet_w = packet.write_port()
        packet_r = packet.read_port()
        copied = Signal(range(self.depth + 1))
        number = Signal.like(i.p.trace)
        with m.If(step):
            m.d.sync += number.eq(i.p.trace)
        duplicate = drawn("duplicate") & (position != self.depth)
        m.d.comb += [
            packet_w.addr.eq(position),
            packet_w.data.eq(o.p),
            packet_r.en.eq(0),
            self.event.number.eq(i.p.trace),
        ]

        delaying = Signal()
        until = Signal(32)
        cycles = self.timing.faults_delay_cycles
        wait = Signal()
        m.d.comb += wait.eq(i.p.first & drawn("delay") & (cycles != 0)
                            & ~(delaying & ~(self.now - until)[31]))

        m.d.comb += step.eq(i.valid & i.ready & i.p.last)
        with m.If(step):
            m.d.sync += [position.eq(0), delaying.eq(0)]
        with m.Elif(i.valid & i.ready & (position != self.depth)):
            m.d.sync += position.eq(position + 1)

        with m.FSM():
            with m.State("PASS"):
                m.d.comb += [self.idle.eq(~delaying), o.p.eq(i.p)]
                with m.If(~loaded):
                    pass
                with m.Elif(i.valid & i.p.first & drawn("drop")):
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
                    with m.If(i.valid & o.ready & duplicate):
                        m.d.comb += packet_w.en.eq(1)
                        with m.If(i.p.last):
                            m.next = "TURN"
            with m.State("DROP"):
                m.d.comb += i.ready.eq(1)
                with m.If(step):
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

        return m
