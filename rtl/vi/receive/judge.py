"""Judges packets: whether one counts, and what it asks for."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import PacketKind, Reliability, ViState
from ..types import Context
from .parse import Parsed
from .receive_state import Message, Sequence

__all__ = ["BEHIND", "Judge", "Ruling", "Verdict"]

BEHIND = 32
"""Packets of an unreliable VI up to so many before the expected one are duplicates."""


class Ruling(enum.Enum, shape=4):
    """The verdict on a packet."""

    BAD = 0
    """It is over as if it had not come."""
    UNMATCHED = 1
    """It is of no connection here, and is dropped."""
    ANSWER = 2
    """An ACK or NAK, for the sender."""
    BREAK = 3
    """The peer has broken the connection."""
    PROBE = 4
    """The peer asks what has arrived."""
    DUPLICATE = 5
    """It came before, and is dropped."""
    GAP = 6
    """Packets before it are missing; it is dropped."""
    BEGIN = 7
    """Its data goes to a descriptor, from its beginning."""
    RESUME = 8
    """Its data goes behind what was delivered before."""
    WRITE = 9
    """An RDMA write."""
    WRITE_REFUSED = 10
    """An RDMA write that the VI does not allow."""
    READ = 11
    """The peer's RDMA read."""
    READ_REFUSED = 12
    """An RDMA read that the VI does not allow."""
    STRAY = 13
    """It is of no message under way, and is dropped."""
    NOTHING = 14
    """It asks for nothing."""


class Verdict(data.Struct):
    """A ``ruling``; for a VI that is ``reliable``. ``hole``: packets are missing before it.
    ``under_way``: it goes on with the message of its VI. ``unused``: what was taken for it is the
    next message's, if it is here whole."""

    ruling: Ruling
    reliable: 1
    hole: 1
    under_way: 1
    unused: 1


class Judge(wiring.Component):
    """Compares a packet with what is known of its VI. Combinational.

    A verdict is there when the packet is whole; before that only if all that follows is data into
    the segments of a descriptor, behind what was delivered before: that of a SEND, or of an answer
    to an RDMA read. It is judged anew in each cycle, until the verdict is taken.

    Members
    -------
    packet : In(Parsed), whole : In(1), bad : In(1)
        The packet: all of it is here, and it is then good or ``bad``.
    context : In(Context)
        The VI that it is for.
    sequence, message, reading : In(Sequence), In(Message), In(Message)
        What is kept of that VI.
    verdict : Out(stream of Verdict)
        What becomes of it.
    """

    packet: In(Parsed)
    whole: In(1)
    bad: In(1)
    context: In(Context)
    sequence: In(Sequence)
    message: In(Message)
    reading: In(Message)
    verdict: Out(stream.Signature(Verdict))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packet, context, message = self.packet, self.context, self.message
        attributes = context.attributes
        kind, first = packet.detail.kind, packet.detail.first
        verdict = self.verdict.payload
        reliable, counts, early, late = Signal(), Signal(), Signal(), Signal()
        ahead = Signal(8)
        hole = Signal()
        under_way = Signal()
        goes_on = Signal()
        ruling = Signal(Ruling)
        m.d.comb += [
            reliable.eq(attributes.reliability != Reliability.UNRELIABLE_DELIVERY),
            counts.eq((context.state == ViState.CONNECTED)
                      & (context.peer.node == packet.node)
                      & (context.peer.vi == packet.header.source)
                      & ~self.sequence.broken & ~packet.malformed
                      & (reliable | (kind == PacketKind.SEND) | (kind == PacketKind.RDMA_WRITE))),
            ahead.eq(packet.header.sequence - self.sequence.expected),
            late.eq(Mux(reliable, ahead[7], ahead >= 256 - BEHIND)),
            hole.eq(ahead != 0),
            early.eq(reliable & hole & ~late),
            under_way.eq(message.begun & ~hole & ~first),
            verdict.ruling.eq(ruling),
            verdict.reliable.eq(reliable),
            verdict.hole.eq(hole),
            verdict.under_way.eq(under_way),
            verdict.unused.eq(self.bad | ~counts | late | early),
            # A first packet would begin anew where another message's have been delivered.
            goes_on.eq(counts & ~late & ~early & (
                (kind == PacketKind.SEND) & Mux(first, ~message.begun,
                                                under_way & ~message.write)
                | (kind == PacketKind.READ_RESPONSE))),
            self.verdict.valid.eq(self.whole | goes_on),
        ]
        with m.If(self.whole & self.bad):
            m.d.comb += ruling.eq(Ruling.BAD)
        with m.Elif(~counts):
            m.d.comb += ruling.eq(Ruling.UNMATCHED)
        with m.Elif(kind == PacketKind.BREAK):
            m.d.comb += ruling.eq(Ruling.BREAK)
        with m.Elif((kind == PacketKind.ACK) | (kind == PacketKind.NAK)):
            m.d.comb += ruling.eq(Ruling.ANSWER)
        with m.Elif(kind == PacketKind.PROBE):
            m.d.comb += ruling.eq(Ruling.PROBE)
        with m.Elif(late):
            m.d.comb += ruling.eq(Ruling.DUPLICATE)
        with m.Elif(early):
            m.d.comb += ruling.eq(Ruling.GAP)
        with m.Else():
            self._expected(m, ruling, under_way)
        return m

    def _expected(self, m: Module, ruling: Signal, under_way: Signal) -> None:
        """The packet is one that the VI waits for."""
        message, attributes = self.message, self.context.attributes
        first = self.packet.detail.first
        with m.Switch(self.packet.detail.kind):
            with m.Case(PacketKind.SEND):
                m.d.comb += ruling.eq(Mux(first, Ruling.BEGIN, Mux(
                    under_way & ~message.write, Ruling.RESUME, Ruling.STRAY)))
            with m.Case(PacketKind.RDMA_WRITE):
                m.d.comb += ruling.eq(Mux(
                    first | (under_way & message.write),
                    Mux(attributes.rdma_write, Ruling.WRITE, Ruling.WRITE_REFUSED), Ruling.STRAY))
            with m.Case(PacketKind.READ_REQUEST):
                m.d.comb += ruling.eq(Mux(attributes.rdma_read, Ruling.READ,
                                                  Ruling.READ_REFUSED))
            with m.Case(PacketKind.READ_RESPONSE):
                m.d.comb += ruling.eq(Mux(self.reading.held, Mux(
                    self.reading.begun, Ruling.RESUME, Ruling.BEGIN), Ruling.STRAY))
            with m.Default():
                m.d.comb += ruling.eq(Ruling.NOTHING)
