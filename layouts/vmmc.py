"""VMMC: virtual memory-mapped communication: tables, commands, events, packets.

firmware/vmmc and host/vmmc share these declarations. Words have 64 bits and are little-endian. A
*port* is a process' part of the NIC: a page of NIC memory with its send queue, its events, its
translations. The *incoming page table* of a NIC has the pages that processes export; the *outgoing
page table* has the pages that they have imported, each with its owner. A proxy address is a number
of an outgoing page times the size of a page, plus an offset.
"""

from enum import IntEnum

from .bits import Field, Word
from .in_c import InC, picked
from .packet import TRACE_BITS

__all__ = [
    "COMMAND", "DESTINATION", "EVENT", "EVENTS", "EVENT_BYTES", "EXPORTS", "INLINE_HERE",
    "MOST_SLOTS", "NODES", "PORTS", "REDIRECTION", "TABLE_ENTRY", "TAKEN_OFFSET", "VMMC_DETAIL",
    "VMMC_HEADER", "VMMC_HEADER_BYTES", "VMMC_PART", "WINDOW", "CommandKind", "EventKind",
    "KernelCommand", "NackReason", "PacketKind", "Slot", "Status",
]

PORTS = 4
"""Processes of a NIC."""
NODES = 16
EXPORTS = 128
"""Buffers that the processes of a node export."""
WINDOW = 16
"""Most packets to a node that are not acknowledged."""
MOST_SLOTS = 32
"""Most slots of a send queue, which begins the port's page."""
TAKEN_OFFSET = 64 * MOST_SLOTS
"""Offset in the page of the word in which the process counts the events that it has taken."""
TABLE_ENTRY = 4
"""Bytes of an entry of a process' translation table in host memory: the physical address of a page,
or 0 if the page is not pinned."""


class Status(IntEnum):
    """The result of a call, and of a send."""

    SUCCESS = 0
    NOT_IMPORTED = 1
    """The proxy address is not in a page that the process has imported."""
    OUT_OF_BOUNDS = 2
    """The bytes reach beyond the import."""
    FAULT = 3
    """The local bytes are not the process', or not pinned."""
    UNREACHABLE = 4
    """The node has not answered: it has failed. Import again to try again."""
    REFUSED = 5
    """The receiver's NIC refused it: the export has ended."""
    INVALID = 6
    """An argument makes no sense."""
    NOT_EXPORTED = 7
    """Nothing of this name is exported there."""
    DENIED = 8
    """It is, but not to this node."""
    NO_ROOM = 9
    """A table, or memory, is full."""
    BUSY = 10
    """The name is taken, or there is a redirection already."""
    NOT_SUPPORTED = 11
    """Redirection needs vmmc.translation = utlb."""
    CLOSED = 12


# --- Commands: slots of a port's queue ------------------------------------------------------------


class CommandKind(IntEnum):
    """Values of ``COMMAND.kind``."""

    SEND = 1
    REDIRECT = 2
    """The next message numbered at least ``number`` that has the key and is not too long goes to
    the address in word KEY - 1 but for its first bytes."""
    CANCEL = 3
    """End the redirection of the export, and put an event CANCELLED."""
    ARM = 4
    """Interrupt at the next event, at once if there are more than ``length`` already."""


class Slot(IntEnum):
    """The words of a slot. The process writes COMMAND last, and so as few words as there are."""

    KEY = 5
    """The key of a message that is told of, and of REDIRECT. Word KEY - 1 is a local address. In a
    send that is not told of, word KEY is the address."""
    DESTINATION = 6
    COMMAND = 7


INLINE_HERE = 48
"""Bytes of a short send that its slot has, before its key or its destination, at the end of these
words. Each further slot, behind it, has 64 more."""

