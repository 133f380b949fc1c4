"""The engine RECEIVE: from the link to NIC memory."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In

from ....layouts.packet import TRACE_BITS
from ....layouts.rings import COMPLETION
from ....layouts.trace import Block, Drop, Kind
from ...parts.flit import Header
from ...parts.receive_word import ReceiveWord
from ..types import WIDE_ADDRESS_BITS
from .engine_block import EngineBlock

__all__ = ["NicReceive"]

LEAST = 24
"""Bytes of the smallest buffer."""

Completion = data.StructLayout({field.name: unsigned(field.width) for field in COMPLETION.fields})


class NicReceive(EngineBlock):
    """Writes each packet into the next buffer: header and payload behind word 0, then word 0.

    A buffer has ``length`` bytes, at least 24, at ``local``, both multiples of 8; others are
    refused at their turn. Word 0 becomes layouts.rings.COMPLETION with the packet's length and
    trace number. Bytes that do not fit are dropped (an event DROP, arg 0). A packet's last word is
    written whole; its bytes beyond the packet's length are undefined.

    Latency: 1 cycle from a packet on ``i``, or a buffer for it, to its first word being written.
    Throughput: 1 word a cycle, and 2 cycles a packet. Back-pressure: packets wait while no buffer
    is queued. Reset: idle.

    Parameters
    ----------
    memory_bytes : int
        Size of NIC memory: a multiple of 8, up to 2**20.

    Members
    -------
    i : In(stream of ReceiveWord)
        Packets. Words that belong to no packet that has begun are dropped.

    The others are those of :class:`EngineBlock`. Block NIC_RECEIVE. ``port.idle``: no packet is
    under way, nor could begin; buffers may be waiting.
    """

    def __init__(self, *, memory_bytes: int) -> None:
        super().__init__(block=Block.NIC_RECEIVE, memory_bytes=memory_bytes,
                         members={"i": In(stream.Signature(ReceiveWord))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        queue = self._commands(m)
        command = queue.o.payload
        word = self.i.payload
        header = data.View(Header, word.data)

        first = Signal(WIDE_ADDRESS_BITS)
        place = Signal(WIDE_ADDRESS_BITS)
        room = Signal(13)
        length = Signal(16)
        trace = Signal(TRACE_BITS)
        dropping = Signal()
        takes = Signal()
        completion = data.View(Completion, Signal(64, name="completion"))
        bad = Signal()
        with m.If(self.i.valid):
            m.d.comb += takes.eq(~word.first | queue.o.valid)
        with m.If(queue.o.valid):
            m.d.comb += bad.eq((command.local + command.length > self._memory_bytes)
                               | (command.local[:3] != 0) | (command.length[:3] != 0)
                               | (command.length < LEAST))

        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(bad):
                    m.d.comb += queue.o.ready.eq(1)
                    self._refuse(m, queue, command.local)
                with m.Elif(takes):
                    with m.If(~word.first):
                        m.d.comb += self.i.ready.eq(1)
                    with m.Else():
                        m.d.comb += queue.o.ready.eq(1)
                        self._begin(m, word.trace)
                        m.d.sync += [
                            first.eq(command.local[3:]),
                            place.eq(command.local[3:] + 1),
                            room.eq(command.length[3:] - 1),
                            length.eq(header.length),
                            trace.eq(word.trace),
                            dropping.eq(0),
                        ]
                        m.next = "WORDS"
            with m.State("WORDS"):
                with m.If(self.i.valid):
                    with m.If(room != 0):
                        m.d.comb += [
                            self.memory.valid.eq(1),
                            self.memory.write.eq(1),
                            self.memory.address.eq(place),
                            self.memory.data.eq(word.data),
                            self.memory.strobe.eq(0xFF),
                            self.i.ready.eq(self.memory.ready),
                        ]
                        with m.If(self.memory.ready):
                            m.d.sync += [place.eq(place + 1), room.eq(room - 1)]
                    with m.Else():
                        m.d.comb += [
                            self.i.ready.eq(1),
                            self.events[1].valid.eq(~dropping),
                            self.events[1].kind.eq(Kind.DROP),
                            self.events[1].number.eq(trace),
                            self.events[1].arg.eq(Drop.OVERFLOW),
                        ]
                        m.d.sync += dropping.eq(1)
                    with m.If(self.i.ready & word.last):
                        m.next = "COMPLETION"
            with m.State("COMPLETION"):
                m.d.comb += [
                    completion.length.eq(length),
                    completion.trace.eq(trace),
                    self.memory.valid.eq(1),
                    self.memory.write.eq(1),
                    self.memory.address.eq(first),
                    self.memory.data.eq(completion.as_value()),
                    self.memory.strobe.eq(0xFF),
                ]
                with m.If(self.memory.ready):
                    self._end(m, queue, trace)
                    m.next = "IDLE"
        m.d.comb += queue.idle.eq(state.ongoing("IDLE") & ~takes & ~bad)
        return m
