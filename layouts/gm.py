"""GM message passing: ports, commands, events, packets.

firmware/gm and host/gm share these declarations. Words have 64 bits and are little-endian. Send
tokens and receive tokens are numbers that belong to a port, from 0 up. The library chooses a free
one for each command, and the firmware gives it back in an event.
"""

from enum import IntEnum

from .bits import Field, Word
from .in_c import InC, picked
from .packet import TRACE_BITS
from .processor import SEND_WORD

__all__ = [
    "COMMAND", "COMMAND_END", "CommandKind", "DETAIL", "EVENT", "EVENTS", "EVENT_BYTES",
    "EVENT_END", "EventKind", "GM_HEADER", "GM_HEADER_BYTES", "INLINE", "KernelCommand",
    "MAX_SIZE", "MIN_SIZE", "NODES", "NackReason", "PORTS", "PacketKind", "QUEUE_SLOTS",
    "RECEIVE_TOKENS", "SEND_TOKENS", "SIZE_OVERHEAD", "Status", "TABLE_ENTRY", "TRANSFER",
]

PORTS = 8
"""Ports of a NIC. Port 0 belongs to the driver and is never open; port n has doorbell page n."""
NODES = 16
SEND_TOKENS = 16
"""Most send tokens of a port."""
RECEIVE_TOKENS = 32
"""Most receive tokens of a port."""
QUEUE_SLOTS = 32
"""Slots of a port's command queue."""
INLINE = 16
"""Bytes of a message that a command can carry itself."""
MIN_SIZE = 3
MAX_SIZE = 20
"""Largest size class."""
SIZE_OVERHEAD = 8
"""A buffer of size class s takes messages of up to 2**s - 8 bytes."""



class Status(IntEnum):
    """gm_status_t, with GM's values: the result of a call, and the status that a send's callback
    gets."""

    GM_SUCCESS = 0
    GM_FAILURE = 1
    GM_TRY_AGAIN = 4
    """No token is free."""
    GM_BUSY = 5
    GM_MEMORY_FAULT = 6
    """The memory is not registered."""
    GM_INVALID_PARAMETER = 8
    GM_OUT_OF_MEMORY = 9
    GM_INVALID_COMMAND = 10
    GM_PERMISSION_DENIED = 11
    GM_SEND_TIMED_OUT = 15
    """The target port is open but provided no buffer that matches."""
    GM_SEND_REJECTED = 16
    """The message's size is not acceptable there, or a directed send is not allowed there."""
    GM_SEND_TARGET_PORT_CLOSED = 17
    GM_SEND_TARGET_NODE_UNREACHABLE = 18
    """The node did not answer."""
    GM_SEND_DROPPED = 19
    """The send had been stopped, and gm_drop_sends dropped it."""
    GM_SEND_PORT_CLOSED = 20
    """The sender's own port was closed."""

# --- Commands: a port's queue, slots of processor.SLOT_BYTES --------------------------------------


class CommandKind(IntEnum):
    """Values of ``COMMAND.kind``."""

    SEND = 1
    """Word 1: virtual address, or with ``inlined`` words 1 and 2: the message."""
    DIRECTED = 2
    """Words 1 and 2: virtual addresses here and there."""
    RECEIVE = 3
    """A receive buffer. Word 1: its virtual address; word 2: its tag (8 bits)."""
    RESUME = 4
    """Sends to this node, port and priority go on. Takes a send token, as SEND does."""
    DROP = 5
    """Stopped sends to this node, port and priority are returned with GM_SEND_DROPPED."""
    ARM = 6
    """Word 1: number of events that the program has seen. Interrupt at the next event, at once if
    there are more already."""
    ACCEPT = 7
    """Word 1: bit s set: messages of size class s and this priority are acceptable."""
    ALLOW = 8
    """Word 1: 1: directed sends into this port's registered memory are accepted; 0: they are
    not."""


