"""The scheduler: gives turns to work queues with work, in the order in which they got it."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import QUEUE_BITS
from ...parts.distinct_queue import DistinctQueue
from ...parts.round_robin import RoundRobin
from ...parts.sizes import check_count, check_vis

__all__ = ["Scheduler"]


class Scheduler(wiring.Component):
    """Queues the work queues that were woken, each at most once, first come, first served.

    A wake-up of a queue that already waits for its turn has no effect; a wake-up in the cycle in
    which the queue is taken, or later, gives it another turn. So a woken queue is taken later, and
    at most ``2 * vis - 1`` others are taken before it (proven: tests/formal). If a block takes a
    turn and leaves work, it wakes the queue again, which then goes behind all others.

    Latency: a queue is offered 2 cycles after its wake-up if no other waits. Throughput: a wake-up
    and a turn a cycle. Back-pressure: a wake-up is taken within ``wakers`` cycles, even if no turn
    is taken, from ``vis`` cycles after reset on. Reset: no queue waits.

    Parameters
    ----------
    vis : :class:`int`
        VIs: a power of two, 2 to 4096.
    wakers : :class:`int`
        Ports that wake queues, 1 or more.

    Members
    -------
    wake : ``In(stream of QUEUE_BITS).array(wakers)``
        This queue has work. VIs of number ``vis`` and above must not be woken.
    next : ``Out(stream of QUEUE_BITS)``
        The queue that has its turn.
    idle : ``Out(1)``
        No queue waits or is being woken.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    def __init__(self, *, vis: int, wakers: int) -> None:
        check_vis(vis)
        check_count("wakers", wakers)
        self._vis = vis
        self._wakers = wakers
        self._turns = DistinctQueue(items=2 * vis)
        self._arbiter = RoundRobin(count=wakers)
        super().__init__({
            "wake": In(stream.Signature(QUEUE_BITS)).array(wakers),
            "next": Out(stream.Signature(QUEUE_BITS)),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def wakers(self) -> int:
        """Ports that wake queues."""
        return self._wakers

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.turns = turns = self._turns
        m.submodules.arbiter = arbiter = self._arbiter
        m.d.comb += [
            self.next.valid.eq(turns.o.valid),
            self.next.payload.eq(turns.o.payload),
            turns.o.ready.eq(self.next.ready),
            turns.i.valid.eq(arbiter.requests.any()),
            arbiter.advance.eq(turns.i.ready),
            self.idle.eq(turns.idle),
        ]
        for number, wake in enumerate(self.wake):
            m.d.comb += arbiter.requests[number].eq(wake.valid)
            with m.If(arbiter.grant[number]):
                m.d.comb += [
                    turns.i.payload.eq(wake.payload),
                    wake.ready.eq(turns.i.ready),
                ]
        return m
