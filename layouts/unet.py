"""U-Net: endpoints, their queues, channels, packets.

firmware/unet and host/unet share these declarations. Words have 64 bits and are little-endian. An
*endpoint* belongs to a process. Its send queue and its free queue are in a page of NIC memory that
the process owns (the send queue of a NIC on the memory bus is in host memory); its receive queue
and the statuses of its sends are in host memory. A *place* is 32 bits: an offset in the
communication segment or, with ``unet.buffers`` = direct or tlb, an address counted from the
beginning of the process's memory.
"""

from enum import IntEnum

from .bits import Field, Word
from .in_c import InC, picked
from .packet import TRACE_BITS
from .processor import SEND_WORD, WINDOW_PAGE

__all__ = [
    "ARMED", "Buffers", "CHANNELS", "COUNTS", "ENDPOINTS", "FREE", "FREE_AT", "FREE_SLOTS",
    "INLINE", "KernelCommand", "MAX_BUFFERS", "MAX_MESSAGE", "NODES", "POSTED_AT", "PacketDetail",
    "RECEIVE", "RECEIVED_BUFFER", "RECEIVE_BYTES", "RECEIVE_SLOTS", "SEGMENT_PAGES", "SEND",
    "SEND_SLOTS", "SEND_STATUS", "Status", "TABLE_ENTRY", "TAGS", "TAKEN_AT", "TLB", "UNET_DETAIL",
    "UNET_HEADER", "UNET_HEADER_BYTES",
]

ENDPOINTS = 7
"""Endpoints of a NIC. Endpoint n has doorbell page n + 1."""
NODES = 64
"""NICs that a channel may lead to."""
CHANNELS = 256
"""Channels of a NIC, those of all endpoints together; channel 0 is none."""
TAGS = 1024
SEGMENT_PAGES = 64
"""Most pages of a communication segment."""
SEND_SLOTS = 32
"""Most slots of a send queue."""
FREE_SLOTS = 64
"""Most entries of a free queue."""
RECEIVE_SLOTS = 256
"""Most slots of a receive queue."""
RECEIVE_BYTES = 64
"""Bytes of a slot of a receive queue."""
INLINE = 56
"""Bytes of a message that a descriptor can carry itself, in either queue."""
MAX_BUFFERS = 7
"""Most buffers of a message that arrives."""
MAX_MESSAGE = 65535
"""Bytes of the longest message."""
TLB = 64
"""Most translations that the NIC holds."""


class Buffers(IntEnum):
    """Values of ``unet.buffers``: where the buffers of descriptors may lie."""

    SEGMENT = 0
    DIRECT = 1
    """In registered memory."""
    TLB = 2
    """In any memory of the process."""


# --- The page of an endpoint, and its doorbells ---------------------------------------------------

FREE_AT = SEND_SLOTS * 64
"""Offset of the free queue in the endpoint's page. The send queue is at 0."""
POSTED_AT = FREE_AT + FREE_SLOTS * 8
"""Offset of the number of sends posted so far, modulo 2**32: for doorbells that found no room."""
TAKEN_AT = POSTED_AT + 8
"""Offset of the number of received descriptors that the process has taken, modulo 2**32."""
COUNTS = TAKEN_AT + 8
"""Offset of two counts of 32 bits that the firmware keeps: messages that were dropped for want of a
free buffer, and those for want of room in the receive queue."""
if COUNTS + 8 > WINDOW_PAGE:
    raise AssertionError("an endpoint does not fit its page")

ARMED = 1 << 32
"""Doorbell at offset 8: ARMED plus the number of descriptors that the process has seen arrive.
Interrupt when there are more, at once if there are already. Doorbell 0: sends posted so far."""

# --- The send queue -------------------------------------------------------------------------------

