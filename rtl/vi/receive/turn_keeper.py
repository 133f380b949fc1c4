"""Keeps what is known of the packet whose turn it is in the receiver, and how it is to end."""

from amaranth.hdl import Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS, BreakCode, Event, PacketKind, Reliability, Status
from ..types import Context
from .deliver import Delivered, Fate
from .judge import Ruling, Verdict
from .parse import Parsed
from .receive_state import Message, Sequence
from .turn import Turn, errors_of

__all__ = ["TurnKeeper", "TurnSteps"]

TurnSteps = wiring.Signature({
    "idle": Out(1),
    "looks": Out(1),
    "takes": Out(1),
    "checks": Out(1),
    "judged": Out(1),
    "refuses": Out(1),
})
"""The steps of a turn, each in its own cycle. ``idle``: no turn is under way, and what the last one
left is cleared. ``looks``: the entries of ``vi`` are looked up; ``takes``: for packet ``coming``.
``checks``: they are here; ``judged``, with that: so is the verdict. ``refuses``: the packet is an
RDMA write that may not write."""


class TurnKeeper(wiring.Component):
    """Keeps a :data:`Turn`, by the steps of the machine, the verdict, and what is delivered.

    Latency: 1 cycle from a step. Reset: as ``idle``.

    Members
    -------
    steps : In(TurnSteps)
        What happens.
    coming, vi : In(Parsed), In(VI_BITS)
        The packet, and whose it is.
    context, kept, sequence, reading : In(Context), In(Message), In(Sequence), In(Message)
        What is known of the VI.
    verdict : In(Verdict)
        The verdict.
    delivered : In(Delivered)
        What is done with the data.
    turn : Out(Turn)
        What is kept.
    """

    steps: In(TurnSteps)
    coming: In(Parsed)
    vi: In(VI_BITS)
    context: In(Context)
    kept: In(Message)
    sequence: In(Sequence)
    reading: In(Message)
    verdict: In(Verdict)
    delivered: In(Delivered)
    turn: Out(Turn)

    def elaborate(self, platform: object) -> Module:
        self._m = m = Module()
        turn, steps, attributes = self.turn, self.steps, self.context.attributes
        with m.If(steps.idle):
            m.d.sync += [
                turn.at_once.eq(0), turn.completes.eq(0), turn.silent.eq(0), turn.errors.eq(0),
                turn.breaks.eq(0), turn.tells.eq(0), turn.raises.eq(0), turn.replies.eq(0),
                turn.refused.eq(0), turn.on_read.eq(0), turn.acknowledges.eq(0),
                turn.walked.eq(0), turn.lost.eq(0), turn.partial.eq(0), turn.took.eq(0),
                turn.none_posted.eq(0),
            ]
        with m.If(steps.looks):
            m.d.sync += turn.vi.eq(self.vi)
        with m.If(steps.takes):
            m.d.sync += turn.packet.eq(self.coming)
        with m.If(steps.checks):
            m.d.sync += [
                turn.tag.eq(attributes.tag),
                turn.reliable.eq(self.verdict.reliable),
                turn.reception.eq(attributes.reliability == Reliability.RELIABLE_RECEPTION),
                turn.left.eq(turn.packet.bytes),
                turn.message.eq(self.kept),
                turn.sequence.eq(self.sequence),
            ]
            with m.If(steps.judged):
                self._ruling()
        with m.If(steps.refuses):
            self._refuse()
        self._deliver()
        return m

    def _ruling(self) -> None:
        """The packet's verdict is here."""
        m, turn, verdict = self._m, self.turn, self.verdict
        with m.Switch(verdict.ruling):
            with m.Case(Ruling.BAD, Ruling.UNMATCHED, Ruling.PROBE, Ruling.DUPLICATE, Ruling.GAP):
                pass
            with m.Case(Ruling.ANSWER):
                m.d.sync += turn.replies.eq(1)
            with m.Case(Ruling.BREAK):
                m.d.sync += turn.replies.eq(1)
                self._broken()
            with m.Default():
                self._expected(verdict)

    def _expected(self, verdict: data.View) -> None:
        """A packet that the VI waits for."""
        m, turn, packet = self._m, self.turn, self.turn.packet
        kind = packet.detail.kind
        m.d.sync += [
            turn.acknowledges.eq(verdict.reliable & packet.detail.acknowledge),
            turn.sequence.expected.eq(packet.header.sequence + 1),
            turn.sequence.missed.eq(0),
            turn.message.begun.eq(verdict.under_way),
        ]
        with m.If(packet.detail.first & ((kind == PacketKind.SEND)
                                         | (kind == PacketKind.RDMA_WRITE))):
            m.d.sync += turn.message.bytes.eq(0)
        with m.If(kind == PacketKind.READ_REQUEST):
            m.d.sync += turn.message.begun.eq(self.kept.begun)
        with m.If(kind == PacketKind.READ_RESPONSE):
            m.d.sync += [turn.on_read.eq(1), turn.message.eq(self.reading)]
        with m.Switch(verdict.ruling):
            with m.Case(Ruling.STRAY):
                m.d.sync += turn.refused.eq(1)
            with m.Case(Ruling.WRITE, Ruling.WRITE_REFUSED):
                m.d.sync += [turn.message.begun.eq(1), turn.message.write.eq(1)]
            with m.Case(Ruling.READ_REFUSED):
                self._break(BreakCode.RDMA_PROTECTION)
                m.d.sync += [turn.tells.eq(1), turn.raises.eq(1),
                             turn.event_code.eq(Event.RDMAR_PROT), turn.refused.eq(1)]

    def _broken(self) -> None:
        """A BREAK came: an RDMA read outstanding is over, before the sender hears of it."""
        m, turn, reading = self._m, self.turn, self.reading
        m.d.sync += [
            turn.lost.eq(1),
            turn.on_read.eq(1),
            turn.message.eq(reading),
            turn.message.held.eq(0),
            turn.message.begun.eq(0),
            turn.message.bytes.eq(0),
            turn.partial.eq(reading.bytes != 0),
            turn.completes.eq(reading.held),
        ]
        with m.Switch(turn.packet.header.immediate):
            with m.Case(BreakCode.RDMA_PROTECTION):
                m.d.sync += turn.errors.eq(errors_of(Status.RDMA_PROTECTION))
            with m.Case(BreakCode.REMOTE_DESCRIPTOR):
                m.d.sync += turn.errors.eq(errors_of(Status.REMOTE_DESCRIPTOR))
            with m.Default():
                m.d.sync += turn.errors.eq(errors_of(Status.TRANSPORT))

    def _refuse(self) -> None:
        """An RDMA write that may not write."""
        m, turn, message = self._m, self.turn, self.turn.message
        m.d.sync += [message.begun.eq(0), message.bytes.eq(0), turn.refused.eq(1)]
        with m.If(turn.reliable):
            self._break(BreakCode.RDMA_PROTECTION)
        with m.If(turn.packet.detail.immediate):
            m.d.sync += [turn.errors.eq(errors_of(Status.RDMA_PROTECTION)), turn.at_once.eq(1),
                         turn.partial.eq(message.bytes != 0)]
        with m.Else():
            m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RDMAW_PROT)]

    def _deliver(self) -> None:
        """A descriptor was looked for, data has landed; and what came of it."""
        m, turn, message, delivered = self._m, self.turn, self.turn.message, self.delivered
        detail = turn.packet.detail
        with m.If(delivered.found):
            m.d.sync += [
                message.address.eq(delivered.address),
                message.segments.eq(delivered.segments),
                message.held.eq(1),
                message.begun.eq(~turn.at_once),
                message.write.eq(0),
                turn.took.eq(delivered.posted & ~turn.on_read),
            ]
        with m.If(delivered.walks):
            m.d.sync += turn.walked.eq(1)
        with m.If(delivered.landed):
            m.d.sync += [turn.left.eq(turn.left - delivered.bytes),
                         message.bytes.eq(message.bytes + delivered.bytes)]
        with m.Switch(delivered.fate):
            with m.Case(Fate.NONE_POSTED):
                self._none_posted()
            with m.Case(Fate.UNREADABLE):
                self._bad_descriptor(Status.PROTECTION)
                m.d.sync += [turn.silent.eq(1), turn.breaks.eq(1),
                             turn.break_event.eq(Event.POST_DESC)]
            with m.Case(Fate.MALFORMED):
                self._bad_descriptor(Status.FORMAT)
                m.d.sync += [message.bytes.eq(0), turn.partial.eq(0)]
            with m.Case(Fate.AT_ONCE):
                m.d.sync += [turn.completes.eq(1), message.held.eq(0)]
            with m.Case(Fate.SCATTERED):
                with m.If(detail.last):
                    m.d.sync += [turn.completes.eq(1), message.held.eq(0), message.begun.eq(0)]
            with m.Case(Fate.REFUSED):
                self._bad_descriptor(Status.PROTECTION)
            with m.Case(Fate.TOO_LONG):
                self._bad_descriptor(Status.LENGTH, BreakCode.REMOTE_DESCRIPTOR)
            with m.Case(Fate.WRITTEN):
                with m.If(detail.last):
                    m.d.sync += message.begun.eq(0)
                    with m.If(detail.immediate):
                        m.d.sync += turn.at_once.eq(1)

    def _none_posted(self) -> None:
        """No receive descriptor is posted; outputs of the search mean nothing."""
        m, turn = self._m, self.turn
        m.d.sync += [turn.message.held.eq(0), turn.message.begun.eq(0), turn.refused.eq(1)]
        with m.If(turn.errors != 0):
            # A refused RDMA write cannot be told by its descriptor.
            m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RDMAW_PROT)]
        with m.Else():
            m.d.sync += turn.none_posted.eq(1)
            with m.If(turn.reliable):
                self._break(self._no_descriptor())
            with m.Else():
                m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RECVQ_EMPTY)]

    def _bad_descriptor(self, error: Status, code: Value | int | None = None) -> None:
        """The descriptor completes with ``error``, its message is over."""
        m, turn = self._m, self.turn
        m.d.sync += [
            turn.completes.eq(1),
            turn.errors.eq(errors_of(error)),
            turn.message.held.eq(0),
            turn.message.begun.eq(0),
            turn.refused.eq(1),
        ]
        with m.If(turn.reliable):
            self._break(self._no_descriptor() if code is None else code)

    def _no_descriptor(self) -> Value:
        """The code for a message that finds no good descriptor."""
        return Mux(self.turn.reception, BreakCode.REMOTE_DESCRIPTOR, BreakCode.LOST)

    def _break(self, code: Value | int) -> None:
        """The connection breaks, and the peer is told by ``code``."""
        turn = self.turn
        self._m.d.sync += [turn.breaks.eq(1), turn.break_event.eq(Event.CONN_LOST),
                           turn.tells.eq(turn.reliable), turn.code.eq(code)]
