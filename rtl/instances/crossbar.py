"""A switch with the collectors of its events."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.fabric import Routing
from ...layouts.trace import Block
from ..fabric.switch import Switch
from ..parts.flit import FlitStream
from ..parts.trace_sink import TraceSink

__all__ = ["Crossbar"]


class Crossbar(wiring.Component):
    """A :class:`Switch` whose joined ports are inputs, and a :class:`TraceSink` an event port.

    It needs an edge only in a cycle in which an input is valid.

    Parameters
    ----------
    ports : :class:`int`, routing : :class:`Routing`
        As of :class:`Switch`.

    Members
    -------
    i : ``In(FlitStream).array(ports)``, o : ``Out(FlitStream).array(ports)``
        As of :class:`Switch`. Combinational from one to the other.
    joined : ``In(ports)``
        The ports that lead somewhere; a packet for another one is misrouted.
    cycle : ``In(64)``, trace_enable : ``In(1)``, number : ``In(8)``
        The cycle; whether to trace; the switch's number.
    """

    def __init__(self, *, ports: int, routing: Routing = Routing.PORTS) -> None:
        self._switch = Switch(ports=ports, masked=True, routing=routing)
        super().__init__({
            "i": In(FlitStream).array(ports),
            "o": Out(FlitStream).array(ports),
            "joined": In(ports),
            "cycle": In(64),
            "trace_enable": In(1),
            "number": In(8),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.switch = switch = self._switch
        m.d.comb += switch.joined.eq(self.joined)
        for outside, inside in zip(self.i, switch.i, strict=True):
            connect(m, flipped(outside), inside)
        for outside, inside in zip(self.o, switch.o, strict=True):
            connect(m, inside, flipped(outside))
        for number, event in enumerate(switch.events):
            m.submodules[f"trace_{number}"] = sink = TraceSink(block=Block.SWITCH)
            connect(m, event, sink.event)
            m.d.comb += [
                sink.enable.eq(self.trace_enable),
                sink.cycle.eq(self.cycle),
                sink.node.eq(self.number),
            ]
        return m
