"""Handles packets one at a time: takes one, does what it asks for, and has it ended."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.trace import Kind
from ....layouts.via import BreakCode, Event, PacketKind, Reliability, Status, ViState
from ...parts.event import EventPort
from ..descriptors.segment_walk import Walking
from ..types import Access, Address, ContextRead, Control, ReceivedCounts, Reports, ToSender
from .descriptor import Descriptors
from .finish import Finish
from .judge import Judge, Ruling
from .packet_words import PacketTurn
from .receive_state import Message, ReceiveEntries
from .scatter_writer import ScatterRun
from .serve import Serve, Service
from .turn import Turn, carries, errors_of

__all__ = ["PacketMachine"]

REFUSED = 5
"""Argument of a DROP event (layouts.trace.Kind)."""


class PacketMachine(wiring.Component):
    """Handles packets one at a time, by what the other parts of the receiver offer.

    IDLE takes what comes next, CHECK has :class:`Judge` judge it. DESCRIPTOR finds a receive
    descriptor, RESUME goes back to one, WALK fills it; WRITE writes where an RDMA write says,
    REFUSE says that it may not; JOB passes on an RDMA read. END waits for :class:`Finish`, which
    ends the packet; ACKNOWLEDGE and MISS answer one that does not count, PROBED a probe. SERVE
    waits for :class:`Serve`, which serves manager and sender.

    A packet comes here with its headers; whether it is bad is known with its last word. Until then
    only data is written, into the segments of a descriptor, behind what was delivered before;
    everything else is done when the packet has ended, or behind CHECK, whose verdict then waits.

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
        self.judge = Judge()
        self.finish = Finish()
        self.serve = Serve()
        self.turn = Turn.create()
        self.looks = Signal()
        """The VI's entries are looked up for the machine, in this cycle."""
        # With the packet came a descriptor that was taken for it. What is kept, with that.
        self._held = Signal()
        self._held_address = Signal(Address)
        self._kept = Signal(Message)
        self._answer_kind = Signal(3)

    def elaborate(self, platform: object) -> Module:
        self._m = m = Module()
        m.submodules.judge = self.judge
        m.submodules.finish = finish = self.finish
        m.submodules.serve = serve = self.serve
        turn, words = self.turn, self.words
        self._parts()
        self._told()
        with m.FSM() as fsm:
            self._idle()
            self._check()
            self._descriptor()
            self._write()
            self._answers()
            with m.State("END"):
                with m.If(finish.user.ended):
                    m.next = "IDLE"
            with m.State("SERVE"):
                with m.If(serve.user.over):
                    m.next = "IDLE"
        self.ongoing = fsm.ongoing
        packet = self.descriptor.packet
        m.d.comb += [
            words.discard.eq(fsm.ongoing("IDLE") | finish.user.busy),
            packet.free.eq(fsm.ongoing("IDLE")),
            packet.frees.eq((fsm.ongoing("WALK") | finish.user.waits & turn.walked)
                            & (turn.packet.detail.kind == PacketKind.SEND)
                            & turn.packet.detail.last & finish.user.good),
            # Nor while the packet's data would find the bus taken for another's descriptor.
            packet.asks.eq(fsm.ongoing("CHECK") | fsm.ongoing("DESCRIPTOR")
                           | fsm.ongoing("WRITE") | fsm.ongoing("REFUSE")
                           | fsm.ongoing("WALK") & ~turn.walked),
            self.descriptor.ahead.may.eq(~self.looks & ~serve.user.controls),
            self.idle.eq(fsm.ongoing("IDLE") & ~self._served() & finish.user.clear
                         & ~self.sender.acknowledged.valid & words.over),
        ]
        return m

    def _parts(self) -> None:
        """What is said to the parts in any state."""
        m, turn, descriptor, walk = self._m, self.turn, self.descriptor, self.walk.walk
        judge, finish, serve, words = self.judge, self.finish, self.serve, self.words
        state, context = self.state, self.context.data
        wanted = descriptor.search.request.payload
        run = self.scatter.request.payload
        connect(m, flipped(self.control), serve.control)
        connect(m, flipped(self.sender.reading), serve.reading)
        connect(m, flipped(self.sender.read_lost), serve.read_lost)
        connect(m, flipped(self.sender.read_done), finish.read_done)
        connect(m, flipped(self.sender.acknowledged), finish.acknowledged)
        connect(m, flipped(self.reports.break_), finish.reports.break_)
        connect(m, flipped(self.reports.event), finish.reports.event)
        connect(m, flipped(descriptor.void), serve.void)
        connect(m, turn, finish.turn)
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
            state.vi.eq(Mux(descriptor.ahead.look, descriptor.ahead.vi, turn.vi)),
            descriptor.ahead.context.eq(context),
            descriptor.ahead.message.eq(state.message),
            descriptor.packet.vi.eq(turn.vi),
            descriptor.packet.segments.eq(turn.message.segments),
            self.context.vi.eq(state.vi),
            judge.packet.eq(turn.packet),
            judge.whole.eq(words.whole), judge.bad.eq(words.bad),
            judge.context.eq(context),
            judge.sequence.eq(state.sequence),
            judge.message.eq(state.message),
            judge.reading.eq(state.reading),
            finish.message.eq(state.message),
            finish.user.whole.eq(words.whole),
            finish.user.good.eq(words.whole & ~words.bad),
            finish.user.index.eq(self.walk.index), finish.user.offset.eq(self.walk.offset),
            serve.user.vi.eq(turn.vi),
            serve.message.eq(state.message),
            serve.kept_reading.eq(state.reading),
            serve.connected.eq(context.state == ViState.CONNECTED),
            self._kept.eq(state.message),
            self.looks.eq(finish.user.looks),
        ]

    def _told(self) -> None:
        """What Finish and Serve say in one another's place; a packet's events."""
        m, turn, state, event = self._m, self.turn, self.state, self.event
        finish, serve = self.finish, self.serve
        complete, out = self.reports.complete, self.sender.control_packet
        kind = self._answer_kind
        breaks, echo = Signal(), Signal()
        m.d.comb += [
            complete.valid.eq(finish.reports.complete.valid | serve.complete.valid),
            complete.payload.eq(Mux(serve.complete.valid, serve.complete.payload,
                                    finish.reports.complete.payload)),
            finish.reports.complete.ready.eq(complete.ready),
            serve.complete.ready.eq(complete.ready),
            state.write_vi.eq(turn.vi),
            self.counts.dropped.eq(finish.user.over & turn.none_posted),
            event.valid.eq(finish.user.over),
            event.number.eq(turn.packet.trace),
            event.kind.eq(Mux(turn.refused, Kind.DROP, Kind.END)),
            event.arg.eq(Mux(turn.refused, REFUSED, 0)),
        ]
        for entry in ("sequence", "message", "reading"):
            write, value = f"write_{entry}", f"next_{entry}"
            serves = getattr(serve.stores, write)
            m.d.comb += [
                getattr(state, write).eq(getattr(finish.stores, write) | serves),
                getattr(state, value).eq(Mux(serves, getattr(serve.stores, value),
                                             getattr(finish.stores, value))),
            ]
        # What the peer is owed from this cycle on. An ACK or NAK says what is expected next, an ACK
        # of a probe its number too; a BREAK its code, and the packet that did it.
        m.d.comb += [
            out.valid.eq(finish.answer.valid | serve.forgets),
            out.payload.vi.eq(turn.vi),
            kind.eq(Mux(serve.forgets, PacketKind.SEND, finish.answer.kind)),
            out.payload.kind.eq(kind),
            breaks.eq(kind == PacketKind.BREAK),
            echo.eq((turn.packet.detail.kind == PacketKind.PROBE) & (kind == PacketKind.ACK)),
            out.payload.echo.eq(echo),
            out.payload.sequence.eq(Mux(breaks, turn.packet.header.sequence,
                                        turn.sequence.expected)),
            out.payload.code.eq(Mux(breaks, turn.code,
                                    Mux(echo, turn.packet.header.immediate, 0))),
        ]

    def _served(self) -> Value:
        """Manager or sender wait: they go first."""
        return self.control.valid | self.sender.reading.valid | self.sender.read_lost.valid

    def _end(self) -> None:
        """The packet ends, from the next cycle on."""
        self._m.d.comb += self.finish.user.begin.eq(1)
        self._m.next = "END"

    def _drop(self) -> None:
        """The packet is over as if it had not come."""
        m, event = self._m, self.event
        m.d.comb += [event.valid.eq(1), event.kind.eq(Kind.DROP), event.arg.eq(REFUSED)]
        m.next = "IDLE"

    def _break(self, code: Value | int, event: Event = Event.CONN_LOST) -> None:
        """The connection breaks, and the peer is told by ``code``."""
        turn = self.turn
        self._m.d.sync += [turn.breaks.eq(1), turn.break_event.eq(event),
                           turn.tells.eq(turn.reliable), turn.code.eq(code)]

    def _idle(self) -> None:
        m, turn, state, words = self._m, self.turn, self.state, self.words
        coming = self.descriptor.coming
        serve = self.serve.user
        with m.State("IDLE"):
            m.d.sync += [
                turn.at_once.eq(0), turn.completes.eq(0), turn.silent.eq(0), turn.errors.eq(0),
                turn.breaks.eq(0), turn.tells.eq(0), turn.raises.eq(0), turn.replies.eq(0),
                turn.refused.eq(0), turn.on_read.eq(0), turn.acknowledges.eq(0),
                turn.walked.eq(0), turn.lost.eq(0), turn.partial.eq(0), turn.took.eq(0),
                turn.none_posted.eq(0),
            ]
            with m.If(self._served()):
                with m.If(~self.descriptor.ahead.looking):
                    m.d.comb += [self.looks.eq(1), serve.valid.eq(1)]
                    m.d.sync += turn.vi.eq(state.vi)
                    m.next = "SERVE"
                    with m.If(self.control.valid):
                        m.d.comb += [serve.service.eq(Service.CONTROL),
                                     state.vi.eq(self.control.payload.vi)]
                    with m.Elif(self.sender.reading.valid):
                        m.d.comb += [serve.service.eq(Service.READING),
                                     state.vi.eq(self.sender.reading.payload.vi)]
                    with m.Else():
                        m.d.comb += [serve.service.eq(Service.READ_LOST),
                                     state.vi.eq(self.sender.read_lost.payload)]
            with m.Elif(coming.valid & self.finish.user.clear & words.over):
                m.d.comb += [
                    self.looks.eq(1),
                    coming.ready.eq(1),
                    words.begin.eq(1),
                    words.none.eq(coming.payload.packet.none),
                    words.none_bad.eq(coming.payload.packet.bad),
                    self.scatter.restart.eq(1),
                    state.vi.eq(coming.payload.packet.header.destination),
                ]
                m.d.sync += [turn.vi.eq(state.vi), turn.packet.eq(coming.payload.packet),
                             self._held.eq(coming.payload.held),
                             self._held_address.eq(coming.payload.address)]
                m.next = "CHECK"

    def _check(self) -> None:
        """Where the packet goes."""
        m, turn, state, words = self._m, self.turn, self.state, self.words
        packet, counts, kept = self.turn.packet, self.counts, self._kept
        attributes = self.context.data.attributes
        judged, verdict = self.judge.verdict, self.judge.verdict.payload
        with m.State("CHECK"):
            m.d.sync += [
                turn.tag.eq(attributes.tag),
                turn.reliable.eq(verdict.reliable),
                turn.reception.eq(attributes.reliability == Reliability.RELIABLE_RECEPTION),
                turn.left.eq(packet.bytes),
                turn.message.eq(kept),
                turn.sequence.eq(state.sequence),
            ]
            with m.If(self._held):
                m.d.comb += [kept.held.eq(1), kept.address.eq(self._held_address)]
            with m.If(words.whole & verdict.unused):
                # What was taken for it is the next message's.
                m.d.comb += [self.descriptor.packet.drop.eq(1), state.write_message.eq(self._held),
                             state.next_message.eq(kept)]
            m.d.comb += judged.ready.eq(1)
            with m.If(~judged.valid):
                # Nobody else looks: the same is here in the next cycle.
                m.d.comb += self.looks.eq(1)
            with m.Else():
                with m.Switch(verdict.ruling):
                    with m.Case(Ruling.BAD):
                        m.next = "IDLE"
                    with m.Case(Ruling.UNMATCHED):
                        m.d.comb += counts.unmatched.eq(1)
                        self._drop()
                    with m.Case(Ruling.ANSWER):
                        m.d.sync += turn.replies.eq(1)
                        self._end()
                    with m.Case(Ruling.BREAK):
                        m.d.sync += turn.replies.eq(1)
                        self._broken(state.reading)
                    with m.Case(Ruling.PROBE):
                        m.d.comb += [self.event.valid.eq(1), self.event.kind.eq(Kind.END)]
                        m.next = "PROBED"
                    with m.Case(Ruling.DUPLICATE):
                        m.d.comb += [counts.duplicate.eq(1),
                                     self.finish.user.tell.eq(carries(packet) & verdict.reliable)]
                        self._drop()
                        with m.If(verdict.reliable):
                            m.next = "ACKNOWLEDGE"
                    with m.Case(Ruling.GAP):
                        m.d.comb += [counts.gap.eq(1), self.finish.user.tell.eq(carries(packet))]
                        self._drop()
                        with m.If(~state.sequence.missed):
                            m.next = "MISS"
                    with m.Default():
                        self._expected(verdict)

    def _expected(self, verdict: data.View) -> None:
        """A packet that the VI waits for."""
        m, turn, state, packet = self._m, self.turn, self.state, self.turn.packet
        kind = packet.detail.kind
        is_response = kind == PacketKind.READ_RESPONSE
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
            m.d.sync += turn.message.begun.eq(state.message.begun)
        with m.If(is_response):
            m.d.sync += [turn.on_read.eq(1), turn.message.eq(state.reading)]
        with m.Switch(verdict.ruling):
            with m.Case(Ruling.BEGIN):
                m.next = "DESCRIPTOR"
            with m.Case(Ruling.RESUME):
                m.next = "RESUME"
            with m.Case(Ruling.STRAY):
                m.d.comb += self.counts.gap.eq(verdict.hole & ~is_response)
                m.d.sync += turn.refused.eq(1)
                self._end()
            with m.Case(Ruling.WRITE, Ruling.WRITE_REFUSED):
                m.d.sync += [turn.message.begun.eq(1), turn.message.write.eq(1)]
                m.next = "WRITE"
                with m.If(verdict.ruling == Ruling.WRITE_REFUSED):
                    m.next = "REFUSE"
            with m.Case(Ruling.READ):
                m.next = "JOB"
            with m.Case(Ruling.READ_REFUSED):
                self._break(BreakCode.RDMA_PROTECTION)
                m.d.sync += [turn.tells.eq(1), turn.raises.eq(1),
                             turn.event_code.eq(Event.RDMAR_PROT), turn.refused.eq(1)]
                self._end()
            with m.Default():
                self._end()

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
        self._end()

    def _descriptor(self) -> None:
        """A receive descriptor, and data into its segments."""
        m, turn, message = self._m, self.turn, self.turn.message
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
                    self._end()
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
                    m.next = "WALK"
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
    def _write(self) -> None:
        """RDMA of the peer."""
        m, turn, message, packet = self._m, self.turn, self.turn.message, self.turn.packet
        scatter, run = self.scatter, self.scatter.request.payload
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
                self._break(BreakCode.RDMA_PROTECTION)
            with m.If(packet.detail.immediate):
                m.d.sync += [turn.errors.eq(errors_of(Status.RDMA_PROTECTION)), turn.at_once.eq(1),
                             turn.partial.eq(message.bytes != 0)]
                m.next = "DESCRIPTOR"
            with m.Else():
                m.d.sync += [turn.raises.eq(1), turn.event_code.eq(Event.RDMAW_PROT)]
                self._end()
        with m.State("JOB"):
            m.d.comb += [
                self.sender.read_job.valid.eq(1),
                self.sender.read_job.payload.vi.eq(turn.vi),
                self.sender.read_job.payload.address.eq(packet.address),
                self.sender.read_job.payload.length.eq(packet.header.immediate),
            ]
            with m.If(self.sender.read_job.ready):
                self._end()

    def _answers(self) -> None:
        """Answers to packets that do not count, and to probes."""
        m, turn, state, out = self._m, self.turn, self.state, self.sender.control_packet
        kind = self._answer_kind
        with m.State("ACKNOWLEDGE"):
            # What is missed may still be asked for, by the answer that this one replaces.
            m.d.comb += [out.valid.eq(1), kind.eq(Mux(turn.sequence.missed, PacketKind.NAK,
                                                      PacketKind.ACK))]
            m.next = "IDLE"
        with m.State("PROBED"):
            # What was sent before the probe has arrived or was lost; so this replaces a NAK, too.
            m.d.comb += [out.valid.eq(1), kind.eq(PacketKind.ACK)]
            m.next = "IDLE"
        with m.State("MISS"):
            m.d.comb += [out.valid.eq(1), kind.eq(PacketKind.NAK),
                         state.write_sequence.eq(1), state.next_sequence.missed.eq(1)]
            m.next = "IDLE"

    def _count(self) -> None:
        """A run has ended."""
        turn = self.turn
        self._m.d.sync += [
            turn.left.eq(turn.left - self.scatter.written),
            turn.message.bytes.eq(turn.message.bytes + self.scatter.written),
        ]

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
        self._end()

    def _no_descriptor(self) -> Value:
        """The code for a message that finds no good descriptor."""
        turn = self.turn
        return Mux(turn.reception, BreakCode.REMOTE_DESCRIPTOR, BreakCode.LOST)

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
        self._end()

    def _scattered(self) -> None:
        """The packet's data has landed in the descriptor's segments."""
        m, turn = self._m, self.turn
        self._end()
        with m.If(turn.packet.detail.last):
            m.d.sync += [turn.completes.eq(1), turn.message.held.eq(0), turn.message.begun.eq(0)]

    def _written(self) -> None:
        """The packet's data has landed where an RDMA write wanted it."""
        m, turn = self._m, self.turn
        with m.If(turn.packet.detail.last):
            m.d.sync += turn.message.begun.eq(0)
        with m.If(turn.packet.detail.last & turn.packet.detail.immediate):
            m.d.sync += turn.at_once.eq(1)
            m.next = "DESCRIPTOR"
        with m.Else():
            self._end()
