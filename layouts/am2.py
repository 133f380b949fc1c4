"""Active Messages II: limits, statuses, operations, and the packet of the shared-memory queues.

What the NIC and its firmware have besides is in :mod:`.am2_nic`.
"""

from enum import IntEnum

from .bits import Field, Word
from .in_c import InC
from .packet import TRACE_BITS

__all__ = ["ALL", "ARGUMENTS", "HANDLERS", "HEAD", "LONG", "NONE", "PACKET_BYTES", "PLACE",
           "SOURCE", "TRANSLATIONS", "Opcode", "PacketType", "Returned", "Status", "Words"]

ARGUMENTS = 8
"""Most 32-bit arguments of a message."""
LONG = 8192
"""Most bytes of bulk data in a message."""
HANDLERS = 256
"""Entries of an endpoint's handler table. Entry 0 is that of returned messages."""
TRANSLATIONS = 256
"""Entries of an endpoint's translation table."""
NONE = 0
"""The tag of an endpoint that accepts nothing."""
ALL = (1 << 64) - 1
"""The tag of an endpoint that accepts everything."""


class Status(IntEnum):
    """Results of the calls."""

    AM_OK = 0
    AM_ERR_NOT_INIT = 1
    AM_ERR_BAD_ARG = 2
    AM_ERR_RESOURCE = 3
    """Something is used up; or a reply is not allowed, or no longer."""
    AM_ERR_NOT_SENT = 4
    """An asynchronous request for which there is no room now."""
    AM_ERR_IN_USE = 5
    """An index of the translation table is mapped already."""


class Returned(IntEnum):
    """Reasons for which a message is returned: what handler 0 gets as status."""

    BADARGS = 1
    BADENTRY = 2
    BADTAG = 3
    BADHANDLER = 4
    BADSEGOFF = 5
    BADLENGTH = 6
    BADENDPOINT = 7
    CONGESTION = 8
    UNREACHABLE = 9
    REPLYREJECTED = 10


class Opcode(IntEnum):
    """Kinds of messages: what handler 0 gets as operation."""

    REQUEST = 1
    REQUEST_I = 2
    REQUEST_XFER = 3
    REPLY = 4
    REPLY_I = 5
    REPLY_XFER = 6


# --- A packet of a queue in shared memory: PACKET_BYTES, eight words ------------------------------


class PacketType(IntEnum):
    """Values of ``HEAD.type``. A slot that is free has, behind it, how often it has been used; one
    that is claimed has nothing else in its head."""

    FREE = 0
    CLAIMED = 1
    """A sender fills it."""
    READY = 2
    READY_BULK = 3
    """Its data are in the bulk block that the head names."""
    VOID = 4
    """Its sender has ended before it was filled: the receiver passes over it."""


PACKET_BYTES = 64


class Words(IntEnum):
    """The words of a packet."""

    HEAD = 0
    SOURCE = 1
    TAG = 2
    ARGUMENTS = 3
    """Four words, of two arguments each, the first in the low half."""
    PLACE = 7


HEAD = Word(
    "am2_head",
    Field("type", 4, "PacketType"), Field("opcode", 4, "Opcode"),
    Field("handler", 8), Field("count", 4, "arguments"),
    Field("returned", 4, "0, or why the message comes back (Returned): it is one's own"),
    Field("block", 16, "number of the bulk block, in PacketType.READY_BULK"),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word 0, written last."""
SOURCE = Word(
    "am2_source",
    Field("block", 40, "address of the sender's queue block, to which a reply goes"),
    Field("cpu", 8, "the sender's"), Field("endpoint", 8, "the sender's number on its CPU"),
    Field("epoch", 8, "of the requester's tag: a reply brings it back"),
)
"""Word 1."""
PLACE = Word("am2_place", Field("offset", 32, "in the receiver's segment, of a transfer"),
             Field("length", 32, "bytes of bulk data"))
"""Word 7."""

IN_C = InC({"AM2_ARGUMENTS": ARGUMENTS, "AM2_LONG": LONG},
           enums={"am2_opcode": Opcode, "am2_returned": Returned})
