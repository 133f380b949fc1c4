"""A link between two switches."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.fabric import SWITCH_PIPELINE
from ...layouts.trace import Block
from ..fabric.link import Link
from ..parts.flit import FlitStream
from ..parts.timing import Timing
from ..parts.trace_sink import TraceSink

__all__ = ["Trunk"]


class Trunk(wiring.Component):
    """A :class:`Link` into a switch, with the collector of its events.

    It needs an edge only in a cycle with ``busy``, or with a flit at ``i``.

    Parameters
    ----------
    description : :class:`Description`
        ``link.buffer``.

    Members
    -------
    i : ``In(FlitStream)``, o : ``Out(FlitStream)``
        Its two ends. ``i.ready``, ``o.valid`` and ``o.p`` depend on registers alone.
    following : ``In(64)``
        The cycle that the next edge begins.
    timing : ``In(Timing)``
        The timing registers. Constant outside reset.
    trace_enable : ``In(1)``, number : ``In(8)``, toward : ``In(8)``
        Whether to trace; the switch at ``i`` and the port of it. Constant outside reset.
    busy : ``Out(1)``
        A flit or a credit is on its way, or there is an event.
    """

    def __init__(self, *, description: Description) -> None:
        self._link = Link(buffer=description.link.buffer, pipeline=SWITCH_PIPELINE)
        super().__init__({
            "i": In(FlitStream),
            "o": Out(FlitStream),
            "following": In(64),
            "timing": In(Timing),
            "trace_enable": In(1),
            "number": In(8),
            "toward": In(8),
            "busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cycle = Signal(64)
        m.d.sync += cycle.eq(self.following)
        m.submodules.link = link = self._link
        m.submodules.trace = sink = TraceSink(block=Block.TRUNK)
        connect(m, flipped(self.i), link.i)
        connect(m, link.o, flipped(self.o))
        m.d.comb += [
            link.timing.eq(self.timing),
            link.hold.eq(self.timing.switch_latency),
            link.now.eq(cycle),
            sink.enable.eq(self.trace_enable),
            sink.cycle.eq(cycle),
            sink.node.eq(self.number),
            sink.event.valid.eq(link.event.valid),
            sink.event.kind.eq(link.event.kind),
            sink.event.number.eq(link.event.number),
            sink.event.arg.eq(self.toward),
            self.busy.eq(~link.idle | link.event.valid),
        ]
        return m
