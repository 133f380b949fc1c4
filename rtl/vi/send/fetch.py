"""First stage of the sender: takes a queue's turn, reads its descriptor, and makes a job of it."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.trace import Kind
from ....layouts.via import QUEUE_BITS, VI_BITS
from ...parts.event import EventPort
from ...parts.sizes import check_count, check_power_of_two, check_vis
from ..descriptors.fetch import DescriptorFetch, next_address
from ..records import Clear, ViRecords, record_read
from ..types import Address, ContextRead, Take, VirtualMemory
from .job import Numbers, Position, Progress, Response, Work
from .turn import SendTurn, Turn
from .turn_check import TurnCheck
from .unacknowledged import PLACE_BITS

__all__ = ["Known", "SendFetch"]

Known = wiring.Signature({
    "position": Out(record_read(Position)),
    "progress": Out(record_read(Progress)),
    "response": Out(record_read(Response)),
    "newest": Out(record_read(PLACE_BITS)),
})
"""State of a VI in other parts, read all at once: the progress of its descriptor and of its
acknowledgements, the response owed to its peer, and the end of its ring."""


class SendFetch(wiring.Component):
    """Turns work queues' turns into jobs for the walk stage.

    A turn of a send queue whose VI is CONNECTED gives at most one job: a packet of the response to
    the peer's RDMA read, the next packet of the message under way, or the first packet of the next
    descriptor, which is taken and read. The turn gives no job and is dropped while the walk stage
    has an ``exclusive`` job of the VI, an RDMA read of it is outstanding, or ``window`` packets are
    not acknowledged; the end of each of these conditions wakes the VI. Packets get their sequence
    numbers here. A turn of a queue whose VI is IDLE (send queue) or in ERROR and not ``connected``
    (both queues) takes a descriptor and completes it as flushed. Other turns are dropped.

    A descriptor that cannot be read gives a job that completes silently and breaks the VI, and a
    lost Link. A malformed or too long descriptor gives a completion with its error, and on a
    reliable VI a broken connection. After a descriptor in error, found by either stage, the VI's
    turns only break the connection, when all descriptors before it have completed. An RDMA read of
    a Reliable Reception VI is first parked: it starts when no descriptor before it is unfinished.

    :class:`TurnCheck` examines a turn while the descriptor of the previous one is read, unless both
    are of the same VI; :class:`SendTurn` makes the job, for which the VI's state is read again. If
    the last descriptor of a VI had at most one segment, only one is read of the next descriptor;
    the walk stage reads the rest if there is more.

    Latency: 4 cycles from ``next`` to the descriptor's translation, if ``take`` answers in the
    cycle after it is asked; the job is offered in the cycle after the read ended. Throughput: one
    descriptor read at a time, 5 cycles and a translation from the end of one to the next one's bus
    request, or 2 and a translation if the next is of another VI; a descriptor is read while the
    job before it is in the walk stage. Back-pressure: ``job``. Reset: idle.

    Parameters
    ----------
    vis, window, mtu : int
        VIs; packets not acknowledged of one; payload bytes of a packet.

    Members
    -------
    next : In(stream of QUEUE_BITS), wake : Out(stream of QUEUE_BITS)
        From and to the scheduler.
    take, context : Out(Take), Out(ContextRead)
        Work queues and contexts.
    memory : Out(VirtualMemory)
        For its DescriptorFetch.
    known : Out(Known)
        State of a VI in other parts.
    numbers : In(record_read(Numbers))
        Reads a VI's numbers.
    clear : In(Clear)
        Clears a VI's numbers.
    work : Out(Work)
        To the walk stage.
    events : Out(EventPort).array(2)
        BEGIN when a descriptor's turn begins (arg: the queue), END when it has come.
    idle : Out(1)
        Nothing under way.
    """

    def __init__(self, *, vis: int, window: int, mtu: int) -> None:
        check_vis(vis)
        check_power_of_two("window", window, least=1, most=32)
        check_count("mtu", mtu, least=8)
        self._vis = vis
        self._window = window
        self._mtu = mtu
        super().__init__({
            "next": In(stream.Signature(QUEUE_BITS)),
            "wake": Out(stream.Signature(QUEUE_BITS)),
            "take": Out(Take),
            "context": Out(ContextRead),
            "memory": Out(VirtualMemory),
            "known": Out(Known),
            "numbers": In(record_read(Numbers)),
            "clear": In(Clear),
            "work": Out(Work),
            "events": Out(EventPort).array(2),
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
    def mtu(self) -> int:
        """Payload bytes of a packet."""
        return self._mtu

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.check = check = TurnCheck(window=self._window)
        m.submodules.fetch = fetch = DescriptorFetch()
        m.submodules.decide = decide = SendTurn(window=self._window, mtu=self._mtu)
        m.submodules.numbers = store = ViRecords(shape=Numbers, vis=self._vis, readers=2)
        wiring.connect(m, wiring.flipped(self.memory), fetch.memory)
        wiring.connect(m, wiring.flipped(self.numbers), store.read[1])
        wiring.connect(m, wiring.flipped(self.clear), store.clear)
        wiring.connect(m, wiring.flipped(self.next), check.next)
        wiring.connect(m, wiring.flipped(self.take.request), check.asks)
        known, work, found, checked = self.known, self.work, check.found, check.o.payload
        look = Signal()
        look_vi = Signal(VI_BITS)
        for port in (known.position, known.progress, known.response, known.newest, store.read[0]):
            m.d.comb += [port.en.eq(look), port.vi.eq(look_vi)]

        # The turn whose descriptor is read and which becomes a job.
        turn = Signal(Turn)
        passes = Signal()
        # There is no such turn; it is looked up in this cycle.
        free = Signal()
        looks = Signal()
        # Reports still to be made after a job was handed over.
        link_pending = Signal()
        wake_pending = Signal()
        told_queue = Signal(QUEUE_BITS)
        told_address = Signal(Address)
        told_lost = Signal()
        m.d.comb += [
            found.context.eq(self.context.data),
            found.position.eq(known.position.data),
            found.progress.eq(known.progress.data),
            found.response.eq(known.response.data),
            found.newest.eq(known.newest.data),
            found.numbers.eq(store.read[0].data),
            # Not while the turn behind it changes the state that would be read here.
            check.may.eq(~looks & (free | (self.next.payload[1:] != turn.queue[1:]))),
            check.held.eq((work.job.valid & work.job.payload.exclusive
                           & (work.job.payload.queue[1:] == check.vi))
                          | (work.exclusive & (work.vi == check.vi))),
            check.taken.valid.eq(self.take.valid),
            check.taken.found.eq(self.take.found),
            check.taken.address.eq(self.take.address),
            check.taken.follow.eq(self.take.follow),
            check.o.ready.eq(free & (~checked.reads | fetch.request.ready)),
            passes.eq(check.o.valid & check.o.ready),
            fetch.request.valid.eq(check.o.valid & free & checked.reads),
            fetch.request.payload.tag.eq(checked.tag),
            fetch.request.payload.address.eq(checked.turn.address),
            fetch.request.payload.brief.eq(checked.brief),
            self.context.vi.eq(look_vi),
            look_vi.eq(turn.queue[1:]),
            store.write.vi.eq(turn.queue[1:]),
            self.take.link.payload.queue.eq(told_queue),
            self.take.link.payload.address.eq(told_address),
            self.take.link.payload.lost.eq(told_lost),
            self.take.link.valid.eq(link_pending),
            self.wake.payload.eq(told_queue),
            self.wake.valid.eq(wake_pending),
        ]
        for pending, port in ((link_pending, self.take.link), (wake_pending, self.wake)):
            with m.If(port.ready):
                m.d.sync += pending.eq(0)
        with m.If(check.next.ready):
            m.d.comb += [look.eq(1), look_vi.eq(self.next.payload[1:])]

        hand = Signal()
        room = Signal()
        m.d.comb += room.eq((~work.job.valid | work.job.ready) & ~(link_pending | wake_pending))
        with m.FSM() as behind:
            with m.State("EMPTY"):
                m.d.comb += free.eq(1)
                with m.If(passes):
                    m.d.sync += turn.eq(checked.turn)
                    m.next = "READ"
                    with m.If(~checked.reads):
                        m.d.comb += [look.eq(1), look_vi.eq(check.vi)]
                        m.next = "HAND"
            with m.State("READ"):
                # A read that is refused at once may end before this state does.
                with m.If(fetch.ending | fetch.valid):
                    m.d.comb += looks.eq(1)
                    m.next = "HAND"
            with m.State("LOOK"):
                m.d.comb += looks.eq(1)
                m.next = "HAND"
            with m.State("HAND"):
                with m.If(room):
                    m.d.comb += hand.eq(1)
                    m.next = "EMPTY"
                with m.Elif(look):
                    # The previous turn has finished its look-up: later data is not of this turn.
                    m.next = "LOOK"
        with m.If(looks):
            m.d.comb += look.eq(1)
        m.d.comb += [
            self.events[0].valid.eq(self.take.request.valid & self.take.request.ready),
            self.events[0].kind.eq(Kind.BEGIN), self.events[0].arg.eq(self.take.request.payload),
            self.events[1].valid.eq(fetch.valid), self.events[1].kind.eq(Kind.END),
            self.events[1].number.eq(fetch.words[2][:24]), self.events[1].arg.eq(turn.queue),
            self.idle.eq(check.idle & behind.ongoing("EMPTY") & ~self.next.valid
                         & ~work.job.valid & ~(link_pending | wake_pending)),
            decide.hand.eq(hand),
            decide.turn.eq(turn),
            decide.context.eq(found.context),
            decide.position.eq(found.position),
            decide.failure.eq(found.progress.failure),
            decide.response.eq(found.response),
            decide.block.words.eq(fetch.words),
            decide.block.count.eq(Mux(fetch.ok, fetch.count, 0)),
            decide.block.cut.eq(fetch.cut),
            decide.numbers.eq(found.numbers),
            store.write.valid.eq(decide.counts),
            store.write.data.eq(decide.next_numbers),
        ]
        with m.If(work.job.ready):
            m.d.sync += work.job.valid.eq(0)
        with m.If(hand):
            m.d.sync += [
                work.job.valid.eq(1),
                work.job.payload.eq(decide.job),
                told_queue.eq(turn.queue),
                told_address.eq(next_address(fetch.words)),
                told_lost.eq(decide.job.silent),
                link_pending.eq(turn.follow),
                wake_pending.eq(turn.follow & ~decide.job.exclusive),
            ]
        return m
