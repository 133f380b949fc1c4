"""Reliable Reception descriptors that were sent and are not acknowledged, oldest first."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ....layouts.via import VI_BITS
from ...parts.block_ram import BlockRam
from ...parts.sizes import check_power_of_two, check_vis
from ..records import Clear, ViRecords, record_read
from .job import Unfinished

__all__ = ["PLACE_BITS", "RingPush", "RingRead", "Unacknowledged"]

PLACE_BITS = 6

RingPush = wiring.Signature({
    "look": Out(1),
    "vi": Out(VI_BITS),
    "place": In(PLACE_BITS),
    "valid": Out(1),
    "entry": Out(Unfinished),
})
"""``look`` reads the newest ``place`` of ``vi``, available in the next cycle; then ``valid`` stores
``entry`` there, once, while nothing else is pushed."""

RingRead = wiring.Signature({
    "look": Out(1),
    "vi": Out(VI_BITS),
    "newest": In(PLACE_BITS),
    "read": Out(1),
    "place": Out(PLACE_BITS),
    "oldest": In(Unfinished),
})
"""``look`` reads ``newest`` of ``vi``, the place of its next entry; ``read`` reads the entry of
``vi`` in ``place``. Both are available in the next cycle."""


class Unacknowledged(wiring.Component):
    """A ring of ``window`` unfinished descriptors for each VI.

    The popping side keeps the ``oldest`` place itself: the ring is empty when it equals ``newest``.
    A window closes before its ring is full.

    Latency: a read's result is available in the next cycle. Throughput: one push, one look a cycle.
    Reset: the places are not reset; ``clear`` first.

    Parameters
    ----------
    vis, window : int
        VIs; unfinished descriptors of one: powers of two, ``window`` at most 32.

    Members
    -------
    push, pop : In(RingPush), In(RingRead)
        The side that appends entries; the side that removes them.
    newest : In(record_read(PLACE_BITS))
        A second reader of ``newest``.
    clear : In(Clear)
        Empties a ring; the oldest place is then 0.
    """

    def __init__(self, *, vis: int, window: int) -> None:
        check_vis(vis)
        check_power_of_two("window", window, least=1, most=32)
        self._vis = vis
        self._window = window
        super().__init__({
            "push": In(RingPush),
            "pop": In(RingRead),
            "newest": In(record_read(PLACE_BITS)),
            "clear": In(Clear),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def window(self) -> int:
        """Entries of a VI."""
        return self._window

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.places = places = ViRecords(shape=PLACE_BITS, vis=self._vis, readers=3)
        m.submodules.entries = entries = BlockRam(shape=Unfinished, depth=self._vis * self._window)
        write, read = entries.write_port(), entries.read_port()
        bits = ceil_log2(self._window)
        width = ceil_log2(self._vis)
        vi = Signal(VI_BITS)
        push, pop = self.push, self.pop
        wiring.connect(m, wiring.flipped(self.newest), places.read[2])
        wiring.connect(m, wiring.flipped(self.clear), places.clear)
        for port, asks in zip(places.read, (push, pop), strict=False):
            m.d.comb += [port.en.eq(asks.look), port.vi.eq(asks.vi)]
        with m.If(push.look):
            m.d.sync += vi.eq(push.vi)
        m.d.comb += [
            push.place.eq(places.read[0].data),
            pop.newest.eq(places.read[1].data),
            places.write.valid.eq(push.valid),
            places.write.vi.eq(vi),
            places.write.data.eq(places.read[0].data + 1),
            write.en.eq(push.valid),
            write.addr.eq(Cat(places.read[0].data[:bits], vi[:width])),
            write.data.eq(push.entry),
            read.en.eq(pop.read),
            read.addr.eq(Cat(pop.place[:bits], pop.vi[:width])),
            pop.oldest.eq(read.data),
        ]
        return m
