"""Answers to the sender: acknowledgements and breaks; also time-outs, and orders of the manager."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.via import VI_BITS, BreakCode, Event, PacketKind, Status
from ...parts.sizes import check_power_of_two, check_vis
from ...parts.timing import Timing
from ..records import Clear, ViRecords, record_read
from ..types import Acknowledged, Control, ControlAction
from .go_back import GoBack
from .job import Abort, Numbers, Outcome, Progress
from .patience import Patience
from .read_timer import Watched
from .sent_window import SentWindow, WindowStep
from .slots import slot_wait
from .unacknowledged import RingRead

__all__ = ["CLEARED", "Acknowledgements", "Reads"]

CLEARED = 4
"""Blocks besides this one that keep records of VIs."""

Reads = wiring.Signature({
    "done": In(stream.Signature(VI_BITS)),
    "lost": Out(stream.Signature(VI_BITS)),
    "watch": Out(Watched),
})
"""Outstanding RDMA reads: ``done`` from the receiver; ``lost`` to the receiver; and ``watch``, the
timer of silent peers."""


class _Cause(enum.Enum, shape=3):
    """The event that is being handled."""

    CONTROL = 0
    READ_DONE = 1
    ACKNOWLEDGED = 2
    EXPIRED = 3
    WATCHED = 4


class Acknowledgements(wiring.Component):
    """Keeps every VI's progress, and is the only block that completes descriptors in the ring.

    It takes what comes, an event at a time, and stores what the event changes. :class:`SentWindow`
    drops packets and completes descriptors, :class:`GoBack` queues packets again, and
    :class:`Patience` counts time-outs.

    - An acknowledgement with a sequence number between the last one and the next to be given drops
      the packets before that number, completes the Reliable Reception descriptors that end there,
      wakes the VI, and resets the count of time-outs in a row. Any other number does nothing. With
      ``again`` all packets from that number on are queued again (go-back-N). The same happens with
      an ``echo`` if the packet was sent before the probe: the network keeps the order, so the
      packet was lost.
    - ``broken``: handled as an acknowledgement; then the oldest unfinished descriptor, or the one
      under way, gets the code's error, the VI's packets are dropped, and the VI breaks with
      CONN_LOST. With code LOST there is no acknowledgement and no such error, because it may come
      from the peer's disconnection and its number is not valid.
    - A time-out of the oldest packet sends a probe to the peer and no packet again, because the
      packet may only be late. Each time-out in a row is twice as long, as far as Patience says. The
      ``retries``-th breaks the connection with error TRANSPORT.
    - A VI that ``watch`` offers has had an RDMA read outstanding for long. If no packet of it waits
      for an acknowledgement, nothing else would detect that its peer is gone, so the peer gets a
      probe. After ``retries`` of these without an answer the next one breaks the connection.
    - If a connection breaks for lack of acknowledgements while a read is outstanding, the receiver,
      which has the read's descriptor, first completes it (``lost``).
    - A read that is ``done``, and every other event that lets the VI send, wakes the VI.
    - Control CREATE and CONNECT clear all state of the VI (``clear``). ABORT stops the walk stage's
      job of the VI (``abort``), drops its packets, completes all descriptors in the ring as
      flushed, oldest first, sends one BREAK(LOST), and then releases the walk stage; the manager
      wakes the VI after it.

    Latency: 2 cycles from an acknowledgement to its release. Throughput: one at a time, about 6
    cycles and 3 for each descriptor completed. Back-pressure: every input is taken within bounded
    cycles if ``complete`` and ``wake`` are. Nothing that could break a connection begins while a
    break waits in ``break_``, so that control is taken even then. A BREAK that finds another one
    waiting for the link is not sent, and no time-out is handled meanwhile. Reset: idle; the records
    are not reset.

    Parameters
    ----------
    vis, window, slots : int
        VIs, packets not acknowledged of one, send slots.

    Members
    -------
    control, acknowledged : In(stream)
        What comes.
    reads : Out(Reads)
        Reads that are outstanding.
    timing : In(Timing)
        ``via.retry_timeout``: a time-out; ``via.retries``: this many in a row break a connection.
    outcome : Out(Outcome)
        Results: completions, breaks, control packets.
    progress : In(record_read(Progress)).array(2)
        Readers of progress: fetch stage, walk stage.
    numbers : Out(record_read(Numbers))
        A VI's next sequence number, its bit of the reads begun.
    ring : Out(RingRead)
        The ring.
    clear : Out(Clear).array(CLEARED)
        Clears the records of a VI while nobody writes them.
    abort : Out(Abort)
        Of the walk stage.
    slots : Out(slot_wait(bits))
        The slots.
    idle : Out(1)
        Nothing under way, nothing requested.
    """

    def __init__(self, *, vis: int, window: int, slots: int) -> None:
        check_vis(vis)
        check_power_of_two("window", window, least=1, most=32)
        check_power_of_two("slots", slots)
        self._vis = vis
        self._window = window
        bits = ceil_log2(slots)
        super().__init__({
            "control": In(stream.Signature(Control)),
            "acknowledged": In(stream.Signature(Acknowledged)),
            "reads": Out(Reads),
            "timing": In(Timing),
            "outcome": Out(Outcome),
            "progress": In(record_read(Progress)).array(2),
            "numbers": Out(record_read(Numbers)),
            "ring": Out(RingRead),
            "clear": Out(Clear).array(CLEARED),
            "abort": Out(Abort),
            "slots": Out(slot_wait(bits)),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def window(self) -> int:
        """Packets not acknowledged."""
        return self._window

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.records = records = ViRecords(shape=Progress, vis=self._vis, readers=3)
        m.submodules.window = window = SentWindow()
        m.submodules.go_back = back = GoBack()
        m.submodules.patience = patience = Patience()
        for reader, port in zip(self.progress, list(records.read)[1:], strict=True):
            wiring.connect(m, wiring.flipped(reader), port)
        reads, outcome, ring, slots = self.reads, self.outcome, self.ring, self.slots
        wiring.connect(m, wiring.flipped(outcome.complete), window.complete)
        numbers = self.numbers.data
        writing = Signal()
        clear = Signal()
        m.d.comb += writing.eq(Cat(port.writing for port in self.clear).any())

        vi = Signal(VI_BITS)
        cause = Signal(_Cause)
        # From the record in the first cycle, then as updated; but for what the window updates.
        progress = Signal(Progress)
        message = Signal(Acknowledged)
        action = Signal(ControlAction)
        errors = Signal(9)
        # The next step after the descriptors that are done.
        breaks = Signal()
        again = Signal()
        echo = Signal()
        wakes = Signal()
        flush = Signal()
        following = Signal(8)
        reading = Signal()
        chosen = Signal(VI_BITS)
        begins = Signal()
        drops = Signal()
        code_errors = Signal(9)
        old = records.read[0].data
        break_pending = Signal()
        tell_pending = Signal()
        m.d.comb += [
            records.read[0].en.eq(begins),
            records.read[0].vi.eq(chosen),
            self.numbers.en.eq(begins), self.numbers.vi.eq(chosen),
            ring.look.eq(begins | drops), ring.vi.eq(Mux(begins, chosen, vi)),
            ring.read.eq(window.read), ring.place.eq(window.place), window.oldest.eq(ring.oldest),
            records.write.vi.eq(vi),
            records.write.data.eq(progress),
            records.write.data.oldest.eq(window.user.oldest),
            records.write.data.failure.eq(window.user.failure),
            *(port.valid.eq(clear) for port in self.clear),
            *(port.vi.eq(vi) for port in self.clear),
            reads.watch.vi.eq(vi),
            self.abort.vi.eq(vi),
            window.user.progress.eq(old),
            window.user.newest.eq(ring.newest),
            window.user.vi.eq(vi),
            window.user.acknowledged.eq(progress.acknowledged),
            window.user.breaks.eq(breaks),
            window.user.errors.eq(errors),
            slots.release.valid.eq(window.release | drops),
            slots.release.all.eq(window.all | drops),
            slots.release.vi.eq(vi),
            slots.release.sequence.eq(progress.acknowledged),
            back.user.sequence.eq(message.sequence),
            back.user.echoed.eq(message.code),
            back.found.eq(slots.find.found),
            back.waits.eq(slots.find.waits),
            back.sent.eq(slots.find.sent),
            slots.find.vi.eq(vi),
            slots.find.sequence.eq(back.sequence),
            slots.again.eq(back.again),
            slots.again_slot.eq(slots.find.slot),
            patience.timing.eq(self.timing),
            patience.retries.eq(old.retries),
            slots.expiry.extension.eq(patience.extension),
            outcome.wake.payload.eq(vi << 1),
            outcome.break_.valid.eq(break_pending),
            outcome.break_.payload.event.eq(Event.CONN_LOST),
            outcome.control_packet.valid.eq(tell_pending),
            outcome.control_packet.payload.code.eq(BreakCode.LOST),
            reads.lost.payload.eq(vi),
            reading.eq(old.connected & (numbers.reads != old.read_done)),
        ]
        with m.Switch(message.code):
            with m.Case(BreakCode.REMOTE_DESCRIPTOR):
                m.d.comb += code_errors.eq(Status.REMOTE_DESCRIPTOR)
            with m.Case(BreakCode.RDMA_PROTECTION):
                m.d.comb += code_errors.eq(Status.RDMA_PROTECTION)
            with m.Case(BreakCode.TRANSPORT):
                m.d.comb += code_errors.eq(Status.TRANSPORT)

        for pending, port in ((break_pending, outcome.break_),
                              (tell_pending, outcome.control_packet)):
            with m.If(port.ready):
                m.d.sync += pending.eq(0)

        def step(step: WindowStep) -> None:
            m.d.comb += [window.user.valid.eq(1), window.user.step.eq(step)]
            m.next = "WINDOW"

        def tell(kind: PacketKind) -> None:
            m.d.sync += [tell_pending.eq(1), outcome.control_packet.payload.vi.eq(vi),
                         outcome.control_packet.payload.kind.eq(kind),
                         outcome.control_packet.payload.sequence.eq(0)]

        with m.FSM() as state:
            with m.State("IDLE"):
                m.d.sync += [breaks.eq(0), again.eq(0), echo.eq(0), wakes.eq(0), errors.eq(0),
                             flush.eq(0)]
                with m.If(self.control.valid):
                    m.d.comb += [begins.eq(1), chosen.eq(self.control.payload.vi)]
                    m.d.sync += [cause.eq(_Cause.CONTROL), action.eq(self.control.payload.action)]
                with m.Elif(reads.done.valid):
                    m.d.comb += [begins.eq(1), chosen.eq(reads.done.payload),
                                 reads.done.ready.eq(1)]
                    m.d.sync += cause.eq(_Cause.READ_DONE)
                with m.Elif(~break_pending):
                    with m.If(self.acknowledged.valid):
                        m.d.comb += [begins.eq(1), chosen.eq(self.acknowledged.payload.vi),
                                     self.acknowledged.ready.eq(1)]
                        m.d.sync += [cause.eq(_Cause.ACKNOWLEDGED),
                                     message.eq(self.acknowledged.payload)]
                    with m.Elif(slots.expiry.valid & ~tell_pending):
                        m.d.comb += [begins.eq(1), chosen.eq(slots.expiry.vi)]
                        m.d.sync += cause.eq(_Cause.EXPIRED)
                    with m.Elif(reads.watch.o.valid & ~tell_pending):
                        m.d.comb += [begins.eq(1), chosen.eq(reads.watch.o.payload),
                                     reads.watch.o.ready.eq(1)]
                        m.d.sync += cause.eq(_Cause.WATCHED)
                with m.If(begins):
                    m.d.sync += vi.eq(chosen)
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.comb += window.user.load.eq(1)
                m.d.sync += [progress.eq(old), following.eq(numbers.following)]
                with m.Switch(cause):
                    with m.Case(_Cause.CONTROL):
                        m.next = "CLEAR"
                        with m.If(action == ControlAction.ABORT):
                            m.next = "QUIET"
                    with m.Case(_Cause.READ_DONE):
                        m.d.comb += reads.watch.done.eq(1)
                        m.d.sync += [progress.read_done.eq(~old.read_done), wakes.eq(1)]
                        m.next = "END"
                    with m.Case(_Cause.ACKNOWLEDGED):
                        m.next = "CHECK"
                    with m.Case(_Cause.EXPIRED):
                        # Younger packets wait for the result of the oldest.
                        m.d.comb += slots.expiry.extend.eq(1)
                        m.next = "IDLE"
                        with m.If(slots.expiry.sequence == old.acknowledged):
                            m.next = "PROBE"
                            with m.If(patience.last):
                                m.d.sync += [breaks.eq(1), errors.eq(Status.TRANSPORT)]
                                with m.If(reading):
                                    m.next = "READ LOST"
                                with m.Else():
                                    step(WindowStep.FAIL)
                    with m.Case(_Cause.WATCHED):
                        m.next = "IDLE"
                        with m.If(reading):
                            m.d.comb += reads.watch.again.eq(1)
                            # A packet that waits for an acknowledgement has its own timer.
                            with m.If(old.acknowledged == numbers.following):
                                m.next = "PROBE"
                                with m.If(patience.silent):
                                    m.d.sync += [breaks.eq(1), errors.eq(Status.TRANSPORT)]
                                    m.next = "READ LOST"
            with m.State("READ LOST"):
                m.d.comb += reads.lost.valid.eq(1)
                with m.If(reads.lost.ready):
                    step(WindowStep.FAIL)
            with m.State("PROBE"):
                m.d.sync += progress.retries.eq(progress.retries + 1)
                tell(PacketKind.PROBE)
                m.next = "END"
            with m.State("CHECK"):
                m.d.sync += [breaks.eq(message.broken), errors.eq(code_errors)]
                m.next = "END"
                with m.If(((message.sequence - progress.acknowledged)[:8]
                           <= (following - progress.acknowledged)[:8])
                          & ~(message.broken & (message.code == BreakCode.LOST))):
                    m.d.comb += back.user.load.eq(1)
                    m.d.sync += [
                        progress.acknowledged.eq(message.sequence),
                        progress.retries.eq(0),
                        again.eq(message.again & ~message.broken),
                        echo.eq(message.echo),
                    ]
                    with m.If(message.sequence != progress.acknowledged):
                        m.d.sync += wakes.eq(~message.broken)
                    step(WindowStep.RELEASE)
                with m.Elif(message.broken):
                    step(WindowStep.FAIL)
            with m.State("WINDOW"):
                with m.If(window.user.over):
                    m.next = "END"
            with m.State("END"):
                m.d.comb += records.write.valid.eq(1)
                m.next = "IDLE"
                with m.If(flush):
                    m.next = "TELL"
                with m.Elif(breaks):
                    m.next = "BREAK"
                with m.Elif(again):
                    m.d.comb += back.user.again.eq(1)
                    m.next = "REPEAT"
                with m.Elif(echo):
                    m.d.comb += back.user.judge.eq(1)
                    m.next = "REPEAT"
                with m.Elif(wakes):
                    m.next = "WAKE"
            with m.State("REPEAT"):
                with m.If(back.user.over):
                    m.next = "IDLE"
                    with m.If(wakes):
                        m.next = "WAKE"
            with m.State("BREAK"):
                m.d.sync += [break_pending.eq(1), outcome.break_.payload.vi.eq(vi)]
                m.next = "IDLE"
            with m.State("WAKE"):
                m.d.comb += outcome.wake.valid.eq(1)
                with m.If(outcome.wake.ready):
                    m.next = "IDLE"
            with m.State("CLEAR"):
                with m.If(~writing):
                    m.d.comb += [
                        clear.eq(1), self.control.ready.eq(1),
                        records.write.valid.eq(1), records.write.data.eq(0),
                        records.write.data.connected.eq(action == ControlAction.CONNECT),
                    ]
                    m.next = "IDLE"
            with m.State("QUIET"):
                m.d.comb += self.abort.valid.eq(1)
                with m.If(self.abort.quiet):
                    m.next = "DROP"
            with m.State("DROP"):
                m.d.comb += [self.abort.valid.eq(1), drops.eq(1)]
                m.next = "DROPPED"
            with m.State("DROPPED"):
                m.d.comb += self.abort.valid.eq(1)
                m.d.sync += [flush.eq(1), progress.connected.eq(0)]
                step(WindowStep.FLUSH)
            with m.State("TELL"):
                # If one still waits for the link, this peer detects the break by its time-outs.
                with m.If(~tell_pending):
                    tell(PacketKind.BREAK)
                m.d.comb += self.control.ready.eq(1)
                m.next = "IDLE"
        with m.If(flush):
            m.d.comb += self.abort.valid.eq(1)
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~self.control.valid
                                 & ~reads.done.valid & ~self.acknowledged.valid
                                 & ~reads.watch.o.valid
                                 & ~break_pending & ~tell_pending)
        return m
