"""The data of packets, between the parser and whoever scatters it."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...parts.queue import Queue

__all__ = ["PacketWord", "PacketWords"]


class PacketWord(data.Struct):
    """A word of a packet's data; the packet's ``last``, with which comes whether it is ``bad``."""

    data: 64
    last: 1
    bad: 1


class PacketWords(wiring.Component):
    """A queue of words of packets, of which one packet at a time is taken.

    ``begin`` says that the next packet's turn has come; its words are then on ``o`` until it is
    ``over``. The words of packets behind it wait, of one of them all.

    Latency: 2 cycles. Throughput: 1 word a cycle. Back-pressure: ``i`` waits while the queue is
    full. Reset: empty, the packet over.

    Parameters
    ----------
    depth : int
        Words: a power of two.

    Members
    -------
    i, o : In(stream of PacketWord), Out(stream of 64)
        Words.
    begin, none, none_bad : In(1), In(1), In(1)
        The next packet, which has ``none`` and is then bad or not. Only when the one before is
        over.
    whole, bad : Out(1), Out(1)
        All words of the packet are here or were taken; it is then known whether it is bad. Up to
        the next ``begin``.
    level : Out
        Words here: until the packet is whole, all of it.
    discard : In(1)
        Throw away what is left of the packet, as it comes.
    over : Out(1)
        All words of the packet were taken.
    idle : Out(1)
        No words here.

    Raises
    ------
    ValueError
        ``depth`` is not a power of two of at least 2.
    """

    def __init__(self, *, depth: int) -> None:
        self._queue = Queue(shape=PacketWord, depth=depth)
        super().__init__({
            "i": In(stream.Signature(PacketWord)),
            "o": Out(stream.Signature(64)),
            "begin": In(1), "none": In(1), "none_bad": In(1),
            "whole": Out(1, init=1), "bad": Out(1),
            "level": Out(range(depth + 1)),
            "discard": In(1),
            "over": Out(1, init=1),
            "idle": Out(1),
        })

    @property
    def depth(self) -> int:
        """Words that fit."""
        return self._queue.depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = self._queue
        wiring.connect(m, wiring.flipped(self.i), queue.i)
        word = queue.o.payload
        taken = Signal()
        ends = Signal()
        m.d.comb += [
            self.o.payload.eq(word.data),
            self.level.eq(queue.level),
            self.idle.eq(queue.level == 0),
        ]
        # Of the packet behind the one whose turn it is.
        next_whole = Signal()
        next_bad = Signal()
        with m.If(self.i.valid & self.i.ready & self.i.payload.last):
            with m.If(~self.whole):
                m.d.sync += [self.whole.eq(1), self.bad.eq(self.i.payload.bad)]
            with m.Else():
                m.d.sync += [next_whole.eq(1), next_bad.eq(self.i.payload.bad)]
            m.d.comb += ends.eq(1)
        with m.If(~self.over):
            m.d.comb += [
                self.o.valid.eq(queue.o.valid & ~self.discard),
                queue.o.ready.eq(self.o.ready | self.discard),
                taken.eq(queue.o.valid & queue.o.ready),
            ]
        with m.If(taken & word.last):
            m.d.sync += self.over.eq(1)
        with m.If(self.begin):
            m.d.sync += self.over.eq(self.none)
            with m.If(self.none):
                m.d.sync += [self.whole.eq(1), self.bad.eq(self.none_bad)]
            with m.Else():
                m.d.sync += [
                    self.whole.eq(next_whole | ends),
                    self.bad.eq(Mux(next_whole, next_bad, self.i.payload.bad)),
                    next_whole.eq(0),
                ]
        return m
