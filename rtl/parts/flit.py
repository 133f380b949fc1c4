"""The unit of packets: eight bytes, and the signals beside them."""

from typing import Any

from amaranth.lib import data, stream

from ...layouts.packet import HEADER, TRACE_BITS
from .sizes import check_power_of_two

__all__ = ["FLIT_WIDTH_MAX", "Flit", "FlitStream", "Header", "flit_stream"]

FLIT_WIDTH_MAX = 64
"""Bytes of the widest flit."""


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


def flit_stream(width: int = 8) -> stream.Signature:
    """A stream of flits of ``width`` bytes: a power of two, 8 to FLIT_WIDTH_MAX. The header is in
    the lowest 8 bytes of the first flit, and what follows it comes at once behind it; ``size`` is
    less than ``width`` only in the last flit. With 8 it is :data:`FlitStream`.

    Raises
    ------
    TypeError
        ``width`` is not an integer.
    ValueError
        ``width`` is none of the values above.
    """
    check_power_of_two("width", width, least=8, most=FLIT_WIDTH_MAX)
    shape: Any = Flit if width == 8 else data.StructLayout({
        "data": 8 * width, "size": width.bit_length(), "first": 1, "last": 1,
        "trace": TRACE_BITS})
    return stream.Signature(shape)
