"""The fetch stage's decision: the job that follows from a work queue's turn."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import (
    HANDLE_BITS,
    MAX_SEGMENTS,
    QUEUE_BITS,
    VA_BITS,
    Operation,
    Reliability,
    Status,
)
from ...parts.sizes import check_count, check_power_of_two
from ..descriptors.fetch import HEAD_WORDS, WORDS
from ..types import Address, Context
from .job import Job, JobKind, Numbers, Position, Response

__all__ = ["Block", "SendTurn", "Turn"]


class Turn(data.Struct):
    """A turn that gives a job: of ``queue``, for the descriptor at ``address``, which was
    ``taken`` just now and has more behind it (``follow``) or is the VI's position (``resumed``);
    or to ``respond`` to the peer, or to ``lose`` the connection. ``flush``: completes flushed."""

    queue: QUEUE_BITS
    address: Address
    follow: 1
    taken: 1
    flush: 1
    resumed: 1
    respond: 1
    lose: 1


class Block(data.Struct):
    """A descriptor's first block, of which ``count`` words could be read; ``cut``: that was a brief
    read's part."""

    words: data.ArrayLayout(64, WORDS)
    count: 4
    cut: 1


class SendTurn(wiring.Component):
    """Makes a job from a descriptor's first block, or from the VI's state without a block: the
    checks of layouts.via.format_error, of the length and of an RDMA's remote address; the next
    packet's place in its message, its sequence number, and whether it requests an acknowledgement
    (the last of a message, and every half window).

    On a reliable VI a job with an error takes a sequence number as well, so that the window bounds
    the unfinished descriptors; no packet follows it.

    Combinational; all zero while ``hand`` is low.

    Parameters
    ----------
    window, mtu : int
        Packets not acknowledged of a VI; payload bytes of a packet.

    Members
    -------
    hand : In(1)
        Decide now.
    turn, context : In(Turn), In(Context)
        Whose turn it is, for what.
    position, failure, response, numbers : In
        What is known of the VI.
    block : In(Block)
        What was read.
    job, next_numbers, counts : Out(Job), Out(Numbers), Out(1)
        The job; the VI's numbers after it, if they change.
    """

    def __init__(self, *, window: int, mtu: int) -> None:
        check_power_of_two("window", window, least=1, most=32)
        check_count("mtu", mtu, least=8)
        self._window = window
        self._mtu = mtu
        super().__init__({
            "hand": In(1),
            "turn": In(Turn), "context": In(Context),
            "position": In(Position), "failure": In(9), "response": In(Response),
            "numbers": In(Numbers),
            "block": In(Block),
            "job": Out(Job), "next_numbers": Out(Numbers), "counts": Out(1),
        })

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
        reliable = Signal()
        until_received = Signal()
        m.d.comb += [
            reliable.eq(self.context.attributes.reliability != Reliability.UNRELIABLE_DELIVERY),
            until_received.eq(self.context.attributes.reliability
                              == Reliability.RELIABLE_RECEPTION),
        ]
        context, turn, block = self.context, self.turn, self.block
        position, response, job = self.position, self.response, self.job
        words, numbers = block.words, self.numbers
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
        # Fields of the job on which others depend are separate signals: Verilator takes a signal
        # that depends on parts of itself for a loop, checks in every cycle whether it has changed,
        # and repeats the evaluation of its dependents.
        done = Signal.like(job.done)
        first = Signal()
        last = Signal()
        wide = Signal()
        asks = Signal()
        reads = Signal()
        new = self.next_numbers
        counts = self.counts
        partial = Status.PARTIAL.bit_length() - 1
        with m.If(self.hand):
            m.d.comb += [
                head.eq(~turn.respond & ~turn.lose & (~turn.flush | turn.taken)
                        & ~(turn.queue[0] & ~turn.follow)),
                unreadable.eq(head & ~(block.count >= HEAD_WORDS)),
                rdma.eq((operation == Operation.RDMA_WRITE) | (operation == Operation.RDMA_READ)),
                is_read.eq(operation == Operation.RDMA_READ),
                # As layouts.via.format_error says.
                bad_format.eq((operation == Operation.RESERVED) | (control[4:] != 0)
                              | (segments > MAX_SEGMENTS) | (rdma & (segments == 0))
                              | (is_read & (control[2] | ~reliable))),
                wide.eq((words[4][VA_BITS:] != 0) | (words[5][HANDLE_BITS:32] != 0)),
                job.remote_wide.eq(wide),
                bad_remote.eq(rdma & ((block.count < 6) | wide)),
                too_long.eq((length > context.peer.max_transfer)
                            | (position.begun & turn.resumed & (position.done >= length))),
                job.queue.eq(turn.queue),
                job.address.eq(turn.address),
                job.tag.eq(context.attributes.tag),
                job.reliable.eq(reliable),
                job.until_received.eq(until_received),
                job.peer.eq(context.peer),
                job.resumed.eq(turn.resumed),
                job.operation.eq(Mux(operation == Operation.RESERVED, 0, operation)),
                job.immediate.eq(control[2]),
                job.immediate_data.eq(words[2][32:]),
                job.segments.eq(segments),
                job.trace.eq(words[2][:24]),
                job.head.segments.eq(words.as_value()[256:]),
                job.head.count.eq((block.count - HEAD_WORDS)[1:3]),
                job.head.cut.eq(block.cut),
                job.remote.va.eq(words[4]),
                job.remote.handle.eq(words[5]),
                total.eq(length),
                job.index.eq(rdma),
                job.fresh.eq(1),
                job.sequence.eq(numbers.following),
            ]
            with m.If(turn.resumed):
                m.d.comb += [done.eq(position.done), first.eq(~position.begun)]
                with m.If(position.begun):
                    m.d.comb += [job.index.eq(position.index), job.offset.eq(position.offset)]
            with m.Else():
                m.d.comb += first.eq(1)

            with m.If(turn.lose):
                m.d.comb += [job.kind.eq(JobKind.BREAK), job.exclusive.eq(1), job.trace.eq(0)]
            with m.Elif(turn.respond):
                m.d.comb += [
                    job.kind.eq(JobKind.RESPOND),
                    job.exclusive.eq(1),
                    job.remote.eq(response.address),
                    first.eq(~response.begun),
                    job.immediate.eq(0),
                    job.trace.eq(0),
                    done.eq(0),
                    total.eq(response.left),
                    counts.eq(1),
                ]
            with m.Elif(turn.flush):
                m.d.comb += [job.kind.eq(JobKind.COMPLETE), job.errors.eq(Status.FLUSHED),
                             job.exclusive.eq(turn.resumed), job.silent.eq(unreadable)]
                with m.If(turn.resumed):
                    m.d.comb += [job.operation.eq(position.operation),
                                 job.trace.eq(position.trace)]
                    with m.If(self.failure != 0):
                        m.d.comb += job.errors.eq(self.failure)
                    with m.If(position.begun):
                        m.d.comb += job.errors[partial].eq(1)
                with m.Elif(turn.queue[0] & ~turn.follow):
                    m.d.comb += job.trace.eq(0)
                with m.If(unreadable):
                    m.d.comb += [job.operation.eq(0), job.trace.eq(0)]
            with m.Elif(unreadable | bad_format | bad_remote | too_long):
                m.d.comb += [
                    job.kind.eq(JobKind.COMPLETE),
                    job.silent.eq(unreadable),
                    job.errors.eq(Mux(bad_format, Status.FORMAT, Mux(
                        bad_remote, Status.PROTECTION, Status.LENGTH))),
                    job.errors[partial].eq(turn.resumed & position.begun),
                    job.breaks.eq(reliable),
                    job.exclusive.eq(turn.resumed),
                    # It takes a number, so that the window bounds unfinished descriptors; there is
                    # no packet after it on a reliable VI.
                    counts.eq(reliable),
                ]
            with m.Elif(is_read & until_received & ~turn.resumed):
                m.d.comb += [job.kind.eq(JobKind.PARK), job.exclusive.eq(1)]
            with m.Elif(is_read):
                m.d.comb += [job.kind.eq(JobKind.READ), reads.eq(1), job.exclusive.eq(1),
                             counts.eq(1)]
            with m.Else():
                m.d.comb += [job.kind.eq(JobKind.PACKET), counts.eq(1),
                             job.exclusive.eq(turn.resumed | ~last)]
            m.d.comb += [
                job.length.eq(total),
                left.eq(total - done),
                last.eq(left <= self._mtu),
                asks.eq(reliable & (last | reads | is_read & ~turn.respond
                                    | (numbers.since + 1 >= max(1, self._window // 2)))),
                job.done.eq(done),
                job.first.eq(first),
                job.last.eq(last),
                job.bytes.eq(Mux(last, left, self._mtu)),
                job.acknowledge.eq(asks),
                new.following.eq(numbers.following + 1),
                new.since.eq(Mux(asks, 0, numbers.since + 1)),
                new.reads.eq(numbers.reads ^ reads),
                new.long.eq(Mux(head, segments > 1, numbers.long)),
            ]
            with m.If(reads):
                m.d.comb += [job.bytes.eq(0), job.last.eq(1), job.first.eq(1)]
        return m
