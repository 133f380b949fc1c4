"""Receives frames from the bytes of a serial line."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import crc, data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.board import COMMAND_FRAME, ESCAPE, FLAG, FLIP, HEADER, MAGIC

__all__ = ["Deframer", "WordLayout"]

WordLayout = data.StructLayout({"data": 32, "last": 1})
"""A word of a frame, without its CRC; ``last`` with the final one."""


class Deframer(wiring.Component):
    """Extracts frames of layouts.board from a sequence of bytes, and keeps one until it is
    consumed.

    A frame is dropped if it has a :attr:`broken` byte or ends inside an escape, if its length is
    not 2 to COMMAND_FRAME whole words, if its CRC or its magic is wrong, or if a part of it arrived
    while the previous frame was being consumed. Bytes before the first FLAG are treated as a frame.
    Two FLAGs without bytes between them are no frame.

    Latency: the first word is offered 2 cycles after the FLAG that ends the frame. Throughput: a
    byte a cycle in, a word every other cycle out. Back-pressure: none for bytes; words wait.
    Reset: empty, before a frame.

    Members
    -------
    i : ``In(stream.Signature(8, always_ready=True))``
        Bytes.
    broken : ``In(1)``
        A byte was lost here. Not together with ``i.valid``.
    o : ``Out(stream.Signature(WordLayout))``
        Words of good frames, without their CRC.
    held : ``Out(1)``
        A frame is being consumed; low in the cycle after its last word was.
    bad : ``Out(16)``
        Frames dropped, modulo 2 ** 16.
    """

    i: In(stream.Signature(8, always_ready=True))
    broken: In(1)
    o: Out(stream.Signature(WordLayout))
    held: Out(1)
    bad: Out(16)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = check = crc.catalog.CRC32_ETHERNET(data_width=8).create()
        m.submodules.words = words = memory.Memory(shape=32, depth=COMMAND_FRAME, init=[])
        write = words.write_port()
        read = words.read_port()

        flag = Signal()
        escape = Signal()
        plain = Signal()
        escaped = Signal()
        byte = Signal(8)
        m.d.comb += [
            flag.eq(self.i.valid & (self.i.payload == FLAG)),
            escape.eq(self.i.valid & (self.i.payload == ESCAPE)),
            plain.eq(self.i.valid & (self.i.payload != FLAG) & (self.i.payload != ESCAPE)),
            byte.eq(self.i.payload ^ (escaped.replicate(8) & FLIP)),
            check.start.eq(flag),
            check.valid.eq(plain),
            check.data.eq(byte),
        ]
        with m.If(self.i.valid):
            m.d.sync += escaped.eq(escape)

        part = Signal(24)
        phase = Signal(2)
        count = Signal(range(COMMAND_FRAME + 1))
        full = count[-1]
        magic = Signal()
        spoiled = Signal()
        m.d.comb += [
            write.addr.eq(count),
            write.data.eq(Cat(part, byte)),
            write.en.eq(plain & (phase == 3) & ~full & ~self.held),
        ]
        with m.If(plain):
            m.d.sync += [part.eq(Cat(part[8:], byte)), phase.eq(phase + 1)]
            with m.If((phase == 3) & ~full):
                m.d.sync += count.eq(count + 1)
                with m.If(count == 0):
                    m.d.sync += magic.eq(write.data[HEADER.offset("magic"):] == MAGIC)
            with m.If(full | self.held):
                m.d.sync += spoiled.eq(1)
        with m.If(self.broken):
            m.d.sync += spoiled.eq(1)
        with m.If(flag):
            m.d.sync += [phase.eq(0), count.eq(0), spoiled.eq(0)]

        begun = Signal()
        good = Signal()
        # A CRC alone, of no word, has no magic; without any word no CRC matches.
        m.d.comb += good.eq(flag & ~escaped & ~spoiled & (phase == 0) & magic
                            & check.match_detected)
        with m.If(flag):
            m.d.sync += begun.eq(0)
            with m.If(begun & ~good):
                m.d.sync += self.bad.eq(self.bad + 1)
        with m.Elif(self.i.valid | self.broken):
            m.d.sync += begun.eq(1)

        # A word every other cycle, so that the consumer's ready is not part of the memory's
        # address.
        index = Signal(range(COMMAND_FRAME))
        final = Signal(range(COMMAND_FRAME))
        m.d.comb += [
            read.addr.eq(index),
            self.o.payload.data.eq(read.data),
            self.o.payload.last.eq(index == final),
        ]
        with m.If(good):
            m.d.sync += [self.held.eq(1), index.eq(0), final.eq(count - 2)]
        with m.Elif(self.held & ~self.o.valid):
            m.d.sync += self.o.valid.eq(1)
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += [self.o.valid.eq(0), index.eq(index + 1)]
            with m.If(self.o.payload.last):
                m.d.sync += self.held.eq(0)
        return m
