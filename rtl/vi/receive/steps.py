"""The receiver's state machine: what happens to a packet, step by step."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data

from ....layouts.trace import Kind
from ....layouts.via import BreakCode, Event, PacketKind, Reliability, Status, ViState
from ..descriptors.segment_walk import SegmentWalk
from ..types import Access
from .descriptor import ReceiveDescriptor
from .packet_data import PacketWords
from .packet_end import PacketEnd, errors_of
from .parse import ReceiveParse
from .scatter import ScatterWriter
from .vi_state import ReceiveState

__all__ = ["PacketMachine"]

BEHIND = 32
"""Packets of an unreliable VI up to so many before the expected one are duplicates."""


class PacketMachine(PacketEnd):
    """Adds the state machine to ``m``, between the receiver's ``port`` and its parts.

    IDLE takes what comes next; CHECK judges a packet; DESCRIPTOR finds a receive descriptor, RESUME
    goes back to one, WALK fills it; WRITE writes where an RDMA write says, REFUSE says that it may
    not; JOB passes on an RDMA read. The other states are PacketEnd's.

    A packet comes here with its headers; whether it is bad is known with its last word. Until then
    CHECK lets it pass only if all that follows is data into the segments of a descriptor, behind
    what was delivered before: that of a SEND, or of an answer to an RDMA read. FINISH waits for the
    verdict, too, and everything but that data is done there or behind CHECK. A bad packet is over
    as if it had not come, but that a receive descriptor taken for it is held.
    """

    def __init__(self, m: Module, port: object, *, parse: ReceiveParse, words: PacketWords,
                 state: ReceiveState, descriptor: ReceiveDescriptor, walk: SegmentWalk,
                 scatter: ScatterWriter) -> None:
        super().__init__(m, port, state=state, walk=walk, descriptor=descriptor, words=words)
        self.scatter = scatter
        self._parts()
        with m.FSM() as fsm:
            self._idle()
            self._check()
            self._move()
            self._finish()
            self._serve()
        self.ongoing = fsm.ongoing
        m.d.comb += [
            words.discard.eq(fsm.ongoing("IDLE") | fsm.ongoing("FINISH") | fsm.ongoing("VOID")),
            descriptor.free.eq(fsm.ongoing("IDLE")),
            descriptor.frees.eq((fsm.ongoing("WALK") | fsm.ongoing("FINISH") & self.walked)
                                & (self.packet.detail.kind == PacketKind.SEND)
                                & self.packet.detail.last & self.good),
            # Nor while the packet's data would find the bus taken for another's descriptor.
            descriptor.asks.eq(fsm.ongoing("CHECK") | fsm.ongoing("DESCRIPTOR")
                               | fsm.ongoing("WRITE") | fsm.ongoing("REFUSE")
                               | fsm.ongoing("WALK") & ~self.walked),
            descriptor.may_look.eq(~self.looks & ~fsm.ongoing("CONTROL") & ~fsm.ongoing("FLUSH")),
            port.idle.eq(fsm.ongoing("IDLE") & ~port.control.valid & ~port.reading.valid
                         & ~port.read_lost.valid & parse.idle & self.clear
                         & ~port.acknowledged.valid & walk.idle
                         & descriptor.idle & words.over & words.idle),
        ]

    def _parts(self) -> None:
        m, wanted, walk = self.m, self.descriptor.request.payload, self.walk.walk
        run = self.scatter.request.payload
        m.d.comb += [
            wanted.vi.eq(self.vi),
            wanted.tag.eq(self.tag),
            wanted.take.eq(~self.message.held),
            wanted.address.eq(self.message.address),
            wanted.read.eq(self.on_read),
            wanted.brief.eq(~self.on_read & (self.message.segments <= 1)),
            wanted.trace.eq(self.packet.trace),
            walk.address.eq(self.message.address),
            walk.tag.eq(self.tag),
            walk.segments.eq(self.message.segments),
            walk.index.eq(self.message.index),
            walk.offset.eq(self.message.offset),
            walk.trace.eq(self.packet.trace),
            self.walk.head.eq(self.descriptor.head),
            self.walk.head_count.eq(self.descriptor.head_count),
            self.walk.bytes.eq(run.bytes),
            run.tag.eq(self.tag),
            run.trace.eq(self.packet.trace),
            self.scatter.level.eq(self.words.level),
            self.scatter.whole.eq(self.words.whole),
            self.scatter.bad.eq(self.words.bad),
            self.state.vi.eq(Mux(self.descriptor.look, self.descriptor.look_vi, self.vi)),
            self.descriptor.context.eq(self.port.context.data),
            self.descriptor.message.eq(self.state.message),
            self.descriptor.vi.eq(self.vi),
            self.descriptor.segments.eq(self.message.segments),
            self.descriptor.void_vi.eq(self.vi),
            self.port.context.vi.eq(self.state.vi),
            self.state.write_vi.eq(self.vi),
        ]

    def _idle(self) -> None:
        m, port, state = self.m, self.port, self.state
        coming = self.descriptor.o.payload
        serves = ~self.descriptor.looking
        m.d.comb += self.looks.eq(0)
        with m.State("IDLE"):
            m.d.sync += [
                self.at_once.eq(0), self.completes.eq(0), self.silent.eq(0), self.errors.eq(0),
                self.breaks.eq(0), self.tells.eq(0), self.raises.eq(0), self.replies.eq(0),
                self.refused.eq(0), self.on_read.eq(0), self.acknowledges.eq(0),
                self.walked.eq(0), self.lost.eq(0), self.partial.eq(0), self.took.eq(0),
                self.none_posted.eq(0),
            ]
            with m.If(port.control.valid & serves):
                m.d.comb += [self.looks.eq(1), state.vi.eq(port.control.payload.vi)]
                m.d.sync += self.vi.eq(state.vi)
                m.next = "CONTROL"
            with m.Elif(port.reading.valid & serves):
                m.d.comb += [self.looks.eq(1), state.vi.eq(port.reading.payload.vi)]
                m.d.sync += self.vi.eq(state.vi)
                m.next = "READING"
            with m.Elif(port.read_lost.valid & serves):
                m.d.comb += [self.looks.eq(1), state.vi.eq(port.read_lost.payload)]
                m.d.sync += self.vi.eq(state.vi)
                m.next = "READ_LOST"
            with m.Elif(self.descriptor.o.valid & ~self._served()):
                with m.If(self.clear & self.words.over):
                    m.d.comb += [
                        self.looks.eq(1),
                        self.descriptor.o.ready.eq(1),
                        self.words.begin.eq(1),
                        self.words.none.eq(coming.packet.none),
                        self.words.none_bad.eq(coming.packet.bad),
                        self.scatter.restart.eq(1),
                        state.vi.eq(coming.packet.header.destination),
                    ]
                    m.d.sync += [self.vi.eq(state.vi), self.packet.eq(coming.packet),
                                 self.held.eq(coming.held), self.held_address.eq(coming.address)]
                    m.next = "CHECK"

    def _served(self) -> Value:
        """Manager or sender wait: they go first."""
        port = self.port
        return port.control.valid | port.reading.valid | port.read_lost.valid

    def _check(self) -> None:
        """Whether the packet counts, and where it goes."""
        m, port, state, packet = self.m, self.port, self.state, self.packet
        context = port.context.data
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
                self.tag.eq(attributes.tag),
                self.reliable.eq(reliable),
                self.reception.eq(attributes.reliability == Reliability.RELIABLE_RECEPTION),
                self.left.eq(packet.bytes),
                self.message.eq(self.kept),
                self.sequence.eq(state.sequence),
            ]
            with m.If(self.held):
                m.d.comb += [self.kept.held.eq(1), self.kept.address.eq(self.held_address)]
            with m.If(self.words.whole & (self.words.bad | ~counts | late | early)):
                # What was taken for it is the next message's.
                m.d.comb += [self.descriptor.drop.eq(1), state.write_message.eq(self.held),
                             state.next_message.eq(self.kept)]
            with m.If(~self.words.whole & ~goes_on):
                # Nobody else looks: the same is here in the next cycle.
                m.d.comb += self.looks.eq(1)
            with m.Elif(self.words.whole & self.words.bad):
                m.next = "IDLE"
            with m.Elif(~counts):
                m.d.comb += port.unmatched.eq(1)
                self._drop()
            with m.Elif(is_answer):
                m.d.sync += self.replies.eq(1)
                m.next = "FINISH"
                with m.If(kind == PacketKind.BREAK):
                    self._broken(state.reading)
            with m.Elif(kind == PacketKind.PROBE):
                m.d.comb += [port.events[1].valid.eq(1), port.events[1].kind.eq(Kind.END)]
                m.next = "PROBED"
            with m.Elif(late):
                m.d.comb += port.duplicate.eq(1)
                self._drop()
                self._acknowledged(self.carries & reliable)
                with m.If(reliable):
                    m.next = "ACKNOWLEDGE"
            with m.Elif(early):
                m.d.comb += port.gap.eq(1)
                self._drop()
                self._acknowledged(self.carries)
                with m.If(~state.sequence.missed):
                    m.next = "MISS"
            with m.Else():
                m.d.sync += [
                    self.acknowledges.eq(reliable & packet.detail.acknowledge),
                    self.sequence.expected.eq(packet.header.sequence + 1),
                    self.sequence.missed.eq(0),
                    self.message.begun.eq(under_way),
                ]
                with m.If(packet.detail.first & ((kind == PacketKind.SEND)
                                                 | (kind == PacketKind.RDMA_WRITE))):
                    m.d.sync += self.message.bytes.eq(0)
                m.next = "FINISH"
                with m.Switch(kind):
                    with m.Case(PacketKind.SEND):
                        with m.If(packet.detail.first):
                            m.next = "DESCRIPTOR"
                        with m.Elif(under_way & ~state.message.write):
                            m.next = "RESUME"
                        with m.Else():
                            m.d.comb += port.gap.eq(hole)
                            m.d.sync += self.refused.eq(1)
                    with m.Case(PacketKind.RDMA_WRITE):
                        with m.If(packet.detail.first | (under_way & state.message.write)):
                            m.d.sync += [self.message.begun.eq(1), self.message.write.eq(1)]
                            m.next = "WRITE"
                            with m.If(~attributes.rdma_write):
                                m.next = "REFUSE"
                        with m.Else():
                            m.d.comb += port.gap.eq(hole)
                            m.d.sync += self.refused.eq(1)
                    with m.Case(PacketKind.READ_REQUEST):
                        m.d.sync += self.message.begun.eq(state.message.begun)
                        m.next = "JOB"
                        with m.If(~attributes.rdma_read):
                            self._break(BreakCode.RDMA_PROTECTION)
                            m.d.sync += [self.tells.eq(1), self.raises.eq(1),
                                         self.event_code.eq(Event.RDMAR_PROT), self.refused.eq(1)]
                            m.next = "FINISH"
                    with m.Case(PacketKind.READ_RESPONSE):
                        m.d.sync += [self.on_read.eq(1), self.message.eq(state.reading)]
                        with m.If(~state.reading.held):
                            m.d.sync += self.refused.eq(1)
                        with m.Elif(state.reading.begun):
                            m.next = "RESUME"
                        with m.Else():
                            m.next = "DESCRIPTOR"

    def _broken(self, reading: data.View) -> None:
        """A BREAK came: an RDMA read outstanding is over, before the sender hears of it."""
        m = self.m
        m.d.sync += [
            self.lost.eq(1),
            self.on_read.eq(1),
            self.message.eq(reading),
            self.message.held.eq(0),
            self.message.begun.eq(0),
            self.message.bytes.eq(0),
            self.partial.eq(reading.bytes != 0),
            self.completes.eq(reading.held),
        ]
        with m.Switch(self.packet.header.immediate):
            with m.Case(BreakCode.RDMA_PROTECTION):
                m.d.sync += self.errors.eq(errors_of(Status.RDMA_PROTECTION))
            with m.Case(BreakCode.REMOTE_DESCRIPTOR):
                m.d.sync += self.errors.eq(errors_of(Status.REMOTE_DESCRIPTOR))
            with m.Default():
                m.d.sync += self.errors.eq(errors_of(Status.TRANSPORT))
        m.next = "FINISH"

    def _move(self) -> None:
        """Descriptors and data."""
        m, port, message, packet = self.m, self.port, self.message, self.packet
        descriptor, walk, scatter = self.descriptor, self.walk, self.scatter
        run = scatter.request.payload
        with m.State("DESCRIPTOR"):
            m.d.comb += descriptor.request.valid.eq(1)
            with m.If(descriptor.request.ready):
                m.d.sync += [
                    message.address.eq(descriptor.address),
                    message.segments.eq(descriptor.segments_found),
                    message.held.eq(1),
                    message.begun.eq(~self.at_once),
                    message.write.eq(0),
                ]
                m.d.sync += self.took.eq(descriptor.found & ~self.on_read)
                m.next = "WALK"
                with m.If(~descriptor.found):
                    self._none_posted()
                with m.Elif(~descriptor.readable):
                    self._bad_descriptor(Status.PROTECTION)
                    m.d.sync += [self.silent.eq(1), self.breaks.eq(1),
                                 self.break_event.eq(Event.POST_DESC)]
                with m.Elif(descriptor.malformed):
                    self._bad_descriptor(Status.FORMAT)
                    m.d.sync += [message.bytes.eq(0), self.partial.eq(0)]
                with m.Elif(self.at_once):
                    m.d.sync += [self.completes.eq(1), message.held.eq(0)]
                    m.next = "FINISH"
                with m.Else():
                    m.d.comb += [
                        walk.load.eq(1),
                        walk.fresh.eq(1),
                        walk.walk.address.eq(descriptor.address),
                        walk.walk.segments.eq(descriptor.segments_found),
                        walk.cut.eq(descriptor.cut),
                        # Behind the address segment.
                        walk.walk.index.eq(self.on_read),
                        walk.walk.offset.eq(0),
                    ]
        with m.State("RESUME"):
            m.d.comb += walk.load.eq(1)
            m.next = "WALK"
        with m.State("WALK"):
            m.d.sync += self.walked.eq(1)
            m.d.comb += [
                run.address.eq(walk.piece.address),
                run.wide.eq(walk.piece.wide),
                run.access.eq(Access.LOCAL),
                run.bytes.eq(Mux(walk.piece.left < self.left, walk.piece.left, self.left)),
            ]
            with m.If(self.left == 0):
                self._scattered()
            with m.Elif(walk.valid):
                m.d.comb += scatter.request.valid.eq(1)
                with m.If(scatter.request.ready):
                    self._count()
                    with m.If(~scatter.ok):
                        self._bad_descriptor(Status.PROTECTION)
                    with m.Else():
                        m.d.comb += walk.advance.eq(1)
                        with m.If(scatter.written == self.left):
                            self._scattered()
            with m.Elif(walk.exhausted):
                self._bad_descriptor(Status.LENGTH, BreakCode.REMOTE_DESCRIPTOR)
            with m.Elif(walk.failed):
                self._bad_descriptor(Status.PROTECTION)
        with m.State("WRITE"):
            m.d.comb += [
                run.address.eq(packet.address),
                run.access.eq(Access.RDMA_WRITE),
                run.bytes.eq(self.left),
            ]
            with m.If(self.left == 0):
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
            m.d.sync += [message.begun.eq(0), message.bytes.eq(0), self.refused.eq(1)]
            with m.If(self.reliable):
                self._break(BreakCode.RDMA_PROTECTION)
            with m.If(packet.detail.immediate):
                m.d.sync += [self.errors.eq(errors_of(Status.RDMA_PROTECTION)), self.at_once.eq(1),
                             self.partial.eq(message.bytes != 0)]
                m.next = "DESCRIPTOR"
            with m.Else():
                m.d.sync += [self.raises.eq(1), self.event_code.eq(Event.RDMAW_PROT)]
                m.next = "FINISH"
        with m.State("JOB"):
            m.d.comb += [
                port.read_job.valid.eq(1),
                port.read_job.payload.vi.eq(self.vi),
                port.read_job.payload.address.eq(packet.address),
                port.read_job.payload.length.eq(packet.header.immediate),
            ]
            with m.If(port.read_job.ready):
                m.next = "FINISH"

    def _count(self) -> None:
        """A run has ended."""
        self.m.d.sync += [
            self.left.eq(self.left - self.scatter.written),
            self.message.bytes.eq(self.message.bytes + self.scatter.written),
        ]

    def _none_posted(self) -> None:
        """No receive descriptor is posted; outputs of the search mean nothing."""
        m = self.m
        m.d.sync += [self.message.held.eq(0), self.message.begun.eq(0), self.refused.eq(1)]
        with m.If(self.errors != 0):
            # A refused RDMA write cannot be told by its descriptor.
            m.d.sync += [self.raises.eq(1), self.event_code.eq(Event.RDMAW_PROT)]
        with m.Else():
            m.d.sync += self.none_posted.eq(1)
            with m.If(self.reliable):
                self._break(self._no_descriptor())
            with m.Else():
                m.d.sync += [self.raises.eq(1), self.event_code.eq(Event.RECVQ_EMPTY)]
        m.next = "FINISH"

    def _no_descriptor(self) -> Value:
        """The code for a message that finds no good descriptor."""
        return Mux(self.reception, BreakCode.REMOTE_DESCRIPTOR, BreakCode.LOST)

    def _bad_descriptor(self, error: Status, code: Value | int | None = None) -> None:
        """The descriptor completes with ``error``, its message is over."""
        m = self.m
        m.d.sync += [
            self.completes.eq(1),
            self.errors.eq(errors_of(error)),
            self.message.held.eq(0),
            self.message.begun.eq(0),
            self.refused.eq(1),
        ]
        with m.If(self.reliable):
            self._break(self._no_descriptor() if code is None else code)
        m.next = "FINISH"

    def _scattered(self) -> None:
        """The packet's data has landed in the descriptor's segments."""
        m = self.m
        m.next = "FINISH"
        with m.If(self.packet.detail.last):
            m.d.sync += [self.completes.eq(1), self.message.held.eq(0), self.message.begun.eq(0)]

    def _written(self) -> None:
        """The packet's data has landed where an RDMA write wanted it."""
        m = self.m
        m.next = "FINISH"
        with m.If(self.packet.detail.last):
            m.d.sync += self.message.begun.eq(0)
            with m.If(self.packet.detail.immediate):
                m.d.sync += self.at_once.eq(1)
                m.next = "DESCRIPTOR"
