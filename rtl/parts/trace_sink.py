"""The exits of blocks' events from the target."""

from amaranth.hdl import ClockSignal, Instance, Module, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS
from ...layouts.trace import ARG_BITS, Block, Kind
from .event import EventPort
from .sizes import check_count

__all__ = ["TRACES", "TracePort", "TraceSink", "expose"]

TRACES = ("collectors", "ports")
"""How events leave the target: by one :class:`TraceSink` each, or by ports, for a board."""

TracePort = wiring.Signature({
    "valid": Out(1),
    "node": Out(8),
    "block": Out(8),
    "kind": Out(8),
    "number": Out(TRACE_BITS),
    "arg": Out(ARG_BITS),
})
"""An event of one source with its origin; ``valid`` in the cycle of the event."""


def expose(m: Module, event: wiring.PureInterface, trace: wiring.PureInterface, *, node: ValueLike,
           block: int) -> None:
    """Show on ``trace``, a :data:`TracePort`, ``event``: an :data:`EventPort` of the block with
    number ``block`` at ``node``."""
    m.d.comb += [
        *(getattr(trace, name).eq(getattr(event, name))
          for name in ("valid", "kind", "number", "arg")),
        trace.node.eq(node),
        trace.block.eq(int(block)),
    ]


ALWAYS = (Block.VI_SEND, Block.FIRMWARE)
"""Blocks that send packets again. Their AGAIN events are recorded even if others are not."""


class TraceSink(wiring.Component):
    """Passes the events of one source to the trace: an instance of ``nicbed_trace``.

    That module takes an event at the clock edge that ends its cycle, if ``enable``, or if it is of
    ``Kind.AGAIN`` and of one of ALWAYS; nothing comes back from it. Its inputs: ``clk``,
    ``enable``, ``valid``, ``cycle``, ``node``, ``block``, ``kind``, ``number``, ``arg``.

    Parameters
    ----------
    block : :class:`int`
        Number of the block whose events these are: a :class:`Block`, or one of a NIC design.

    Members
    -------
    event : ``In(EventPort)``
        The events.
    enable : ``In(1)``, cycle : ``In(64)``, node : ``In(8)``
        Whether to trace; the cycle counter; the node, or the switch.

    Raises
    ------
    TypeError
        ``block`` is not an integer.
    """

    event: In(EventPort)
    enable: In(1)
    cycle: In(64)
    node: In(8)

    def __init__(self, *, block: int) -> None:
        check_count("block", block)
        self._block = block
        super().__init__()

    @property
    def block(self) -> int:
        """Number of the block of the events."""
        return self._block

    def elaborate(self, platform: object) -> Module:
        m = Module()
        event = self.event
        enable = self.enable
        if self._block in ALWAYS:
            enable = enable | (event.kind == Kind.AGAIN.value)
        m.submodules.collector = Instance(
            "nicbed_trace", i_clk=ClockSignal(), i_enable=enable, i_valid=event.valid,
            i_cycle=self.cycle, i_node=self.node, i_block=int(self._block), i_kind=event.kind,
            i_number=event.number, i_arg=event.arg)
        return m
