"""The port by which a block tells the trace what it does."""

from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from ...layouts.packet import TRACE_BITS
from ...layouts.trace import ARG_BITS

__all__ = ["EventPort"]

EventPort = wiring.Signature({
    "valid": Out(1),
    "kind": Out(8),
    "number": Out(TRACE_BITS),
    "arg": Out(ARG_BITS),
})
"""A block's event output. ``valid`` for one cycle is one event, stamped with the cycle counter's
value after that cycle's clock edge began it, i.e. the counter as the block's own logic sees it.
Nothing flows back: the trace changes no cycle."""
