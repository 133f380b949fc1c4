"""The Virtual Interface Architecture: descriptors, doorbells, tables, packets, events.

Software and the VI engine share these declarations. Sizes are in bytes; words have 64 bits and are
little-endian.
"""

import struct
from enum import IntEnum, IntFlag

from .bits import Field, Word
from .in_c import InC, picked

__all__ = [
    "ADDRESS", "ADDRESS_SEGMENT", "ATTRIBUTES", "BreakCode", "COMMAND", "CONTROL_SEGMENT", "CQ_ARM",
    "CQ_BITS", "CQ_CONFIG", "CQ_CONSUMED", "CQ_ENTRY", "CQ_PAGES", "Control", "DATA_SEGMENT",
    "DESCRIPTOR_ALIGN", "DETAIL", "DONE_WORD", "DOORBELL_PAGES", "Doorbell", "EVENT", "Event",
    "HANDLE_BITS", "INDEX_BITS", "MAX_SEGMENTS", "NEXT", "ONE_SEGMENT", "Operation", "PAGE", "PEER",
    "PacketKind", "QUEUE_BITS", "Reliability", "RemoteOperation", "SEGMENT_BYTES", "CONTROL_BYTES",
    "STATUS", "STATUS_WORD", "Status", "TRANSLATION_BYTES", "TRANSLATION_FLAGS",
    "TRANSLATION_PLACE", "VA_BITS", "VI_BITS", "VIA_HEADER", "ViCommand", "ViState", "format_error",
]

VA_BITS = 38
"""Bits of a virtual address that the NIC accepts. An address with higher bits set is a protection
error."""
HANDLE_BITS = 26
INDEX_BITS = 14
"""Low bits of a handle. Their sum with a page number gives the index of the page's table entry."""
VI_BITS = 12
CQ_BITS = 8
QUEUE_BITS = VI_BITS + 1
"""Bits of a work queue's number, which is 2 * VI for the send queue and 2 * VI + 1 for the receive
queue."""

ADDRESS = Word(
    "address",
    Field("va", VA_BITS, "virtual address"),
    Field("handle", HANDLE_BITS, "memory handle"),
)
"""A virtual address and its handle in one word: a doorbell's token, an RDMA packet's address."""

# --- Descriptors, in the consumer's memory -------------------------------------------------------

DESCRIPTOR_ALIGN = 64
CONTROL_BYTES = 32
SEGMENT_BYTES = 16
MAX_SEGMENTS = 252
"""Most address and data segments of a descriptor together."""

CONTROL_SEGMENT = struct.Struct("<QIHHIIII")
"""Next, NextHandle, SegCount, Control, Reserved, ImmediateData, Length, Status. The low 24 bits of
Reserved carry the trace number; the engine reads nothing else there."""
NEXT = struct.Struct("<QI")
"""Next and NextHandle, with which a descriptor begins."""
STATUS_WORD = 24
"""Offset of the word with Length and Status."""
ADDRESS_SEGMENT = struct.Struct("<QII")
"""Remote VA, remote Handle, Reserved."""
DATA_SEGMENT = struct.Struct("<QII")
"""VA, Handle, Length."""
ONE_SEGMENT = struct.Struct(CONTROL_SEGMENT.format + DATA_SEGMENT.format[1:])
"""A control segment with one data segment behind it."""


class Operation(IntEnum):
    """Bits 1:0 of Control."""

    SEND = 0
    """In a receive descriptor: receive."""
    RDMA_WRITE = 1
    RDMA_READ = 2
    RESERVED = 3


class Control(IntFlag):
    """The other bits of Control. Bits above them are reserved."""

    IMMEDIATE = 4
    FENCE = 8


class Status(IntFlag):
    """Bits of Status."""

    DONE = 0x1
    FORMAT = 0x2
    PROTECTION = 0x4
    LENGTH = 0x8
    PARTIAL = 0x10
    FLUSHED = 0x20
    TRANSPORT = 0x40
    RDMA_PROTECTION = 0x80
    REMOTE_DESCRIPTOR = 0x100
    ERRORS = 0x1FE
    IMMEDIATE = 0x80000


DONE_WORD = int(Status.DONE) << 32
"""Status.DONE in the word that holds Length and Status."""


class RemoteOperation(IntEnum):
    """Bits 18:16 of Status: the operation that completed the descriptor."""

    SEND = 0
    RECEIVE = 1
    RDMA_WRITE = 2
    REMOTE_RDMA_WRITE = 3
    RDMA_READ = 4


STATUS = Word(
    "status",
    Field("done", 1), Field("errors", 8, "Status, shifted down by one"), Field("reserved", 7),
    Field("operation", 3, "RemoteOperation"), Field("immediate", 1), width=32)


