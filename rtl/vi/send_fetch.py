"""First stage of the sender: whose turn it is, what its descriptor says, what is to be done."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import (
    HANDLE_BITS,
    MAX_SEGMENTS,
    QUEUE_BITS,
    VA_BITS,
    VI_BITS,
    Event,
    Operation,
    Reliability,
    Status,
    ViState,
)
from ..burst import Burst
from .descriptor_fetch import HEAD_WORDS, DescriptorFetch, next_address
from .send_job import Job, JobKind, Position, Progress, Response
from .send_ring import PLACE_BITS
from .sizes import check_count, check_power_of_two, check_vis
from .types import Address, Break, ContextRead, Take, Translate
from .vi_records import ViRecords

__all__ = ["Numbers", "SendFetch"]


class Numbers(data.Struct):
    """Of a VI: the next packet's sequence number, packets since the last that asked for an
    acknowledgement, and a bit that changes with every RDMA read begun."""

    following: 8
    since: 6
    reads: 1


class SendFetch(wiring.Component):
    """Turns work queues' turns into jobs for the walk stage.

    A turn of a send queue whose VI is CONNECTED gives at most one job: a packet of the response to
    the peer's RDMA read, the next packet of the message begun, or the first of the next descriptor,
    which is taken and read. It gives none, and is forgotten, while the walk stage has an
    ``exclusive`` job of the VI, an RDMA read of it is outstanding, or ``window`` packets are not
    acknowledged: what ends each of these wakes the VI. Packets get their sequence numbers here. A
    turn of a queue whose VI is IDLE (send queue) or in ERROR and not ``connected`` (both queues)
    takes a descriptor and completes it flushed. Other turns are forgotten.

    A descriptor that cannot be read gives a silent completion, a Break POST_DESC and a lost Link;
    a malformed or too long one a completion with its error, and on a reliable VI a broken
    connection. An RDMA read of a Reliable Reception VI is first parked: it starts when no
    descriptor before it is unfinished.

    Latency: 4 cycles from ``next`` to the descriptor's translation, if ``take`` answers in the
    cycle after it is asked; the job is offered in the cycle after the read ended. Throughput: one
    turn at a time; a descriptor is read while the job before it is in the walk stage.
    Back-pressure: ``job``. Reset: idle.

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
    translate, bus, max_beats : Out(Translate), Out(Burst), In(10)
        For its DescriptorFetch.
    break_ : Out(stream of Break)
        POST_DESC.
    look, look_vi : Out(1), Out(12)
        Asks for the following four of a VI, there in the next cycle and until ``look``.
    position, progress, response, newest : In
        What the other parts keep of it.
    numbers_look, numbers_vi, numbers_next : In(1), In(12), Out(8)
        Reads a VI's next sequence number.
    clear, clear_vi, writing : In(1), In(12), Out(1)
        Forget a VI's numbers, only while ``writing`` is low.
    job : Out(stream of Job)
        To the walk stage, which takes it when it is done with it.
    turn, came : Out(1), Out(1)
        A descriptor's turn began, and it came: high for a cycle.
    queue, trace : Out(13), Out(24)
        Whose turn it is, and with ``came`` its trace number.
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
            "translate": Out(Translate),
            "bus": Out(Burst),
            "max_beats": In(10),
            "break_": Out(stream.Signature(Break)),
            "look": Out(1), "look_vi": Out(VI_BITS),
            "position": In(Position), "progress": In(Progress), "response": In(Response),
            "newest": In(PLACE_BITS),
            "numbers_look": In(1), "numbers_vi": In(VI_BITS), "numbers_next": Out(8),
            "clear": In(1), "clear_vi": In(VI_BITS), "writing": Out(1),
            "job": Out(stream.Signature(Job)),
            "turn": Out(1), "came": Out(1), "queue": Out(QUEUE_BITS), "trace": Out(24),
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
        m.submodules.fetch = fetch = DescriptorFetch()
        m.submodules.numbers = store = ViRecords(shape=Numbers, vis=self._vis, readers=2)
        wiring.connect(m, wiring.flipped(self.translate), fetch.translate)
        wiring.connect(m, wiring.flipped(self.bus), fetch.bus)

        queue = self.queue
        vi = Signal(VI_BITS)
        address = Signal(Address)
        follow = Signal()
        taken = Signal()
        flush = Signal()
        resumed = Signal()
        respond = Signal()
        context = self.context.data
        numbers = store.read[0].data
        next_queue = self.next.payload
        reliable = Signal()
        until_received = Signal()
        # What is still to be told after a job was handed over.
        link_pending = Signal()
        wake_pending = Signal()
        break_pending = Signal()
        told_queue = Signal(QUEUE_BITS)
        told_address = Signal(Address)
        told_lost = Signal()
        m.d.comb += [
            vi.eq(queue[1:]),
            self.context.vi.eq(vi),
            self.look_vi.eq(next_queue[1:]),
            store.read[0].vi.eq(next_queue[1:]),
            store.read[0].en.eq(self.look),
            store.read[1].vi.eq(self.numbers_vi),
            store.read[1].en.eq(self.numbers_look),
            self.numbers_next.eq(store.read[1].data.following),
            store.clear.eq(self.clear),
            store.clear_vi.eq(self.clear_vi),
            store.write_vi.eq(vi),
            store.write.eq(self.writing),
            fetch.max_beats.eq(self.max_beats),
            fetch.request.payload.tag.eq(context.attributes.tag),
            fetch.request.payload.address.eq(address),
            self.take.request.payload.eq(queue),
            self.take.link.payload.queue.eq(told_queue),
            self.take.link.payload.address.eq(told_address),
            self.take.link.payload.lost.eq(told_lost),
            self.take.link.valid.eq(link_pending),
            self.wake.payload.eq(told_queue),
            self.wake.valid.eq(wake_pending),
            self.break_.payload.vi.eq(told_queue[1:]),
            self.break_.payload.event.eq(Event.POST_DESC),
            self.break_.valid.eq(break_pending),
            reliable.eq(context.attributes.reliability != Reliability.UNRELIABLE_DELIVERY),
            until_received.eq(context.attributes.reliability == Reliability.RELIABLE_RECEPTION),
        ]
        for pending, port in ((link_pending, self.take.link), (wake_pending, self.wake),
                              (break_pending, self.break_)):
            with m.If(port.ready):
                m.d.sync += pending.eq(0)

        job = Signal(Job)
        hand = Signal()
        room = Signal()
        m.d.comb += room.eq((~self.job.valid | self.job.ready)
                            & ~(link_pending | wake_pending | break_pending))

        position, progress = self.position, self.progress
        held = Signal()
        open_ = Signal()
        reading = Signal()
        unsafe = Signal()
        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(self.next.valid):
                    m.d.comb += [
                        self.next.ready.eq(1),
                        self.look.eq(1),
                        self.context.vi.eq(next_queue[1:]),
                    ]
                    m.d.sync += [
                        queue.eq(next_queue), follow.eq(0), taken.eq(0), flush.eq(0),
                        resumed.eq(0), respond.eq(0),
                    ]
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.d.comb += [
                    held.eq(~queue[0] & self.job.valid & self.job.payload.exclusive
                            & (self.job.payload.queue[1:] == vi)),
                    reading.eq(numbers.reads != progress.read_done),
                    open_.eq(~reliable | ((numbers.following - progress.acknowledged)[:8]
                                          < self._window)),
                    unsafe.eq((position.operation == Operation.RDMA_READ)
                              & (self.newest != progress.oldest)),
                ]
                m.next = "IDLE"
                with m.If(~held):
                    with m.Switch(context.state):
                        with m.Case(ViState.CONNECTED):
                            with m.If(~queue[0] & open_):
                                with m.If(self.response.active & ~(position.active & position.begun)):
                                    m.d.sync += respond.eq(1)
                                    m.next = "HAND"
                                with m.Elif(~reading):
                                    m.next = "TAKE"
                                    with m.If(position.active):
                                        m.d.sync += [resumed.eq(1), address.eq(position.address)]
                                        m.next = "FETCH"
                                        with m.If(unsafe):
                                            m.next = "IDLE"
                        with m.Case(ViState.IDLE):
                            with m.If(~queue[0]):
                                m.d.sync += flush.eq(1)
                                m.next = "TAKE"
                        with m.Case(ViState.ERROR):
                            with m.If(~progress.connected):
                                m.d.sync += flush.eq(1)
                                m.next = "TAKE"
                                with m.If(~queue[0] & position.active):
                                    m.d.sync += [resumed.eq(1), address.eq(position.address)]
                                    m.next = "HAND"
            with m.State("TAKE"):
                m.d.comb += [self.take.request.valid.eq(1), self.turn.eq(self.take.request.ready)]
                with m.If(self.take.request.ready):
                    m.next = "TAKEN"
            with m.State("TAKEN"):
                with m.If(self.take.valid):
                    m.d.sync += [address.eq(self.take.address), follow.eq(self.take.follow),
                                 taken.eq(1)]
                    m.d.comb += fetch.request.payload.address.eq(self.take.address)
                    with m.If(~self.take.found):
                        m.next = "IDLE"
                    with m.Elif(queue[0] & ~self.take.follow):
                        m.next = "HAND"
                    with m.Else():
                        m.d.comb += fetch.request.valid.eq(1)
                        m.next = "FETCH"
                        with m.If(fetch.request.ready):
                            m.next = "READ"
            with m.State("FETCH"):
                m.d.comb += fetch.request.valid.eq(1)
                with m.If(fetch.request.ready):
                    m.next = "READ"
            with m.State("READ"):
                with m.If(fetch.valid):
                    m.d.comb += self.came.eq(1)
                    m.next = "HAND"
            with m.State("HAND"):
                with m.If(room):
                    m.d.comb += hand.eq(1)
                    m.next = "IDLE"
        m.d.comb += self.idle.eq(state.ongoing("IDLE") & ~self.next.valid & ~self.job.valid
                                 & ~(link_pending | wake_pending | break_pending))

        self._decide(m, job, fetch, hand=hand, flush=flush, resumed=resumed, respond=respond,
                     taken=taken, follow=follow, address=address, reliable=reliable,
                     until_received=until_received, numbers=numbers, store=store)

        with m.If(self.job.ready):
            m.d.sync += self.job.valid.eq(0)
        with m.If(hand):
            m.d.sync += [
                self.job.valid.eq(1),
                self.job.payload.eq(job),
                told_queue.eq(queue),
                told_address.eq(next_address(fetch.words)),
                told_lost.eq(job.silent),
                link_pending.eq(follow),
                wake_pending.eq(follow & ~job.exclusive),
                break_pending.eq(job.silent),
            ]
        return m

    def _decide(self, m: Module, job: "data.View", fetch: DescriptorFetch, *, hand: Signal,
                flush: Signal, resumed: Signal, respond: Signal, taken: Signal, follow: Signal,
                address: "data.View", reliable: Signal, until_received: Signal,
                numbers: "data.View", store: ViRecords) -> None:
        """The job that the turn comes to, and the VI's numbers after it."""
        context = self.context.data
        position, response, progress = self.position, self.response, self.progress
        words = fetch.words
        segments = words[1][32:48]
        control = words[1][48:64]
        length = words[3][:32]
        operation = control[:2]
        rdma = Signal()
        is_read = Signal()
        head = Signal()
        bad_format = Signal()
        bad_remote = Signal()
        too_long = Signal()
        unreadable = Signal()
        total = Signal.like(job.length)
        left = Signal.like(job.length)
        new = Signal(Numbers)
        counts = Signal()
        # With HAND: words were read, unless the queue's operation was known without.
        with m.If(hand):
            m.d.comb += [
                head.eq(~respond & (~flush | taken) & ~(self.queue[0] & ~follow)),
                unreadable.eq(head & ~(fetch.ok & (fetch.count >= HEAD_WORDS))),
                rdma.eq((operation == Operation.RDMA_WRITE) | (operation == Operation.RDMA_READ)),
                is_read.eq(operation == Operation.RDMA_READ),
                # As layouts.via.format_error says.
                bad_format.eq((operation == Operation.RESERVED) | (control[4:] != 0)
                              | (segments > MAX_SEGMENTS) | (rdma & (segments == 0))
                              | (is_read & (control[2] | ~reliable))),
                job.remote_wide.eq((words[4][VA_BITS:] != 0)
                                   | (words[5][HANDLE_BITS:32] != 0)),
                bad_remote.eq(rdma & ((fetch.count < 6) | job.remote_wide)),
                too_long.eq((length > context.peer.max_transfer)
                            | (position.begun & resumed & (position.done >= length))),
                job.queue.eq(self.queue),
                job.address.eq(address),
                job.tag.eq(context.attributes.tag),
                job.reliable.eq(reliable),
                job.until_received.eq(until_received),
                job.peer.eq(context.peer),
                job.resumed.eq(resumed),
                job.operation.eq(Mux(operation == Operation.RESERVED, 0, operation)),
                job.immediate.eq(control[2]),
                job.immediate_data.eq(words[2][32:]),
                job.segments.eq(segments),
                job.trace.eq(words[2][:24]),
                job.head.eq(words.as_value()[256:]),
                job.head_count.eq((fetch.count - HEAD_WORDS)[1:3]),
                job.remote.va.eq(words[4]),
                job.remote.handle.eq(words[5]),
                total.eq(length),
                job.index.eq(rdma),
                job.fresh.eq(1),
                job.sequence.eq(numbers.following),
            ]
            with m.If(resumed):
                m.d.comb += [job.done.eq(position.done), job.first.eq(~position.begun)]
                with m.If(position.begun):
                    m.d.comb += [job.index.eq(position.index), job.offset.eq(position.offset)]
            with m.Else():
                m.d.comb += job.first.eq(1)

            with m.If(respond):
                m.d.comb += [
                    job.kind.eq(JobKind.RESPOND),
                    job.exclusive.eq(1),
                    job.remote.eq(response.address),
                    job.first.eq(~response.begun),
                    job.immediate.eq(0),
                    job.trace.eq(0),
                    job.done.eq(0),
                    total.eq(response.left),
                    counts.eq(1),
                ]
            with m.Elif(flush):
                m.d.comb += [job.kind.eq(JobKind.COMPLETE), job.errors.eq(Status.FLUSHED),
                             job.exclusive.eq(resumed), job.silent.eq(unreadable)]
                with m.If(resumed):
                    m.d.comb += [job.operation.eq(position.operation),
                                 job.trace.eq(position.trace)]
                    with m.If(progress.failure != 0):
                        m.d.comb += job.errors.eq(progress.failure)
                with m.Elif(self.queue[0] & ~follow):
                    m.d.comb += job.trace.eq(0)
                with m.If(unreadable):
                    m.d.comb += [job.operation.eq(0), job.trace.eq(0)]
            with m.Elif(unreadable | bad_format | bad_remote | too_long):
                m.d.comb += [
                    job.kind.eq(JobKind.COMPLETE),
                    job.silent.eq(unreadable),
                    job.errors.eq(Mux(bad_format, Status.FORMAT, Mux(
                        bad_remote, Status.PROTECTION, Status.LENGTH))),
                    job.breaks.eq(reliable),
                    job.exclusive.eq(resumed),
                    # It takes a number, so that the window bounds unfinished descriptors; there is
                    # no packet after it on a reliable VI.
                    counts.eq(reliable),
                ]
            with m.Elif(is_read & until_received & ~resumed):
                m.d.comb += [job.kind.eq(JobKind.PARK), job.exclusive.eq(1)]
            with m.Elif(is_read):
                m.d.comb += [job.kind.eq(JobKind.READ), job.exclusive.eq(1), counts.eq(1)]
            with m.Else():
                m.d.comb += [job.kind.eq(JobKind.PACKET), job.exclusive.eq(resumed | ~job.last),
                             counts.eq(1)]
            m.d.comb += [
                job.length.eq(total),
                left.eq(total - job.done),
                job.last.eq(left <= self._mtu),
                job.bytes.eq(Mux(job.last, left, self._mtu)),
                job.acknowledge.eq(reliable & (job.last | is_read & ~respond
                                               | (numbers.since + 1 >= max(1, self._window // 2)))),
                self.writing.eq(counts),
                new.following.eq(numbers.following + 1),
                new.since.eq(Mux(job.acknowledge, 0, numbers.since + 1)),
                new.reads.eq(numbers.reads ^ (job.kind == JobKind.READ)),
                store.write_data.eq(new),
            ]
            with m.If(job.kind == JobKind.READ):
                m.d.comb += [job.bytes.eq(0), job.last.eq(1), job.first.eq(1)]
        m.d.comb += self.trace.eq(words[2][:24])