SEND = Word(
    "unet_send",
    Field("length", 17, "bytes"), Field("channel", 10),
    Field("phase", 1, "as in SEND_WORD"),
    Field("inlined", 1, "the message follows in the slot"),
    Field("placed", 1, "word 2 is the receiver's place for it"),
    Field("spare", 10),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word 0 of a slot. Word 1: place of the data, or inlined data from here on."""
if any(SEND.offset(name) != SEND_WORD.offset(name) for name in ("phase", "trace")):
    raise AssertionError("phase and trace number are not where queues have them")

SEND_STATUS = Word("unet_send_status", Field("count", 32, "sends over so far, with this one"),
                   Field("status", 8, "Status"), Field("spare", 24))
"""The done flag: each slot of a send queue has one in host memory. The buffer may be used again."""


class Status(IntEnum):
    """The end of a descriptor: done, or refused for a reason."""

    DONE = 0
    BAD_CHANNEL = 1
    """The endpoint has no such channel."""
    BAD_ADDRESS = 2
    """The buffer is not inside the segment, or not registered, or not mapped."""
    BAD_LENGTH = 3
    """The message is too long."""


# --- The free queue -------------------------------------------------------------------------------

FREE = Word("unet_free", Field("place", 32), Field("length", 24, "bytes"), Field("spare", 7),
            Field("phase", 1, "1 on the queue's first lap, 0 on the second, and so on"))
"""An entry of a free queue: a buffer."""

# --- The receive queue ----------------------------------------------------------------------------

RECEIVE = Word(
    "unet_receive",
    Field("phase", 1, "1 on the queue's first lap, 0 on the second, and so on"),
    Field("buffers", 3, "buffers that follow; 0: the message itself follows"),
    Field("placed", 1, "the data are where the sender said; word 1 is the place"),
    Field("refused", 1, "no message: the buffer in word 1 of the free queue is none"),
    Field("spare", 1),
    Field("length", 17, "bytes"), Field("trace", TRACE_BITS, "trace number"),
    Field("channel", 10), Field("spare_high", 6),
)
"""Word 0 of a slot, written last."""
RECEIVED_BUFFER = Word("unet_received_buffer", Field("place", 32), Field("length", 32, "bytes"))
"""A buffer with a piece of the message."""

# --- The kernel's commands, through the mailbox ---------------------------------------------------


class KernelCommand(IntEnum):
    """Word 0, bits 7:0; bits 15:8 are the endpoint."""

    OPEN = 1
    """Word 1: receive queue and, in the high half, statuses of the send queue; 2: slots of the
    send, receive and free queue, 16 bits each; 3: bytes of the segment, or pages of the process,
    and the translation table in the high half; 4: a coherent send queue."""
    CLOSE = 2
    CHANNEL = 3
    """A channel. Word 1: its number, the node it leads to, the tag of what it sends and that of
    what it receives, 16 bits each."""
    UNCHANNEL = 4
    """Word 1: its number."""
    FORGET = 5
    """Remove the endpoint's translations from the NIC. When the command is answered, no transfer
    uses one any more."""
    FILL = 6
    """The answer to a miss. Word 1: the page's frame, 0 if there is none."""


TABLE_ENTRY = 4
"""Bytes of an entry of a translation table in host memory: the page's address, or 0."""

# --- Packets --------------------------------------------------------------------------------------


class PacketDetail(IntEnum):
    """Bits of the wire header's detail."""

    FIRST = 1
    """The first packet of its message."""
    LAST = 2
    PLACED = 4
    """The header has the place of the packet's data."""


UNET_DETAIL = Word("unet_detail", Field("first", 1), Field("last", 1), Field("placed", 1),
                   Field("spare", 5), width=8)
"""The wire header's field ``detail`` in packets of Protocol.UNET."""
UNET_HEADER_BYTES = 8
UNET_HEADER = Word(
    "unet_header",
    Field("tag", 10), Field("message", 11, "number of the message on its channel"),
    Field("packet", 11, "number of the packet in its message"),
    Field("place", 32, "placed: where the packet's data go"),
)
"""The word behind the wire header; the data follow."""

IN_C = InC(
    picked(globals(), "UNET", (
        "ENDPOINTS", "NODES", "CHANNELS", "TAGS", "SEGMENT_PAGES", "SEND_SLOTS", "FREE_SLOTS",
        "RECEIVE_BYTES", "INLINE", "MAX_BUFFERS", "MAX_MESSAGE", "TLB", "TABLE_ENTRY",
        "UNET_HEADER_BYTES")),
    words={"unet_send": SEND, "unet_send_status": SEND_STATUS, "unet_free": FREE,
           "unet_receive": RECEIVE, "unet_received_buffer": RECEIVED_BUFFER,
           "unet_header": UNET_HEADER, "unet_detail": UNET_DETAIL},
    enums={"unet_status": Status, "unet_kernel": KernelCommand, "unet_buffers": Buffers})
