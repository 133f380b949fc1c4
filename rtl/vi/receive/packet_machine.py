"""The receiver's state machine: what happens to a packet, step by step."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.trace import Kind
from ....layouts.via import BreakCode, Event, PacketKind, Reliability, Status, ViState
from ...parts.event import EventPort
from ..descriptors.segment_walk import Walking
from ..types import Access, ContextRead, Control, ReceivedCounts, Reports, ToSender
from .descriptor import Descriptors
from .packet_end import PacketEnd, errors_of
from .packet_words import PacketTurn
from .receive_state import ReceiveEntries
from .scatter_writer import ScatterRun
from .turn import Turn

__all__ = ["PacketMachine"]

BEHIND = 32
"""Packets of an unreliable VI up to so many before the expected one are duplicates."""


class PacketMachine(wiring.Component):
    """Handles packets one at a time, by what the other parts of the receiver offer.

    IDLE takes what comes next; CHECK judges a packet; DESCRIPTOR finds a receive descriptor, RESUME
    goes back to one, WALK fills it; WRITE writes where an RDMA write says, REFUSE says that it may
    not; JOB passes on an RDMA read. The other states are PacketEnd's.

    A packet comes here with its headers; whether it is bad is known with its last word. Until then
    CHECK lets it pass only if all that follows is data into the segments of a descriptor, behind
    what was delivered before: that of a SEND, or of an answer to an RDMA read. FINISH waits for the
    verdict, too, and everything but that data is done there or behind CHECK. A bad packet is over
    as if it had not come, but that a receive descriptor taken for it is held.

    Latency, throughput and back-pressure are the receiver's. Reset: idle.

    Members
    -------
    descriptor : Out(Descriptors)
        Packets to come, and receive descriptors.
    words : Out(PacketTurn)
        The packet's data.
    walk, scatter : Out(Walking), Out(ScatterRun)
        The descriptor's segments; what is written of the data.
    state, context : Out(ReceiveEntries), Out(ContextRead)
        What is kept of a VI here, and by the manager.
    control : In(stream of Control)
        The manager's orders, taken between packets.
    sender : Out(ToSender)
        What the sender is told. ``reading`` and ``read_lost`` are taken between packets.
    reports, counts : Out(Reports), Out(ReceivedCounts)
        What comes of packets.
    event : Out(EventPort)
        END and DROP of packets.
    idle : Out(1)
        No packet is under way, nothing is still to be told or served.
    """

    descriptor: Out(Descriptors)
    words: Out(PacketTurn)
    walk: Out(Walking)
    scatter: Out(ScatterRun)
    state: Out(ReceiveEntries)
    context: Out(ContextRead)
    control: In(stream.Signature(Control))
    sender: Out(ToSender)
    reports: Out(Reports)
    counts: Out(ReceivedCounts)
    event: Out(EventPort)
    idle: Out(1)

    def __init__(self) -> None:
        super().__init__()
        self.turn = Turn()

    def elaborate(self, platform: object) -> Module:
        self._m = m = Module()
        turn, words = self.turn, self.words
        self._end = end = PacketEnd(m, self, turn)
        self._parts()
        with m.FSM() as fsm:
            self._idle()
            self._check()
            self._move()
            end.finish()
            end.serve()
        self.ongoing = fsm.ongoing
        packet = self.descriptor.packet
        m.d.comb += [
            words.discard.eq(fsm.ongoing("IDLE") | fsm.ongoing("FINISH") | fsm.ongoing("VOID")),
            packet.free.eq(fsm.ongoing("IDLE")),
            packet.frees.eq((fsm.ongoing("WALK") | fsm.ongoing("FINISH") & turn.walked)
                            & (turn.packet.detail.kind == PacketKind.SEND)
                            & turn.packet.detail.last & turn.good),
            # Nor while the packet's data would find the bus taken for another's descriptor.
            packet.asks.eq(fsm.ongoing("CHECK") | fsm.ongoing("DESCRIPTOR")
                           | fsm.ongoing("WRITE") | fsm.ongoing("REFUSE")
                           | fsm.ongoing("WALK") & ~turn.walked),
            self.descriptor.ahead.may.eq(~turn.looks & ~fsm.ongoing("CONTROL")
                                         & ~fsm.ongoing("FLUSH")),
            self.idle.eq(fsm.ongoing("IDLE") & ~self.control.valid & ~self.sender.reading.valid
                         & ~self.sender.read_lost.valid & turn.clear
                         & ~self.sender.acknowledged.valid & words.over),
        ]
        return m

    def _parts(self) -> None:
        """What is said to the parts in any state."""
        m, turn, descriptor, walk = self._m, self.turn, self.descriptor, self.walk.walk
        wanted = descriptor.search.request.payload
        run = self.scatter.request.payload
        m.d.comb += [
            wanted.vi.eq(turn.vi),
            wanted.tag.eq(turn.tag),
            wanted.take.eq(~turn.message.held),
            wanted.address.eq(turn.message.address),
            wanted.read.eq(turn.on_read),
            wanted.brief.eq(~turn.on_read & (turn.message.segments <= 1)),
            wanted.trace.eq(turn.packet.trace),
            walk.address.eq(turn.message.address),
            walk.tag.eq(turn.tag),
            walk.segments.eq(turn.message.segments),
            walk.index.eq(turn.message.index),
            walk.offset.eq(turn.message.offset),
            walk.trace.eq(turn.packet.trace),
            self.walk.head.segments.eq(descriptor.search.head.segments),
            self.walk.head.count.eq(descriptor.search.head.count),
            self.walk.bytes.eq(run.bytes),
            run.tag.eq(turn.tag),
            run.trace.eq(turn.packet.trace),
            self.state.vi.eq(Mux(descriptor.ahead.look, descriptor.ahead.vi, turn.vi)),
            descriptor.ahead.context.eq(self.context.data),
            descriptor.ahead.message.eq(self.state.message),
            descriptor.packet.vi.eq(turn.vi),
            descriptor.packet.segments.eq(turn.message.segments),
            descriptor.void.vi.eq(turn.vi),
            self.context.vi.eq(self.state.vi),
            self.state.write_vi.eq(turn.vi),
        ]

    def _idle(self) -> None:
        m, turn, state, words = self._m, self.turn, self.state, self.words
        coming = self.descriptor.coming
        serves = ~self.descriptor.ahead.looking
        m.d.comb += turn.looks.eq(0)
        with m.State("IDLE"):
            m.d.sync += [
                turn.at_once.eq(0), turn.completes.eq(0), turn.silent.eq(0), turn.errors.eq(0),
                turn.breaks.eq(0), turn.tells.eq(0), turn.raises.eq(0), turn.replies.eq(0),
                turn.refused.eq(0), turn.on_read.eq(0), turn.acknowledges.eq(0),
                turn.walked.eq(0), turn.lost.eq(0), turn.partial.eq(0), turn.took.eq(0),
                turn.none_posted.eq(0),
            ]
            with m.If(self.control.valid & serves):
                m.d.comb += [turn.looks.eq(1), state.vi.eq(self.control.payload.vi)]
                m.d.sync += turn.vi.eq(state.vi)
                m.next = "CONTROL"
            with m.Elif(self.sender.reading.valid & serves):
                m.d.comb += [turn.looks.eq(1), state.vi.eq(self.sender.reading.payload.vi)]
                m.d.sync += turn.vi.eq(state.vi)
                m.next = "READING"
            with m.Elif(self.sender.read_lost.valid & serves):
                m.d.comb += [turn.looks.eq(1), state.vi.eq(self.sender.read_lost.payload)]
                m.d.sync += turn.vi.eq(state.vi)
                m.next = "READ_LOST"
            with m.Elif(coming.valid & ~self._served()):
                with m.If(turn.clear & words.over):
                    m.d.comb += [
                        turn.looks.eq(1),
                        coming.ready.eq(1),
                        words.begin.eq(1),
                        words.none.eq(coming.payload.packet.none),
                        words.none_bad.eq(coming.payload.packet.bad),
                        self.scatter.restart.eq(1),
                        state.vi.eq(coming.payload.packet.header.destination),
                    ]
                    m.d.sync += [turn.vi.eq(state.vi), turn.packet.eq(coming.payload.packet),
                                 turn.held.eq(coming.payload.held),
                                 turn.held_address.eq(coming.payload.address)]
                    m.next = "CHECK"

    def _served(self) -> Value:
        """Manager or sender wait: they go first."""
        return self.control.valid | self.sender.reading.valid | self.sender.read_lost.valid

    def _check(self) -> None:
        """Whether the packet counts, and where it goes."""
        turn, end = self.turn, self._end
        m, state, words, packet = self._m, self.state, self.words, turn.packet
        context = self.context.data
        attributes = context.attributes
        kind = packet.detail.kind
        reliable, is_answer, counts = Signal(), Signal(), Signal()
        ahead, late, early, hole = Signal(8), Signal(), Signal(), Signal()
        under_way = Signal()
        goes_on = Signal()
        m.d.comb += [
            reliable.eq(attributes.reliability != Reliability.UNRELIABLE_DELIVERY),
            is_answer.eq((kind == PacketKind.ACK) | (kind == PacketKind.NAK)
                         | (kind == PacketKind.BREAK)),
            counts.eq((context.state == ViState.CONNECTED)
                      & (context.peer.node == packet.node)
                      & (context.peer.vi == packet.header.source)
                      & ~state.sequence.broken & ~packet.malformed
                      & (reliable | (kind == PacketKind.SEND) | (kind == PacketKind.RDMA_WRITE))),
            ahead.eq(packet.header.sequence - state.sequence.expected),
            late.eq(Mux(reliable, ahead[7], ahead >= 256 - BEHIND)),
            early.eq(reliable & (ahead != 0) & ~late),
            hole.eq(ahead != 0),
            under_way.eq(state.message.begun & ~hole & ~packet.detail.first),
            # A first packet would begin anew where another message's have been delivered.
            goes_on.eq(counts & ~late & ~early & (
                (kind == PacketKind.SEND) & Mux(packet.detail.first, ~state.message.begun,
                                                under_way & ~state.message.write)
                | (kind == PacketKind.READ_RESPONSE))),
        ]
        with m.State("CHECK"):
            m.d.sync += [
                turn.tag.eq(attributes.tag),
                turn.reliable.eq(reliable),
                turn.reception.eq(attributes.reliability == Reliability.RELIABLE_RECEPTION),
                turn.left.eq(packet.bytes),
                turn.message.eq(turn.kept),
                turn.sequence.eq(state.sequence),
            ]
            with m.If(turn.held):
                m.d.comb += [turn.kept.held.eq(1), turn.kept.address.eq(turn.held_address)]
            with m.If(words.whole & (words.bad | ~counts | late | early)):
                # What was taken for it is the next message's.
                m.d.comb += [self.descriptor.packet.drop.eq(1), state.write_message.eq(turn.held),
                             state.next_message.eq(turn.kept)]
            with m.If(~words.whole & ~goes_on):
                # Nobody else looks: the same is here in the next cycle.
                m.d.comb += turn.looks.eq(1)
            with m.Elif(words.whole & words.bad):
                m.next = "IDLE"
            with m.Elif(~counts):
                m.d.comb += self.counts.unmatched.eq(1)
                end.drop()
            with m.Elif(is_answer):
                m.d.sync += turn.replies.eq(1)
                m.next = "FINISH"
                with m.If(kind == PacketKind.BREAK):
                    self._broken(state.reading)
            with m.Elif(kind == PacketKind.PROBE):
                m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.END)]
                m.next = "PROBED"
            with m.Elif(late):
                m.d.comb += self.counts.duplicate.eq(1)
                end.drop()
                end.acknowledged(turn.carries & reliable)
                with m.If(reliable):
                    m.next = "ACKNOWLEDGE"
            with m.Elif(early):
                m.d.comb += self.counts.gap.eq(1)
                end.drop()
                end.acknowledged(turn.carries)
                with m.If(~state.sequence.missed):
                    m.next = "MISS"
            with m.Else():
                m.d.sync += [
                    turn.acknowledges.eq(reliable & packet.detail.acknowledge),
                    turn.sequence.expected.eq(packet.header.sequence + 1),
                    turn.sequence.missed.eq(0),
                    turn.message.begun.eq(under_way),
                ]
                with m.If(packet.detail.first & ((kind == PacketKind.SEND)
                                                 | (kind == PacketKind.RDMA_WRITE))):
                    m.d.sync += turn.message.bytes.eq(0)
                m.next = "FINISH"
                with m.Switch(kind):
                    with m.Case(PacketKind.SEND):
                        with m.If(packet.detail.first):
                            m.next = "DESCRIPTOR"
                        with m.Elif(under_way & ~state.message.write):
                            m.next = "RESUME"
                        with m.Else():
                            m.d.comb += self.counts.gap.eq(hole)
                            m.d.sync += turn.refused.eq(1)
                    with m.Case(PacketKind.RDMA_WRITE):
                        with m.If(packet.detail.first | (under_way & state.message.write)):
                            m.d.sync += [turn.message.begun.eq(1), turn.message.write.eq(1)]
                            m.next = "WRITE"
                            with m.If(~attributes.rdma_write):
                                m.next = "REFUSE"
                        with m.Else():
                            m.d.comb += self.counts.gap.eq(hole)
                            m.d.sync += turn.refused.eq(1)
                    with m.Case(PacketKind.READ_REQUEST):
                        m.d.sync += turn.message.begun.eq(state.message.begun)
                        m.next = "JOB"
                        with m.If(~attributes.rdma_read):
                            end.break_(BreakCode.RDMA_PROTECTION)
                            m.d.sync += [turn.tells.eq(1), turn.raises.eq(1),
                                         turn.event_code.eq(Event.RDMAR_PROT), turn.refused.eq(1)]
                            m.next = "FINISH"
                    with m.Case(PacketKind.READ_RESPONSE):
                        m.d.sync += [turn.on_read.eq(1), turn.message.eq(state.reading)]
                        with m.If(~state.reading.held):
                            m.d.sync += turn.refused.eq(1)
                        with m.Elif(state.reading.begun):
                            m.next = "RESUME"
                        with m.Else():
                            m.next = "DESCRIPTOR"

    def _broken(self, reading: data.View) -> None:
        """A BREAK came: an RDMA read outstanding is over, before the sender hears of it."""
        m, turn = self._m, self.turn
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
        m.next = "FINISH"

    def _move(self) -> None:
        """Descriptors and data."""
        turn, end = self.turn, self._end
        m, message, packet = self._m, turn.message, turn.packet
        search, walk, scatter = self.descriptor.search, self.walk, self.scatter
        run = scatter.request.payload
        with m.State("DESCRIPTOR"):
            m.d.comb += search.request.valid.eq(1)
            with m.If(search.request.ready):
                m.d.sync += [
                    message.address.eq(search.address),
                    message.segments.eq(search.segments),
                    message.held.eq(1),
                    message.begun.eq(~turn.at_once),
                    message.write.eq(0),
                ]
                m.d.sync += turn.took.eq(search.found & ~turn.on_read)
                m.next = "WALK"
                with m.If(~search.found):
                    self._none_posted()
                with m.Elif(~search.readable):
                    self._bad_descriptor(Status.PROTECTION)
                    m.d.sync += [turn.silent.eq(1), turn.breaks.eq(1),
                                 turn.break_event.eq(Event.POST_DESC)]
                with m.Elif(search.malformed):
                    self._bad_descriptor(Status.FORMAT)
                    m.d.sync += [message.bytes.eq(0), turn.partial.eq(0)]
                with m.Elif(turn.at_once):
                    m.d.sync += [turn.completes.eq(1), message.held.eq(0)]
                    m.next = "FINISH"
                with m.Else():
                    m.d.comb += [
                        walk.load.eq(1),
                        walk.fresh.eq(1),
                        walk.walk.address.eq(search.address),
                        walk.walk.segments.eq(search.segments),
                        walk.head.cut.eq(search.head.cut),
                        # Behind the address segment.
                        walk.walk.index.eq(turn.on_read),
                        walk.walk.offset.eq(0),
                    ]
        with m.State("RESUME"):
            m.d.comb += walk.load.eq(1)
            m.next = "WALK"
        with m.State("WALK"):
            m.d.sync += turn.walked.eq(1)
            m.d.comb += [
                run.address.eq(walk.piece.address),
                run.wide.eq(walk.piece.wide),
                run.access.eq(Access.LOCAL),
                run.bytes.eq(Mux(walk.piece.left < turn.left, walk.piece.left, turn.left)),
            ]
            with m.If(turn.left == 0):
                self._scattered()
            with m.Elif(walk.valid):
                m.d.comb += scatter.request.valid.eq(1)
                with m.If(scatter.request.ready):
                    self._count()
                    with m.If(~scatter.ok):
                        self._bad_descriptor(Status.PROTECTION)
                    with m.Else():
                        m.d.comb += walk.advance.eq(1)
                        with m.If(scatter.written == turn.left):
                            self._scattered()
            with m.Elif(walk.exhausted):
                self._bad_descriptor(Status.LENGTH, BreakCode.REMOTE_DESCRIPTOR)
            with m.Elif(walk.failed):
                self._bad_descriptor(Status.PROTECTION)
        with m.State("WRITE"):
            m.d.comb += [
                run.address.eq(packet.address),
                run.access.eq(Access.RDMA_WRITE),
                run.bytes.eq(turn.left),
            ]
            with m.If(turn.left == 0):
                self._written()
            with m.Else():
                m.d.comb += scatter.request.valid.eq(1)
                with m.If(scatter.request.ready):
                    self._count()
                    with m.If(scatter.ok):
                        self._written()
                    with m.Else():
                        m.next = "REFUSE"
        with m.State("REFUSE"):
            m.d.sync += [message.begun.eq(0), message.bytes.eq(0), turn.refused.eq(1)]
            with m.If(turn.reliable):
                end.break_(BreakCode.RDMA_PROTECTION)
            with m.If(packet.detail.immediate):
                m.d.sync += [turn.errors.eq(errors_of(Status.RDMA_PROTECTION)), turn.at_once.eq(1),
                             turn.partial.eq(message.bytes != 0)]
                m.next = "DESCRIPTOR"
            with m.Else():
                m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RDMAW_PROT)]
                m.next = "FINISH"
        with m.State("JOB"):
            m.d.comb += [
                self.sender.read_job.valid.eq(1),
                self.sender.read_job.payload.vi.eq(turn.vi),
                self.sender.read_job.payload.address.eq(packet.address),
                self.sender.read_job.payload.length.eq(packet.header.immediate),
            ]
            with m.If(self.sender.read_job.ready):
                m.next = "FINISH"

    def _count(self) -> None:
        """A run has ended."""
        turn = self.turn
        self._m.d.sync += [
            turn.left.eq(turn.left - self.scatter.written),
            turn.message.bytes.eq(turn.message.bytes + self.scatter.written),
        ]

    def _none_posted(self) -> None:
        """No receive descriptor is posted; outputs of the search mean nothing."""
        turn, end = self.turn, self._end
        m = self._m
        m.d.sync += [turn.message.held.eq(0), turn.message.begun.eq(0), turn.refused.eq(1)]
        with m.If(turn.errors != 0):
            # A refused RDMA write cannot be told by its descriptor.
            m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RDMAW_PROT)]
        with m.Else():
            m.d.sync += turn.none_posted.eq(1)
            with m.If(turn.reliable):
                end.break_(self._no_descriptor())
            with m.Else():
                m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RECVQ_EMPTY)]
        m.next = "FINISH"

    def _no_descriptor(self) -> Value:
        """The code for a message that finds no good descriptor."""
        turn = self.turn
        return Mux(turn.reception, BreakCode.REMOTE_DESCRIPTOR, BreakCode.LOST)

    def _bad_descriptor(self, error: Status, code: Value | int | None = None) -> None:
        """The descriptor completes with ``error``, its message is over."""
        turn, end = self.turn, self._end
        m = self._m
        m.d.sync += [
            turn.completes.eq(1),
            turn.errors.eq(errors_of(error)),
            turn.message.held.eq(0),
            turn.message.begun.eq(0),
            turn.refused.eq(1),
        ]
        with m.If(turn.reliable):
            end.break_(self._no_descriptor() if code is None else code)
        m.next = "FINISH"

    def _scattered(self) -> None:
        """The packet's data has landed in the descriptor's segments."""
        m, turn = self._m, self.turn
        m.next = "FINISH"
        with m.If(turn.packet.detail.last):
            m.d.sync += [turn.completes.eq(1), turn.message.held.eq(0), turn.message.begun.eq(0)]

    def _written(self) -> None:
        """The packet's data has landed where an RDMA write wanted it."""
        m, turn = self._m, self.turn
        m.next = "FINISH"
        with m.If(turn.packet.detail.last):
            m.d.sync += turn.message.begun.eq(0)
            with m.If(turn.packet.detail.immediate):
                m.d.sync += turn.at_once.eq(1)
                m.next = "DESCRIPTOR"
