"""Active Messages II in the NIC: frames, the kernel's commands, packets.

firmware/am2 and host/am2/network share these declarations. Words have 64 bits and are
little-endian. An *endpoint* of a NIC has a number, from 0 up. It is served while it is in a
*frame*, a page of NIC memory that its process may read and write. There are two *classes* of
messages, requests and replies, and each has its own queues.
"""

from enum import IntEnum

from .bits import Field, Word
from .in_c import InC, picked
from .packet import TRACE_BITS
from .processor import WINDOW_PAGE

__all__ = [
    "AM2_DETAIL", "AM2_HEADER", "AM2_HEADER_BYTES", "AM2_MESSAGE", "AM2_PLACE", "AM2_WORDS",
    "ARGUMENT_WORD", "ARMED", "ARRIVAL_BYTES", "CLASSES", "ENDPOINTS", "FRAME_BYTES",
    "FRAME_PACKETS", "IMAGE_BYTES", "KernelCommand", "NICS", "NO_BUFFER", "NackReason", "PIECE",
    "PacketKind", "QUEUES", "RECEIVE_BUFFERS", "RECEIVE_SLOTS", "REPLY_BUFFERS", "REQUEST_BUFFERS",
    "SEND_REPLIES", "SEND_REQUESTS", "SEND_SLOTS", "STREAM_BYTES", "Slot", "Words", "memory_needed",
]

NICS = 64
"""Most wire addresses of a fabric."""
ENDPOINTS = 64
"""Most endpoints of a NIC."""
CLASSES = 2
"""Requests 0, replies 1. A request that goes back is in the class of replies, a reply that goes
back in that of requests."""

# --- A frame: a page ------------------------------------------------------------------------------

SEND_REQUESTS, SEND_REPLIES = 16, 8
"""Slots of the send queues, which begin the page."""
SEND_SLOTS = SEND_REQUESTS + SEND_REPLIES
FRAME_PACKETS = 16
"""Most slots of a receive queue (``am2.frame_packets``)."""
RECEIVE_SLOTS = 64 * SEND_SLOTS
"""Offset of the receive queues, of FRAME_PACKETS slots each."""
QUEUES = RECEIVE_SLOTS + CLASSES * FRAME_PACKETS * 64
"""Offset of the words behind the queues."""


class Words(IntEnum):
    """Those words, by number."""

    COUNTS = 0
    """Messages put into the receive queues so far: requests in the low half, replies in the
    high."""
    TAKEN = 1
    """How many of them the process has taken, as it tells."""
    ARMED = 2
    """Bit 0: the next message interrupts. Then the firmware clears the word."""
    TAG = 3
    """The endpoint's tag."""


AM2_WORDS = 4
ARMED = 1


class Slot(IntEnum):
    """The words of a slot. A process writes MESSAGE last, and so as few words as there are; what it
    reads first is MESSAGE."""

    SPARE = 0
    PLACE = 1
    """Of bulk data (AM2_PLACE); of other messages it need not be written."""
    TAG = 6
    """Of requests: the tag that the receiver must have."""
    MESSAGE = 7


ARGUMENT_WORD = 5
"""Arguments 0 and 1 of a slot, the first in the low half; those that follow are in the words
before it."""
NO_BUFFER = 15

