"""The translation and protection table in NIC memory, and the content of its entries."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.via import INDEX_BITS, TRANSLATION_FLAGS, TRANSLATION_PLACE
from ...parts.sizes import check_integer

__all__ = ["TranslationEntry", "TranslationTable"]

ROW = 64
"""Valid bits that the sweep after reset clears in a cycle."""

TranslationEntry = data.StructLayout(
    {field.name: field.width for field in TRANSLATION_FLAGS.fields if field.name != "reserved"}
    | {field.name: field.width for field in TRANSLATION_PLACE.fields})
"""An entry of the table, both words of :data:`nicbed.layouts.via.TRANSLATION_FLAGS` and
TRANSLATION_PLACE."""


class TranslationTable(wiring.Component):
    """Holds every entry, in block memory.

    Latency: ``entry`` is of the index that was given with ``read`` in the cycle before, with all
    writes before that cycle; it holds until the next ``read``. Throughput: a read and a write a
    cycle. Reset: no entry is valid. The table is ``ready`` ``entries / 64`` cycles later; reads and
    writes before that are undefined.

    Parameters
    ----------
    entries : int
        Entries: a power of two of 64 to 16384.

    Members
    -------
    ready : Out(1)
        Cleared.
    read, index : In(1), In(14)
        Look up entry ``index`` (modulo the entries).
    entry : Out(TranslationEntry)
        The entry looked up.
    write, write_index, write_entry : In(1), In(14), In(TranslationEntry)
        Replace an entry.

    Raises
    ------
    TypeError, ValueError
        ``entries`` breaks its rule.
    """

    def __init__(self, *, entries: int) -> None:
        check_integer("entries", entries)
        if not ROW <= entries <= 1 << INDEX_BITS or entries & (entries - 1):
            raise ValueError(f"entries must be a power of two of {ROW} to {1 << INDEX_BITS}, "
                             f"not {entries}")
        self._entries = entries
        super().__init__({
            "ready": Out(1),
            "read": In(1),
            "index": In(INDEX_BITS),
            "entry": Out(TranslationEntry),
            "write": In(1),
            "write_index": In(INDEX_BITS),
            "write_entry": In(TranslationEntry),
        })

    @property
    def entries(self) -> int:
        """Entries of the table."""
        return self._entries

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = (self._entries - 1).bit_length()
        rows = self._entries // ROW
        m.submodules.items = items = memory.Memory(shape=TranslationEntry, depth=self._entries,
                                                   init=[])
        # The valid bits are separate, so that the sweep takes few cycles.
        m.submodules.valid = valid = memory.Memory(shape=ROW, depth=max(rows, 2), init=[])
        read, read_valid = items.read_port(), valid.read_port()
        write, write_valid = items.write_port(), valid.write_port(granularity=1)

        column = Signal(6)
        m.d.comb += [
            self.entry.eq(read.data),
            self.entry.valid.eq(read_valid.data.bit_select(column, 1)),
            read.addr.eq(self.index[:bits]),
            read_valid.addr.eq(self.index[6:bits]),
            read.en.eq(0),
            read_valid.en.eq(0),
            write.addr.eq(self.write_index[:bits]),
            write.data.eq(self.write_entry),
        ]
        with m.If(self.read):
            m.d.comb += [read.en.eq(1), read_valid.en.eq(1)]
            m.d.sync += column.eq(self.index[:6])

        sweep = Signal(range(rows + 1))
        with m.If(~self.ready):
            m.d.comb += [write_valid.addr.eq(sweep), write_valid.en.eq(~0)]
            m.d.sync += [sweep.eq(sweep + 1), self.ready.eq(sweep == rows - 1)]
        with m.Elif(self.write):
            m.d.comb += [
                write.en.eq(1),
                write_valid.addr.eq(self.write_index[6:bits]),
                write_valid.data.eq(self.write_entry.valid.replicate(ROW)),
                write_valid.en.eq(1 << self.write_index[:6]),
            ]
        return m