def format_error(receive: bool, segments: int, control: int, reliable: bool) -> bool:
    """Tells whether a descriptor with this SegCount and Control is malformed.

    Operation 3, reserved bits set, RDMA without an address segment, immediate data with an RDMA
    read, more than MAX_SEGMENTS segments; a receive descriptor with another operation than
    receive; an RDMA read on a VI of Unreliable Delivery.
    """
    operation = control & 3
    rdma = operation in (Operation.RDMA_WRITE, Operation.RDMA_READ)
    return (operation == Operation.RESERVED or control >> 4 != 0 or segments > MAX_SEGMENTS
            or (rdma and (receive or segments == 0))
            or (operation == Operation.RDMA_READ
                and (bool(control & Control.IMMEDIATE) or not reliable)))


# --- Doorbell pages in the NIC's PIO window ------------------------------------------------------

PAGE = 4096
"""Stride of doorbell and completion queue pages in the PIO window."""
CQ_PAGES = 0x80_0000
DOORBELL_PAGES = 0x100_0000


class Doorbell(IntEnum):
    """Offsets in a VI's page."""

    SEND = 0
    """Write an ADDRESS: a descriptor was linked to the send queue."""
    RECEIVE = 8
    ARM_SEND = 16
    """Write the number of completions of the queue that software has seen, modulo 65536. The NIC
    raises an event at the next completion, or at once if there are more already. One event for each
    arming."""
    ARM_RECEIVE = 24


CQ_CONSUMED = 0
"""Offset in a completion queue's page: entries taken so far, modulo 65536."""
CQ_ARM = 8
"""The same as ARM_SEND, with the number of entries that software has seen."""

# --- Tables that the kernel agent fills ----------------------------------------------------------


class Reliability(IntEnum):
    """Reliability level of a VI."""

    UNRELIABLE_DELIVERY = 0
    RELIABLE_DELIVERY = 1
    RELIABLE_RECEPTION = 2


ATTRIBUTES = Word(
    "vi_attributes",
    Field("tag", 16, "protection tag"),
    Field("owner", 8, "process whose doorbells and armings are taken"),
    Field("reliability", 2, "Reliability"),
    Field("rdma_write", 1, "the peer may write to memory of this tag"),
    Field("rdma_read", 1, "the peer may read"),
    Field("send_cq", CQ_BITS), Field("send_on_cq", 1, "the send queue is bound to send_cq"),
    Field("receive_cq", CQ_BITS), Field("receive_on_cq", 1),
)

PEER = Word(
    "vi_peer",
    Field("node", 8), Field("vi", VI_BITS), Field("route", 16, "wire header's route to the peer"),
    Field("max_transfer", 24, "MaxTransferSize, bytes"),
)


class ViState(IntEnum):
    """State of a VI in the engine."""

    CLOSED = 0
    IDLE = 1
    CONNECTED = 2
    ERROR = 3
    """All posted descriptors complete as flushed: after an error, or during a disconnection."""


class ViCommand(IntEnum):
    """Commands of the register vi_command for VI vi_select. The VI takes its attributes and peer
    from vi_attributes and vi_peer."""

    CREATE = 1
    """Closed -> idle: queues empty, counts zero."""
    CONNECT = 2
    """Idle -> connected: sequence numbers zero."""
    DISCONNECT = 3
    """Any -> error, no event: flushes both queues."""
    IDLE = 4
    """Error -> idle. To be given when both queues have completed all posted descriptors."""
    DESTROY = 5
    """Any -> closed."""
    ATTRIBUTES = 6
    """Change attributes and peer only."""


COMMAND = Word("vi_command", Field("command", 3, "ViCommand; write. Reads as 0 when done"))

TRANSLATION_BYTES = 16
"""Bytes of an entry of the translation and protection table: two words. A region has one entry for
each of its pages. The index of page p of a handle is (p + handle) mod the table's size; with
host-supplied physical addresses (via.translation = physical) it is p. A page number is VA /
via.page_bytes."""

TRANSLATION_FLAGS = Word(
    "translation_flags",
    Field("valid", 1), Field("rdma_write", 1), Field("rdma_read", 1), Field("reserved", 5),
    Field("tag", 16, "protection tag"),
    Field("first", 16, "offset of the page's first byte that belongs to the region"),
    Field("last", 16, "offset of its last one"),
)
"""Word 0."""

TRANSLATION_PLACE = Word(
    "translation_place",
    Field("frame", 16, "physical page number"),
    Field("handle", HANDLE_BITS, "the handle for which the entry is valid, all bits"),
    Field("page", 22, "virtual page number >> 6; the entry's index fixes the six bits below"),
)
"""Word 1."""

CQ_CONFIG = Word(
    "cq_config",
    Field("log_entries", 4, "log2 of the entries, 0 to 15"), Field("enable", 1),
    Field("tag", 16, "protection tag of its memory"), Field("owner", 8, "process"),
)

