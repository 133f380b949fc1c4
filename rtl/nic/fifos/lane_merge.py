"""Joins the lanes of the send FIFO, PIO and DMA, in the order in which software issued them."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import FLIT_BYTES, TRACE_BITS
from ....layouts.trace import Kind
from ...parts.event import EventPort
from ...parts.flit import FlitStream, Header
from .send_window import SendPacket

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
    pio, pio_packet : In(stream of 64), In(stream of SendPacket)
        The PIO lane and its whole packets.
    dma, dma_trace : In(stream of 64), In(stream of 24)
        The DMA lane, and the trace numbers of its packets, each there with the packet's header
        at the latest. Words may be late: the packet is sent as they come.
    skip : In(1)
        The descriptor whose turn it is was refused and has no packet.
    merged : Out(16)
        Descriptors that have gone, modulo 65536.
    o : Out(FlitStream)
        Packets.
    idle : Out(1)
        No packet under way and none that could go.
    end : Out(EventPort)
        END of block SEND_PIO when the last flit of a PIO packet leaves.
    """

    pio: In(stream.Signature(64))
    pio_packet: In(stream.Signature(SendPacket))
    dma: In(stream.Signature(64))
    dma_trace: In(stream.Signature(TRACE_BITS))
    skip: In(1)
    merged: Out(16)
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

        with m.If(self.pio_packet.valid):
            m.d.comb += [
                ahead.eq(self.merged - self.pio_packet.payload.after),
                turn.eq(~ahead[15]),
            ]
        m.d.comb += from_pio.eq(turn)
        with m.If(busy):
            m.d.comb += from_pio.eq(held)
        with m.If(from_pio):
            m.d.comb += self.o.valid.eq(self.pio.valid)
        with m.Else():
            m.d.comb += self.o.valid.eq(self.dma.valid & self.dma_trace.valid)
        m.d.comb += [
            self.idle.eq(~(busy | turn | self.dma.valid)),
            self.end.kind.eq(Kind.END),
        ]
        with m.If(self.o.valid):
            m.d.comb += [flit.first.eq(~busy), flit.data.eq(word), flit.size.eq(FLIT_BYTES),
                         flit.last.eq(header.length == 0)]
            with m.If(from_pio):
                m.d.comb += [word.eq(self.pio.payload),
                             flit.trace.eq(self.pio_packet.payload.trace)]
            with m.Else():
                m.d.comb += [word.eq(self.dma.payload), flit.trace.eq(self.dma_trace.payload)]
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
                        self.pio.ready.eq(1),
                        self.pio_packet.ready.eq(flit.last),
                        self.end.valid.eq(flit.last),
                        self.end.number.eq(self.pio_packet.payload.trace),
                    ]
                with m.Else():
                    m.d.comb += [self.dma.ready.eq(1), self.dma_trace.ready.eq(flit.last)]
        with m.If(self.dma_trace.ready | self.skip):
            m.d.sync += self.merged.eq(self.merged + 1)
        return m
