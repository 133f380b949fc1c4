"""Packets of the layer: their kinds and headers.

A header has 24 bytes; those of the kinds in LONG, which name memory, 40. A byte of it, which is 0
here, belongs to the channel below.
"""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

__all__ = ["CHANNEL_AT", "EAGER_SYNC", "HEADER_BYTES", "LONG", "LONG_BYTES", "Header", "Packet",
           "pack_short", "parse"]

_SHORT = Struct("<BxHHHiIII")
_LONG = Struct("<BxHHHiIIIQQ")
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
    LAYOUT = 10
    """Of operation ``send`` on a window: the blocks at its target, (distance from its address,
    bytes) of each, for ``length`` bytes of data."""
    PUT = 11
    """Data from byte ``tag`` of operation ``send`` on, for the window of ``context`` at
    ``address``. ``receive``: 1 if their place is by LAYOUT, 0 if they are in one piece."""
    ACCUMULATE = 12
    """The same; they update elements of kind ``element`` by operator ``handle``."""
    FETCH = 13
    """The same; what was there goes back (GOT)."""
    SWAP = 14
    """An element of kind ``element``, and what must be there for it to get there; what was there
    goes back."""
    GET = 15
    """What is there goes back, ``length`` bytes."""
    GOT = 16
    """Data from byte ``tag`` on, for operation ``receive``."""
    LOCK = 17
    """The window's lock is wanted: ``tag`` says how."""
    LOCKED = 18
    UNLOCK = 19
    """Everything before has been done, and the lock is given back (FLUSHED)."""
    FLUSH = 20
    """Everything before has been done: say so (FLUSHED)."""
    FLUSHED = 21
    POST = 22
    """The window is exposed to this origin."""
    COMPLETE = 23
    """The origin has done everything before."""
    FENCE = 24
    """The origin has come to a fence, and so have those of which it knows."""


EAGER_SYNC = Packet.EAGER_SYNC
"""For what each message is asked: a member looked up at its class takes as long as ten others."""
LONG = frozenset({Packet.REQUEST, Packet.REPLY, Packet.PUT, Packet.ACCUMULATE, Packet.FETCH,
                  Packet.SWAP, Packet.GET})
"""Kinds with a long header."""


class Header(NamedTuple):
    """A header, in the order of its fields in memory. ``source`` is the sender's rank in the world,
    ``element`` the kind of what the message is made of, ``length`` the bytes of all of it, ``send``
    and ``receive`` the numbers of its requests at both ends."""

    kind: int
    context: int = 0
    source: int = 0
    element: int = 0
    tag: int = 0
    length: int = 0
    send: int = 0
    receive: int = 0
    address: int = 0
    handle: int = 0

    def pack(self) -> bytes:
        """Its bytes."""
        return _LONG.pack(*self) if self[0] in LONG else _SHORT.pack(*self[:SHORT])


SHORT = Header._fields.index("address")
"""Fields of a short header."""
pack_short = _SHORT.pack
"""The bytes of a short header, of all its fields in their order."""
_NOWHERE = 0, 0
_new = tuple.__new__


def parse(data: bytes) -> Header:
    """The header at the beginning of ``data``."""
    if data[0] in LONG:
        return _new(Header, _LONG.unpack_from(data))
    return _new(Header, _SHORT.unpack_from(data) + _NOWHERE)