CQ_ENTRY = Word(
    "cq_entry",
    Field("phase", 1, "1 on the first lap of the ring, 0 on the second, and so on"),
    Field("receive", 1), Field("vi", VI_BITS),
)
"""An entry of a completion queue: one word in the consumer's memory."""


class Event(IntEnum):
    """Codes of events for the kernel agent: VIPL's asynchronous errors, and completions for which a
    queue was armed."""

    POST_DESC = 0
    CONN_LOST = 1
    RECVQ_EMPTY = 2
    VI_OVERRUN = 3
    RDMAW_PROT = 4
    RDMAW_DATA = 5
    RDMAW_ABORT = 6
    RDMAR_PROT = 7
    COMP_PROT = 8
    RDMA_TRANSPORT = 9
    CATASTROPHIC = 10
    """Events were lost: the kernel agent has to check everything."""
    SEND_DONE = 32
    RECEIVE_DONE = 33
    CQ_READY = 34


EVENT = Word("via_event", Field("valid", 1), Field("reserved", 7), Field("code", 8, "Event"),
             Field("number", VI_BITS, "the VI, or completion queue"))
"""The register via_event: the oldest event, taken by reading it; 0 for none."""

# --- Packets -------------------------------------------------------------------------------------


class PacketKind(IntEnum):
    """Bits 2:0 of the wire header's detail."""

    SEND = 0
    RDMA_WRITE = 1
    READ_REQUEST = 2
    READ_RESPONSE = 3
    ACK = 4
    """All packets before ``sequence`` have arrived."""
    NAK = 5
    """As ACK, and packet ``sequence`` is missing: go back to it."""
    BREAK = 6
    """The connection is broken; immediate: a BreakCode, sequence: the packet that caused it."""
    PROBE = 7
    """Asks what has arrived. The receiver answers at once by an ACK with ``acknowledge`` set and
    with the immediate data of the probe. Packets of a connection keep their order, so a packet that
    was sent before the probe and is not before the answer's sequence number was lost."""


DETAIL = Word(
    "via_detail",
    Field("kind", 3, "PacketKind"),
    Field("first", 1, "of its message"), Field("last", 1),
    Field("immediate", 1, "the message has immediate data; in its last packet"),
    Field("acknowledge", 1, "an acknowledgement is asked for; of an ACK: it answers a PROBE"),
    Field("carries", 1, "of a reliable SEND, RDMA_WRITE or READ_RESPONSE without immediate data of "
                        "its own: the low 8 bits of ``immediate`` are an ACK's sequence"),
    width=8)
"""The wire header's field ``detail`` in packets of Protocol.VIA."""

VIA_HEADER = Word(
    "via_header",
    Field("destination", VI_BITS, "VI"), Field("source", VI_BITS, "VI"),
    Field("sequence", 8, "number of the packet on this connection; ACK, NAK: expected next"),
    Field("immediate", 32, "immediate data, or an acknowledgement carried; READ_REQUEST: bytes "
                           "wanted; BREAK: BreakCode; PROBE, and an ACK that answers one: any "
                           "number of the sender's"),
)
"""The word behind the wire header. RDMA_WRITE and READ_REQUEST have an ADDRESS word behind it: the
destination of this packet's data, or its source. ACK, NAK, BREAK and PROBE have no sequence number
of their own."""


class BreakCode(IntEnum):
    """Reasons of a BREAK."""

    LOST = 0
    REMOTE_DESCRIPTOR = 1
    """No receive descriptor, or a descriptor that was too short or bad."""
    RDMA_PROTECTION = 2
    TRANSPORT = 3

IN_C = InC(
    picked(globals(), "VIA", (
        "VA_BITS", "HANDLE_BITS", "INDEX_BITS", "VI_BITS", "CQ_BITS", "DESCRIPTOR_ALIGN",
        "CONTROL_BYTES", "SEGMENT_BYTES", "MAX_SEGMENTS", "PAGE", "CQ_PAGES", "DOORBELL_PAGES",
        "CQ_CONSUMED", "CQ_ARM", "TRANSLATION_BYTES")),
    words={"via_address": ADDRESS, "via_status": STATUS, "vi_attributes": ATTRIBUTES,
           "vi_peer": PEER, "translation_flags": TRANSLATION_FLAGS,
           "translation_place": TRANSLATION_PLACE, "cq_config": CQ_CONFIG, "cq_entry": CQ_ENTRY,
           "via_event": EVENT, "via_detail": DETAIL, "via_header": VIA_HEADER},
    enums={"via_operation": Operation, "via_control": Control, "via_status": Status,
           "via_remote": RemoteOperation, "via_doorbell": Doorbell, "reliability": Reliability,
           "vi_state": ViState, "vi_command": ViCommand, "via_code": Event,
           "via_packet": PacketKind, "via_break": BreakCode})
