"""Handles packets one at a time: takes one, does what it asks for, and has it ended."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.trace import Drop, Kind
from ....layouts.via import PacketKind, ViState
from ...parts.event import EventPort
from ..descriptors.segment_walk import Walking
from ..types import Address, ContextRead, Control, ReceivedCounts, Reports, ToSender
from .deliver import Deliver, Delivery, Fate
from .descriptor import Descriptors
from .finish import Finish
from .judge import Judge, Ruling
from .packet_words import PacketTurn
from .receive_state import Message, ReceiveEntries
from .scatter_writer import ScatterRun
from .serve import Serve, Service
from .turn import carries
from .turn_keeper import TurnKeeper

__all__ = ["PacketMachine"]


class PacketMachine(wiring.Component):
    """Handles packets one at a time, by what the other parts of the receiver offer.

    IDLE takes what comes next, CHECK has :class:`Judge` judge it. DELIVER waits for
    :class:`Deliver`, which puts its data where they belong; REFUSE says that an RDMA write may not
    write; JOB passes on an RDMA read. END waits for :class:`Finish`, which ends the packet;
    ACKNOWLEDGE and MISS answer one that does not count, PROBED a probe. SERVE waits for
    :class:`Serve`, which serves manager and sender. :class:`TurnKeeper` keeps what is known of the
    packet.

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
        self.deliver = Deliver()
        self.keeper = TurnKeeper()
        self.turn = self.keeper.turn
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
        m.submodules.deliver = deliver = self.deliver
        m.submodules.keeper = self.keeper
        turn, words = self.turn, self.words
        self._parts()
        self._told()
        with m.FSM() as fsm:
            self._idle()
            self._check()
            with m.State("DELIVER"):
                with m.If(deliver.user.over):
                    with m.If(deliver.delivered.fate == Fate.WRITE_REFUSED):
                        m.next = "REFUSE"
                    with m.Else():
                        self._end()
            self._remote()
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
            packet.frees.eq((deliver.delivered.walks | finish.user.waits & turn.walked)
                            & (turn.packet.detail.kind == PacketKind.SEND)
                            & turn.packet.detail.last & finish.user.good),
            # Nor while the packet's data would find the bus taken for another's descriptor.
            packet.asks.eq(fsm.ongoing("CHECK") | fsm.ongoing("REFUSE") | deliver.user.searches
                           | deliver.delivered.walks & ~turn.walked),
            self.descriptor.ahead.may.eq(~self.looks & ~serve.user.controls),
            self.idle.eq(fsm.ongoing("IDLE") & ~self._served() & finish.user.clear
                         & ~self.sender.acknowledged.valid & words.over),
        ]
        return m

    def _parts(self) -> None:
        """What is said to the parts in any state."""
        m, turn, descriptor, words = self._m, self.turn, self.descriptor, self.words
        judge, finish, serve, keeper = self.judge, self.finish, self.serve, self.keeper
        state, context = self.state, self.context.data
        connect(m, flipped(self.control), serve.control)
        connect(m, flipped(self.sender.reading), serve.reading)
        connect(m, flipped(self.sender.read_lost), serve.read_lost)
        connect(m, flipped(self.sender.read_done), finish.read_done)
        connect(m, flipped(self.sender.acknowledged), finish.acknowledged)
        connect(m, flipped(self.reports.break_), finish.reports.break_)
        connect(m, flipped(self.reports.event), finish.reports.event)
        connect(m, flipped(descriptor.void), serve.void)
        connect(m, turn, finish.turn)
        connect(m, turn, self.deliver.turn)
        connect(m, self.deliver.search, flipped(descriptor.search))
        connect(m, self.deliver.walk, flipped(self.walk))
        connect(m, self.deliver.scatter, flipped(self.scatter))
        connect(m, self.deliver.delivered, keeper.delivered)
        m.d.comb += [
            state.vi.eq(Mux(descriptor.ahead.look, descriptor.ahead.vi, turn.vi)),
            descriptor.ahead.context.eq(context),
            descriptor.ahead.message.eq(state.message),
            descriptor.packet.vi.eq(turn.vi),
            descriptor.packet.segments.eq(turn.message.segments),
            self.context.vi.eq(state.vi),
            keeper.coming.eq(descriptor.coming.payload.packet),
            keeper.vi.eq(state.vi),
            keeper.context.eq(context),
            keeper.kept.eq(self._kept),
            keeper.sequence.eq(state.sequence),
            keeper.reading.eq(state.reading),
            keeper.verdict.eq(judge.verdict.payload),
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
            event.arg.eq(Mux(turn.refused, Drop.REFUSED, 0)),
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
        m.d.comb += [event.valid.eq(1), event.kind.eq(Kind.DROP), event.arg.eq(Drop.REFUSED)]
        m.next = "IDLE"

    def _deliver(self, delivery: Delivery) -> None:
        """The packet's data is delivered, from the next cycle on."""
        self._m.d.comb += [self.deliver.user.valid.eq(1), self.deliver.user.delivery.eq(delivery)]
        self._m.next = "DELIVER"

    def _idle(self) -> None:
        m, state, words, steps = self._m, self.state, self.words, self.keeper.steps
        coming = self.descriptor.coming
        serve = self.serve.user
        with m.State("IDLE"):
            m.d.comb += steps.idle.eq(1)
            with m.If(self._served()):
                with m.If(~self.descriptor.ahead.looking):
                    m.d.comb += [self.looks.eq(1), steps.looks.eq(1), serve.valid.eq(1)]
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
                    steps.looks.eq(1),
                    steps.takes.eq(1),
                    coming.ready.eq(1),
                    words.begin.eq(1),
                    words.none.eq(coming.payload.packet.none),
                    words.none_bad.eq(coming.payload.packet.bad),
                    self.deliver.user.begin.eq(1),
                    state.vi.eq(coming.payload.packet.header.destination),
                ]
                m.d.sync += [self._held.eq(coming.payload.held),
                             self._held_address.eq(coming.payload.address)]
                m.next = "CHECK"

    def _check(self) -> None:
        """Where the packet goes."""
        m, state, words, steps = self._m, self.state, self.words, self.keeper.steps
        packet, counts, kept = self.turn.packet, self.counts, self._kept
        judged, verdict = self.judge.verdict, self.judge.verdict.payload
        with m.State("CHECK"):
            m.d.comb += steps.checks.eq(1)
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
                m.d.comb += steps.judged.eq(1)
                with m.Switch(verdict.ruling):
                    with m.Case(Ruling.BAD):
                        m.next = "IDLE"
                    with m.Case(Ruling.UNMATCHED):
                        m.d.comb += counts.unmatched.eq(1)
                        self._drop()
                    with m.Case(Ruling.ANSWER, Ruling.BREAK):
                        self._end()
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
        m, kind = self._m, self.turn.packet.detail.kind
        with m.Switch(verdict.ruling):
            with m.Case(Ruling.BEGIN):
                self._deliver(Delivery.FIND)
            with m.Case(Ruling.RESUME):
                self._deliver(Delivery.RESUME)
            with m.Case(Ruling.STRAY):
                m.d.comb += self.counts.gap.eq(verdict.hole & (kind != PacketKind.READ_RESPONSE))
                self._end()
            with m.Case(Ruling.WRITE):
                self._deliver(Delivery.WRITE)
            with m.Case(Ruling.WRITE_REFUSED):
                m.next = "REFUSE"
            with m.Case(Ruling.READ):
                m.next = "JOB"
            with m.Default():
                self._end()

    def _remote(self) -> None:
        """RDMA of the peer: a write that is refused, a read."""
        m, turn, job = self._m, self.turn, self.sender.read_job
        with m.State("REFUSE"):
            m.d.comb += self.keeper.steps.refuses.eq(1)
            with m.If(turn.packet.detail.immediate):
                self._deliver(Delivery.FIND)
            with m.Else():
                self._end()
        with m.State("JOB"):
            m.d.comb += [
                job.valid.eq(1),
                job.payload.vi.eq(turn.vi),
                job.payload.address.eq(turn.packet.address),
                job.payload.length.eq(turn.packet.header.immediate),
            ]
            with m.If(job.ready):
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