COMMAND = Word(
    "gm_command",
    Field("kind", 4, "CommandKind"),
    Field("port", 4, "target port"),
    Field("size", 5, "size class"),
    Field("priority", 1),
    Field("inlined", 1, "the message is in words 1 and 2"),
    Field("spare", 12), Field("phase", 1, "as in SEND_WORD"), Field("spare_high", 4),
    Field("node", 8, "target node"),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word 0 of a slot."""
COMMAND_END = Word("gm_command_end", Field("length", 32, "bytes"), Field("token", 16),
                   Field("phase", 1, "as in word 0: the slot is whole"))
"""Word 3."""
if any(COMMAND.offset(name) != SEND_WORD.offset(name) for name in ("phase", "trace")):
    raise AssertionError("phase and trace number are not where queues have them")

# --- Events: a port's ring in host memory ---------------------------------------------------------

EVENTS = 64
"""Entries of a port's event ring: room for all of its tokens, so that it never overflows."""
EVENT_BYTES = 16


class EventKind(IntEnum):
    """Values of ``EVENT.kind``."""

    RECEIVE = 1
    """The buffer of receive token ``token`` holds a message."""
    SENT = 2
    """Send token ``token`` is free again; ``status`` says why."""
    REFUSED = 3
    """The buffer of receive token ``token`` was refused; ``status`` says why."""


EVENT = Word(
    "gm_event",
    Field("phase", 1, "1 on the first lap of the ring, 0 on the second, and so on"),
    Field("kind", 7, "EventKind"),
    Field("token", 16),
    Field("trace", TRACE_BITS, "trace number"),
    Field("node", 8, "sender"), Field("port", 4, "sender's"), Field("priority", 1),
)
"""Word 0, written last."""
EVENT_END = Word("gm_event_end", Field("length", 32, "bytes"), Field("size", 8, "size class"),
                 Field("tag", 8, "the buffer's"), Field("status", 8, "GM_STATUS"))
"""Word 1."""

# --- The kernel's commands, through the mailbox ---------------------------------------------------


class KernelCommand(IntEnum):
    """Word 0, bits 7:0; bits 15:8 are the port."""

    OPEN = 1
    """Word 1: event ring; 2: translation table; 3: first virtual address that the table translates,
    a multiple of the page size; 4: entries of the table; 5: address for the queue's count of taken
    slots and, in the high half, the address of a coherent queue; 6: send tokens, receive tokens <<
    8."""
    CLOSE = 2
    FORGET = 3
    """Remove the port's cached translations. When the command is answered, no transfer uses one any
    more."""


TABLE_ENTRY = 4
"""Bytes of an entry of a translation table in host memory. A page has one entry: its physical
address, or 0 if the page is not registered."""

# --- Packets --------------------------------------------------------------------------------------


class PacketKind(IntEnum):
    """Bits 1:0 of the wire header's detail."""

    DATA = 0
    DIRECTED = 1
    ACK = 2
    """All packets before ``sequence`` have arrived."""
    NACK = 3
    """The same, and packet ``sequence`` was not accepted; word 1's length gives the reason
    (NackReason)."""


class NackReason(IntEnum):
    """Reasons for which a packet is not accepted."""

    GAP = 0
    """A packet before it is missing."""
    NO_BUFFER = 1
    CLOSED = 2
    """The target port is not open."""
    REJECTED = 3
    """Its size is not acceptable there."""
    FAULT = 4
    """A directed send to memory for which the target port allows none."""


DETAIL = Word(
    "gm_detail",
    Field("kind", 2, "PacketKind"), Field("first", 1, "of its message"), Field("last", 1),
    Field("priority", 1), Field("sync", 1, "an epoch begins with this packet"),
    Field("asks", 1, "ACK: a question to the stream's receiver, sequence is the packet to come"),
    Field("answers", 1, "ACK: to the question that has left last"), width=8)
"""The wire header's field ``detail`` in packets of Protocol.GM."""

GM_HEADER_BYTES = 16
GM_HEADER = Word(
    "gm_header",
    Field("sequence", 16, "of the packet in its stream; ACK, NACK: expected next"),
    Field("epoch", 8, "of the stream: sequence numbers begin at 0 in each"),
    Field("source", 4, "port the stream's messages come from"),
    Field("port", 4, "target port"),
    Field("length", 32, "of the whole message; NACK: NackReason; question: for its answer"),
)
"""The word behind the wire header. A stream is the sequence of messages of one port to one node
with one priority. ACK and NACK end here."""
TRANSFER = Word("gm_transfer", Field("offset", 32, "of the packet's data in the message"),
                Field("size", 8, "size class"))
"""The word behind GM_HEADER in DATA. In DIRECTED it is the virtual address of the destination."""

IN_C = InC(
    picked(globals(), "GM", (
        "PORTS", "NODES", "SEND_TOKENS", "RECEIVE_TOKENS", "QUEUE_SLOTS", "INLINE", "MIN_SIZE",
        "MAX_SIZE", "SIZE_OVERHEAD", "EVENTS", "EVENT_BYTES", "TABLE_ENTRY", "GM_HEADER_BYTES")),
    words={"gm_command": COMMAND, "gm_command_end": COMMAND_END, "gm_event": EVENT,
           "gm_event_end": EVENT_END, "gm_detail": DETAIL, "gm_header": GM_HEADER,
           "gm_transfer": TRANSFER},
    enums={"gm_command_kind": CommandKind, "gm_event_kind": EventKind, "gm_status": Status,
           "gm_kernel": KernelCommand, "gm_packet": PacketKind, "gm_nack": NackReason})
