"""A queue that holds every item at most once."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from .sizes import check_power_of_two

__all__ = ["DistinctQueue"]


class DistinctQueue(wiring.Component):
    """First-in first-out queue of numbers below ``items``; each is inside at most once.

    A number that arrives while it is inside is accepted and dropped: it keeps its place. A number
    that arrives in the cycle in which it is taken out, or later, is put in again. So every number
    that arrives is taken out at a later edge, after at most ``items - 1`` others; and there is
    always room.

    Latency: an item is offered 2 cycles after it came if nothing is ahead of it. Throughput: one in
    and one out a cycle. Back-pressure: none, once the flags are cleared: ``i`` is ready from
    ``items / 2`` cycles after reset on. Reset: empty.

    Parameters
    ----------
    items : :class:`int`
        How many numbers there are: a power of two, at least 4.

    Members
    -------
    i : ``In(stream)``
        Numbers in.
    o : ``Out(stream)``
        Numbers out.
    added : ``Out(1)``
        The number that arrived in the previous cycle was not inside, and is now.
    idle : ``Out(1)``
        Empty, and nothing comes.

    Raises
    ------
    TypeError
        ``items`` is not an integer.
    ValueError
        ``items`` is not a power of two of at least 4.
    """

    def __init__(self, *, items: int) -> None:
        check_power_of_two("items", items, least=4)
        self._items = items
        bits = ceil_log2(items)
        self._entry = data.StructLayout({"item": bits, "parity": 1})
        # An item is inside when its bits in the two memories differ: one changes when it is put in,
        # the other when it is taken out, so that each has one writer. Two items a row, to clear
        # them in half the time.
        self._puts = memory.Memory(shape=2, depth=items // 2, init=[])
        self._gots = memory.Memory(shape=2, depth=items // 2, init=[])
        self._ring = memory.Memory(shape=self._entry, depth=items, init=[])
        self._swept = Signal(bits)
        # The number that arrived in the previous cycle.
        self._came = Signal()
        self._item = Signal(bits)
        # One bit more than an address tells full from empty.
        self._head = Signal(bits + 1)
        self._tail = Signal(bits + 1)
        self._out = Signal(self._entry)
        # It is put in; what its bit in puts was; somebody is in the ring.
        self._adds = Signal()
        self._parity = Signal()
        self._waits = Signal()
        super().__init__({
            "i": In(stream.Signature(bits)),
            "o": Out(stream.Signature(bits)),
            "added": Out(1),
            "idle": Out(1),
        })

    @property
    def items(self) -> int:
        """Returns how many numbers there are."""
        return self._items

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.puts = self._puts
        m.submodules.gots = self._gots
        m.submodules.ring = self._ring
        write_put = self._puts.write_port(granularity=1)
        write_got = self._gots.write_port(granularity=1)
        read_put = self._puts.read_port()
        read_got = self._gots.read_port()
        write = self._ring.write_port()
        read = self._ring.read_port()
        came, item, out, swept = self._came, self._item, self._out, self._swept
        adds, parity = self._adds, self._parity

        takes = Signal()
        gives = Signal()
        m.d.comb += [
            self.i.ready.eq(swept[-1]),
            takes.eq(self.i.valid & self.i.ready),
            gives.eq(self.o.valid & self.o.ready),
            read_put.addr.eq(self.i.payload[1:]),
            read_got.addr.eq(self.i.payload[1:]),
            read_put.en.eq(takes),
            read_got.en.eq(takes),
            self.idle.eq(swept[-1] & ~(self.i.valid | came | self.o.valid
                                       | (self._head != self._tail))),
        ]
        m.d.comb += self.added.eq(adds)
        m.d.sync += came.eq(takes)
        with m.If(takes):
            m.d.sync += item.eq(self.i.payload)

        # What was written at the edge at which it was read is not in what was read.
        forward_put = Signal()
        forward_got = Signal()
        forwarded = Signal()
        got = Signal()
        with m.If(takes):
            m.d.sync += [
                forward_put.eq(adds & (self.i.payload == item)),
                forward_got.eq(gives & (self.i.payload == self.o.payload)),
                forwarded.eq(~parity),
            ]
        with m.If(came):
            m.d.comb += [
                parity.eq(read_put.data.bit_select(item[0], 1)),
                got.eq(read_got.data.bit_select(item[0], 1)),
            ]
            with m.If(forward_put):
                m.d.comb += parity.eq(forwarded)
            # A number was taken out when both bits are equal.
            m.d.comb += adds.eq(forward_got | (parity == got))

        with m.If(~swept[-1]):
            m.d.sync += swept.eq(swept + 1)
            m.d.comb += [
                write_put.addr.eq(swept), write_put.en.eq(0b11), write_put.data.eq(0),
                write_got.addr.eq(swept), write_got.en.eq(0b11), write_got.data.eq(0),
            ]
        with m.Else():
            m.d.comb += [
                write_put.addr.eq(item[1:]),
                write_put.data.eq((~parity).replicate(2)),
                write_got.addr.eq(self.o.payload[1:]),
                write_got.data.eq(out.parity.replicate(2)),
            ]
            with m.If(adds):
                m.d.comb += write_put.en.eq(Cat(~item[0], item[0]))
            with m.If(gives):
                m.d.comb += write_got.en.eq(Cat(~self.o.payload[0], self.o.payload[0]))
        self._order(m, gives=gives, write=write, read=read)
        return m

    def _order(self, m: Module, *, gives: Signal, write: Any, read: Any) -> None:
        """A ring in memory, and the offered item: read from the ring, or directly from ``i``."""
        head, tail, adds, waits = self._head, self._tail, self._adds, self._waits
        straight = Signal()
        fresh = Signal(self._entry)
        added = Signal(self._entry)
        free = Signal()
        m.d.comb += [
            added.item.eq(self._item),
            added.parity.eq(~self._parity),
            free.eq(~self.o.valid | gives),
            write.addr.eq(tail),
            write.data.eq(added),
            read.addr.eq(head),
            read.en.eq(0),
            self.o.payload.eq(self._out.item),
        ]
        with m.If(straight):
            m.d.comb += self._out.eq(fresh)
        with m.Else():
            m.d.comb += self._out.eq(read.data)

        m.d.comb += waits.eq(head != tail)
        with m.If(free):
            with m.If(waits):
                m.d.comb += read.en.eq(1)
                m.d.sync += [head.eq(head + 1), straight.eq(0), self.o.valid.eq(1)]
            with m.Else():
                m.d.sync += self.o.valid.eq(adds)
        with m.If(adds):
            with m.If(free & ~waits):
                m.d.sync += [fresh.eq(added), straight.eq(1)]
            with m.Else():
                m.d.comb += write.en.eq(1)
                m.d.sync += tail.eq(tail + 1)
