"""Packets of the layer: their kinds and headers.

A header has 24 bytes; those of the kinds in LONG, which name memory, 40. ``channel`` is a byte that
belongs to the channel below.
"""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

__all__ = ["CHANNEL_AT", "HEADER_BYTES", "LONG", "LONG_BYTES", "Header", "Packet", "parse"]

_SHORT = Struct("<BBHHHiIII")
_LONG = Struct("<BBHHHiIIIQQ")
HEADER_BYTES = _SHORT.size
LONG_BYTES = _LONG.size
CHANNEL_AT = 1
"""Where in a header the channel's byte is."""


class Packet(IntEnum):
    """Kinds of packets."""

    EAGER = 1
    """A message with its data."""
    EAGER_SYNC = 2
    """The same; the sender hears when it is matched (SYNCED)."""
    EAGER_READY = 3
    """The same; its receive has been posted."""
    REQUEST = 4
    """A message whose data come once there is a receive. ``address``, ``handle``: where they are,
    for a receiver that reads them."""
    REPLY = 5
    """The receive of a REQUEST: ``address``, ``handle`` where the data go, if they are written."""
    DATA = 6
    """A part of the data, for receive ``receive``, from byte ``tag`` on."""
    FINISH = 7
    """All data have been written, or read."""
    SYNCED = 8
    """An EAGER_SYNC has been matched."""
    CREDITS = 9
    """Nothing but what the channel tells."""


LONG = frozenset({Packet.REQUEST, Packet.REPLY})
"""Kinds with a long header."""


class Header(NamedTuple):
    """A header. ``source`` is the sender's rank in the world, ``length`` the bytes of the whole
    message, ``send`` and ``receive`` the numbers of its requests at both ends, ``element`` the kind
    of what it is made of."""

    kind: int
    context: int = 0
    source: int = 0
    tag: int = 0
    length: int = 0
    send: int = 0
    receive: int = 0
    address: int = 0
    handle: int = 0
    element: int = 0

    def pack(self) -> bytes:
        """Its bytes."""
        kind, context, source, tag, length, send, receive, address, handle, element = self
        if kind in LONG:
            return _LONG.pack(kind, 0, context, source, element, tag, length, send, receive,
                              address, handle)
        return _SHORT.pack(kind, 0, context, source, element, tag, length, send, receive)


def parse(data: bytes) -> Header:
    """The header at the beginning of ``data``."""
    if data[0] in LONG:
        kind, _, context, source, element, tag, length, send, receive, address, handle = \
            _LONG.unpack_from(data)
        return Header(kind, context, source, tag, length, send, receive, address, handle, element)
    kind, _, context, source, element, tag, length, send, receive = _SHORT.unpack_from(data)
    return Header(kind, context, source, tag, length, send, receive, 0, 0, element)
