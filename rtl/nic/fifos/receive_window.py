"""Receive FIFO, PIO side: the CPU reads packets word by word."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.trace import Kind
from ...parts.event import EventPort
from ...parts.receive_word import ReceiveWord

__all__ = ["ReceiveWindow"]


class ReceiveWindow(wiring.Component):
    """Each read takes the next word of the receive FIFO; an empty FIFO reads as 0.

    Latency: ``data`` is valid in the cycle after ``read``, and 0 unless there was a read.
    Throughput: 1 word a cycle. Reset: nothing read.

    Members
    -------
    enable : In(1)
        Low: reads give 0 and take nothing.
    read : In(1)
        This cycle reads.
    data : Out(64)
        Word read.
    i : In(stream of ReceiveWord)
        Packets.
    begin, end : Out(EventPort)
        Block RECEIVE_PIO: BEGIN when a packet's header is read, END when its last word is (both in
        the same cycle for a packet of nothing but a header).
    """

    enable: In(1)
    read: In(1)
    data: Out(64)
    i: In(stream.Signature(ReceiveWord))
    begin: Out(EventPort)
    end: Out(EventPort)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.begin.kind.eq(Kind.BEGIN),
            self.begin.number.eq(self.i.payload.trace),
            self.end.kind.eq(Kind.END),
            self.end.number.eq(self.i.payload.trace),
        ]
        m.d.sync += self.data.eq(0)
        with m.If(self.read & self.enable):
            m.d.comb += self.i.ready.eq(1)
            with m.If(self.i.valid):
                m.d.sync += self.data.eq(self.i.payload.data)
                m.d.comb += [
                    self.begin.valid.eq(self.i.payload.first),
                    self.end.valid.eq(self.i.payload.last),
                ]
        return m
