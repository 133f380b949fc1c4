"""The engine SEND: from NIC memory to the link."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import Out

from ....layouts.packet import TRACE_BITS
from ....layouts.processor import StartFlag
from ....layouts.trace import Block
from ...parts.flit import Flit, FlitStream
from ...parts.queue import Queue
from ..types import WIDE_ADDRESS_BITS
from .engine_block import EngineBlock

__all__ = ["NicSend"]

AHEAD = 32
"""Flits read ahead of the link."""


class NicSend(EngineBlock):
    """Sends packets, each out of one piece of NIC memory or of several (MORE).

    ``local`` is a multiple of 8, so is ``length`` with MORE, and the first piece has at least 8
    bytes: the wire header. A piece of length 0 ends at once; without MORE it still closes the
    packet. A packet's flits carry the trace number of its first piece.

    Latency: a word is read 2 cycles after its command and offered on ``o`` 3 cycles later. A packet
    begins as soon as its first words have been read, so firmware must post further pieces without
    waiting for anything that needs the link. The last word of a piece with MORE waits for the next
    piece. Throughput: 1 flit a cycle, 2 cycles between pieces. Back-pressure: AHEAD flits are read
    ahead, over the ends of packets. Reset: between packets.

    A piece ends when its last word has been read from NIC memory. ``clear`` closes a packet that
    waits for its next piece.

    Parameters
    ----------
    memory_bytes : int
        Size of NIC memory: a multiple of 8, up to 2**20.

    Members
    -------
    o : Out(FlitStream)
        Packets, without CRC.

    The others are those of :class:`EngineBlock`. Block NIC_SEND.
    """

    def __init__(self, *, memory_bytes: int) -> None:
        super().__init__(block=Block.NIC_SEND, memory_bytes=memory_bytes,
                         members={"o": Out(FlitStream)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        queue = self._commands(m)
        m.submodules.lane = lane = Queue(shape=Flit, depth=AHEAD)
        m.d.comb += [
            self.o.valid.eq(lane.o.valid),
            self.o.payload.eq(lane.o.payload),
            lane.o.ready.eq(self.o.ready),
        ]
        command = queue.o.payload

        # The current piece: words to be read, bytes of the last one.
        place = Signal(WIDE_ADDRESS_BITS)
        left = Signal(14)
        size = Signal(4)
        more = Signal()
        first = Signal()
        trace = Signal(TRACE_BITS)
        packet_trace = Signal(TRACE_BITS)
        # A word that memory gives in this cycle, and whether it is the piece's last.
        coming = Signal()
        ending = Signal()
        # The last word of a piece with MORE, which may turn out to be the packet's.
        held = Signal()
        kept = Signal(Flit)
        pushes_kept = Signal()
        closes = Signal()
        flit = Signal(Flit)

        words = Signal(17)
        wants_more = Signal()
        bad = Signal()
        with m.If(queue.o.valid):
            m.d.comb += [
                words.eq(command.length + 7),
                wants_more.eq((command.flags & StartFlag.MORE).any()),
                bad.eq((command.local + command.length > self._memory_bytes)
                       | (command.local[:3] != 0) | (wants_more & (command.length[:3] != 0))
                       | (~held & (command.length != 0) & (command.length < 8))),
            ]

        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(~coming & lane.i.ready):
                    with m.If(self.clear):
                        m.d.comb += [pushes_kept.eq(held), closes.eq(1)]
                    with m.Elif(queue.o.valid):
                        m.d.comb += queue.o.ready.eq(1)
                        with m.If(bad):
                            self._refuse(m, queue, command.local)
                        with m.Else():
                            self._begin(m, command.trace)
                            with m.If(command.length == 0):
                                self._end(m, queue, command.trace)
                                m.d.comb += [pushes_kept.eq(held & ~wants_more), closes.eq(1)]
                            with m.Else():
                                m.d.comb += pushes_kept.eq(held)
                                m.d.sync += [
                                    place.eq(command.local[3:]),
                                    left.eq(words[3:]),
                                    size.eq(words[:3] + 1),
                                    more.eq(wants_more),
                                    first.eq(~held),
                                    trace.eq(command.trace),
                                ]
                                with m.If(~held):
                                    m.d.sync += packet_trace.eq(command.trace)
                                m.next = "READ"
            with m.State("READ"):
                # The level does not include the word that is arriving.
                m.d.comb += [self.memory.valid.eq(lane.level < AHEAD - 1),
                             self.memory.address.eq(place)]
                with m.If(self.memory.valid & self.memory.ready):
                    m.d.sync += [place.eq(place + 1), left.eq(left - 1)]
                    with m.If(left == 1):
                        m.next = "IDLE"
        m.d.sync += [coming.eq(self.memory.valid & self.memory.ready), ending.eq(left == 1)]
        m.d.comb += queue.idle.eq(state.ongoing("IDLE") & ~queue.o.valid & ~coming
                                  & (lane.level == 0) & ~(held & self.clear))

        m.d.comb += lane.i.payload.eq(flit)
        with m.If(coming):
            m.d.comb += [
                flit.data.eq(self.memory.read),
                flit.size.eq(Mux(ending & ~more, size, 8)),
                flit.first.eq(first),
                flit.last.eq(ending & ~more),
                flit.trace.eq(packet_trace),
                lane.i.valid.eq(~(ending & more)),
            ]
            m.d.sync += first.eq(0)
            with m.If(ending):
                self._end(m, queue, trace)
                with m.If(more):
                    m.d.sync += [held.eq(1), kept.eq(flit)]
        with m.If(pushes_kept):
            m.d.comb += [flit.eq(kept), flit.last.eq(closes), lane.i.valid.eq(1)]
            m.d.sync += held.eq(0)
        return m
