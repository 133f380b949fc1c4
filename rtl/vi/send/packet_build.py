"""Second stage of the sender: gathers one packet's data, or completes a descriptor."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.trace import Kind
from ....layouts.via import VI_BITS, BreakCode, Event, PacketKind, RemoteOperation, Status
from ...parts.event import EventPort
from ...parts.sizes import check_count, check_power_of_two
from ..descriptors.segment_walk import SegmentWalk
from ..records import record_read, record_write
from ..types import Access, Address, EngineEvent, Reading, VirtualMemory
from .job import LENGTH_BITS, Abort, Job, JobKind, Outcome, Position, Progress, Response, Work
from .packet_gather import PacketGather
from .packet_headers import PacketHeaders
from .slots import slot_write
from .unacknowledged import RingPush

__all__ = ["Kept", "PacketBuild", "remote_operation"]

Kept = wiring.Signature({
    "progress": Out(record_read(Progress)),
    "failed": Out(record_read(Position)),
    "position": Out(record_write(Position)),
    "response": Out(record_write(Response)),
    "unfinished": Out(RingPush),
})
"""State of a job's VI in other parts. Read when the job arrives: its ``progress`` and whether it
has ``failed``. Written: the progress of its descriptor (``position``), the response still owed to
its peer (``response``), and the sent ``unfinished`` descriptors."""


def remote_operation(operation: "data.View | Signal") -> "data.View | Signal":
    """RemoteOperation in a send queue's Status for a descriptor's Operation."""
    return Cat(Const(0, 1), operation)


class PacketBuild(wiring.Component):
    """Executes the jobs of the fetch stage, one at a time and in order.

    A packet takes a free send slot and is gathered into it segment by segment, with a new
    translation for each piece. It is committed when only the data of the last piece is missing,
    which no error can prevent. So nothing of a packet with an error is sent. ``part`` holds until
    the packet is whole. A message is done when its last packet is whole: its descriptor completes,
    or with Reliable Reception goes into the ring of unfinished ones. Descriptors with errors on
    such a VI also go into the ring, so that they complete in posting order.

    Errors of a descriptor, all found here or before: PROTECTION (a segment refused or unreadable),
    LENGTH (the segments' sum is not the descriptor's Length). On a reliable VI the connection then
    breaks, with Reliable Reception when all descriptors before it have completed; jobs that the
    fetch stage has made by then complete as flushed. A descriptor that could not be read completes
    silently and breaks the VI with POST_DESC when the jobs before it are done, unless it is behind
    an error. A message that fails or is flushed after its first packet is also PARTIAL. A refused
    response to the peer's RDMA read raises RDMAR_PROT, informs the peer and breaks the connection.

    ``abort`` stops a job of its VI. When it falls, that descriptor completes as flushed (or with
    the VI's ``failure`` if it had begun). So does every later job of a VI that is no longer
    ``connected``.

    Latency, of a packet of one piece whose translation takes t cycles and whose burst takes b: t +
    b + 5 cycles from the job to ``commit``, its completion 1 later. Throughput: a job at a time;
    1 to 2 cycles between jobs. Back-pressure: while no slot is free. Reset: idle.

    Parameters
    ----------
    mtu, slots : int
        Payload bytes of a packet; send slots.

    Members
    -------
    work : In(Work)
        From the fetch stage.
    node : In(8)
        This node's number.
    kept : Out(Kept)
        State of the VI in other parts.
    slot : Out(slot_write(bits))
        The slot being written.
    chunks, pieces : Out(VirtualMemory)
        The descriptor's further blocks, and data.
    outcome : Out(Outcome)
        Completions; CONN_LOST and POST_DESC; the VI of an exclusive job; BREAK.
    event, reading : Out(stream of EngineEvent, Reading)
        RDMAR_PROT; an RDMA read's descriptor, before its request is committed.
    abort : In(Abort)
        See above.
    events : Out(EventPort).array(2)
        BEGIN with a packet's first translation, END when it is whole.
    idle : Out(1)
        No job, no read under way.
    """

    def __init__(self, *, mtu: int, slots: int) -> None:
        check_count("mtu", mtu, least=8)
        check_power_of_two("slots", slots)
        self._mtu = mtu
        self._slots = slots
        bits = ceil_log2(slots)
        super().__init__({
            "work": In(Work),
            "node": In(8),
            "kept": Out(Kept),
            "slot": Out(slot_write(bits)),
            "chunks": Out(VirtualMemory),
            "pieces": Out(VirtualMemory),
            "outcome": Out(Outcome),
            "event": Out(stream.Signature(EngineEvent)),
            "reading": Out(stream.Signature(Reading)),
            "abort": In(Abort),
            "events": Out(EventPort).array(2),
            "idle": Out(1),
        })

    @property
    def mtu(self) -> int:
        """Payload bytes of a packet."""
        return self._mtu

    @property
    def slots(self) -> int:
        """Send slots."""
        return self._slots

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.walk = segments = SegmentWalk()
        walk = segments.user
        m.submodules.gather = gather = PacketGather()
        wiring.connect(m, wiring.flipped(self.chunks), segments.memory)
        wiring.connect(m, wiring.flipped(self.pieces.bus), gather.bus)

        kept, to, outcome = self.kept, self.slot, self.outcome
        translate = self.pieces.translate
        look = Signal()
        look_vi = Signal(VI_BITS)
        for port in (kept.progress, kept.failed):
            m.d.comb += [port.en.eq(look), port.vi.eq(look_vi)]
        for port in (kept.position, kept.response, kept.unfinished):
            m.d.comb += port.vi.eq(look_vi)

        # An offered job is taken at once, so that the fetch stage continues.
        offered = self.work.job.payload
        job = Signal(Job)
        idle = Signal()
        vi = job.queue[1:]
        slot = Signal(self._slots.bit_length() - 1)
        # Bytes of the packet, or of an RDMA read's segments, still to come.
        left = Signal(32)
        went = Signal(11)
        errors = Signal(9)
        doomed = Signal()
        stop = Signal()
        broken = Signal()
        size = Signal(11)
        is_respond = Signal()
        piece = Signal(data.StructLayout({"address": Address, "wide": 1, "left": 32}))
        there = Signal()
        none = Signal()
        request = translate.request.payload
        told = Signal()
        ends = Signal()
        placed = Signal()
        quiet = Signal()
        # Packets of this message have been sent.
        partial = Mux(job.first, 0, Status.PARTIAL)
        # The job is behind one in error; it is in error itself.
        late = Signal()
        failing = Signal()
        unreadable = Signal()

        def fail(status: Status) -> None:
            m.d.sync += [errors.eq(status | partial), broken.eq(job.reliable)]
            m.next = "FAIL"

        def over() -> None:
            """The job is done; the next state."""
            m.next = "WAKE"
            with m.If(~job.exclusive):
                m.next = "IDLE"

        def ask() -> None:
            """Have the piece translated."""
            m.d.comb += [
                translate.request.valid.eq(1), translate.hold.eq(1),
                self.events[0].valid.eq(translate.request.ready & (went == 0)),
            ]
            with m.If(translate.request.ready):
                m.next = "TRANSLATE"

        def commit() -> None:
            """Commit the packet, and account for its part of the message."""
            m.d.comb += [
                to.commit.eq(1),
                kept.response.valid.eq(is_respond),
                kept.position.valid.eq(~is_respond & (job.resumed | ~job.last)),
                kept.position.data.active.eq(~job.last),
                kept.unfinished.valid.eq(job.last & job.until_received
                                         & (job.kind == JobKind.PACKET)),
            ]

        def whole() -> None:
            """The packet is in its slot."""
            m.d.comb += self.events[1].valid.eq(1)
            with m.If(is_respond):
                m.next = "WAKE"
            with m.Elif(job.last & (job.kind == JobKind.PACKET) & ~job.until_received):
                m.next = "FINISH"
            with m.Else():
                over()

        m.d.comb += [
            look_vi.eq(Mux(idle, offered.queue[1:], vi)),
            self.work.vi.eq(look_vi),
            self.work.exclusive.eq(~idle & job.exclusive),
            stop.eq((self.abort.valid & (self.abort.vi == vi)) | doomed),
            is_respond.eq(job.kind == JobKind.RESPOND),
            walk.walk.address.eq(offered.address),
            walk.walk.tag.eq(offered.tag),
            walk.walk.segments.eq(offered.segments),
            walk.walk.index.eq(offered.index),
            walk.walk.offset.eq(offered.offset),
            walk.walk.trace.eq(offered.trace),
            walk.fresh.eq(offered.fresh),
            walk.head.eq(offered.head),
            gather.max_beats.eq(self.pieces.max_beats),
            gather.trace.eq(job.trace),
            gather.place.eq(translate.physical),
            gather.bytes.eq(size),
            to.body.valid.eq(gather.write),
            to.body.index.eq(gather.index),
            to.body.data.eq(gather.data),
            to.slot.eq(slot),
            to.filled.eq(gather.index),
            self.events[0].kind.eq(Kind.BEGIN), self.events[0].number.eq(job.trace),
            self.events[1].kind.eq(Kind.END), self.events[1].number.eq(job.trace),
            request.address.eq(piece.address),
            request.wide.eq(piece.wide),
            request.tag.eq(job.tag),
            request.access.eq(Mux(is_respond, Access.RDMA_READ, Access.LOCAL)),
        ]
        # The source of the data: the descriptor's segments, or the address that the peer requested.
        with m.If(is_respond):
            m.d.comb += [
                piece.address.va.eq(job.remote.va + went),
                piece.address.handle.eq(job.remote.handle),
                piece.wide.eq((job.remote.va + went)[38:]),
                piece.left.eq(left),
                there.eq(left != 0),
                none.eq(left == 0),
            ]
        with m.Else():
            m.d.comb += [piece.eq(walk.piece), there.eq(walk.valid), none.eq(walk.exhausted)]

        with m.If(self.abort.valid & (self.abort.vi == vi)):
            m.d.sync += doomed.eq(1)
        # The message's end must be the segments' end.
        m.d.comb += ends.eq(~job.last | is_respond | walk.exhausted)
        m.submodules.front = front = PacketHeaders()
        fronts = front.done
        m.d.comb += [
            front.job.eq(job),
            front.placed.eq(placed),
            front.node.eq(self.node),
            to.front.valid.eq(front.write),
            to.front.index.eq(front.index),
            to.front.data.eq(front.data),
            to.meta.eq(front.meta),
        ]
        self._records(m, job, errors, walk)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                with m.If(self.work.job.valid):
                    m.d.comb += [
                        self.work.job.ready.eq(1),
                        look.eq(1), kept.unfinished.look.eq(1), gather.clear.eq(1),
                        walk.load.eq((offered.kind == JobKind.PACKET)
                                     | (offered.kind == JobKind.READ)),
                    ]
                    m.d.sync += [
                        job.eq(offered), left.eq(offered.bytes), went.eq(0),
                        errors.eq(offered.errors),
                        doomed.eq(0), told.eq(0), placed.eq(0), late.eq(0), to.part.eq(0),
                        broken.eq(offered.breaks & ~offered.silent),
                    ]
                    m.next = "START"
            with m.State("START"):
                # Nothing is committed in this state: an abort in this cycle is seen in the next
                # state.
                with m.If(~kept.progress.data.connected | stop):
                    m.d.sync += doomed.eq(1)
                    m.next = "DOOMED"
                with m.Elif(kept.failed.data.failed & (job.kind != JobKind.BREAK)):
                    m.d.sync += [errors.eq(Status.FLUSHED), broken.eq(0), late.eq(1)]
                    m.next = "FINISH"
                    with m.If(is_respond):
                        m.next = "WAKE"
                with m.Else():
                    with m.Switch(job.kind):
                        with m.Case(JobKind.BREAK):
                            m.d.comb += [kept.position.valid.eq(1), kept.position.data.failed.eq(1)]
                            m.next = "BREAK"
                        with m.Case(JobKind.COMPLETE):
                            m.next = "FINISH"
                        with m.Case(JobKind.PARK):
                            m.next = "PARK"
                        with m.Case(JobKind.READ):
                            m.d.sync += left.eq(job.length)
                            m.next = "SUM"
                        with m.Default():
                            m.next = "SLOT"
                            with m.If(to.free):
                                m.d.sync += placed.eq(1)
                                m.next = "PIECE"
                                with m.If(job.bytes == 0):
                                    m.next = "TAIL"
                                with m.Elif(there):
                                    ask()
                m.d.sync += slot.eq(to.free_slot)
            with m.State("SLOT"):
                m.d.sync += slot.eq(to.free_slot)
                with m.If(stop):
                    m.next = "DOOMED"
                with m.Elif(to.free):
                    m.d.sync += placed.eq(1)
                    m.next = "PIECE"
                    with m.If(job.bytes == 0):
                        m.next = "TAIL"
            with m.State("PIECE"):
                with m.If(there):
                    ask()
                with m.Elif(stop):
                    m.next = "DOOMED"
                with m.Elif(none):
                    fail(Status.LENGTH)
                with m.Elif(walk.failed & ~is_respond):
                    fail(Status.PROTECTION)
            with m.State("TRANSLATE"):
                m.d.comb += [
                    translate.hold.eq(1),
                    size.eq(Mux(piece.left < left, piece.left, left)),
                ]
                with m.If(translate.room < Mux(piece.left < left, piece.left, left)):
                    m.d.comb += size.eq(translate.room)
                with m.If(translate.valid):
                    with m.If(translate.ok):
                        m.d.comb += [gather.start.eq(1), walk.bytes.eq(size),
                                     walk.advance.eq(~is_respond)]
                        m.d.sync += [left.eq(left - size), went.eq(went + size)]
                        m.next = "MOVE"
                    with m.Else():
                        fail(Status.PROTECTION)
            with m.State("MOVE"):
                m.d.comb += translate.hold.eq(1)
                with m.If((left == 0) & fronts & ends & ~to.part & ~stop):
                    commit()
                    m.d.sync += to.part.eq(1)
                with m.If(gather.done):
                    m.next = "PIECE"
                    with m.If(left == 0):
                        m.next = "TAIL"
                    with m.Elif(stop):
                        m.next = "DOOMED"
            with m.State("TAIL"):
                with m.If(to.part):
                    m.d.comb += gather.flush.eq(1)
                    m.d.sync += to.part.eq(0)
                    whole()
                with m.Elif(ends):
                    with m.If(stop):
                        m.next = "DOOMED"
                    with m.Elif(fronts):
                        m.d.comb += gather.flush.eq(1)
                        commit()
                        whole()
                with m.Elif(walk.failed):
                    fail(Status.PROTECTION)
                with m.Elif(walk.valid):
                    fail(Status.LENGTH)
            with m.State("SUM"):
                with m.If(walk.valid):
                    m.d.comb += [walk.bytes.eq(walk.piece.left), walk.advance.eq(1)]
                    m.d.sync += left.eq(left - walk.piece.left)
                    with m.If(walk.piece.left > left):
                        fail(Status.LENGTH)
                with m.Elif(walk.failed):
                    fail(Status.PROTECTION)
                with m.Elif(walk.exhausted):
                    m.next = "READING"
                    with m.If(left != 0):
                        fail(Status.LENGTH)
            with m.State("READING"):
                with m.If(stop):
                    m.next = "DOOMED"
                with m.Elif(to.free):
                    m.d.sync += [slot.eq(to.free_slot), placed.eq(1)]
                    m.next = "TELL"
            with m.State("TELL"):
                m.d.comb += self.reading.valid.eq(1)
                with m.If(self.reading.ready):
                    m.d.sync += told.eq(1)
                    m.next = "TOLD"
            with m.State("TOLD"):
                with m.If(fronts):
                    m.next = "COMMIT"
            with m.State("COMMIT"):
                with m.If(stop):
                    m.next = "DOOMED"
                with m.Else():
                    commit()
                    whole()
            with m.State("PARK"):
                m.next = "WAKE"
                with m.If(stop):
                    m.next = "DOOMED"
                with m.Else():
                    m.d.comb += [kept.position.valid.eq(1), kept.position.data.active.eq(1)]
            with m.State("DOOMED"):
                m.d.comb += quiet.eq(1)
                with m.If(~self.abort.valid | (self.abort.vi != vi)):
                    m.d.comb += look.eq(1)
                    m.next = "FLUSH"
            with m.State("FLUSH"):
                # A response has no completion, and a reported read has none here.
                m.d.comb += kept.position.valid.eq(job.resumed)
                m.d.sync += broken.eq(0)
                with m.If(job.kind != JobKind.COMPLETE):
                    m.d.sync += errors.eq(Status.FLUSHED | partial)
                    with m.If(~job.first & (kept.progress.data.failure != 0)):
                        m.d.sync += errors.eq(kept.progress.data.failure | partial)
                m.next = "FINISH"
                with m.If(is_respond | told | (job.kind == JobKind.BREAK)):
                    m.next = "WAKE"
            with m.State("FAIL"):
                with m.If(stop):
                    m.next = "DOOMED"
                with m.Elif(is_respond):
                    m.d.comb += kept.response.valid.eq(1)
                    m.next = "EVENT"
                with m.Else():
                    m.next = "FINISH"
            with m.State("FINISH"):
                # A job behind an error does not break the connection before the error does.
                m.d.comb += [quiet.eq(~outcome.complete.valid),
                             failing.eq(broken | job.silent),
                             unreadable.eq(job.silent & ~late)]
                with m.If(job.until_received & (errors != 0) & (broken | job.breaks | late)
                          & ~doomed):
                    # Behind what is unfinished. When that has completed the VI's turn breaks the
                    # connection, and the abort completes this and what came late, in order.
                    m.d.comb += [
                        kept.unfinished.valid.eq(~stop), quiet.eq(0),
                        kept.position.valid.eq((job.resumed | failing) & ~stop),
                        kept.position.data.failed.eq(failing), kept.position.data.armed.eq(broken),
                    ]
                    m.next = "WAKE"
                    with m.If(stop):
                        m.next = "DOOMED"
                    with m.Elif(unreadable):
                        m.next = "BREAK"
                    with m.Elif(~broken):
                        over()
                with m.Else():
                    m.d.comb += outcome.complete.valid.eq(1)
                    with m.If(outcome.complete.ready):
                        m.d.comb += [kept.position.valid.eq(job.resumed | failing),
                                     kept.position.data.failed.eq(failing)]
                        m.next = "BREAK"
                        with m.If(~(broken | unreadable)):
                            over()
            with m.State("EVENT"):
                m.d.comb += self.event.valid.eq(1)
                with m.If(self.event.ready):
                    m.next = "TELL BREAK"
            with m.State("TELL BREAK"):
                m.d.comb += [outcome.control_packet.valid.eq(1), quiet.eq(1)]
                with m.If(outcome.control_packet.ready):
                    m.next = "BREAK"
            with m.State("BREAK"):
                # The block that takes breaks may wait for an abort to be taken.
                m.d.comb += [outcome.break_.valid.eq(1), quiet.eq(1)]
                with m.If(outcome.break_.ready):
                    over()
            with m.State("WAKE"):
                m.d.comb += [outcome.wake.valid.eq(1), quiet.eq(1)]
                with m.If(outcome.wake.ready):
                    m.next = "IDLE"
        m.d.comb += [
            self.abort.quiet.eq(idle | (self.abort.vi != vi) | quiet),
            self.idle.eq(idle & ~self.work.job.valid & segments.idle),
        ]
        return m

    def _records(self, m: Module, job: "data.View", errors: Signal,
                 walk: wiring.PureInterface) -> None:
        """What is written elsewhere about the job; the writes' enables are the states'."""
        kept, outcome = self.kept, self.outcome
        entry, position, response = kept.unfinished.entry, kept.position.data, kept.response.data
        completion = outcome.complete.payload
        operation = Signal(3)
        rest = Signal(LENGTH_BITS)
        failing = Signal()
        m.d.comb += [
            operation.eq(Mux(job.queue[0], RemoteOperation.RECEIVE,
                             remote_operation(job.operation))),
            completion.queue.eq(job.queue),
            completion.address.eq(job.address),
            completion.length.eq(Mux(errors == 0, job.length, 0)),
            completion.status.eq(Cat(errors, Const(0, 7), operation)),
            completion.silent.eq(job.silent),
            completion.trace.eq(job.trace),
            entry.address.eq(job.address),
            entry.length.eq(job.length),
            entry.operation.eq(job.operation),
            entry.trace.eq(job.trace),
            entry.sequence.eq(job.sequence),
            entry.errors.eq(errors),
            entry.silent.eq(job.silent),
            position.address.eq(job.address),
            position.begun.eq(job.kind != JobKind.PARK),
            position.operation.eq(job.operation),
            position.trace.eq(job.trace),
            position.place.eq(kept.unfinished.place),
            position.index.eq(walk.index),
            position.offset.eq(walk.offset),
            position.done.eq(Mux(job.kind == JobKind.PARK, 0, job.done + job.bytes)),
            rest.eq(job.length - job.bytes),
            failing.eq(errors != 0),
            response.active.eq(~job.last & ~failing),
            response.begun.eq(1),
            response.address.va.eq(job.remote.va + job.bytes),
            response.address.handle.eq(job.remote.handle),
            response.left.eq(rest),
            outcome.wake.payload.eq(job.queue),
            outcome.break_.payload.vi.eq(job.queue[1:]),
            outcome.break_.payload.event.eq(Mux(job.silent, Event.POST_DESC, Event.CONN_LOST)),
            self.event.payload.code.eq(Event.RDMAR_PROT),
            self.event.payload.number.eq(job.queue[1:]),
            outcome.control_packet.payload.vi.eq(job.queue[1:]),
            outcome.control_packet.payload.kind.eq(PacketKind.BREAK),
            outcome.control_packet.payload.code.eq(BreakCode.RDMA_PROTECTION),
            self.reading.payload.vi.eq(job.queue[1:]),
            self.reading.payload.address.eq(job.address),
        ]
