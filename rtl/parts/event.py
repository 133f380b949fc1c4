"""The port by which a block emits trace events."""

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
"""A block's event output. A cycle with ``valid`` is one event. Its time stamp is the value of the
cycle counter in that cycle, as the block's own logic sees it. Nothing flows back: the trace changes
no cycle."""
