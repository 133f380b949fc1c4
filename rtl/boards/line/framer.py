"""Sends frames as bytes on a serial line."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import crc, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.board import ESCAPE, FLAG, FLIP, RESPONSE_FRAME
from .deframer import WordLayout

__all__ = ["Framer"]


class Framer(wiring.Component):
    """Keeps a frame and sends it, with its CRC, between two FLAGs, as layouts.board declares.

    A frame is taken whole before it is sent, and is kept for ``again`` until the first word of the
    next one is taken.

    Latency: the first FLAG is offered in the cycle after the last word was taken. Throughput: a
    word a cycle in; a byte every other cycle out, with two more between words: a line has no pause.
    Back-pressure: a frame is taken when none is being sent. Reset: nothing is kept or sent.

    Members
    -------
    i : ``In(stream.Signature(WordLayout))``
        Frames without CRC, at most RESPONSE_FRAME - 1 words; longer ones are not detected.
    again : ``In(1)``
        Send the kept frame again. Does nothing while a frame is being taken or sent, or if none is
        kept.
    o : ``Out(stream.Signature(8))``
        Bytes.
    idle : ``Out(1)``
        No frame is being taken or sent.
    """

    i: In(stream.Signature(WordLayout))
    again: In(1)
    o: Out(stream.Signature(8))
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = check = crc.catalog.CRC32_ETHERNET(data_width=8).create()
        m.submodules.words = words = memory.Memory(shape=32, depth=RESPONSE_FRAME, init=[])
        write = words.write_port()
        read = words.read_port()

        taking = Signal()
        kept = Signal()
        final = Signal(range(RESPONSE_FRAME))
        index = Signal(range(RESPONSE_FRAME))
        m.d.comb += [
            write.addr.eq(index),
            write.data.eq(self.i.payload.data),
            read.addr.eq(index),
        ]

        word = Signal(32)
        byte = word[:8]
        phase = Signal(2)
        trailer = Signal()
        special = Signal()
        m.d.comb += [
            special.eq((byte == FLAG) | (byte == ESCAPE)),
            check.data.eq(byte),
        ]

        with m.FSM():
            with m.State("REST"):
                m.d.comb += [
                    self.idle.eq(~taking),
                    self.i.ready.eq(1),
                    write.en.eq(self.i.valid),
                ]
                with m.If(self.i.valid):
                    m.d.sync += [index.eq(index + 1), taking.eq(1), kept.eq(0), final.eq(index)]
                    with m.If(self.i.payload.last):
                        m.d.sync += [index.eq(0), taking.eq(0), kept.eq(1)]
                        m.next = "BEGIN"
                with m.Elif(self.again & kept):
                    m.next = "BEGIN"

            with m.State("BEGIN"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    self.o.payload.eq(FLAG),
                    check.start.eq(1),
                ]
                m.d.sync += trailer.eq(0)
                with m.If(self.o.ready):
                    m.next = "LOAD"

            with m.State("LOAD"):
                m.d.sync += word.eq(read.data)
                m.next = "BYTE"

            with m.State("BYTE"):
                m.d.comb += self.o.valid.eq(1)
                m.d.comb += self.o.payload.eq(byte)
                with m.If(special):
                    m.d.comb += self.o.payload.eq(ESCAPE)
                with m.If(self.o.ready):
                    m.next = "ESCAPED"
                    with m.If(~special):
                        m.next = "NEXT"

            with m.State("ESCAPED"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(byte ^ FLIP)]
                with m.If(self.o.ready):
                    m.next = "NEXT"

            with m.State("NEXT"):
                m.d.comb += check.valid.eq(1)
                m.d.sync += [word.eq(Cat(word[8:], Const(0, 8))), phase.eq(phase + 1)]
                m.next = "BYTE"
                with m.If(phase == 3):
                    m.d.sync += index.eq(index + 1)
                    m.next = "FETCH"
                    with m.If(trailer):
                        m.next = "END"
                    with m.Elif(index == final):
                        m.next = "CHECK"

            with m.State("FETCH"):
                m.next = "LOAD"

            with m.State("CHECK"):
                m.d.sync += [word.eq(check.crc), trailer.eq(1)]
                m.next = "BYTE"

            with m.State("END"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(FLAG)]
                m.d.sync += index.eq(0)
                with m.If(self.o.ready):
                    m.next = "REST"
        return m
