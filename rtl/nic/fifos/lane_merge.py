"""Joins the lanes of the send FIFO, PIO and DMA, in the order in which software issued them."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import FLIT_BYTES
from ....layouts.trace import Kind
from ...parts.event import EventPort
from ...parts.flit import FlitStream, Header
from .lanes import DmaLane, PioLane

__all__ = ["LaneMerge"]


class LaneMerge(wiring.Component):
    """Takes whole packets from two lanes of words and makes flits of them.

    A PIO packet carries the doorbell's value at its commit: it goes once that many descriptors
    have gone. A descriptor's packet goes when no such PIO packet is there. So packets leave in
    program order.

    Latency: none (combinational). Throughput: 1 flit a cycle. Back-pressure: ``o`` stalls the lane
    that is being sent. Reset: between packets, no descriptor gone.

    Members
    -------
    pio : In(PioLane)
        The PIO lane.
    dma : In(DmaLane)
        The DMA lane. A packet is sent as its words come.
    o : Out(FlitStream)
        Packets.
    idle : Out(1)
        No packet under way and none that could go.
    end : Out(EventPort)
        END of block SEND_PIO when the last flit of a PIO packet leaves.
    """

    pio: In(PioLane)
    dma: In(DmaLane)
    o: Out(FlitStream)
    idle: Out(1)
    end: Out(EventPort)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        busy = Signal()
        held = Signal()
        left = Signal(16)
        ahead = Signal(16)
        turn = Signal()
        from_pio = Signal()
        word = Signal(64)
        header = data.View(Header, word)
        flit = self.o.payload

        with m.If(self.pio.packets.valid):
            m.d.comb += [
                ahead.eq(self.dma.merged - self.pio.packets.payload.after),
                turn.eq(~ahead[15]),
            ]
        m.d.comb += from_pio.eq(turn)
        with m.If(busy):
            m.d.comb += from_pio.eq(held)
        with m.If(from_pio):
            m.d.comb += self.o.valid.eq(self.pio.words.valid)
        with m.Else():
            m.d.comb += self.o.valid.eq(self.dma.words.valid & self.dma.traces.valid)
        m.d.comb += [
            self.idle.eq(~(busy | turn | self.dma.words.valid)),
            self.end.kind.eq(Kind.END),
        ]
        with m.If(self.o.valid):
            m.d.comb += [flit.first.eq(~busy), flit.data.eq(word), flit.size.eq(FLIT_BYTES),
                         flit.last.eq(header.length == 0)]
            with m.If(from_pio):
                m.d.comb += [word.eq(self.pio.words.payload),
                             flit.trace.eq(self.pio.packets.payload.trace)]
            with m.Else():
                m.d.comb += [word.eq(self.dma.words.payload),
                             flit.trace.eq(self.dma.traces.payload)]
            with m.If(busy):
                m.d.comb += flit.last.eq(left <= FLIT_BYTES)
                with m.If(left < FLIT_BYTES):
                    m.d.comb += flit.size.eq(left)
            with m.If(self.o.ready):
                m.d.sync += [
                    busy.eq(~flit.last),
                    held.eq(from_pio),
                    left.eq(Mux(busy, left - FLIT_BYTES, header.length)),
                ]
                with m.If(from_pio):
                    m.d.comb += [
                        self.pio.words.ready.eq(1),
                        self.pio.packets.ready.eq(flit.last),
                        self.end.valid.eq(flit.last),
                        self.end.number.eq(self.pio.packets.payload.trace),
                    ]
                with m.Else():
                    m.d.comb += [self.dma.words.ready.eq(1), self.dma.traces.ready.eq(flit.last)]
        with m.If(self.dma.traces.ready | self.dma.skip):
            m.d.sync += self.dma.merged.eq(self.dma.merged + 1)
        return m
