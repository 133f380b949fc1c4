"""Gathers pieces of memory, of any length and alignment, into the words of a packet."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ...bus.burst import Burst
from ...parts.aligner import Aligner

__all__ = ["PacketGather"]


class PacketGather(wiring.Component):
    """Reads pieces and packs them one after the other.

    ``clear`` begins a packet. Each ``start`` then appends ``bytes`` (1 to 2047) bytes from physical
    address ``place`` on, all in one page, read in bursts of at most ``max_beats``; ``done`` tells
    that they are packed. ``flush`` writes the last word if it is not full.

    Latency: ``start`` to the bus request 1 cycle; a word is written as it comes; ``done`` comes
    with the last one, or with ``bus.done`` if that is later, or 1 cycle after. Throughput: 1 word a
    cycle within a burst. Back-pressure: none. Reset: idle.

    Members
    -------
    clear, start, flush : In(1)
        Only while idle (``start`` and ``flush`` may come in the cycle after ``done``).
    place, bytes, trace : In(32), In(11), In(24)
        With ``start``.
    max_beats : In(10)
        Longest burst, at least 1.
    bus : Out(Burst)
        To host memory; reads only.
    write, index, data : Out(1), Out(8), Out(64)
        Word ``index`` of the packet; of the last, bytes beyond its end are zero.
    done : Out(1)
        High for a cycle.
    """

    clear: In(1)
    start: In(1)
    flush: In(1)
    place: In(32)
    bytes: In(11)
    trace: In(TRACE_BITS)
    max_beats: In(10)
    bus: Out(Burst())
    write: Out(1)
    index: Out(8)
    data: Out(64)
    done: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.align = align = Aligner()
        address = Signal(29)
        left = Signal(10)
        beats = Signal(10)
        trace = Signal(TRACE_BITS)
        # Valid bytes of the piece's last word; of the packet's word under way.
        tail = Signal(range(9))
        fill = Signal(3)
        kept = Signal(56)
        count = Signal(4)
        word = Signal(64)
        joined = Signal(120)
        request = self.bus.request.payload
        through = Signal()
        m.d.comb += [
            align.offset.eq(self.place[:3]),
            align.bytes.eq(self.bytes),
            align.start.eq(self.start),
            align.o.ready.eq(1),
            align.i.payload.eq(self.bus.read.payload),
            request.address.eq(Cat(Const(0, 3), address)),
            request.beats.eq(beats),
            request.trace.eq(trace),
            beats.eq(Mux(left < self.max_beats, left, self.max_beats)),
            through.eq(~align.busy | (align.last & align.o.valid)),
        ]
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.start):
                    m.d.sync += [
                        address.eq(self.place[3:]),
                        left.eq((self.bytes + self.place[:3] + 7) >> 3),
                        tail.eq(((self.bytes - 1)[:3]) + 1),
                        trace.eq(self.trace),
                    ]
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += self.bus.request.valid.eq(1)
                with m.If(self.bus.request.ready):
                    m.d.sync += [left.eq(left - beats), address.eq(address + beats)]
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [align.i.valid.eq(self.bus.read.valid),
                             self.bus.read.ready.eq(align.i.ready)]
                with m.If(self.bus.done):
                    m.next = "REQUEST"
                    with m.If(left == 0):
                        m.d.comb += self.done.eq(through)
                        m.next = "DRAIN"
                        with m.If(through):
                            m.next = "IDLE"
            with m.State("DRAIN"):
                with m.If(through):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"

        with m.If(align.o.valid):
            m.d.comb += [
                count.eq(Mux(align.last, tail, 8)),
                word.eq(align.o.payload & ((Const(1, 65) << (count << 3)) - 1)[:64]),
                joined.eq(kept | (word << (fill << 3))),
            ]
            m.d.sync += fill.eq(fill + count)
            with m.If(fill + count >= 8):
                m.d.comb += [self.write.eq(1), self.data.eq(joined[:64])]
                m.d.sync += kept.eq(joined[64:])
            with m.Else():
                m.d.sync += kept.eq(joined[:56])
        with m.If(self.flush & (fill != 0)):
            m.d.comb += [self.write.eq(1), self.data.eq(kept)]
            m.d.sync += fill.eq(0)
        with m.If(self.write):
            m.d.sync += self.index.eq(self.index + 1)
        with m.If(self.clear):
            m.d.sync += [fill.eq(0), kept.eq(0), self.index.eq(0)]
        return m
