"""The number of completed descriptors of each work queue, and its arming."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import QUEUE_BITS, VI_BITS
from ...parts.sizes import check_vis
from ..types import CountsRead

__all__ = ["COUNT_BITS", "CompletionCounts", "CountUse"]

COUNT_BITS = 16

CountUse = wiring.Signature({
    "look": Out(1),
    "queue": Out(QUEUE_BITS),
    "count": In(COUNT_BITS),
    "armed": In(1),
    "add": Out(1),
    "arm": Out(1),
    "create": Out(1),
    "create_vi": Out(VI_BITS),
})
"""``look`` reads ``queue``; from the next cycle until the next ``look`` its ``count`` and whether
it is ``armed`` are shown, as they were then. ``add`` counts one more and disarms; ``arm`` arms.
Both are for the queue looked at, which ``queue`` still says, once, and not in the cycle of a
``look``. ``create``, not together with these: both counts of ``create_vi`` become zero, nothing is
armed."""

_Row = data.StructLayout({"count": COUNT_BITS, "armed": 1})


class CompletionCounts(wiring.Component):
    """A count and an arming for each of the ``2 * vis`` work queues, in block memory, for one unit
    that counts.

    Latency: 1 cycle. Throughput: a look, or a change, a cycle. Reset: counts are undefined before
    their VI's ``create``.

    Parameters
    ----------
    vis : int
        VIs: a power of two of 2 to 4096.

    Members
    -------
    use : In(CountUse)
        The completion unit.
    completed : In(CountsRead)
        Descriptors completed.
    idle : Out(1)
        ``completed`` does not change unless an input does.

    Raises
    ------
    TypeError, ValueError
        ``vis`` breaks its rule.
    """

    def __init__(self, *, vis: int) -> None:
        check_vis(vis)
        self._vis = vis
        super().__init__({
            "use": In(CountUse),
            "completed": In(CountsRead),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        use = self.use
        writes = Signal(2)
        wrote = Signal()
        said = Signal(VI_BITS)
        fresh = Signal()
        vi = Signal(VI_BITS)
        row = Signal(_Row)
        new = Signal(_Row)
        m.d.comb += [
            vi.eq(use.queue[1:]),
            use.count.eq(row.count),
            use.armed.eq(row.armed),
            # Simulators pay for every read, so there is none while the VI stays the same.
            fresh.eq(wrote | (self.completed.vi != said)),
            self.idle.eq(~wrote),
        ]
        m.d.sync += wrote.eq(writes.any())
        with m.If(fresh):
            m.d.sync += said.eq(self.completed.vi)
        with m.If(use.create):
            m.d.comb += [writes.eq(0b11), vi.eq(use.create_vi)]
        with m.Elif(use.add):
            m.d.comb += [writes.eq(Mux(use.queue[0], 0b10, 0b01)), new.count.eq(row.count + 1)]
        with m.Elif(use.arm):
            m.d.comb += [writes.eq(Mux(use.queue[0], 0b10, 0b01)), new.count.eq(row.count),
                         new.armed.eq(1)]

        for half, name in enumerate(("send", "receive")):
            m.submodules[name] = rows = memory.Memory(shape=_Row, depth=self._vis, init=[])
            write, read, shown = rows.write_port(), rows.read_port(), rows.read_port()
            m.d.comb += [
                write.addr.eq(vi),
                write.data.eq(new),
                write.en.eq(writes[half]),
                read.addr.eq(vi),
                read.en.eq(use.look),
                shown.addr.eq(self.completed.vi),
                shown.en.eq(fresh),
                self.completed.counts.word_select(half, COUNT_BITS).eq(shown.data.count),
            ]
            with m.If(use.queue[0] == half):
                m.d.comb += row.eq(read.data)
        return m
