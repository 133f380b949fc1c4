"""Ends a packet in the receiver, and tells manager and sender."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from ....layouts.trace import Kind
from ....layouts.via import STATUS, Event, PacketKind, RemoteOperation, Status, ViState
from ..types import ControlAction
from .receive_state import Message
from .turn import Turn

__all__ = ["PacketEnd", "errors_of"]

REFUSED = 5
"""Argument of a DROP event (layouts.trace.Kind)."""

StatusLayout = data.StructLayout({field.name: field.width for field in STATUS.fields})


def errors_of(status: Status) -> int:
    """The field ``errors`` of STATUS."""
    return status >> 1


class PacketEnd:
    """The states of the receiver's machine that end a packet's ``turn``, on its ``port``.

    FINISH waits until the packet is known to be good, completes a descriptor, saves and tells
    others, VOID saves what a bad one has taken; ACKNOWLEDGE and MISS answer a packet that does not
    count, PROBED a probe; CONTROL, FLUSH, READING, READ_LOST and READ_OVER serve manager
    and sender. All lead back to IDLE, which clears how the last packet ended.
    """

    def __init__(self, m: Module, port: wiring.Component, turn: Turn) -> None:
        self.m = m
        self.port = port
        self.turn = turn
        m.d.comb += [
            turn.good.eq(port.words.whole & ~port.words.bad),
            turn.kept.eq(port.state.message),
        ]
        self._answers()
        self._over()

    def _answers(self) -> None:
        """What the peer is owed from this cycle on. An ACK or NAK says what is expected next, an
        ACK of a probe its number too; a BREAK its code, and the packet that did it."""
        turn = self.turn
        out = self.port.sender.control_packet
        breaks = turn.answer_kind == PacketKind.BREAK
        echo = Signal()
        self.m.d.comb += [
            out.valid.eq(turn.answers),
            out.payload.vi.eq(turn.vi),
            out.payload.kind.eq(turn.answer_kind),
            echo.eq((turn.packet.detail.kind == PacketKind.PROBE)
                    & (turn.answer_kind == PacketKind.ACK)),
            out.payload.echo.eq(echo),
            out.payload.sequence.eq(Mux(breaks, turn.packet.header.sequence,
                                        turn.sequence.expected)),
            out.payload.code.eq(Mux(breaks, turn.code,
                                    Mux(echo, turn.packet.header.immediate, 0))),
        ]

    def _over(self) -> None:
        """The packet is over: its VI's entries are written, others are told."""
        turn = self.turn
        m, port, state, message = self.m, self.port, self.port.state, turn.message
        reports, sender = port.reports, port.sender
        saved = Signal(Message)
        kind = turn.packet.detail.kind
        end = port.event
        m.d.comb += [
            saved.eq(message),
            state.next_message.eq(saved),
            state.next_reading.eq(saved),
            state.next_sequence.eq(turn.sequence),
            state.next_sequence.broken.eq(turn.breaks | turn.lost),
            turn.clear.eq(~reports.break_.valid & ~reports.event.valid & ~sender.read_done.valid
                          & (~sender.acknowledged.valid | sender.acknowledged.ready)),
            turn.carries.eq(turn.packet.detail.carries
                            & ((kind == PacketKind.SEND) | (kind == PacketKind.RDMA_WRITE)
                               | (kind == PacketKind.READ_RESPONSE))
                            & ~(turn.packet.detail.immediate & turn.packet.detail.last)),
            end.number.eq(turn.packet.trace),
            end.kind.eq(Mux(turn.refused, Kind.DROP, Kind.END)),
            end.arg.eq(Mux(turn.refused, REFUSED, 0)),
        ]
        with m.If(turn.walked):
            m.d.comb += [saved.index.eq(port.walk.index), saved.offset.eq(port.walk.offset)]
        for pending in (reports.break_, reports.event, sender.read_done, sender.acknowledged):
            with m.If(pending.ready):
                m.d.sync += pending.valid.eq(0)
        with m.If(turn.over):
            m.d.comb += [
                state.write_sequence.eq(1),
                state.write_message.eq(~turn.on_read),
                state.write_reading.eq(turn.on_read),
                end.valid.eq(1),
                port.counts.dropped.eq(turn.none_posted),
            ]
            m.d.sync += [
                sender.read_done.valid.eq(turn.on_read & turn.completes & (turn.errors == 0)),
                sender.read_done.payload.eq(turn.vi),
                reports.break_.valid.eq(turn.breaks),
                reports.break_.payload.vi.eq(turn.vi),
                reports.break_.payload.event.eq(turn.break_event),
                reports.event.valid.eq(turn.raises),
                reports.event.payload.code.eq(turn.event_code),
                reports.event.payload.number.eq(turn.vi),
            ]
            self.acknowledged(turn.replies | turn.carries & turn.reliable)
            with m.If(turn.tells):
                m.d.comb += [turn.answers.eq(1), turn.answer_kind.eq(PacketKind.BREAK)]

    def acknowledged(self, valid: Value) -> None:
        """If ``valid``, the sender is told what the packet says has arrived at the peer."""
        turn = self.turn
        m, packet, out = self.m, turn.packet, self.port.sender.acknowledged
        kind = packet.detail.kind
        m.d.sync += [
            out.valid.eq(valid),
            out.payload.vi.eq(turn.vi),
            out.payload.sequence.eq(Mux(turn.carries, packet.header.immediate[:8],
                                        packet.header.sequence)),
            out.payload.again.eq(kind == PacketKind.NAK),
            out.payload.echo.eq((kind == PacketKind.ACK) & packet.detail.acknowledge),
            out.payload.broken.eq(kind == PacketKind.BREAK),
            out.payload.code.eq(packet.header.immediate),
        ]

    def break_(self, code: Value | int, event: Event = Event.CONN_LOST) -> None:
        """The connection breaks, and the peer is told by ``code``."""
        turn = self.turn
        self.m.d.sync += [turn.breaks.eq(1), turn.break_event.eq(event),
                          turn.tells.eq(turn.reliable), turn.code.eq(code)]

    def drop(self) -> None:
        """The packet is over as if it had not come."""
        m, end = self.m, self.port.event
        m.d.comb += [end.valid.eq(1), end.kind.eq(Kind.DROP), end.arg.eq(REFUSED)]
        m.next = "IDLE"

    def _complete(self) -> None:
        """Offers the descriptor's completion."""
        turn = self.turn
        m, complete = self.m, self.port.reports.complete
        payload = complete.payload
        status = Signal(StatusLayout)
        is_write = turn.packet.detail.kind == PacketKind.RDMA_WRITE
        m.d.comb += [
            complete.valid.eq(turn.completes),
            payload.queue.eq(Cat(~turn.on_read, turn.vi)),
            payload.address.eq(turn.message.address),
            payload.length.eq(turn.message.bytes),
            payload.immediate.eq(turn.packet.header.immediate),
            payload.status.eq(status),
            payload.silent.eq(turn.silent),
            payload.trace.eq(turn.packet.trace),
            status.errors.eq(turn.errors | Mux(
                (turn.errors != 0) & (turn.partial | (turn.message.bytes != 0)),
                errors_of(Status.PARTIAL), 0)),
            status.operation.eq(Mux(turn.on_read, RemoteOperation.RDMA_READ, Mux(
                is_write, RemoteOperation.REMOTE_RDMA_WRITE, RemoteOperation.RECEIVE))),
            status.immediate.eq(turn.packet.detail.immediate & ~turn.on_read
                                & (turn.errors == 0)),
        ]

    def finish(self) -> None:
        """The packet's end."""
        turn = self.turn
        m, port, state = self.m, self.port, self.port.state
        fresh = Signal()
        m.d.sync += fresh.eq(1)
        with m.State("FINISH"):
            with m.If(turn.good):
                m.d.sync += fresh.eq(0)
                with m.If(fresh & turn.acknowledges & ~turn.breaks):
                    m.d.comb += [turn.answers.eq(1), turn.answer_kind.eq(PacketKind.ACK)]
                self._complete()
                with m.If(port.reports.complete.ready | ~turn.completes):
                    m.d.comb += turn.over.eq(1)
                    m.next = "IDLE"
            with m.Elif(port.words.whole):
                m.d.comb += turn.looks.eq(1)
                m.next = "VOID"
        with m.State("VOID"):
            m.d.comb += [
                state.write_message.eq(turn.took),
                state.next_message.eq(state.message),
                state.next_message.held.eq(1),
                state.next_message.address.eq(turn.message.address),
            ]
            m.next = "IDLE"
        with m.State("ACKNOWLEDGE"):
            # What is missed may still be asked for, by the answer that this one replaces.
            m.d.comb += [turn.answers.eq(1),
                         turn.answer_kind.eq(Mux(turn.sequence.missed, PacketKind.NAK,
                                                 PacketKind.ACK))]
            m.next = "IDLE"
        with m.State("PROBED"):
            # What was sent before the probe has arrived or was lost; so this replaces a NAK, too.
            m.d.comb += [turn.answers.eq(1), turn.answer_kind.eq(PacketKind.ACK)]
            m.next = "IDLE"
        with m.State("MISS"):
            m.d.comb += [turn.answers.eq(1), turn.answer_kind.eq(PacketKind.NAK),
                         state.write_sequence.eq(1), state.next_sequence.missed.eq(1)]
            m.next = "IDLE"

    def serve(self) -> None:
        """Manager and sender."""
        turn = self.turn
        m, port, state, message = self.m, self.port, self.port.state, turn.message
        void, sender = port.descriptor.void, port.sender
        flush = errors_of(Status.FLUSHED)
        lost = Signal()
        with m.State("CONTROL"):
            aborts = port.control.payload.action == ControlAction.ABORT
            with m.If(void.held):
                m.d.comb += [turn.kept.held.eq(1), turn.kept.address.eq(void.address)]
            m.d.sync += [
                message.eq(turn.kept),
                message.bytes.eq(0),
                turn.errors.eq(flush),
                turn.partial.eq(state.message.begun & ~state.message.write
                                & (state.message.bytes != 0)),
                turn.completes.eq(aborts & turn.kept.held),
                turn.flush_read.eq(aborts & state.reading.held),
                turn.packet.trace.eq(0),
                turn.packet.detail.kind.eq(PacketKind.SEND),
            ]
            m.next = "FLUSH"
        with m.State("FLUSH"):
            self._complete()
            with m.If(port.reports.complete.ready | ~turn.completes):
                m.d.sync += turn.flush_read.eq(0)
                with m.If(turn.flush_read):
                    m.d.sync += [message.eq(state.reading), message.bytes.eq(0),
                                 turn.partial.eq(state.reading.bytes != 0),
                                 turn.on_read.eq(1), turn.completes.eq(1)]
                with m.Else():
                    m.d.comb += [
                        port.control.ready.eq(1),
                        void.valid.eq(1),
                        # Nothing of an earlier connection is owed; an ABORT may owe its BREAK.
                        turn.answers.eq(port.control.payload.action != ControlAction.ABORT),
                        turn.answer_kind.eq(PacketKind.SEND),
                        state.write_sequence.eq(1), state.next_sequence.eq(0),
                        state.write_message.eq(1), state.next_message.eq(0),
                        state.write_reading.eq(1), state.next_reading.eq(0),
                    ]
                    m.next = "IDLE"
        with m.State("READING"):
            m.d.sync += [
                lost.eq(0),
                message.eq(0),
                message.address.eq(sender.reading.payload.address),
                turn.on_read.eq(1),
                turn.completes.eq(1),
                turn.errors.eq(flush),
                turn.packet.trace.eq(0),
            ]
            with m.If(port.context.data.state == ViState.CONNECTED):
                m.d.comb += [
                    state.write_reading.eq(1),
                    state.next_reading.eq(0),
                    state.next_reading.held.eq(1),
                    state.next_reading.address.eq(sender.reading.payload.address),
                    sender.reading.ready.eq(1),
                ]
                m.next = "IDLE"
            with m.Else():
                m.next = "READ_OVER"
        with m.State("READ_LOST"):
            m.d.sync += [
                lost.eq(1),
                message.eq(state.reading),
                message.bytes.eq(0),
                turn.partial.eq(state.reading.bytes != 0),
                turn.on_read.eq(1),
                turn.completes.eq(state.reading.held),
                turn.errors.eq(errors_of(Status.TRANSPORT)),
                turn.packet.trace.eq(0),
            ]
            m.d.comb += [state.write_reading.eq(1), state.next_reading.eq(0)]
            m.next = "READ_OVER"
        with m.State("READ_OVER"):
            self._complete()
            with m.If(port.reports.complete.ready | ~turn.completes):
                m.d.comb += [sender.reading.ready.eq(~lost), sender.read_lost.ready.eq(lost)]
                m.next = "IDLE"
