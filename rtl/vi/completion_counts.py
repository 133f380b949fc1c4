"""How many descriptors of each work queue have completed, and who waits for the next."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import QUEUE_BITS, VI_BITS
from .sizes import check_vis
from .types import CountsRead

__all__ = ["COUNT_BITS", "CompletionCounts"]

COUNT_BITS = 16

_Row = data.StructLayout({"count": COUNT_BITS, "armed": 1})


class CompletionCounts(wiring.Component):
    """A count and an arming for each of the ``2 * vis`` work queues, in block memory.

    ``look`` reads ``queue``; from the next cycle until the next ``look`` its ``count`` and whether
    it is ``armed`` are shown, as they were then. ``add`` counts one more and disarms; ``arm`` arms.
    Both are for the queue looked at, which ``queue`` still says, once, and not in the cycle of a
    ``look``.

    Latency: 1 cycle. Throughput: a look, or a change, a cycle. Reset: nothing means anything before
    its VI's ``create``.

    Parameters
    ----------
    vis : int
        VIs: a power of two of 2 to 4096.

    Members
    -------
    look, queue : In(1), In(13)
        As above.
    count, armed : Out(16), Out(1)
        As above.
    add, arm : In(1)
        As above.
    create, create_vi : In(1), In(12)
        Both counts of a VI become zero, nothing is armed. Not together with ``add`` or ``arm``.
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
            "look": In(1),
            "queue": In(QUEUE_BITS),
            "count": Out(COUNT_BITS),
            "armed": Out(1),
            "add": In(1),
            "arm": In(1),
            "create": In(1),
            "create_vi": In(VI_BITS),
            "completed": In(CountsRead),
            "idle": Out(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        writes = Signal(2)
        wrote = Signal()
        said = Signal(VI_BITS)
        fresh = Signal()
        vi = Signal(VI_BITS)
        row = Signal(_Row)
        new = Signal(_Row)
        m.d.comb += [
            vi.eq(self.queue[1:]),
            self.count.eq(row.count),
            self.armed.eq(row.armed),
            # Simulators pay for every read: none while the same VI stays as it is.
            fresh.eq(wrote | (self.completed.vi != said)),
            self.idle.eq(~wrote),
        ]
        m.d.sync += wrote.eq(writes.any())
        with m.If(fresh):
            m.d.sync += said.eq(self.completed.vi)
        with m.If(self.create):
            m.d.comb += [writes.eq(0b11), vi.eq(self.create_vi)]
        with m.Elif(self.add):
            m.d.comb += [writes.eq(Mux(self.queue[0], 0b10, 0b01)), new.count.eq(row.count + 1)]
        with m.Elif(self.arm):
            m.d.comb += [writes.eq(Mux(self.queue[0], 0b10, 0b01)), new.count.eq(row.count),
                         new.armed.eq(1)]

        for half, name in enumerate(("send", "receive")):
            m.submodules[name] = rows = memory.Memory(shape=_Row, depth=self._vis, init=[])
            write, read, shown = rows.write_port(), rows.read_port(), rows.read_port()
            m.d.comb += [
                write.addr.eq(vi),
                write.data.eq(new),
                write.en.eq(writes[half]),
                read.addr.eq(vi),
                read.en.eq(self.look),
                shown.addr.eq(self.completed.vi),
                shown.en.eq(fresh),
                self.completed.counts.word_select(half, COUNT_BITS).eq(shown.data.count),
            ]
            with m.If(self.queue[0] == half):
                m.d.comb += row.eq(read.data)
        return m
