"""Merges several producers of one stream; lower inputs have priority."""

from amaranth.hdl import Const, Module, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .sizes import check_count

__all__ = ["StreamMerge"]


class StreamMerge(wiring.Component):
    """Passes items of ``i`` on to ``o`` through a register; a lower input goes first.

    Latency: 1 cycle. Throughput: 1 item a cycle. Back-pressure: an input waits while ``o`` is not
    taken or a lower input has an item. Reset: empty.

    Parameters
    ----------
    shape : ShapeLike
        Of an item.
    inputs : int
        Number of inputs.

    Members
    -------
    i : In(stream).array(inputs), o : Out(stream)
        Items.
    idle : Out(1)
        Empty, and nothing comes.
    """

    def __init__(self, *, shape: ShapeLike, inputs: int) -> None:
        check_count("inputs", inputs)
        self._inputs = inputs
        super().__init__({
            "i": In(stream.Signature(shape)).array(inputs),
            "o": Out(stream.Signature(shape)),
            "idle": Out(1),
        })

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self._inputs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        room = Signal()
        asked = Signal()
        m.d.comb += [room.eq(~self.o.valid | self.o.ready), self.idle.eq(~self.o.valid & ~asked)]
        with m.If(room):
            m.d.sync += self.o.valid.eq(asked)
        ahead = Const(0)
        for port in self.i:
            m.d.comb += port.ready.eq(room & ~ahead)
            with m.If(port.valid & ~ahead):
                m.d.comb += asked.eq(1)
                with m.If(room):
                    m.d.sync += self.o.payload.eq(port.payload)
            ahead = ahead | port.valid
        return m