COMMAND = Word(
    "vmmc_command",
    Field("kind", 3, "CommandKind"),
    Field("inlined", 1, "the data are in the slots"),
    Field("tell", 1, "of its arrival, by an event"),
    Field("notify", 1, "the receiver, by an interrupt"),
    Field("further", 2, "slots behind this one that belong to it"),
    Field("spare", 23),
    Field("valid", 1, "the slot is whole; the firmware clears it"),
    Field("spare_high", 8),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word COMMAND of a slot."""
DESTINATION = Word("vmmc_destination", Field("proxy", 32, "proxy address"),
                   Field("length", 32, "bytes; ARM: events that the process has seen"))
"""Word DESTINATION of SEND and ARM."""
REDIRECTION = Word("vmmc_redirection", Field("export", 8),
                   Field("skip", 8, "first bytes that stay"),
                   Field("number", 16, "of the first message, modulo 65,536"),
                   Field("limit", 32, "most bytes, beside those that stay"))
"""Word DESTINATION of REDIRECT and CANCEL."""

# --- Events: a port's ring in host memory ---------------------------------------------------------

EVENTS = 128
EVENT_BYTES = 32


class EventKind(IntEnum):
    """Values of ``EVENT.kind``."""

    MESSAGE = 1
    CANCELLED = 2


EVENT = Word(
    "vmmc_event",
    Field("phase", 1, "1 on the first lap of the ring, 0 on the second, and so on"),
    Field("kind", 3, "EventKind"),
    Field("redirected", 1, "the data are where the redirection says"),
    Field("notify", 1), Field("lost", 1, "events before this one found no room"),
    Field("faulted", 1, "the redirection's memory is not pinned: data were dropped"),
    Field("export", 8), Field("node", 8, "sender"), Field("spare", 16),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word 0, written last. Word 1: the place in the export, and in the high half the length. Word 2:
the key."""

# --- The kernel's commands, through the mailbox ---------------------------------------------------


class KernelCommand(IntEnum):
    """Word 0, bits 7:0; bits 15:8 are the port, or the export."""

    OPEN = 1
    """Word 1: the word for counts of slots that are done and of those that failed, and in the high
    half the event ring. 2: the words for the statuses of slots, and in the high half the
    translation table. 3: first virtual address. 4: entries of the table; slots << 32."""
    CLOSE = 2
    PAGES = 3
    """Incoming pages from word 1 on: their frames, two a word."""
    EXPORT = 4
    """Word 0, bits 23:16: port. Word 1: first incoming page; pages << 16; bytes << 32. Word 2: the
    name, and in the high half the nodes that may import it, a bit each."""
    UNEXPORT = 5
    """When this is answered no transfer goes there any more."""
    IMPORT = 6
    """Word 0, bits 23:16: node. Word 1: name; first outgoing page << 32; most pages << 48. The
    answer: bytes."""
    UNIMPORT = 7
    """Word 1: first outgoing page; pages << 32."""
    MISS = 8
    """The answer is a page, port << 32, 1 << 40, that a port waits for the translation of; 0: none
    does."""
    FILL = 9
    """Word 1: the page; frames << 32. Its frame and those of the pages behind it, two a word: 0 is
    a fault."""


# --- Packets --------------------------------------------------------------------------------------


class PacketKind(IntEnum):
    """Bits 1:0 of the wire header's detail."""

    DATA = 0
    ACK = 1
    """All packets before ``sequence`` have arrived."""
    NACK = 2
    """The same, and packet ``sequence`` was not accepted, for the reason in the next word
    (NackReason)."""
    NAME = 3
    """Asks for the export that has the name in VMMC_PART.key. With ``answers`` the answer:
    ``sequence`` is the Status, ``page`` the first incoming page, ``extent`` the bytes."""


class NackReason(IntEnum):
    """Reasons for which a packet is not accepted."""

    GAP = 0
    REFUSED = 1


VMMC_DETAIL = Word(
    "vmmc_detail",
    Field("kind", 2, "PacketKind"), Field("first", 1, "of its message"), Field("last", 1),
    Field("tell", 1), Field("notify", 1), Field("sync", 1, "an epoch begins with this packet"),
    Field("answers", 1), width=8)
"""The wire header's field ``detail`` in packets of Protocol.VMMC."""

VMMC_HEADER_BYTES = 16
VMMC_HEADER = Word(
    "vmmc_header",
    Field("sequence", 16, "of the packet; ACK, NACK: expected next"),
    Field("epoch", 8, "sequence numbers begin at 0 in each"),
    Field("generation", 8, "of the export"),
    Field("page", 14, "incoming page"), Field("source", 2, "port that sends"),
    Field("offset", 16, "in the page"),
)
"""The word behind the wire header. ACK and NACK have NackReason in the high half and end here."""
VMMC_PART = Word("vmmc_part", Field("extent", 32, "first packet of a message: its length; others: "
                                                  "bytes of it before this packet"),
                 Field("key", 32, "the message's"))
"""The word behind VMMC_HEADER."""

IN_C = InC(
    picked(globals(), "VMMC", (
        "PORTS", "NODES", "EXPORTS", "WINDOW", "MOST_SLOTS", "TAKEN_OFFSET", "TABLE_ENTRY",
        "INLINE_HERE", "EVENTS", "EVENT_BYTES", "VMMC_HEADER_BYTES")),
    words={"vmmc_command": COMMAND, "vmmc_redirection": REDIRECTION, "vmmc_event": EVENT,
           "vmmc_detail": VMMC_DETAIL, "vmmc_header": VMMC_HEADER},
    enums={"vmmc_command_kind": CommandKind, "vmmc_event_kind": EventKind, "vmmc_status": Status,
           "vmmc_kernel": KernelCommand, "vmmc_packet": PacketKind, "vmmc_nack": NackReason,
           "vmmc_slot": Slot})
