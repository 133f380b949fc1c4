"""The data of packets, between the parser and whoever scatters it."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...parts.queue import Queue
from ...parts.sizes import check_power_of_two

__all__ = ["Arriving", "PacketTurn", "PacketWord", "PacketWords"]


class PacketWord(data.Struct):
    """A word of a packet's data; the packet's ``last``, with which comes whether it is ``bad``."""

    data: 64
    last: 1
    bad: 1


PacketTurn = wiring.Signature({
    "begin": Out(1),
    "none": Out(1),
    "none_bad": Out(1),
    "whole": In(1),
    "bad": In(1),
    "discard": Out(1),
    "over": In(1),
})
"""``begin``: the turn of the next packet has come, which may have ``none`` and is then bad or not
(``none_bad``); only when the one before is over. ``whole``: all its words are here or were taken;
it is then known whether it is ``bad``; up to the next ``begin``. ``discard``: throw away what is
left of it, as it comes. ``over``: all its words were taken or thrown away."""


Arriving = wiring.Signature({
    "words": Out(stream.Signature(64)),
    "level": Out(16),
    "whole": Out(1),
    "bad": Out(1),
})
"""The words of a packet, as they arrive. ``level``: words of it that are here, or will be on
``words`` in the next cycle; right while it is not ``whole``. ``whole``: all of them are; it is
``bad``, and may have fewer than it should."""


class PacketWords(wiring.Component):
    """A queue of words of packets, of which one packet at a time is taken.

    The words of the packet whose turn it is are on ``o`` until it is over. The words of packets
    behind it wait, of one of them all.

    Latency: 2 cycles. Throughput: 1 word a cycle. Back-pressure: ``i`` waits while the queue is
    full. Reset: empty, the packet over.

    Parameters
    ----------
    depth : int
        Words: a power of two, at most 32768.

    Members
    -------
    i : In(stream of PacketWord)
        Words.
    turn : In(PacketTurn)
        Whose turn it is.
    o : Out(Arriving)
        The packet's words.
    idle : Out(1)
        No words here.

    Raises
    ------
    TypeError, ValueError
        ``depth`` breaks its rule.
    """

    def __init__(self, *, depth: int) -> None:
        check_power_of_two("depth", depth, most=1 << 15)
        self._queue = Queue(shape=PacketWord, depth=depth)
        super().__init__({
            "i": In(stream.Signature(PacketWord)),
            "turn": In(PacketTurn),
            "o": Out(Arriving),
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
        turn = self.turn
        word = queue.o.payload
        whole = Signal(init=1)
        bad = Signal()
        over = Signal(init=1)
        taken = Signal()
        ends = Signal()
        m.d.comb += [
            self.o.words.payload.eq(word.data),
            self.o.level.eq(queue.level),
            turn.over.eq(over),
            self.idle.eq(queue.level == 0),
        ]
        for reader in (turn, self.o):
            m.d.comb += [reader.whole.eq(whole), reader.bad.eq(bad)]
        # Of the packet behind the one whose turn it is.
        next_whole = Signal()
        next_bad = Signal()
        with m.If(self.i.valid & self.i.ready & self.i.payload.last):
            with m.If(~whole):
                m.d.sync += [whole.eq(1), bad.eq(self.i.payload.bad)]
            with m.Else():
                m.d.sync += [next_whole.eq(1), next_bad.eq(self.i.payload.bad)]
            m.d.comb += ends.eq(1)
        with m.If(~over):
            m.d.comb += [
                self.o.words.valid.eq(queue.o.valid & ~turn.discard),
                queue.o.ready.eq(self.o.words.ready | turn.discard),
                taken.eq(queue.o.valid & queue.o.ready),
            ]
        with m.If(taken & word.last):
            m.d.sync += over.eq(1)
        with m.If(turn.begin):
            m.d.sync += over.eq(turn.none)
            with m.If(turn.none):
                m.d.sync += [whole.eq(1), bad.eq(turn.none_bad)]
            with m.Else():
                m.d.sync += [
                    whole.eq(next_whole | ends),
                    bad.eq(Mux(next_whole, next_bad, self.i.payload.bad)),
                    next_whole.eq(0),
                ]
        return m
