"""Descriptors of Reliable Reception that were sent and are not acknowledged, oldest first."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.via import VI_BITS
from ..block_ram import BlockRam
from .send_job import Unfinished
from .sizes import check_power_of_two, check_vis
from .vi_records import ViRecords

__all__ = ["PLACE_BITS", "SendRing"]

PLACE_BITS = 6


class SendRing(wiring.Component):
    """A ring of ``window`` unfinished descriptors for each VI.

    Whoever pushes has read the VI's ``newest`` place with ``push_look`` and pushes (once) while
    nothing else is pushed. Whoever pops keeps the ``oldest`` place himself: the ring is empty when
    it equals ``newest``. A window closes before its ring is full.

    Latency: what is read is there in the cycle after it was asked for. Throughput: one push, one
    look a cycle. Reset: the places are not reset; ``clear`` first.

    Parameters
    ----------
    vis, window : int
        VIs; unfinished descriptors of one: powers of two, ``window`` at most 32.

    Members
    -------
    push_look, push_vi, push, entry : In
        ``push`` appends ``entry`` to the VI that the last ``push_look`` was for.
    push_newest : Out
        Where ``push`` puts it.
    look, look_vi, newest : In, In, Out
        Where the next entry will go.
    read, read_place, oldest : In, In, Out(Unfinished)
        The entry of ``look_vi`` in a place.
    spare_look, spare_vi, spare_newest : In, In, Out
        A second reader of ``newest``.
    clear, clear_vi : In
        Empty the ring; the oldest place is then 0. Not together with ``push``.
    """

    def __init__(self, *, vis: int, window: int) -> None:
        check_vis(vis)
        check_power_of_two("window", window, least=1, most=32)
        self._vis = vis
        self._window = window
        super().__init__({
            "push_look": In(1), "push_vi": In(VI_BITS), "push": In(1), "entry": In(Unfinished),
            "push_newest": Out(PLACE_BITS),
            "look": In(1), "look_vi": In(VI_BITS), "newest": Out(PLACE_BITS),
            "read": In(1), "read_place": In(PLACE_BITS), "oldest": Out(Unfinished),
            "spare_look": In(1), "spare_vi": In(VI_BITS), "spare_newest": Out(PLACE_BITS),
            "clear": In(1), "clear_vi": In(VI_BITS),
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
        for port, en, who in zip(places.read, (self.push_look, self.look, self.spare_look),
                                 (self.push_vi, self.look_vi, self.spare_vi), strict=True):
            m.d.comb += [port.en.eq(en), port.vi.eq(who)]
        with m.If(self.push_look):
            m.d.sync += vi.eq(self.push_vi)
        m.d.comb += [
            self.push_newest.eq(places.read[0].data),
            self.newest.eq(places.read[1].data),
            self.spare_newest.eq(places.read[2].data),
            places.write.eq(self.push),
            places.write_vi.eq(vi),
            places.write_data.eq(places.read[0].data + 1),
            places.clear.eq(self.clear),
            places.clear_vi.eq(self.clear_vi),
            write.en.eq(self.push),
            write.addr.eq(Cat(places.read[0].data[:bits], vi[:width])),
            write.data.eq(self.entry),
            read.en.eq(self.read),
            read.addr.eq(Cat(self.read_place[:bits], self.look_vi[:width])),
            self.oldest.eq(read.data),
        ]
        return m
