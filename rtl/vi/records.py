"""A record for every VI, in block memory."""

from amaranth.hdl import Module, Mux, ShapeLike
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import VI_BITS
from ..parts.sizes import check_count, check_vis

__all__ = ["Clear", "ViRecords", "record_read", "record_write"]

Clear = wiring.Signature({
    "valid": Out(1),
    "vi": Out(VI_BITS),
    "writing": In(1),
})
"""In a cycle with ``valid``, the record of ``vi`` is cleared to zero. Only while ``writing`` is
low."""


def record_read(shape: ShapeLike) -> wiring.Signature:
    """Reads a record of that shape: ``data`` is the record of the VI that ``vi`` selected in the
    last cycle with ``en``, with all writes before that cycle."""
    return wiring.Signature({"en": Out(1), "vi": Out(VI_BITS), "data": In(shape)})


def record_write(shape: ShapeLike) -> wiring.Signature:
    """In a cycle with ``valid``, the record of ``vi`` becomes ``data``."""
    return wiring.Signature({"valid": Out(1), "vi": Out(VI_BITS), "data": Out(shape)})


class ViRecords(wiring.Component):
    """One record for each VI, with one writer, and cleared (all zero) by another block.

    Latency: 1 cycle, as for :func:`record_read`. ``clear`` has priority over ``write``, so a block
    may clear only while nobody writes. Reset: the records are not reset; they are undefined until
    their VI is cleared.

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
    write : In(record_write(shape)), clear : In(Clear)
        The writer, and the block that clears a record.
    read : In(record_read(shape)).array(readers)
        Read ports.
    """

    def __init__(self, *, shape: ShapeLike, vis: int, readers: int) -> None:
        check_vis(vis)
        check_count("readers", readers)
        self._shape = shape
        self._vis = vis
        super().__init__({
            "write": In(record_write(shape)),
            "clear": In(Clear),
            "read": In(record_read(shape)).array(readers),
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
            write.en.eq(self.write.valid | self.clear.valid),
            write.addr.eq(Mux(self.clear.valid, self.clear.vi, self.write.vi)),
            self.clear.writing.eq(self.write.valid),
        ]
        with m.If(~self.clear.valid):
            m.d.comb += write.data.eq(self.write.data)
        for port in self.read:
            read = records.read_port()
            m.d.comb += [read.en.eq(port.en), read.addr.eq(port.vi), port.data.eq(read.data)]
        return m
