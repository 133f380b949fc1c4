"""Realigns bytes: from words of memory at any byte address to words of a packet."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Aligner"]


class Aligner(wiring.Component):
    """Takes ``bytes`` bytes out of a run of words, beginning at byte ``offset`` of the first.

    After ``start`` it takes ceil((offset + bytes) / 8) words and gives ceil(bytes / 8). Bytes
    beyond the run in the last word given are meaningless.

    Latency: none with offset 0; else a word is given as the next is taken, and the last one by
    itself if no further word is needed. Throughput: 1 word a cycle. Back-pressure: ``o`` stalls
    ``i``. Reset: idle.

    Members
    -------
    start : In(1)
        Begin a run with ``offset`` (bytes) and ``bytes`` (at least 1). Only while ``busy`` is low.
    busy : Out(1)
        A run is under way.
    i, o : In(stream of 64), Out(stream of 64)
        Words in and out.
    last : Out(1)
        What ``o`` offers is the last word of the run.
    """

    start: In(1)
    offset: In(3)
    bytes: In(16)
    busy: Out(1)
    i: In(stream.Signature(64))
    o: Out(stream.Signature(64))
    last: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        offset = Signal(3)
        ins = Signal(14)
        outs = Signal(14)
        kept = Signal(64)
        primed = Signal()
        pass_in = Signal()
        m.d.comb += self.busy.eq(outs != 0)
        with m.If(self.busy):
            m.d.comb += self.last.eq(outs == 1)
            with m.If(~primed):
                m.d.comb += self.i.ready.eq(1)
            with m.Else():
                m.d.comb += [
                    pass_in.eq(ins != 0),
                    self.o.valid.eq(Mux(pass_in, self.i.valid, 1)),
                    self.i.ready.eq(pass_in & self.o.ready),
                ]
            with m.Switch(offset):
                with m.Case(0):
                    m.d.comb += self.o.payload.eq(self.i.payload)
                for byte in range(1, 8):
                    with m.Case(byte):
                        # What i shows after the run's last word must not show on o.
                        m.d.comb += self.o.payload.eq(Cat(
                            kept[8 * byte:], Mux(pass_in, self.i.payload[:8 * byte], 0)))
            with m.If(self.i.valid & self.i.ready):
                m.d.sync += [kept.eq(self.i.payload), ins.eq(ins - 1), primed.eq(1)]
            with m.If(self.o.valid & self.o.ready):
                m.d.sync += outs.eq(outs - 1)
        with m.If(self.start):
            m.d.sync += [
                offset.eq(self.offset),
                ins.eq((self.bytes + self.offset + 7) >> 3),
                outs.eq((self.bytes + 7) >> 3),
                primed.eq(self.offset == 0),
            ]
        return m
