"""Reads the payload of a packet from host memory, as far as the lane has room for it."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...bus.burst import beats_of
from ...parts.aligner import Aligner
from .burst_arbiter import ReadPart

__all__ = ["PayloadFetch", "PayloadOrder"]

PayloadOrder = wiring.Signature({
    "start": Out(1),
    "address": Out(32),
    "bytes": Out(16),
    "front": Out(3),
    "words": In(stream.Signature(64)),
    "last": In(1),
})
"""The side of the part that makes the packet. ``start``: fetch ``bytes``, at least 1, from
``address`` on; they come as ``words``, the first from bit 0, and ``last`` is high with the last
one. ``front``: so many words of the packet are still to go to the lane before those. No ``start``
before the last word of the payload before was taken."""


class PayloadFetch(wiring.Component):
    """Reads payloads in bursts of at most ``max_beats``, each of which is asked for only when the
    lane has room for it, so that the bus never waits for the link.

    Latency: 1 cycle from ``order.start`` to ``bus.wanted``; words as of :class:`Aligner`.
    Throughput: 1 word a cycle within a burst. Back-pressure: that of ``order.words``. Reset: idle.

    Parameters
    ----------
    words : int
        Words that the lane holds.
    mtu : int
        Bytes of the longest payload.

    Members
    -------
    order : In(PayloadOrder)
        What is to be fetched, and its words.
    level : In
        Words that are in the lane.
    max_beats : In(10)
        Longest burst in beats, at least 1.
    bus : Out(ReadPart)
        To host memory.
    """

    def __init__(self, *, words: int, mtu: int) -> None:
        self._words = words
        self._mtu = mtu
        super().__init__({
            "order": In(PayloadOrder),
            "level": In(range(words + 1)),
            "max_beats": In(10),
            "bus": Out(ReadPart),
        })

    @property
    def words(self) -> int:
        """Words that the lane holds."""
        return self._words

    @property
    def mtu(self) -> int:
        """Bytes of the longest payload."""
        return self._mtu

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.align = align = Aligner()
        order, bus = self.order, self.bus
        # The words still to be asked for.
        address = Signal(29)
        left = Signal(max(10, (self._mtu + 14 >> 3).bit_length()))
        wiring.connect(m, align.o, wiring.flipped(order.words))
        wiring.connect(m, wiring.flipped(bus.words), align.i)
        m.d.comb += [
            align.start.eq(order.start),
            align.offset.eq(order.address[:3]),
            align.bytes.eq(order.bytes),
            order.last.eq(align.last),
        ]
        with m.If(bus.free & (left != 0)):
            m.d.comb += [
                bus.beats.eq(beats_of(left, self.max_beats)),
                # One word more: the aligner may hold one of an earlier burst.
                bus.wanted.eq(bus.beats + order.front + 1 + self.level <= self._words),
            ]
        m.d.comb += bus.address.eq(address << 3)
        with m.If(bus.begun):
            m.d.sync += [address.eq(address + bus.beats), left.eq(left - bus.beats)]
        with m.If(order.start):
            m.d.sync += [address.eq(order.address[3:]),
                         left.eq((order.bytes + order.address[:3] + 7) >> 3)]
        return m
