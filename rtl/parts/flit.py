"""The unit of packets: eight bytes, and the signals beside them."""

from amaranth.lib import data, stream

from ...layouts.packet import HEADER, TRACE_BITS

__all__ = ["Flit", "Header", "FlitStream"]


class Flit(data.Struct):
    """Eight bytes of a packet.

    ``size`` is the number of valid bytes (1 to 8; less than 8 only in the last flit). ``first`` and
    ``last`` bracket the packet. ``trace`` is its trace number, the same in all its flits. Only
    ``size`` bytes of ``data`` cross the wire.
    """

    data: 64
    size: 4
    first: 1
    last: 1
    trace: TRACE_BITS


Header = data.StructLayout({field.name: field.width for field in HEADER.fields})
"""The first flit's ``data``, as :data:`nicbed.layouts.packet.HEADER` declares it."""

FlitStream = stream.Signature(Flit)
