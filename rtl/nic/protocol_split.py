"""Splits received packets by protocol."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..parts.flit import Header
from ..parts.receive_word import ReceiveWord

__all__ = ["ProtocolSplit"]


class ProtocolSplit(wiring.Component):
    """Sends packets of one protocol one way, and all others the other way.

    Latency: none (combinational). Throughput: 1 word a cycle. Back-pressure: a packet that is not
    taken holds up those behind it, whichever way they go. Reset: between packets.

    Members
    -------
    i : In(stream of ReceiveWord)
        Packets, from the receive FIFO.
    select : In(9)
        layouts.processor.PROTOCOL_SELECT, looked at between packets.
    match, other : Out(stream of ReceiveWord)
        Those of the selected protocol, and the others.
    """

    i: In(stream.Signature(ReceiveWord))
    select: In(9)
    match: Out(stream.Signature(ReceiveWord))
    other: Out(stream.Signature(ReceiveWord))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.i.payload
        header = data.View(Header, word.data)
        held = Signal()
        matches = Signal()
        chosen = self.select[8] & (header.protocol == self.select[:8])
        m.d.comb += [self.match.payload.eq(word), self.other.payload.eq(word)]
        with m.If(self.i.valid):
            m.d.comb += [
                matches.eq(Mux(word.first, chosen, held)),
                self.match.valid.eq(matches),
                self.other.valid.eq(~matches),
                self.i.ready.eq(Mux(matches, self.match.ready, self.other.ready)),
            ]
            m.d.sync += held.eq(matches)
        return m
