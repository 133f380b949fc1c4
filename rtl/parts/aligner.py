"""Aligners of bytes: from words at any byte address to words at any other, or to those of a
packet."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Aligner"]


class Aligner(wiring.Component):
    """Takes words in which a run of bytes begins at byte ``offset`` of the first, and gives words
    in which it begins at byte ``target`` of the first, with strobes for its bytes alone. Other
    bytes of the output are undefined.

    After ``start`` it takes ceil((offset + bytes) / 8) words and gives ceil((target + bytes) / 8).

    Latency: none, if ``offset`` is not beyond ``target``; else a word is given as the next is
    taken. The last one comes by itself if no further word is needed. Throughput: 1 word a cycle.
    Back-pressure: ``o`` stalls ``i``. Reset: idle.

    Members
    -------
    start : In(1)
        Begin a run with ``offset``, ``target`` (0 if left alone) and ``bytes`` (at least 1). Only
        while ``busy`` is low.
    busy : Out(1)
        A run is under way.
    i, o : In(stream of 64), Out(stream of 64)
        Words in and out.
    strobe : Out(8)
        The bytes of the run in what ``o`` offers.
    last : Out(1)
        What ``o`` offers is the last word of the run.
    """

    start: In(1)
    offset: In(3)
    target: In(3)
    bytes: In(16)
    busy: Out(1)
    i: In(stream.Signature(64))
    o: Out(stream.Signature(64))
    strobe: Out(8)
    last: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Bytes by which a word is rotated, and the part of the previous word that goes in front.
        turn = Signal(3)
        kept = Signal(64)
        ins = Signal(14)
        outs = Signal(14)
        primed = Signal()
        first_strobe = Signal(8)
        last_strobe = Signal(8)
        pass_in = Signal()
        ends_in = Signal(17)
        ends_out = Signal(17)
        m.d.comb += self.busy.eq(outs != 0)
        with m.If(self.busy):
            m.d.comb += [
                self.last.eq(outs == 1),
                self.strobe.eq(first_strobe & Mux(self.last, last_strobe, 0xFF)),
            ]
            with m.If(~primed):
                m.d.comb += self.i.ready.eq(1)
            with m.Else():
                m.d.comb += [
                    pass_in.eq(ins != 0),
                    self.o.valid.eq(Mux(pass_in, self.i.valid, 1)),
                    self.i.ready.eq(pass_in & self.o.ready),
                ]
            with m.Switch(turn):
                with m.Case(0):
                    m.d.comb += self.o.payload.eq(self.i.payload)
                for byte in range(1, 8):
                    with m.Case(byte):
                        # Input words after the run's last word must not appear on o.
                        m.d.comb += self.o.payload.eq(Cat(
                            kept[64 - 8 * byte:],
                            Mux(pass_in, self.i.payload[:64 - 8 * byte], 0)))
            with m.If(self.i.valid & self.i.ready):
                m.d.sync += [kept.eq(self.i.payload), ins.eq(ins - 1), primed.eq(1)]
            with m.If(self.o.valid & self.o.ready):
                m.d.sync += [outs.eq(outs - 1), first_strobe.eq(0xFF)]
        with m.If(self.start):
            m.d.comb += [ends_in.eq(self.offset + self.bytes + 7),
                         ends_out.eq(self.target + self.bytes + 7)]
            m.d.sync += [
                turn.eq(self.target - self.offset),
                ins.eq(ends_in[3:]),
                outs.eq(ends_out[3:]),
                primed.eq(self.offset <= self.target),
                first_strobe.eq((0xFF << self.target)[:8]),
                last_strobe.eq(0xFF >> ~ends_out[:3]),
            ]
        return m
