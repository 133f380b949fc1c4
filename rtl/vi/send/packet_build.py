"""Second stage of the sender: gathers one packet's data, or completes a descriptor."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.trace import Kind
from ...parts.event import EventPort
from ...parts.sizes import check_count, check_power_of_two
from ..records import record_read, record_write
from ..types import EngineEvent, Reading, VirtualMemory
from .job import LENGTH_BITS, Abort, Job, JobKind, Outcome, Position, Progress, Response, Work
from .job_end import Ending, JobEnd
from .packet_headers import PacketHeaders
from .packet_pieces import PacketPieces
from .slots import slot_write
from .unacknowledged import RingPush

__all__ = ["Kept", "PacketBuild"]

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


class PacketBuild(wiring.Component):
    """Executes the jobs of the fetch stage, one at a time and in order.

    It takes a job and a free send slot for its packet. :class:`PacketHeaders` and
    :class:`PacketPieces` write the slot; :class:`JobEnd` ends the jobs that do more than send a
    packet. A packet is committed when only the data of the last piece is missing, which no error
    can prevent. So nothing of a packet with an error is sent. ``part`` holds until the packet is
    whole. A message is done when its last packet is whole: its descriptor completes, or with
    Reliable Reception goes into the ring of unfinished ones. Descriptors with errors on such a VI
    also go into the ring, so that they complete in posting order.

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
        m.submodules.headers = headers = PacketHeaders()
        m.submodules.pieces = pieces = PacketPieces()
        m.submodules.end = end = JobEnd()
        wiring.connect(m, wiring.flipped(self.chunks), pieces.chunks)
        wiring.connect(m, wiring.flipped(self.pieces), pieces.pieces)
        wiring.connect(m, wiring.flipped(self.slot.body), pieces.body)
        wiring.connect(m, wiring.flipped(self.outcome), end.outcome)
        wiring.connect(m, wiring.flipped(self.event), end.event)

        # An offered job is taken at once, so that the fetch stage continues.
        kept, to, offered = self.kept, self.slot, self.work.job.payload
        job = Signal(Job)
        vi = job.queue[1:]
        idle = Signal()
        look = Signal()
        take = Signal()
        slot = Signal(self._slots.bit_length() - 1)
        placed = Signal()
        told = Signal()
        aborted = Signal()
        doomed = Signal()
        stop = Signal()
        is_respond = Signal()
        look_vi = Mux(idle, offered.queue[1:], vi)
        for port in (kept.progress, kept.failed):
            m.d.comb += [port.en.eq(look | end.user.look), port.vi.eq(look_vi)]
        for port in (kept.position, kept.response, kept.unfinished):
            m.d.comb += port.vi.eq(look_vi)

        m.d.comb += [
            self.work.vi.eq(look_vi),
            self.work.exclusive.eq(~idle & job.exclusive),
            self.abort.quiet.eq(idle | (self.abort.vi != vi) | end.user.quiet),
            aborted.eq(self.abort.valid & (self.abort.vi == vi)),
            stop.eq(aborted | doomed),
            is_respond.eq(job.kind == JobKind.RESPOND),
            headers.job.eq(job),
            headers.placed.eq(placed),
            headers.node.eq(self.node),
            pieces.job.eq(job),
            pieces.user.load.eq(take),
            pieces.user.offered.eq(offered),
            pieces.user.headed.eq(headers.done),
            pieces.user.stop.eq(stop),
            end.job.eq(job),
            end.user.load.eq(take),
            end.user.offered.eq(offered),
            end.user.status.eq(pieces.user.status),
            end.user.told.eq(told),
            end.user.aborted.eq(aborted),
            end.user.doomed.eq(doomed),
            end.user.failure.eq(kept.progress.data.failure),
            to.slot.eq(slot),
            to.front.valid.eq(headers.write),
            to.front.index.eq(headers.index),
            to.front.data.eq(headers.data),
            to.meta.eq(headers.meta),
            to.part.eq(pieces.part),
            to.filled.eq(pieces.body.index),
            self.events[0].valid.eq(pieces.begins),
            self.events[0].kind.eq(Kind.BEGIN), self.events[0].number.eq(job.trace),
            self.events[1].kind.eq(Kind.END), self.events[1].number.eq(job.trace),
            self.idle.eq(idle & ~self.work.job.valid & pieces.idle),
        ]
        with m.If(aborted):
            m.d.sync += doomed.eq(1)
        self._records(m, job, end, pieces)

        def ends(ending: Ending) -> None:
            m.d.comb += [end.user.valid.eq(1), end.user.ending.eq(ending)]
            m.next = "END"

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
            m.next = "IDLE"
            with m.If(is_respond):
                ends(Ending.WAKE)
            with m.Elif(job.last & (job.kind == JobKind.PACKET) & ~job.until_received):
                ends(Ending.FINISH)
            with m.Elif(job.exclusive):
                ends(Ending.WAKE)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += idle.eq(1)
                with m.If(self.work.job.valid):
                    m.d.comb += [self.work.job.ready.eq(1), take.eq(1), look.eq(1),
                                 kept.unfinished.look.eq(1)]
                    m.d.sync += [job.eq(offered), doomed.eq(0), told.eq(0), placed.eq(0)]
                    m.next = "START"
            with m.State("START"):
                # Nothing is committed in this state: an abort in this cycle is seen in the next
                # state.
                with m.If(~kept.progress.data.connected | stop):
                    m.d.sync += doomed.eq(1)
                    ends(Ending.DOOMED)
                with m.Elif(kept.failed.data.failed & (job.kind != JobKind.BREAK)):
                    ends(Ending.LATE)
                with m.Else():
                    with m.Switch(job.kind):
                        with m.Case(JobKind.BREAK):
                            m.d.comb += [kept.position.valid.eq(1), kept.position.data.failed.eq(1)]
                            ends(Ending.BREAK)
                        with m.Case(JobKind.COMPLETE):
                            ends(Ending.FINISH)
                        with m.Case(JobKind.PARK):
                            m.next = "PARK"
                        with m.Case(JobKind.READ):
                            m.d.comb += pieces.user.sum.eq(1)
                            m.next = "PIECES"
                        with m.Default():
                            m.next = "SLOT"
                            with m.If(to.free):
                                m.d.comb += [pieces.user.gather.eq(1), pieces.user.at_once.eq(1)]
                                m.d.sync += placed.eq(1)
                                m.next = "PIECES"
                m.d.sync += slot.eq(to.free_slot)
            with m.State("SLOT"):
                m.d.sync += slot.eq(to.free_slot)
                with m.If(stop):
                    ends(Ending.DOOMED)
                with m.Elif(to.free):
                    m.d.comb += pieces.user.gather.eq(1)
                    m.d.sync += placed.eq(1)
                    m.next = "PIECES"
            with m.State("PIECES"):
                with m.If(pieces.user.commit):
                    commit()
                with m.If(pieces.user.whole):
                    whole()
                with m.If(pieces.user.summed):
                    m.next = "READING"
                with m.If(pieces.user.stopped):
                    ends(Ending.DOOMED)
                with m.If(pieces.user.failed):
                    ends(Ending.FAIL)
            with m.State("READING"):
                with m.If(stop):
                    ends(Ending.DOOMED)
                with m.Elif(to.free):
                    m.d.sync += [slot.eq(to.free_slot), placed.eq(1)]
                    m.next = "TELL"
            with m.State("TELL"):
                m.d.comb += self.reading.valid.eq(1)
                with m.If(self.reading.ready):
                    m.d.sync += told.eq(1)
                    m.next = "TOLD"
            with m.State("TOLD"):
                with m.If(headers.done):
                    m.next = "COMMIT"
            with m.State("COMMIT"):
                with m.If(stop):
                    ends(Ending.DOOMED)
                with m.Else():
                    commit()
                    whole()
            with m.State("PARK"):
                with m.If(stop):
                    ends(Ending.DOOMED)
                with m.Else():
                    m.d.comb += [kept.position.valid.eq(1), kept.position.data.active.eq(1)]
                    ends(Ending.WAKE)
            with m.State("END"):
                m.d.comb += [
                    kept.response.valid.eq(end.user.response),
                    kept.position.valid.eq(end.user.position),
                    kept.position.data.failed.eq(end.user.failed),
                    kept.position.data.armed.eq(end.user.armed),
                    kept.unfinished.valid.eq(end.user.unfinished),
                ]
                with m.If(end.user.over):
                    m.next = "IDLE"
        return m

    def _records(self, m: Module, job: "data.View", end: JobEnd, pieces: PacketPieces) -> None:
        """What is kept elsewhere of the job; the writes' enables are the states'."""
        kept, errors = self.kept, end.user.errors
        entry, position, response = kept.unfinished.entry, kept.position.data, kept.response.data
        rest = Signal(LENGTH_BITS)
        m.d.comb += [
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
            position.index.eq(pieces.index),
            position.offset.eq(pieces.offset),
            position.done.eq(Mux(job.kind == JobKind.PARK, 0, job.done + job.bytes)),
            rest.eq(job.length - job.bytes),
            response.active.eq(~job.last & (errors == 0)),
            response.begun.eq(1),
            response.address.va.eq(job.remote.va + job.bytes),
            response.address.handle.eq(job.remote.handle),
            response.left.eq(rest),
            self.reading.payload.vi.eq(job.queue[1:]),
            self.reading.payload.address.eq(job.address),
        ]
