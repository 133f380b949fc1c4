"""Drops the packets of a VI that have arrived, and completes the descriptors that end with them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS, Status
from ..types import Completion
from .job import Progress, Unfinished, before
from .job_end import remote_operation
from .unacknowledged import PLACE_BITS

__all__ = ["SentWindow", "WindowStep", "Windows"]


class WindowStep(enum.Enum, shape=2):
    """Requests to change a VI's window."""

    RELEASE = 0
    """Packets have arrived; with ``breaks`` the connection then breaks."""
    FAIL = 1
    """The connection breaks: no packet is kept."""
    FLUSH = 2
    """The VI is aborted: all descriptors complete."""


Windows = wiring.Signature({
    "load": Out(1),
    "progress": Out(Progress),
    "newest": Out(PLACE_BITS),
    "vi": Out(VI_BITS),
    "valid": Out(1),
    "step": Out(WindowStep),
    "acknowledged": Out(8),
    "breaks": Out(1),
    "errors": Out(9),
    "over": In(1),
    "oldest": In(6),
    "failure": In(9),
})
"""Whose windows they are. ``load`` takes a VI's ``progress`` and the ``newest`` place of its ring.
``valid`` begins a ``step`` (FLUSH takes ``newest`` anew), which acts from the next cycle on until
``over``, its last one. Meanwhile these hold: ``vi``; ``acknowledged``, the sequence number before
which packets have arrived; whether the connection ``breaks``, and the ``errors`` of that. Then
``oldest`` and ``failure`` are to be stored in the VI's progress."""


class SentWindow(wiring.Component):
    """Handles one VI's packets and descriptors that are not acknowledged.

    RELEASE drops the packets that have arrived and completes the descriptors in the ring that end
    with them. FAIL drops all packets; the oldest descriptor completes with ``errors``, or, if the
    ring is empty, ``failure`` keeps them for the one under way. FLUSH completes all descriptors,
    oldest first: with their own errors, the first without any with ``failure`` if there is one, the
    others as flushed.

    Latency: RELEASE 2 cycles, FLUSH 1, FAIL 1, and 2 for each descriptor that completes. Back-
    pressure: of ``complete``. Reset: idle.

    Members
    -------
    user : In(Windows)
        Whose windows they are.
    read : Out(1), place : Out(PLACE_BITS), oldest : In(Unfinished)
        Reads the ring's entry in ``place``, available in the next cycle.
    release, all : Out(1)
        Drop the packets that have arrived, or all of them.
    complete : Out(stream of Completion)
        Descriptors, in posting order.
    """

    user: In(Windows)
    read: Out(1)
    place: Out(PLACE_BITS)
    oldest: In(Unfinished)
    release: Out(1)
    all: Out(1)
    complete: Out(stream.Signature(Completion))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        user, entry, complete = self.user, self.oldest, self.complete
        oldest = Signal(6)
        failure = Signal(9)
        newest = Signal(PLACE_BITS)
        flush = Signal()
        flushed = Signal(9)
        over = Signal()
        errors = Signal(9)
        m.d.comb += [
            user.oldest.eq(oldest),
            user.failure.eq(failure),
            self.place.eq(oldest),
            complete.payload.queue.eq(user.vi << 1),
            complete.payload.address.eq(entry.address),
            complete.payload.length.eq(Mux(errors == 0, entry.length, 0)),
            complete.payload.status.eq(Cat(errors, Const(0, 7), remote_operation(entry.operation))),
            complete.payload.silent.eq(entry.silent),
            complete.payload.trace.eq(entry.trace),
        ]

        def ends() -> None:
            """No further descriptor is done."""
            with m.If(user.breaks):
                m.next = "FAIL"
            with m.Else():
                m.d.comb += user.over.eq(1)
                m.next = "IDLE"

        with m.FSM():
            with m.State("IDLE"):
                with m.If(user.load):
                    m.d.sync += [oldest.eq(user.progress.oldest), newest.eq(user.newest),
                                 failure.eq(user.progress.failure)]
                with m.If(user.valid):
                    m.d.sync += flush.eq(user.step == WindowStep.FLUSH)
                    with m.Switch(user.step):
                        with m.Case(WindowStep.RELEASE):
                            m.next = "RELEASE"
                        with m.Case(WindowStep.FAIL):
                            m.next = "FAIL"
                        with m.Case(WindowStep.FLUSH):
                            m.d.sync += newest.eq(user.newest)
                            m.next = "NEXT"
            with m.State("RELEASE"):
                m.d.comb += [self.release.eq(1), self.read.eq(1)]
                m.next = "POP"
                with m.If(oldest == newest):
                    ends()
            with m.State("POP"):
                # The oldest entry has been read: is it done?
                m.d.comb += over.eq((entry.errors == 0) & ~entry.silent
                                    & before(entry.sequence, user.acknowledged))
                with m.If(over | flush):
                    # The descriptor that was under way at the failure may have entered the ring
                    # since.
                    m.d.comb += [
                        complete.valid.eq(1),
                        flushed.eq(Mux(failure != 0, failure, Status.FLUSHED)),
                        errors.eq(Mux(flush & (entry.errors == 0), flushed, entry.errors)),
                    ]
                    with m.If(complete.ready):
                        m.d.sync += [oldest.eq(oldest + 1), failure.eq(0)]
                        m.next = "NEXT"
                with m.Else():
                    ends()
            with m.State("NEXT"):
                m.d.comb += self.read.eq(1)
                m.next = "POP"
                with m.If(oldest == newest):
                    ends()
            with m.State("FAIL"):
                # The error goes to the oldest unfinished descriptor, else to the one under way.
                m.d.comb += [self.release.eq(1), self.all.eq(1), self.read.eq(1)]
                with m.If((user.errors != 0) & (oldest != newest)):
                    m.next = "BLAME"
                with m.Else():
                    m.d.comb += user.over.eq(1)
                    m.next = "IDLE"
                    with m.If(user.errors != 0):
                        m.d.sync += failure.eq(user.errors)
            with m.State("BLAME"):
                m.d.comb += [complete.valid.eq(1),
                             errors.eq(Mux(entry.errors == 0, user.errors, entry.errors))]
                with m.If(complete.ready):
                    m.d.comb += user.over.eq(1)
                    m.d.sync += oldest.eq(oldest + 1)
                    m.next = "IDLE"
        return m
