"""CRC-32 of a packet: appended by the sender, checked and stripped by the receiver."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import crc, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import CRC_BYTES, HEADER
from ..parts.flit import Flit, FlitStream

__all__ = ["CrcAppend", "CrcCheck"]

_PARAMETERS = crc.catalog.CRC32_ETHERNET(data_width=64)
_COVERED = ~HEADER.mask("route") & (1 << 64) - 1
"""Bits of the header word that the CRC covers: switches change the route on the way."""


class CrcAppend(wiring.Component):
    """Passes each packet on and appends its CRC-32 as a last flit of 4 bytes.

    The CRC is Ethernet's (as ``zlib.crc32``) over the packet's 8-byte words, little-endian, the
    header's route as zero and the last word filled up with zero bytes. Bytes beyond a flit's
    ``size`` leave as zero.

    Latency: none, flits pass combinationally. Throughput: a flit a cycle; a packet takes one cycle
    more than its flits. Back-pressure: ``i.ready`` follows ``o.ready``, and is low while the CRC
    leaves. Reset: between packets.

    Members
    -------
    i : ``In(FlitStream)``
        Packets without CRC.
    o : ``Out(FlitStream)``
        Packets with CRC.
    idle : ``Out(1)``
        No CRC is waiting to leave.
    """

    i: In(FlitStream)
    o: Out(FlitStream)
    idle: Out(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.crc = processor = _PARAMETERS.create()

        trailer = Signal()
        trace = Signal.like(self.i.p.trace)
        padded = Signal(64)
        m.d.comb += [padded.eq(self.i.p.data), self.idle.eq(~trailer)]
        with m.Switch(self.i.p.size):
            for size in range(1, 8):
                with m.Case(size):
                    m.d.comb += padded.eq(self.i.p.data[:8 * size])

        with m.If(trailer):
            m.d.comb += [
                self.o.valid.eq(1),
                self.o.p.data.eq(processor.crc),
                self.o.p.size.eq(CRC_BYTES),
                self.o.p.last.eq(1),
                self.o.p.trace.eq(trace),
            ]
            with m.If(self.o.ready):
                m.d.sync += trailer.eq(0)
        with m.Else():
            m.d.comb += [
                self.o.valid.eq(self.i.valid),
                self.o.p.eq(self.i.p),
                self.o.p.data.eq(padded),
                self.o.p.last.eq(0),
                self.i.ready.eq(self.o.ready),
            ]
            with m.If(self.i.valid & self.o.ready & self.i.p.last):
                m.d.sync += [trailer.eq(1), trace.eq(self.i.p.trace)]

        m.d.comb += [
            processor.start.eq(self.i.p.first & processor.valid),
            processor.valid.eq(self.i.valid & self.i.ready),
            processor.data.eq(Mux(self.i.p.first, padded & _COVERED, padded)),
        ]
        return m


class CrcCheck(wiring.Component):
    """Checks a packet's CRC-32 and takes its flit off; the flit before it becomes the last.

    What the CRC covers: see :class:`CrcAppend`.

    Latency: a flit is offered when its successor is, at least one cycle after it was taken; so the
    last flit in the cycle in which the CRC is offered. Throughput: a flit a cycle. Back-pressure:
    ``i.ready`` follows ``o.ready`` once a flit is held. A packet of one flit (nothing but CRC) is
    swallowed. Reset: between packets.

    Members
    -------
    i : ``In(FlitStream)``
        Packets with CRC.
    o : ``Out(FlitStream)``
        Packets without CRC.
    bad : ``Out(1)``
        Valid with ``o``'s last flit (``o.valid & o.p.last``): the CRC is not the packet's. Low
        otherwise.
    idle : ``Out(1)``
        No flit is held.
    """

    i: In(FlitStream)
    o: Out(FlitStream)
    bad: Out(1)
    idle: Out(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.crc = processor = _PARAMETERS.create()

        held = Signal()
        flit = Signal(Flit)
        m.d.comb += [
            self.idle.eq(~held),
            self.o.valid.eq(held & self.i.valid),
            self.o.p.eq(flit),
            self.o.p.last.eq(self.i.p.last),
            self.i.ready.eq(~held | self.o.ready),
            self.bad.eq(self.o.valid & self.i.p.last & (self.i.p.data[:32] != processor.crc)),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += held.eq(~self.i.p.last)
            with m.If(~self.i.p.last):
                m.d.sync += flit.eq(self.i.p)

        m.d.comb += [
            processor.start.eq(self.i.p.first & processor.valid),
            processor.valid.eq(self.i.valid & self.i.ready & ~self.i.p.last),
            processor.data.eq(Mux(self.i.p.first, self.i.p.data & _COVERED, self.i.p.data)),
        ]
        return m
