"""Ends a job of the sender: its completion, its errors, the end of its connection."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import BreakCode, Event, PacketKind, RemoteOperation, Status
from ..types import EngineEvent
from .job import Job, JobKind, Outcome

__all__ = ["Ending", "JobEnd", "JobEnding", "remote_operation"]


def remote_operation(operation: "data.View | Signal") -> "data.View | Signal":
    """RemoteOperation in a send queue's Status for a descriptor's Operation."""
    return Cat(Const(0, 1), operation)


class Ending(enum.Enum, shape=3):
    """The ways in which a job ends."""

    FINISH = 0
    """Its descriptor completes, with the errors that it came with."""
    LATE = 1
    """It is behind one in error: flushed."""
    FAIL = 2
    """An error was found."""
    DOOMED = 3
    """Its VI is aborted, or no longer connected."""
    BREAK = 4
    """Its connection breaks."""
    WAKE = 5
    """Its VI is woken, and no more."""


JobEnding = wiring.Signature({
    "load": Out(1),
    "offered": Out(Job),
    "valid": Out(1),
    "ending": Out(Ending),
    "status": Out(9),
    "told": Out(1),
    "aborted": Out(1),
    "doomed": Out(1),
    "failure": Out(9),
    "look": In(1),
    "over": In(1),
    "quiet": In(1),
    "errors": In(9),
    "position": In(1),
    "failed": In(1),
    "armed": In(1),
    "response": In(1),
    "unfinished": In(1),
})
"""Whose job it is. ``load`` takes ``offered``, which is the job from the next cycle on. ``valid``
begins its ``ending`` (FAIL with the ``status`` of its error), which acts from the next cycle on;
``over`` is its last cycle.

``aborted``: its VI is aborted now; ``doomed``: it was, or is not connected; ``failure``: what
the VI's descriptor then fails with, in the cycle after ``look``; ``told``: the receiver has been
told of this read, and completes it. ``quiet``: an abort need not wait.

