"""A FIFO in block memory: the storage behind the NIC's lanes and its side queues."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .block_ram import BlockRam
from .sizes import check_power_of_two

__all__ = ["Queue"]


class Queue(wiring.Component):
    """First-in first-out queue in a memory with a synchronous read port.

    Latency: an item is offered 2 cycles after it was taken. Throughput: 1 item a cycle, from 4
    items of depth on. Back-pressure: ``i`` is ready while there is room. Reset: empty.

    Parameters
    ----------
    shape : ShapeLike
        Shape of an item.
    depth : int
        Items it holds: a power of two, at least 2.

    Members
    -------
    i : In(stream)
        Items in.
    o : Out(stream)
        Items out.
    level : Out
        Items inside, 0 to ``depth``; counts an item from the cycle after it was taken.

    Raises
    ------
    ValueError
        ``depth`` is not a power of two of at least 2.
    """

    def __init__(self, *, shape: ShapeLike, depth: int) -> None:
        check_power_of_two("depth", depth)
        self._shape = shape
        self._depth = depth
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
            "level": Out(range(depth + 1)),
        })

    @property
    def depth(self) -> int:
        """Items that fit."""
        return self._depth

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.items = items = BlockRam(shape=self._shape, depth=self._depth)
        write = items.write_port()
        read = items.read_port()

        bits = (self._depth - 1).bit_length()
        # One bit more than an address tells full from empty.
        tail = Signal(bits + 1)
        head = Signal(bits + 1)
        next_head = Signal(bits + 1)
        m.d.comb += [
            self.level.eq(tail - head),
            self.i.ready.eq(~self.level[bits]),
            write.addr.eq(tail),
            write.data.eq(self.i.payload),
            next_head.eq(head + 1),
            read.addr.eq(Mux(self.o.valid, next_head, head)),
            read.en.eq(0),
            self.o.payload.eq(read.data),
        ]
        # Simulators pay for each evaluated statement: while nothing moves, only these conditions
        # are evaluated.
        with m.If(self.i.valid):
            with m.If(self.i.ready):
                m.d.comb += write.en.eq(1)
                m.d.sync += tail.eq(tail + 1)
        # An item written at this edge is not in what is read at this edge.
        with m.If(self.o.valid):
            with m.If(self.o.ready):
                m.d.comb += read.en.eq(1)
                m.d.sync += [head.eq(next_head), self.o.valid.eq(next_head != tail)]
        with m.Elif(head != tail):
            m.d.comb += read.en.eq(1)
            m.d.sync += self.o.valid.eq(1)
        return m
