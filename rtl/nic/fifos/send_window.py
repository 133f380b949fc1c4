"""Send FIFO, PIO lane: words that the CPU writes become packets."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.trace import Drop, Kind
from ...parts.event import EventPort
from ...parts.flit import Header
from ...parts.queue import Queue
from .lanes import PioLane, SendPacket
from .packet_fifo import PacketFifo

__all__ = ["SendWindow"]


class SendWindow(PacketFifo):
    """Collects the words written to the send window into packets.

    The first word is the wire header; its ``length`` tells how many words follow,
    ceil(length / 8). If the lane lacks room for the packet, or the length exceeds mtu + 16 bytes,
    the packet is refused: all its words are swallowed. A packet is committed with its last word.

    Latency: 2 cycles from the last word's write to both being offered on ``lane``. Throughput:
    1 word a cycle. Back-pressure: none to the writer. Reset: empty, header expected.

    Parameters
    ----------
    fifo_bytes : int
        Capacity of the lane in bytes, a power of two of at least 16.
    mtu : int
        Payload bytes of a packet.

    Members
    -------
    write : In(1)
        This cycle writes ``data``.
    data, trace : In(64), In(24)
        The word, and with a header word the packet's trace number.
    posted : In(16)
        Value of ``send_doorbell``.
    lane : Out(PioLane)
        The lane's words, and its whole packets.
    space : Out(32)
        Free bytes.
    refused : Out(1)
        High for the cycle in which a packet is refused.
    begin : Out(EventPort)
        BEGIN of block SEND_PIO when a header is written; DROP when its packet is refused.

    Raises
    ------
    ValueError
        The lane cannot hold a packet.
    """

    def __init__(self, *, fifo_bytes: int, mtu: int) -> None:
        super().__init__(fifo_bytes=fifo_bytes, mtu=mtu, members={
            "write": In(1),
            "data": In(64),
            "trace": In(TRACE_BITS),
            "posted": In(16),
            "lane": Out(PioLane),
            "space": Out(32),
            "refused": Out(1),
            "begin": Out(EventPort),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lane = lane = Queue(shape=64, depth=self._words)
        m.submodules.packets = packets = Queue(shape=SendPacket, depth=self._words)
        wiring.connect(m, wiring.flipped(self.lane.words), lane.o)
        wiring.connect(m, wiring.flipped(self.lane.packets), packets.o)

        header = data.View(Header, self.data)
        left = Signal(14)
        following = Signal(14)
        refusing = Signal()
        trace = Signal(TRACE_BITS)
        free = Signal(range(self._words + 1))
        expect = Signal()
        refuse = Signal()
        m.d.comb += [
            expect.eq(left == 0),
            free.eq(self._words - lane.level),
            self.space.eq(free << 3),
            lane.i.payload.eq(self.data),
            packets.i.payload.after.eq(self.posted),
            self.begin.number.eq(self.trace),
        ]
        with m.If(self.write):
            with m.If(expect):
                m.d.comb += [
                    following.eq((header.length + 7) >> 3),
                    refuse.eq((header.length > self._longest) | (following >= free)),
                    lane.i.valid.eq(~refuse),
                    packets.i.valid.eq(~refuse & (following == 0)),
                    packets.i.payload.trace.eq(self.trace),
                    self.refused.eq(refuse),
                    self.begin.valid.eq(1),
                ]
                with m.If(refuse):
                    m.d.comb += [self.begin.kind.eq(Kind.DROP), self.begin.arg.eq(Drop.REFUSED)]
                m.d.sync += [
                    left.eq(following),
                    refusing.eq(refuse),
                    trace.eq(self.trace),
                ]
            with m.Else():
                m.d.comb += [
                    lane.i.valid.eq(~refusing),
                    packets.i.valid.eq(~refusing & (left == 1)),
                    packets.i.payload.trace.eq(trace),
                ]
                m.d.sync += left.eq(left - 1)
        return m
