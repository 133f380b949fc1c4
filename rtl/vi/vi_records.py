"""A record for every VI, in block memory."""

from amaranth.hdl import Module, Mux, ShapeLike
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import VI_BITS
from .sizes import check_count, check_vis

__all__ = ["ViRecords"]


class ViRecords(wiring.Component):
    """One record a VI, with one writer, and cleared (all zero) by another.

    Latency: ``data`` is of the VI that ``vi`` said in the last cycle with ``en``, with all writes
    before that cycle. ``clear`` goes before ``write``: whoever clears does so only while ``write``
    is low. Reset: the records are not reset; they mean nothing before their VI is cleared.

    Parameters
    ----------
    shape : ShapeLike
        Of a record.
    vis : int
        VIs: a power of two.
    readers : int
        Read ports.

    Members
    -------
    write, write_vi, write_data : In
        The writer.
    clear, clear_vi : In(1), In(12)
        Clear a record.
    read : array of {en: In(1), vi: In(12), data: Out}
        Read ports.
    """

    def __init__(self, *, shape: ShapeLike, vis: int, readers: int) -> None:
        check_vis(vis)
        check_count("readers", readers)
        self._shape = shape
        self._vis = vis
        super().__init__({
            "write": In(1),
            "write_vi": In(VI_BITS),
            "write_data": In(shape),
            "clear": In(1),
            "clear_vi": In(VI_BITS),
            "read": In(wiring.Signature({
                "en": Out(1), "vi": Out(VI_BITS), "data": In(shape)})).array(readers),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.records = records = memory.Memory(shape=self._shape, depth=self._vis, init=[])
        write = records.write_port()
        m.d.comb += [
            write.en.eq(self.write | self.clear),
            write.addr.eq(Mux(self.clear, self.clear_vi, self.write_vi)),
        ]
        with m.If(~self.clear):
            m.d.comb += write.data.eq(self.write_data)
        for port in self.read:
            read = records.read_port()
            m.d.comb += [read.en.eq(port.en), read.addr.eq(port.vi), port.data.eq(read.data)]
        return m
