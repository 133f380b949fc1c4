"""What comes back to the sender: acknowledgements, breaks, time-outs, orders of the manager."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.via import QUEUE_BITS, VI_BITS, BreakCode, Event, PacketKind, Status
from .send_job import Progress, Release, Unfinished, before
from .send_ring import PLACE_BITS
from .send_walk import remote_operation
from .sizes import check_power_of_two, check_vis
from .types import Acknowledged, Break, Completion, Control, ControlAction, ControlPacket
from .vi_records import ViRecords

__all__ = ["SendAcknowledged"]


class _Cause(enum.Enum, shape=3):
    """What is being worked on."""

    CONTROL = 0
    READ_DONE = 1
    ACKNOWLEDGED = 2
    EXPIRED = 3
    WATCHED = 4


LONGEST_DOUBLED = 1 << 17
"""Cycles up to which time-outs in a row double."""
MOST_DOUBLINGS = 6


class SendAcknowledged(wiring.Component):
    """Keeps every VI's progress; the only one who completes what is in the ring.

    - An acknowledgement of a sequence number between the last one and the next to be given forgets
      the packets before it, completes the Reliable Reception descriptors that are over with it,
      wakes the VI, and ends the time-outs in a row; any other number does nothing. ``again`` then
      puts all packets from it on in line once more (go-back-N). So does an ``echo``, if that packet
      was sent before the probe: the network keeps the order, so it was lost.
    - ``broken``: as an acknowledgement, then the oldest unfinished descriptor, or the one that had
      begun, gets the code's error, the VI's packets are forgotten and it breaks with CONN_LOST.
      With LOST, neither: it may come of the peer's disconnection, and its number says nothing.
    - A time-out of the oldest packet sends the peer a probe, and nothing again: it may only be
      late. Each in a row takes twice the time, up to LONGEST_DOUBLED or ``timeout``, whichever is
      more; the ``retries``-th breaks the connection, with error TRANSPORT.
    - A VI that is ``watched`` has an RDMA read outstanding for a while. If no packet of it waits
      for an acknowledgement, nothing else would find out that its peer is gone: the peer gets a
      probe. When ``retries`` of these found no answer the next one breaks the connection.
    - A connection that breaks for want of acknowledgements while a read is outstanding has it
      completed first (``read_lost``), as the receiver has it.
    - ``read_done`` and what else opens a way wakes the VI.
    - Control CREATE and CONNECT forget all about the VI (``clear``). ABORT stops the walk stage's
      job of it (``abort``, until ``quiet``), forgets its packets, completes all that is in the ring
      flushed, oldest first, sends one BREAK(LOST), then lets go; the manager wakes the VI after
      it.

    Latency: 2 cycles from an acknowledgement to its release. Throughput: one at a time, about 6
    cycles and 3 for each descriptor completed. Back-pressure: every input is taken within bounded
    cycles, as ``complete`` and ``wake`` are; nothing that could break is begun while ``break_`` has
    one to take, so that control is taken even then; a BREAK that finds another waiting for the link
    is not sent, and no time-out is looked at meanwhile. Reset: idle; the records are not reset.

    Parameters
    ----------
    vis, window, slots : int
        VIs, packets not acknowledged of one, send slots.

    Members
    -------
    control, acknowledged, read_done : In(stream)
        What comes.
    watched, watch_again, read_over : of ReadWatch ``o``, ``again``, ``done``
        Reads that are outstanding; of ``clear_vi``.
    read_lost : Out(stream of VI_BITS)
        To the receiver.
    timeout, retries : In(25), In(8)
        A time-out; so many in a row break a connection.
    complete, wake, break_, control_packet : Out(stream)
        What is said about it.
    look, look_vi, progress : In(1).array(2), In(12).array(2), Out(Progress).array(2)
        Readers of progress: fetch stage, walk stage.
    numbers_look, numbers_vi, numbers_next, numbers_reads : Out, Out, In(8), In(1)
        A VI's next sequence number, its bit of the reads begun.
    ring_look, ring_vi, newest, ring_read, ring_place, oldest : of SendRing
        The ring.
    writing, clear, clear_vi : In(1), Out(1), Out(12)
        Clears the records of a VI, while nobody writes his.
    abort, abort_vi, quiet : Out(1), Out(12), In(1)
        Of the walk stage.
    release, slot_vi, slot_sequence, found, found_slot, found_waits, found_sent, again, again_slot,
    expired, expired_vi, expired_sequence, extend, extension : of SendSlots
        The slots.
    idle : Out(1)
        Nothing under way, nothing asked for.
    """

    def __init__(self, *, vis: int, window: int, slots: int) -> None:
        check_vis(vis)
        check_power_of_two("window", window, least=1, most=32)
        check_power_of_two("slots", slots)
        self._vis = vis
        self._window = window
        self._slots = slots
        bits = ceil_log2(slots)
        super().__init__({
            "control": In(stream.Signature(Control)),
            "acknowledged": In(stream.Signature(Acknowledged)),
            "read_done": In(stream.Signature(VI_BITS)),
            "watched": In(stream.Signature(VI_BITS)),
            "watch_again": Out(1), "read_over": Out(1),
            "read_lost": Out(stream.Signature(VI_BITS)),
            "timeout": In(25), "retries": In(8),
            "complete": Out(stream.Signature(Completion)),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "break_": Out(stream.Signature(Break)),
            "control_packet": Out(stream.Signature(ControlPacket)),
            "look": In(1).array(2), "look_vi": In(VI_BITS).array(2),
            "progress": Out(Progress).array(2),
            "numbers_look": Out(1), "numbers_vi": Out(VI_BITS), "numbers_next": In(8),
            "numbers_reads": In(1),
            "ring_look": Out(1), "ring_vi": Out(VI_BITS), "newest": In(PLACE_BITS),
            "ring_read": Out(1), "ring_place": Out(PLACE_BITS), "oldest": In(Unfinished),
            "writing": In(1), "clear": Out(1), "clear_vi": Out(VI_BITS),
            "abort": Out(1), "abort_vi": Out(VI_BITS), "quiet": In(1),
            "release": Out(Release),
            "slot_vi": Out(VI_BITS), "slot_sequence": Out(8), "found": In(1),
            "found_slot": In(bits), "found_waits": In(1), "found_sent": In(32),
            "again": Out(1), "again_slot": Out(bits),
            "expired": In(1), "expired_vi": In(VI_BITS), "expired_sequence": In(8),
            "extend": Out(1), "extension": Out(32),
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

    @property
    def slots(self) -> int:
        """Send slots."""
        return self._slots

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.records = records = ViRecords(shape=Progress, vis=self._vis, readers=3)
        for port, en, vi_, out in zip(list(records.read)[1:], self.look, self.look_vi,
                                      self.progress, strict=True):
            m.d.comb += [port.en.eq(en), port.vi.eq(vi_), out.eq(port.data)]

        vi = Signal(VI_BITS)
        cause = Signal(_Cause)
        progress = Signal(Progress)
        # From the record in the first cycle, then as it becomes.
        message = Signal(Acknowledged)
        action = Signal(ControlAction)
        sequence = Signal(8)
        newest = Signal(PLACE_BITS)
        errors = Signal(9)
        # What to do after the descriptors that are over.
        breaks = Signal()
        again = Signal()
        echo = Signal()
        waited = Signal()
        wakes = Signal()
        flush = Signal()
        flushed = Signal(9)
        following = Signal(8)
        reading = Signal()
        chosen = Signal(VI_BITS)
        begins = Signal()
        code_errors = Signal(9)
        old = records.read[0].data
        entry = self.oldest
        over = Signal()
        doubled = Signal(32)
        break_pending = Signal()
        tell_pending = Signal()
        m.d.comb += [
            records.read[0].en.eq(begins),
            records.read[0].vi.eq(chosen),
            self.numbers_look.eq(begins), self.numbers_vi.eq(chosen),
            self.ring_look.eq(begins), self.ring_vi.eq(Mux(begins, chosen, vi)),
            self.ring_place.eq(progress.oldest),
            records.write_vi.eq(vi),
            records.write_data.eq(progress),
            self.clear_vi.eq(vi),
            self.abort_vi.eq(vi),
            self.release.vi.eq(vi),
            self.release.sequence.eq(progress.acknowledged),
            self.slot_vi.eq(vi),
            self.slot_sequence.eq(sequence),
            self.again_slot.eq(self.found_slot),
            self.wake.payload.eq(vi << 1),
            self.break_.valid.eq(break_pending),
            self.break_.payload.event.eq(Event.CONN_LOST),
            self.control_packet.valid.eq(tell_pending),
            self.control_packet.payload.code.eq(BreakCode.LOST),
            self.read_lost.payload.eq(vi),
            doubled.eq((self.timeout << 1) << Mux(old.retries > MOST_DOUBLINGS, MOST_DOUBLINGS,
                                                  old.retries[:3])),
            self.extension.eq(Mux(doubled < LONGEST_DOUBLED, doubled,
                                  Mux(self.timeout < LONGEST_DOUBLED, LONGEST_DOUBLED,
                                      self.timeout))),
            reading.eq(old.connected & (self.numbers_reads != old.read_done)),
            self.complete.payload.queue.eq(vi << 1),
            self.complete.payload.address.eq(entry.address),
            self.complete.payload.silent.eq(entry.silent),
            self.complete.payload.trace.eq(entry.trace),
        ]
        with m.Switch(message.code):
            with m.Case(BreakCode.REMOTE_DESCRIPTOR):
                m.d.comb += code_errors.eq(Status.REMOTE_DESCRIPTOR)
            with m.Case(BreakCode.RDMA_PROTECTION):
                m.d.comb += code_errors.eq(Status.RDMA_PROTECTION)
            with m.Case(BreakCode.TRANSPORT):
                m.d.comb += code_errors.eq(Status.TRANSPORT)

        for pending, port in ((break_pending, self.break_), (tell_pending, self.control_packet)):
            with m.If(port.ready):
                m.d.sync += pending.eq(0)

        with m.FSM() as state:
            with m.State("IDLE"):
                m.d.sync += [breaks.eq(0), again.eq(0), echo.eq(0), wakes.eq(0), errors.eq(0),
                             flush.eq(0)]
                with m.If(self.control.valid):
                    m.d.comb += [begins.eq(1), chosen.eq(self.control.payload.vi)]
                    m.d.sync += [cause.eq(_Cause.CONTROL), action.eq(self.control.payload.action)]
                with m.Elif(self.read_done.valid):
                    m.d.comb += [begins.eq(1), chosen.eq(self.read_done.payload),
                                 self.read_done.ready.eq(1)]
                    m.d.sync += cause.eq(_Cause.READ_DONE)
                with m.Elif(~break_pending):
                    with m.If(self.acknowledged.valid):
                        m.d.comb += [begins.eq(1), chosen.eq(self.acknowledged.payload.vi),
                                     self.acknowledged.ready.eq(1)]
                        m.d.sync += [cause.eq(_Cause.ACKNOWLEDGED),
                                     message.eq(self.acknowledged.payload)]
                    with m.Elif(self.expired & ~tell_pending):
                        m.d.comb += [begins.eq(1), chosen.eq(self.expired_vi)]
                        m.d.sync += cause.eq(_Cause.EXPIRED)
                    with m.Elif(self.watched.valid & ~tell_pending):
                        m.d.comb += [begins.eq(1), chosen.eq(self.watched.payload),
                                     self.watched.ready.eq(1)]
                        m.d.sync += cause.eq(_Cause.WATCHED)
                with m.If(begins):
                    m.d.sync += vi.eq(chosen)
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += [progress.eq(old), newest.eq(self.newest),
                             following.eq(self.numbers_next)]
                with m.Switch(cause):
                    with m.Case(_Cause.CONTROL):
                        m.next = "CLEAR"
                        with m.If(action == ControlAction.ABORT):
                            m.next = "QUIET"
                    with m.Case(_Cause.READ_DONE):
                        m.d.comb += self.read_over.eq(1)
                        m.d.sync += [progress.read_done.eq(~old.read_done), wakes.eq(1)]
                        m.next = "END"
                    with m.Case(_Cause.ACKNOWLEDGED):
                        m.next = "CHECK"
                    with m.Case(_Cause.EXPIRED):
                        # Younger ones wait for what comes of the oldest.
                        m.d.comb += self.extend.eq(1)
                        m.next = "IDLE"
                        with m.If(self.expired_sequence == old.acknowledged):
                            m.next = "PROBE"
                            with m.If(old.retries + 1 >= self.retries):
                                m.d.sync += [breaks.eq(1), errors.eq(Status.TRANSPORT)]
                                m.next = "FAIL"
                                with m.If(reading):
                                    m.next = "READ LOST"
                    with m.Case(_Cause.WATCHED):
                        m.next = "IDLE"
                        with m.If(reading):
                            m.d.comb += self.watch_again.eq(1)
                            # What waits for an acknowledgement has its own time.
                            with m.If(old.acknowledged == self.numbers_next):
                                m.next = "PROBE"
                                with m.If(old.retries >= self.retries):
                                    m.d.sync += [breaks.eq(1), errors.eq(Status.TRANSPORT)]
                                    m.next = "READ LOST"
            with m.State("READ LOST"):
                m.d.comb += self.read_lost.valid.eq(1)
                with m.If(self.read_lost.ready):
                    m.next = "FAIL"
            with m.State("PROBE"):
                m.d.sync += [
                    progress.retries.eq(progress.retries + 1),
                    tell_pending.eq(1),
                    self.control_packet.payload.vi.eq(vi),
                    self.control_packet.payload.kind.eq(PacketKind.PROBE),
                    self.control_packet.payload.sequence.eq(0),
                ]
                m.next = "END"
            with m.State("CHECK"):
                m.d.sync += [breaks.eq(message.broken), errors.eq(code_errors)]
                m.next = "END"
                with m.If(message.broken):
                    m.next = "FAIL"
                with m.If(((message.sequence - progress.acknowledged)[:8]
                           <= (following - progress.acknowledged)[:8])
                          & ~(message.broken & (message.code == BreakCode.LOST))):
                    m.d.sync += [
                        progress.acknowledged.eq(message.sequence),
                        sequence.eq(message.sequence),
                        progress.retries.eq(0),
                        again.eq(message.again & ~message.broken),
                        echo.eq(message.echo),
                    ]
                    with m.If(message.sequence != progress.acknowledged):
                        m.d.sync += wakes.eq(~message.broken)
                    m.next = "RELEASE"
            with m.State("RELEASE"):
                m.d.comb += [self.release.valid.eq(1), self.ring_read.eq(1)]
                m.next = "POP"
                with m.If(progress.oldest == newest):
                    m.next = "END"
                    with m.If(breaks):
                        m.next = "FAIL"
            with m.State("POP"):
                # The oldest entry is there: is it over?
                m.d.comb += over.eq((entry.errors == 0) & ~entry.silent
                                    & before(entry.sequence, progress.acknowledged))
                with m.If(over | flush):
                    m.d.comb += [
                        self.complete.valid.eq(1),
                        self._status(entry, Mux(flush & (entry.errors == 0), flushed,
                                                entry.errors)),
                    ]
                    # What was under way when it failed may have come into the ring since.
                    m.d.comb += flushed.eq(Mux(progress.failure != 0, progress.failure,
                                               Status.FLUSHED))
                    with m.If(self.complete.ready):
                        m.d.sync += [progress.oldest.eq(progress.oldest + 1),
                                     progress.failure.eq(0)]
                        m.next = "NEXT"
                with m.Else():
                    m.next = "END"
                    with m.If(breaks):
                        m.next = "FAIL"
            with m.State("NEXT"):
                m.d.comb += self.ring_read.eq(1)
                m.next = "POP"
                with m.If(progress.oldest == newest):
                    m.next = "END"
                    with m.If(breaks):
                        m.next = "FAIL"
            with m.State("FAIL"):
                # The error goes to the oldest unfinished descriptor, else to the one under way.
                m.d.comb += [self.release.valid.eq(1), self.release.all.eq(1),
                             self.ring_read.eq(1)]
                m.next = "END"
                with m.If(errors != 0):
                    with m.If(progress.oldest != newest):
                        m.next = "BLAME"
                    with m.Else():
                        m.d.sync += progress.failure.eq(errors)
            with m.State("BLAME"):
                m.d.comb += [
                    self.complete.valid.eq(1),
                    self._status(entry, Mux(entry.errors == 0, errors, entry.errors)),
                ]
                with m.If(self.complete.ready):
                    m.d.sync += progress.oldest.eq(progress.oldest + 1)
                    m.next = "END"
            with m.State("END"):
                m.d.comb += records.write.eq(1)
                m.d.sync += waited.eq(self.found & self.found_waits)
                m.next = "IDLE"
                with m.If(flush):
                    m.next = "TELL"
                with m.Elif(breaks):
                    m.next = "BREAK"
                with m.Elif(again):
                    m.next = "REPEAT"
                with m.Elif(echo):
                    m.next = "JUDGE"
                with m.Elif(wakes):
                    m.next = "WAKE"
            with m.State("JUDGE"):
                m.next = "IDLE"
                with m.If(waited & (self.found_sent - message.code)[31]):
                    m.next = "REPEAT"
                with m.Elif(wakes):
                    m.next = "WAKE"
            with m.State("REPEAT"):
                m.d.comb += self.again.eq(self.found & self.found_waits)
                m.d.sync += sequence.eq(sequence + 1)
                with m.If(~self.found):
                    m.next = "IDLE"
                    with m.If(wakes):
                        m.next = "WAKE"
            with m.State("BREAK"):
                m.d.sync += [break_pending.eq(1), self.break_.payload.vi.eq(vi)]
                m.next = "IDLE"
            with m.State("WAKE"):
                m.d.comb += self.wake.valid.eq(1)
                with m.If(self.wake.ready):
                    m.next = "IDLE"
            with m.State("CLEAR"):
                with m.If(~self.writing):
                    m.d.comb += [
                        self.clear.eq(1), self.control.ready.eq(1),
                        records.write.eq(1), records.write_data.eq(0),
                        records.write_data.connected.eq(action == ControlAction.CONNECT),
                    ]
                    m.next = "IDLE"
            with m.State("QUIET"):
                m.d.comb += self.abort.eq(1)
                with m.If(self.quiet):
                    m.next = "DROP"
            with m.State("DROP"):
                m.d.comb += [self.abort.eq(1), self.release.valid.eq(1), self.release.all.eq(1),
                             self.ring_look.eq(1)]
                m.next = "DROPPED"
            with m.State("DROPPED"):
                m.d.comb += self.abort.eq(1)
                m.d.sync += [flush.eq(1), progress.connected.eq(0), newest.eq(self.newest)]
                m.next = "NEXT"
            with m.State("TELL"):
                # If one still waits for the link, this peer finds out by its time-outs.
                with m.If(~tell_pending):
                    m.d.sync += [tell_pending.eq(1), self.control_packet.payload.vi.eq(vi),
                                 self.control_packet.payload.kind.eq(PacketKind.BREAK),
                                 self.control_packet.payload.sequence.eq(0)]
                m.d.comb += self.control.ready.eq(1)
                m.next = "IDLE"
        with m.If(flush):
            m.d.comb += self.abort.eq(1)
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~self.control.valid
                                 & ~self.read_done.valid & ~self.acknowledged.valid
                                 & ~self.watched.valid
                                 & ~break_pending & ~tell_pending)
        return m

    def _status(self, entry: "data.View", errors: "Signal | Mux") -> list:
        """The completion of a ring's entry."""
        good = Mux(errors == 0, entry.length, 0)
        return [
            self.complete.payload.length.eq(good),
            self.complete.payload.status.eq(
                Cat(errors[:9], Const(0, 7), remote_operation(entry.operation))),
        ]
