"""How a packet ends in the receiver, and what manager and sender are told."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from ....layouts.trace import Kind
from ....layouts.via import STATUS, VI_BITS, Event, PacketKind, RemoteOperation, Status, ViState
from ..descriptors.segment_walk import SegmentWalk
from ..types import Address, ControlAction
from .descriptor import ReceiveDescriptor
from .packet_data import PacketWords
from .parse import Parsed
from .vi_state import Message, ReceiveState, Sequence

__all__ = ["PacketEnd", "errors_of"]

REFUSED = 5
"""Argument of a DROP event (layouts.trace.Kind)."""

StatusLayout = data.StructLayout({field.name: field.width for field in STATUS.fields})


def errors_of(status: Status) -> int:
    """The field ``errors`` of STATUS."""
    return status >> 1


class PacketEnd:
    """Registers of the packet under way, and the states of the receiver's machine that end it.

    FINISH waits until the packet is known to be good, completes a descriptor, saves and tells
    others, VOID saves what a bad one has taken; ACKNOWLEDGE and MISS answer a packet that does not
    count, PROBED a probe; CONTROL, FLUSH, READING, READ_LOST and READ_OVER serve manager
    and sender. All lead back to IDLE, which clears how the last packet ended.
    """

    def __init__(self, m: Module, port: object, *, state: ReceiveState, walk: SegmentWalk,
                 descriptor: ReceiveDescriptor, words: PacketWords) -> None:
        self.m = m
        self.port = port
        self.state = state
        self.walk = walk
        self.descriptor = descriptor
        self.words = words
        # The packet under way is here whole, and as its sender sent it.
        self.good = Signal()
        m.d.comb += self.good.eq(words.whole & ~words.bad)
        # The VI's entries are looked up for the machine. The message kept, with the descriptor that
        # was taken for a packet of it; and that for the packet under way.
        self.looks = Signal()
        self.kept = Signal(Message)
        self.held = Signal()
        self.held_address = Signal(Address)
        m.d.comb += self.kept.eq(state.message)
        # The packet, and what its VI is.
        self.packet = Signal(Parsed)
        self.vi = Signal(VI_BITS)
        self.tag = Signal(16)
        self.reliable = Signal()
        self.reception = Signal()
        self.left = Signal(16)
        # The message that it belongs to, and what the VI's sequence entry becomes.
        self.message = Signal(Message)
        self.on_read = Signal()
        self.walked = Signal()
        # The message's descriptor has been taken from the receive queue.
        self.took = Signal()
        self.sequence = Signal(Sequence)
        # How the packet ends. ``at_once``: the descriptor is completed, whatever it says.
        # ``partial``: something has landed, though the completion's Length is zero.
        self.at_once = Signal()
        self.completes = Signal()
        self.silent = Signal()
        self.errors = Signal(8)
        self.partial = Signal()
        self.acknowledges = Signal()
        self.breaks = Signal()
        self.break_event = Signal(8)
        self.tells = Signal()
        self.code = Signal(2)
        self.raises = Signal()
        self.event_code = Signal(8)
        self.replies = Signal()
        self.lost = Signal()
        self.refused = Signal()
        self.none_posted = Signal()
        self.flush_read = Signal()
        # The packet carries an acknowledgement, if its VI is reliable.
        self.carries = Signal()
        # In this cycle: an answer; the packet is over; nothing of the last one is pending.
        self.answers = Signal()
        self.answer_kind = Signal(3)
        self.over = Signal()
        self.clear = Signal()
        self._answers()
        self._over()

    def _answers(self) -> None:
        """What the peer is owed from this cycle on. An ACK or NAK says what is expected next, an
        ACK of a probe its number too; a BREAK its code, and the packet that did it."""
        out = self.port.control_packet
        breaks = self.answer_kind == PacketKind.BREAK
        echo = Signal()
        self.m.d.comb += [
            out.valid.eq(self.answers),
            out.payload.vi.eq(self.vi),
            out.payload.kind.eq(self.answer_kind),
            echo.eq((self.packet.detail.kind == PacketKind.PROBE)
                    & (self.answer_kind == PacketKind.ACK)),
            out.payload.echo.eq(echo),
            out.payload.sequence.eq(Mux(breaks, self.packet.header.sequence,
                                        self.sequence.expected)),
            out.payload.code.eq(Mux(breaks, self.code,
                                    Mux(echo, self.packet.header.immediate, 0))),
        ]

    def _over(self) -> None:
        """The packet is over: its VI's entries are written, others are told."""
        m, port, state, message = self.m, self.port, self.state, self.message
        saved = Signal(Message)
        kind = self.packet.detail.kind
        end = port.events[1]
        m.d.comb += [
            saved.eq(message),
            state.next_message.eq(saved),
            state.next_reading.eq(saved),
            state.next_sequence.eq(self.sequence),
            state.next_sequence.broken.eq(self.breaks | self.lost),
            self.clear.eq(~port.break_.valid & ~port.event.valid & ~port.read_done.valid
                          & (~port.acknowledged.valid | port.acknowledged.ready)),
            self.carries.eq(self.packet.detail.carries
                            & ((kind == PacketKind.SEND) | (kind == PacketKind.RDMA_WRITE)
                               | (kind == PacketKind.READ_RESPONSE))
                            & ~(self.packet.detail.immediate & self.packet.detail.last)),
            end.number.eq(self.packet.trace),
            end.kind.eq(Mux(self.refused, Kind.DROP, Kind.END)),
            end.arg.eq(Mux(self.refused, REFUSED, 0)),
        ]
        with m.If(self.walked):
            m.d.comb += [saved.index.eq(self.walk.index), saved.offset.eq(self.walk.offset)]
        for pending in (port.break_, port.event, port.read_done, port.acknowledged):
            with m.If(pending.ready):
                m.d.sync += pending.valid.eq(0)
        with m.If(self.over):
            m.d.comb += [
                state.write_sequence.eq(1),
                state.write_message.eq(~self.on_read),
                state.write_reading.eq(self.on_read),
                end.valid.eq(1),
                port.dropped.eq(self.none_posted),
            ]
            m.d.sync += [
                port.read_done.valid.eq(self.on_read & self.completes & (self.errors == 0)),
                port.read_done.payload.eq(self.vi),
                port.break_.valid.eq(self.breaks),
                port.break_.payload.vi.eq(self.vi),
                port.break_.payload.event.eq(self.break_event),
                port.event.valid.eq(self.raises),
                port.event.payload.code.eq(self.event_code),
                port.event.payload.number.eq(self.vi),
            ]
            self._acknowledged(self.replies | self.carries & self.reliable)
            with m.If(self.tells):
                m.d.comb += [self.answers.eq(1), self.answer_kind.eq(PacketKind.BREAK)]

    def _acknowledged(self, valid: Value) -> None:
        """If ``valid``, the sender is told what the packet says has arrived at the peer."""
        m, packet, out = self.m, self.packet, self.port.acknowledged
        kind = packet.detail.kind
        m.d.sync += [
            out.valid.eq(valid),
            out.payload.vi.eq(self.vi),
            out.payload.sequence.eq(Mux(self.carries, packet.header.immediate[:8],
                                        packet.header.sequence)),
            out.payload.again.eq(kind == PacketKind.NAK),
            out.payload.echo.eq((kind == PacketKind.ACK) & packet.detail.acknowledge),
            out.payload.broken.eq(kind == PacketKind.BREAK),
            out.payload.code.eq(packet.header.immediate),
        ]

    def _break(self, code: Value | int, event: Event = Event.CONN_LOST) -> None:
        """The connection breaks, and the peer is told by ``code``."""
        self.m.d.sync += [self.breaks.eq(1), self.break_event.eq(event),
                          self.tells.eq(self.reliable), self.code.eq(code)]

    def _drop(self) -> None:
        """The packet is over as if it had not come."""
        m, end = self.m, self.port.events[1]
        m.d.comb += [end.valid.eq(1), end.kind.eq(Kind.DROP), end.arg.eq(REFUSED)]
        m.next = "IDLE"

    def _complete(self) -> None:
        """Offers the descriptor's completion."""
        m, payload = self.m, self.port.complete.payload
        status = Signal(StatusLayout)
        is_write = self.packet.detail.kind == PacketKind.RDMA_WRITE
        m.d.comb += [
            self.port.complete.valid.eq(self.completes),
            payload.queue.eq(Cat(~self.on_read, self.vi)),
            payload.address.eq(self.message.address),
            payload.length.eq(self.message.bytes),
            payload.immediate.eq(self.packet.header.immediate),
            payload.status.eq(status),
            payload.silent.eq(self.silent),
            payload.trace.eq(self.packet.trace),
            status.errors.eq(self.errors | Mux(
                (self.errors != 0) & (self.partial | (self.message.bytes != 0)),
                errors_of(Status.PARTIAL), 0)),
            status.operation.eq(Mux(self.on_read, RemoteOperation.RDMA_READ, Mux(
                is_write, RemoteOperation.REMOTE_RDMA_WRITE, RemoteOperation.RECEIVE))),
            status.immediate.eq(self.packet.detail.immediate & ~self.on_read
                                & (self.errors == 0)),
        ]

    def _finish(self) -> None:
        """The packet's end."""
        m, port, state = self.m, self.port, self.state
        fresh = Signal()
        m.d.sync += fresh.eq(1)
        with m.State("FINISH"):
            with m.If(self.good):
                m.d.sync += fresh.eq(0)
                with m.If(fresh & self.acknowledges & ~self.breaks):
                    m.d.comb += [self.answers.eq(1), self.answer_kind.eq(PacketKind.ACK)]
                self._complete()
                with m.If(port.complete.ready | ~self.completes):
                    m.d.comb += self.over.eq(1)
                    m.next = "IDLE"
            with m.Elif(self.words.whole):
                m.d.comb += self.looks.eq(1)
                m.next = "VOID"
        with m.State("VOID"):
            m.d.comb += [
                state.write_message.eq(self.took),
                state.next_message.eq(state.message),
                state.next_message.held.eq(1),
                state.next_message.address.eq(self.message.address),
            ]
            m.next = "IDLE"
        with m.State("ACKNOWLEDGE"):
            # What is missed may still be asked for, by the answer that this one replaces.
            m.d.comb += [self.answers.eq(1),
                         self.answer_kind.eq(Mux(self.sequence.missed, PacketKind.NAK,
                                                 PacketKind.ACK))]
            m.next = "IDLE"
        with m.State("PROBED"):
            # What was sent before the probe has arrived or was lost; so this replaces a NAK, too.
            m.d.comb += [self.answers.eq(1), self.answer_kind.eq(PacketKind.ACK)]
            m.next = "IDLE"
        with m.State("MISS"):
            m.d.comb += [self.answers.eq(1), self.answer_kind.eq(PacketKind.NAK),
                         self.state.write_sequence.eq(1), self.state.next_sequence.missed.eq(1)]
            m.next = "IDLE"

    def _serve(self) -> None:
        """Manager and sender."""
        m, port, state, message = self.m, self.port, self.state, self.message
        flush = errors_of(Status.FLUSHED)
        lost = Signal()
        with m.State("CONTROL"):
            aborts = port.control.payload.action == ControlAction.ABORT
            with m.If(self.descriptor.voided):
                m.d.comb += [self.kept.held.eq(1),
                             self.kept.address.eq(self.descriptor.voided_address)]
            m.d.sync += [
                message.eq(self.kept),
                message.bytes.eq(0),
                self.errors.eq(flush),
                self.partial.eq(state.message.begun & ~state.message.write
                                & (state.message.bytes != 0)),
                self.completes.eq(aborts & self.kept.held),
                self.flush_read.eq(aborts & state.reading.held),
                self.packet.trace.eq(0),
                self.packet.detail.kind.eq(PacketKind.SEND),
            ]
            m.next = "FLUSH"
        with m.State("FLUSH"):
            self._complete()
            with m.If(port.complete.ready | ~self.completes):
                m.d.sync += self.flush_read.eq(0)
                with m.If(self.flush_read):
                    m.d.sync += [message.eq(state.reading), message.bytes.eq(0),
                                 self.partial.eq(state.reading.bytes != 0),
                                 self.on_read.eq(1), self.completes.eq(1)]
                with m.Else():
                    m.d.comb += [
                        port.control.ready.eq(1),
                        self.descriptor.void.eq(1),
                        # Nothing of an earlier connection is owed; an ABORT may owe its BREAK.
                        self.answers.eq(port.control.payload.action != ControlAction.ABORT),
                        self.answer_kind.eq(PacketKind.SEND),
                        state.write_sequence.eq(1), state.next_sequence.eq(0),
                        state.write_message.eq(1), state.next_message.eq(0),
                        state.write_reading.eq(1), state.next_reading.eq(0),
                    ]
                    m.next = "IDLE"
        with m.State("READING"):
            m.d.sync += [
                lost.eq(0),
                message.eq(0),
                message.address.eq(port.reading.payload.address),
                self.on_read.eq(1),
                self.completes.eq(1),
                self.errors.eq(flush),
                self.packet.trace.eq(0),
            ]
            with m.If(port.context.data.state == ViState.CONNECTED):
                m.d.comb += [
                    state.write_reading.eq(1),
                    state.next_reading.eq(0),
                    state.next_reading.held.eq(1),
                    state.next_reading.address.eq(port.reading.payload.address),
                    port.reading.ready.eq(1),
                ]
                m.next = "IDLE"
            with m.Else():
                m.next = "READ_OVER"
        with m.State("READ_LOST"):
            m.d.sync += [
                lost.eq(1),
                message.eq(state.reading),
                message.bytes.eq(0),
                self.partial.eq(state.reading.bytes != 0),
                self.on_read.eq(1),
                self.completes.eq(state.reading.held),
                self.errors.eq(errors_of(Status.TRANSPORT)),
                self.packet.trace.eq(0),
            ]
            m.d.comb += [state.write_reading.eq(1), state.next_reading.eq(0)]
            m.next = "READ_OVER"
        with m.State("READ_OVER"):
            self._complete()
            with m.If(port.complete.ready | ~self.completes):
                m.d.comb += [port.reading.ready.eq(~lost), port.read_lost.ready.eq(lost)]
                m.next = "IDLE"