Written of the VI: its ``position`` (``failed``, ``armed``), the rest of its ``response``, the
``unfinished`` descriptor, which all may have ``errors``."""


class JobEnd(wiring.Component):
    """Completes a job's descriptor, or has it completed behind what is unfinished, and breaks the
    connection if its error does.

    Latency: 1 cycle from ``valid`` to the completion, to the break or to the wake; an abort is
    waited for. The completion, a break and a wake take a cycle each. Back-pressure: of ``outcome``
    and ``event``. Reset: idle.

    Members
    -------
    user : In(JobEnding)
        Whose job it is.
    job : In(Job)
        Holds from the cycle after ``load``.
    outcome : Out(Outcome)
        Completions; CONN_LOST and POST_DESC; the VI of an exclusive job; BREAK.
    event : Out(stream of EngineEvent)
        RDMAR_PROT.
    """

    user: In(JobEnding)
    job: In(Job)
    outcome: Out(Outcome)
    event: Out(stream.Signature(EngineEvent))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        user, job, offered, outcome = self.user, self.job, self.user.offered, self.outcome
        errors = Signal(9)
        broken = Signal()
        # The job is behind one in error; it is in error itself.
        late = Signal()
        failing = Signal()
        unreadable = Signal()
        stop = Signal()
        is_respond = Signal()
        # Packets of this message have been sent.
        partial = Mux(job.first, 0, Status.PARTIAL)

        def over() -> None:
            """The job is done, but for a wake."""
            m.next = "WAKE"
            with m.If(~job.exclusive):
                m.d.comb += user.over.eq(1)
                m.next = "IDLE"

        m.d.comb += [
            stop.eq(user.aborted | user.doomed),
            is_respond.eq(job.kind == JobKind.RESPOND),
            user.errors.eq(errors),
        ]
        self._said(m, errors)
        with m.If(user.load):
            m.d.sync += [errors.eq(offered.errors), late.eq(0),
                         broken.eq(offered.breaks & ~offered.silent)]

        with m.FSM():
            with m.State("IDLE"):
                with m.If(user.valid):
                    with m.Switch(user.ending):
                        with m.Case(Ending.FINISH):
                            m.next = "FINISH"
                        with m.Case(Ending.LATE):
                            m.d.sync += [errors.eq(Status.FLUSHED), broken.eq(0), late.eq(1)]
                            m.next = "FINISH"
                            with m.If(is_respond):
                                m.next = "WAKE"
                        with m.Case(Ending.FAIL):
                            m.d.sync += [errors.eq(user.status | partial), broken.eq(job.reliable)]
                            m.next = "FAIL"
                        with m.Case(Ending.DOOMED):
                            m.next = "DOOMED"
                        with m.Case(Ending.BREAK):
                            m.next = "BREAK"
                        with m.Case(Ending.WAKE):
                            m.next = "WAKE"
            with m.State("DOOMED"):
                m.d.comb += user.quiet.eq(1)
                with m.If(~user.aborted):
                    m.d.comb += user.look.eq(1)
                    m.next = "FLUSH"
            with m.State("FLUSH"):
                # A response has no completion, and a reported read has none here.
                m.d.comb += user.position.eq(job.resumed)
                m.d.sync += broken.eq(0)
                with m.If(job.kind != JobKind.COMPLETE):
                    m.d.sync += errors.eq(Status.FLUSHED | partial)
                    with m.If(~job.first & (user.failure != 0)):
                        m.d.sync += errors.eq(user.failure | partial)
                m.next = "FINISH"
                with m.If(is_respond | user.told | (job.kind == JobKind.BREAK)):
                    m.next = "WAKE"
            with m.State("FAIL"):
                with m.If(stop):
                    m.next = "DOOMED"
                with m.Elif(is_respond):
                    m.d.comb += user.response.eq(1)
                    m.next = "EVENT"
                with m.Else():
                    m.next = "FINISH"
            with m.State("FINISH"):
                # A job behind an error does not break the connection before the error does.
                m.d.comb += [user.quiet.eq(~outcome.complete.valid),
                             failing.eq(broken | job.silent),
                             unreadable.eq(job.silent & ~late)]
                with m.If(job.until_received & (errors != 0) & (broken | job.breaks | late)
                          & ~user.doomed):
                    # Behind what is unfinished. When that has completed the VI's turn breaks the
                    # connection, and the abort completes this and what came late, in order.
                    m.d.comb += [
                        user.unfinished.eq(~stop), user.quiet.eq(0),
                        user.position.eq((job.resumed | failing) & ~stop),
                        user.failed.eq(failing), user.armed.eq(broken),
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
                        m.d.comb += [user.position.eq(job.resumed | failing),
                                     user.failed.eq(failing)]
                        m.next = "BREAK"
                        with m.If(~(broken | unreadable)):
                            over()
            with m.State("EVENT"):
                m.d.comb += self.event.valid.eq(1)
                with m.If(self.event.ready):
                    m.next = "TELL BREAK"
            with m.State("TELL BREAK"):
                m.d.comb += [outcome.control_packet.valid.eq(1), user.quiet.eq(1)]
                with m.If(outcome.control_packet.ready):
                    m.next = "BREAK"
            with m.State("BREAK"):
                # The block that takes breaks may wait for an abort to be taken.
                m.d.comb += [outcome.break_.valid.eq(1), user.quiet.eq(1)]
                with m.If(outcome.break_.ready):
                    over()
            with m.State("WAKE"):
                m.d.comb += [outcome.wake.valid.eq(1), user.quiet.eq(1)]
                with m.If(outcome.wake.ready):
                    m.d.comb += user.over.eq(1)
                    m.next = "IDLE"
        return m

    def _said(self, m: Module, errors: Signal) -> None:
        """What is said of the job; that it is said is the states'."""
        job, outcome = self.job, self.outcome
        completion = outcome.complete.payload
        operation = Signal(3)
        m.d.comb += [
            operation.eq(Mux(job.queue[0], RemoteOperation.RECEIVE,
                             remote_operation(job.operation))),
            completion.queue.eq(job.queue),
            completion.address.eq(job.address),
            completion.length.eq(Mux(errors == 0, job.length, 0)),
            completion.status.eq(Cat(errors, Const(0, 7), operation)),
            completion.silent.eq(job.silent),
            completion.trace.eq(job.trace),
            outcome.wake.payload.eq(job.queue),
            outcome.break_.payload.vi.eq(job.queue[1:]),
            outcome.break_.payload.event.eq(Mux(job.silent, Event.POST_DESC, Event.CONN_LOST)),
            self.event.payload.code.eq(Event.RDMAR_PROT),
            self.event.payload.number.eq(job.queue[1:]),
            outcome.control_packet.payload.vi.eq(job.queue[1:]),
            outcome.control_packet.payload.kind.eq(PacketKind.BREAK),
            outcome.control_packet.payload.code.eq(BreakCode.RDMA_PROTECTION),
        ]
