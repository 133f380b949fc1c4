"""The header of Active Messages: two 8-byte words behind the wire header.

A node and a peer share three channels each way, requests, replies and bulk data, each with sequence
numbers of its own. Every packet carries, for all three, the number that its sender expects next.
"""

from enum import IntEnum

from .bits import Field, Word
from .in_c import InC

__all__ = ["SEQUENCE_BITS", "AM_HEADER", "AM_HEADER_BYTES", "ARGUMENTS", "AmKind", "Channel",
           "CHANNEL_OF", "QUESTION"]

SEQUENCE_BITS = 8
ARGUMENTS = 4
"""Most 32-bit words of a small message."""


class Channel(IntEnum):
    """The three sequences of packets between two nodes."""

    REQUEST = 0
    REPLY = 1
    BULK = 2


class AmKind(IntEnum):
    """Values of ``AM_HEADER.kind``."""

    REQUEST = 1
    REPLY = 2
    NULL = 3
    """The reply of a handler that did not reply."""
    GET = 4
    """A request for data. Arguments: remote address, local address, bytes, argument."""
    STORE = 5
    """Bulk data; the last packet runs a request handler."""
    DATA = 6
    """Bulk data that a GET asked for; the last packet runs a reply handler."""
    BYE = 7
    """A request without a reply: its sender will make no more requests."""
    ACK = 8
    """Acknowledgements only."""
    NACK = 9
    """Packet ``sequence`` of ``channel`` was expected and another one came: go back to it."""
    PROBE = 10
    """Asks for an ACK with ``answer`` set. Word 1: a QUESTION, which the answer repeats."""


CHANNEL_OF = {
    AmKind.REQUEST: Channel.REQUEST, AmKind.GET: Channel.REQUEST, AmKind.BYE: Channel.REQUEST,
    AmKind.REPLY: Channel.REPLY, AmKind.NULL: Channel.REPLY,
    AmKind.STORE: Channel.BULK, AmKind.DATA: Channel.BULK,
}
"""The channel of each kind of packet that has a sequence number."""

# Word 1: small messages: arguments 0 (low) and 1; STORE, DATA: where this packet's data go (low),
# the handler's argument (high). Word 2, only with 3 or 4 arguments: arguments 2 (low) and 3.
AM_HEADER_BYTES = 16

AM_HEADER = Word(
    "am_header",
    Field("kind", 4, "AmKind"),
    Field("count", 3, "arguments, 0 to 4"),
    Field("first", 1, "STORE, DATA: the transfer's first packet"),
    Field("last", 1, "STORE, DATA: the transfer's last packet"),
    Field("answer", 1, "ACK: everything sent before the PROBE has arrived, or never will; word 1 "
                       "is the PROBE's"),
    Field("channel", 2, "NACK: of which channel"),
    Field("reserved", 4),
    Field("handler", 8, "index in the handler table"),
    Field("sequence", SEQUENCE_BITS, "of the packet in its channel"),
    Field("ack_request", SEQUENCE_BITS, "sequence number expected next, channel REQUEST"),
    Field("ack_reply", SEQUENCE_BITS, "the same, REPLY"),
    Field("ack_bulk", SEQUENCE_BITS, "the same, BULK"),
)

QUESTION = Word(
    "am_question",
    Field("sent_request", SEQUENCE_BITS, "number of the next packet to be sent, channel REQUEST"),
    Field("sent_reply", SEQUENCE_BITS, "the same, REPLY"),
    Field("sent_bulk", SEQUENCE_BITS, "the same, BULK"),
    Field("reserved", 8),
    Field("cycle", 32, "when the PROBE was sent, by the prober's clock"),
)
"""Word 1 of PROBE and of the ACK that answers it."""

IN_C = InC(words={"am_header": AM_HEADER}, enums={"am_kind": AmKind})