AM2_MESSAGE = Word(
    "am2_message",
    Field("opcode", 3, "am2.Opcode"),
    Field("phase", 1, "send queue: 1 on its first lap, 0 on the second, and so on"),
    Field("returned", 4, "0, or why the message comes back (am2.Returned): it is one's own"),
    Field("epoch", 8, "of the requester's tag: a reply brings it back"),
    Field("endpoint", 6, "send queue: the receiver's number on its NIC; receive queue: the "
                         "sender's, or of what came back, the receiver's"),
    Field("nic", 6, "its NIC's wire address"),
    Field("count", 4, "arguments"),
    Field("handler", 8),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word MESSAGE of a slot, and of a packet. What firmware looks at needs few shifts of it."""
AM2_PLACE = Word("am2_place_nic", Field("offset", 32, "in the receiver's segment, of a transfer"),
                 Field("length", 16, "bytes of bulk data"),
                 Field("buffer", 16, "that they are in; NO_BUFFER: there are none"))
"""Word PLACE."""

# --- Bulk data in host memory, LONG bytes a buffer ------------------------------------------------

REQUEST_BUFFERS, REPLY_BUFFERS = 4, 2
"""Buffers of an endpoint's send queues, one behind the other."""
RECEIVE_BUFFERS = 4
"""Buffers of each of its receive queues. One is free again when the slot that names it is."""

# --- The kernel's commands, through the mailbox ---------------------------------------------------


class KernelCommand(IntEnum):
    """Word 0, bits 7:0; bits 15:8 are the endpoint, bits 23:16 the frame."""

    OPEN = 1
    """Word 1: tag. 2: in host memory, the word in which messages that have been sent are counted
    (requests in the low half), and in the high half the word that counts interrupts. 3: the send
    buffers, and in the high half the receive buffers."""
    STOP = 2
    """Take no messages for it any more: they go back, BADENDPOINT, or with bit 24 set, as its
    process has ended, UNREACHABLE. What it sends goes on."""
    CLOSE = 3
    """Behind STOP. Answered by 1, and nothing done, while its messages are on their way, unless bit
    24 is set."""
    OUT = 4
    """Write the endpoint to host memory, at word 1, and free its frame."""
    IN = 5
    """Read it from there into the frame."""
    WANTED = 6
    """The answer is a bit for each endpoint that is out and that packets have come for, or that has
    messages on their way."""


# --- Packets --------------------------------------------------------------------------------------


class PacketKind(IntEnum):
    """Bits 1:0 of the wire header's detail."""

    SHORT = 0
    """Words AM2_MESSAGE (with the sender's endpoint and NIC), tag, AM2_PLACE, arguments: a message,
    and the end of its data."""
    DATA = 1
    """PIECE, and a part of the data of the message to come."""
    ACK = 2
    """All packets before ``sequence`` have arrived."""
    NACK = 3
    """The same, and packet ``sequence`` was not accepted, for the reason in the next word
    (NackReason)."""


class NackReason(IntEnum):
    """Reasons for which a packet is not accepted."""

    GAP = 0
    """A packet before it is missing."""
    FULL = 1
    """There is no room for it."""
    OUT = 2
    """The endpoint is in no frame."""
    ABSENT = 3
    """The endpoint was never open."""
    CLOSED = 4
    ENDED = 5
    """Its process has ended."""
    TAG = 6
    REJECTED = 7
    """It makes no sense."""


AM2_DETAIL = Word(
    "am2_detail",
    Field("kind", 2, "PacketKind"), Field("reply", 1, "of the stream of replies"),
    Field("sync", 1, "an epoch begins with this packet"),
    Field("asks", 1, "ACK: a question to the stream's receiver, sequence is the packet to come"),
    Field("answers", 1, "ACK: to the question that has left last"),
    Field("acks", 1, "SHORT, without data: word AM2_PLACE begins with sequence and epoch of an ACK "
                     "of what the target sends to this NIC in the other class"), width=8)
"""The wire header's field ``detail`` in packets of Protocol.AM2."""

AM2_HEADER_BYTES = 16
AM2_HEADER = Word(
    "am2_header",
    Field("sequence", 16, "of the packet in its stream; ACK, NACK: expected next"),
    Field("epoch", 16, "of the stream: sequence numbers begin at 0 in each"),
    Field("source", 8, "endpoint the stream's messages come from"),
    Field("target", 8, "endpoint that the packet is for"),
)
"""The word behind the wire header. A stream is what one endpoint sends to one NIC in one class. In
ACK and NACK another word follows: NackReason; of a question, what its answer returns."""
PIECE = Word("am2_piece", Field("offset", 32, "of the packet's data"))
"""The word behind AM2_HEADER in DATA."""

# --- Sizes ----------------------------------------------------------------------------------------

FRAME_BYTES, STREAM_BYTES, ARRIVAL_BYTES = 544, 32, 8
"""Bytes that the firmware keeps of a frame beside its page, of a stream, of an arrival."""
IMAGE_BYTES = 22260
"""Bytes of its code and of what it has one of, at the most."""
_LEFT = 1024 + 512 + 2 * 1056
"""Bytes for its stack and for two packets, at the least."""


def memory_needed(nics: int, frames: int, endpoints: int) -> int:
    """Bytes of NIC memory that the firmware needs in a fabric with this many wire addresses, with
    ``am2.frames`` and ``am2.endpoints`` of these."""
    numbers = 1 << (endpoints - 1).bit_length()
    small = (IMAGE_BYTES + frames * (FRAME_BYTES + CLASSES * nics * STREAM_BYTES)
             + CLASSES * nics * numbers * ARRIVAL_BYTES)
    return -(-small // WINDOW_PAGE) * WINDOW_PAGE + frames * WINDOW_PAGE + _LEFT

IN_C = InC(
    picked(globals(), "AM2", (
        "NICS", "ENDPOINTS", "CLASSES", "SEND_REQUESTS", "SEND_REPLIES", "SEND_SLOTS",
        "FRAME_PACKETS", "RECEIVE_SLOTS", "QUEUES", "AM2_WORDS", "ARMED", "ARGUMENT_WORD",
        "NO_BUFFER", "REQUEST_BUFFERS", "REPLY_BUFFERS", "RECEIVE_BUFFERS", "AM2_HEADER_BYTES",
        "FRAME_BYTES", "STREAM_BYTES", "ARRIVAL_BYTES")),
    words={"am2_message": AM2_MESSAGE, "am2_detail": AM2_DETAIL, "am2_header": AM2_HEADER,
           "am2_place": AM2_PLACE},
    enums={"am2_kernel": KernelCommand, "am2_packet": PacketKind, "am2_nack": NackReason,
           "am2_word": Words, "am2_slot": Slot})
