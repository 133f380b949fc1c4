"""The unit in which packets move: eight bytes, and what travels beside them."""

from amaranth.lib import data, stream

from ...layouts.packet import HEADER, TRACE_BITS

__all__ = ["Flit", "Header", "FlitStream"]


class Flit(data.Struct):
    """Eight bytes of a packet.

    ``size`` is how many are valid (1 to 8; 8 but in the last), ``first`` and ``last`` bracket the
    packet, ``trace`` is its trace number and the same in all its flits. Only ``data`` crosses the
    wire: ``size`` bytes of it.
    """

    data: 64
    size: 4
    first: 1
    last: 1
    trace: TRACE_BITS


Header = data.StructLayout({field.name: field.width for field in HEADER.fields})
"""The first flit's ``data``, as :data:`nicbed.layouts.packet.HEADER` declares it."""

FlitStream = stream.Signature(Flit)
