"""Timer of outstanding RDMA reads."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import VI_BITS
from ...parts.block_ram import BlockRam
from ...parts.distinct_queue import DistinctQueue
from ...parts.sizes import check_vis

__all__ = ["LEAST", "ReadTimer", "Watched"]

Watched = wiring.Signature({
    "o": In(stream.Signature(VI_BITS)),
    "vi": Out(VI_BITS),
    "done": Out(1),
    "again": Out(1),
})
"""VIs with a read that has been outstanding for long: ``o`` offers a VI to check, and withdraws it
when its read is done. ``done``: the read of ``vi`` is done. ``again``: the VI was taken and its
read is still outstanding; not while one is offered."""

LEAST = 1 << 14
"""Least cycles that a read is outstanding before its VI is offered, for any time-out."""


class ReadTimer(wiring.Component):
    """Offers each VI with an outstanding read every ``timeout`` cycles, or every LEAST if that is
    more, so that a busy peer has the time to answer before the next probe.

    A VI is inside from ``begun`` until its read is ``done``, or until it is offered and does not
    come ``again``. All wait for the same time, so they are offered in the order of arrival. A VI
    that arrives while it is inside keeps its place. A VI whose read is done while others are ahead
    of it stays until it would be offered.

    Latency: offered 2 cycles after its time is over, and 2 more for each before it. Back-pressure:
    ``o`` waits. Reset: empty; nothing may begin before ``vis`` cycles are over.

    Parameters
    ----------
    vis : int
        VIs.

    Members
    -------
    begun, begun_vi : In
        A read of that VI has begun.
    watched : In(Watched)
        The block that checks the offered VIs.
    now, timeout : In(32), In(25)
        Cycle counter and time.
    idle : Out(1)
        No VI is inside.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        super().__init__({
            "begun": In(1), "begun_vi": In(VI_BITS),
            "watched": In(Watched),
            "now": In(32), "timeout": In(25),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        items = max(4, self._vis)
        m.submodules.queue = queue = DistinctQueue(items=items)
        m.submodules.deadlines = deadlines = BlockRam(shape=32, depth=items)
        write, read = deadlines.write_port(), deadlines.read_port()
        returns = Signal()
        returns_vi = Signal(VI_BITS)
        came = Signal.like(queue.i.payload)
        late = Signal()
        wait = Signal.like(self.timeout)
        over = Signal()
        watched = self.watched
        # A new read enters at once; one that comes again enters when it can.
        m.d.comb += [
            queue.i.valid.eq(self.begun | returns),
            queue.i.payload.eq(returns_vi),
            write.en.eq(queue.added),
            write.addr.eq(came),
            wait.eq(Mux(self.timeout < LEAST, LEAST, self.timeout)),
            write.data.eq(self.now + wait),
            read.addr.eq(queue.o.payload),
            read.en.eq(0),
            late.eq((self.now - read.data)[:32].as_signed() >= 0),
            over.eq(queue.o.valid & watched.done & (queue.o.payload == watched.vi)),
            watched.o.payload.eq(queue.o.payload),
            self.idle.eq(queue.idle & ~returns),
        ]
        with m.If(self.begun):
            m.d.comb += queue.i.payload.eq(self.begun_vi)
        with m.Elif(queue.i.ready):
            m.d.sync += returns.eq(0)
        with m.If(queue.i.valid):
            m.d.sync += came.eq(queue.i.payload)
        with m.If(watched.again):
            m.d.sync += [returns.eq(1), returns_vi.eq(watched.vi)]
        with m.FSM():
            with m.State("FIRST"):
                m.d.comb += read.en.eq(queue.o.valid)
                with m.If(queue.o.valid & ~over):
                    m.next = "WAIT"
            with m.State("WAIT"):
                m.d.comb += watched.o.valid.eq(late & ~returns & ~over)
                with m.If(watched.o.valid & watched.o.ready | over):
                    m.next = "FIRST"
        m.d.comb += queue.o.ready.eq(watched.o.valid & watched.o.ready | over)
        return m
