"""Joins streams of packets into one, a whole packet at a time."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..parts.flit import FlitStream
from ..parts.round_robin import RoundRobin
from ..parts.sizes import check_count

__all__ = ["PacketMerge"]


class PacketMerge(wiring.Component):
    """Passes the packets of ``inputs`` streams on, round robin.

    Latency: none (combinational). Throughput: 1 flit a cycle. Back-pressure: ``o`` stalls the
    packet that is being sent, and that the others. Reset: between packets, input 0 is asked first.

    Parameters
    ----------
    inputs : int
        Streams, at least 2.

    Members
    -------
    i : In(FlitStream), an array
        Packets in. A packet once begun must come to its end by itself.
    o : Out(FlitStream)
        Packets out.
    idle : Out(1)
        No packet is under way.

    Raises
    ------
    ValueError
        ``inputs`` is less than 2.
    """

    def __init__(self, *, inputs: int) -> None:
        check_count("inputs", inputs, least=2)
        self._inputs = inputs
        super().__init__({
            "i": In(FlitStream).array(inputs),
            "o": Out(FlitStream),
            "idle": Out(1),
        })

    @property
    def inputs(self) -> int:
        """Streams."""
        return self._inputs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(count=self._inputs)
        busy = Signal()
        owner = Signal.like(arbiter.index)
        chosen = Signal.like(arbiter.index)
        m.d.comb += [
            arbiter.requests.eq(Cat(stream.valid for stream in self.i)),
            chosen.eq(Mux(busy, owner, arbiter.index)),
            self.idle.eq(~busy),
        ]
        with m.Switch(chosen):
            for number, stream in enumerate(self.i):
                with m.Case(number):
                    m.d.comb += [
                        self.o.valid.eq(stream.valid),
                        self.o.payload.eq(stream.payload),
                        stream.ready.eq(self.o.ready),
                    ]
        with m.If(self.o.valid):
            # Chosen is chosen, taken or not: what is offered must not change.
            m.d.sync += [owner.eq(chosen), busy.eq(~(self.o.payload.last & self.o.ready))]
            m.d.comb += arbiter.advance.eq(~busy)
        return m
