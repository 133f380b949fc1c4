"""Register map of the NIC's PIO window: the single declaration for decode, host, docs and C.

Registers are 64 bits wide and 8 bytes apart; PIO is 8 bytes at a time.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Access", "Register", "REGISTERS", "ENGINE_REGISTERS",
           "PROCESSOR_REGISTERS", "address", "SEND_WINDOW",
           "RECEIVE_WINDOW", "WINDOW_BYTES", "RECHECK", "Irq"]

from enum import IntFlag

from .operations import NIC_BASE

SEND_WINDOW = 0x1000
"""A write at any address of this window is the next 8 bytes of a packet, header word first."""
RECEIVE_WINDOW = 0x2000
"""A read at any address of this window takes the next 8 bytes of the receive FIFO's head packet."""
WINDOW_BYTES = 0x1000
RECHECK = 1 << 16
"""Written to irq_status or receive_taken: the NIC then sets Irq.RECEIVE if it has filled slots that
are not taken. So a packet that came after software looked and before a posted clear arrived raises
the interrupt again."""


class Access(StrEnum):
    RW = "rw"
    RO = "ro"
    W1C = "w1c"
    """Read; a one written clears the bit."""
    WO = "wo"
    """A write acts; reads as zero."""


@dataclass(frozen=True)
class Register:
    """A register: its width in bits, what software may do, and what it means. ``acts``: a write has
    a further effect, so the register may read as something else."""

    name: str
    offset: int
    access: Access
    width: int
    doc: str
    reset: int = 0
    acts: bool = False


class Irq(IntFlag):
    """Causes of the NIC's interrupt."""

    RECEIVE = 1
    """A packet was written to the receive ring."""
    SEND = 2
    """The send ring ran empty."""
    ERROR = 4
    """A packet was refused, dropped, corrupt or misrouted."""
    VIA = 8
    """via_event has an event. Only in irq_enable: a level, over when all events have been read."""
    PROCESSOR = 16
    """The NIC processor's firmware asks for the host."""


_RW, _RO, _W1C, _WO = Access.RW, Access.RO, Access.W1C, Access.WO

_ACT = {"send_doorbell", "receive_taken", "vi_command", "cq_config", "processor_control",
        "doorbell_words", "load_words", "load_sum"}

REGISTERS = tuple(
    Register(name, 8 * index, access, width, doc, reset, name in _ACT)
    for index, (name, access, width, doc, reset) in enumerate([
        ("id", _RO, 32, "'nicb'", 0x6263696E),
        ("node", _RO, 8, "the NIC's wire address: its node's number, where nodes have one NIC", 0),
        ("cycle", _RO, 64, "the target's cycle counter", 0),
        ("control", _RW, 3, "bit 0: send ring on; bit 1: receive ring on (else the receive window);"
                            " bit 2, with nic.attachment = memory_bus: the send ring's entries are "
                            "lines (layouts.rings.LINE_WORD), which the NIC pulls without "
                            "doorbells", 0),
        ("irq_status", _W1C, 5, "interrupt causes that happened (Irq). Bit 16, written: RECHECK "
                                "behind the clear", 0),
        ("irq_enable", _RW, 5, "causes that raise the interrupt line; the line is the level of "
                               "status & enable", 0),
        ("send_space", _RO, 32, "free bytes of the send FIFO's PIO lane", 0),
        ("send_base", _RW, 32, "send ring: address in host memory, a multiple of 64", 0),
        ("send_doorbell", _RW, 16, "send ring: descriptors posted so far, modulo 65536", 0),
        ("send_done", _RO, 16, "send ring: descriptors read with their payload, modulo 65536", 0),
        ("send_report", _RW, 32, "where the NIC writes send_done as an 8-byte word after each "
                                 "descriptor; 0: nowhere", 0),
        ("receive_base", _RW, 32, "receive ring: address in host memory, a multiple of 64", 0),
        ("receive_taken", _RW, 16, "receive ring: slots that software has taken so far, modulo "
                                   "65536. A count that is behind the last one is ignored. "
                                   "Bit 16, written: RECHECK", 0),
        ("receive_filled", _RO, 16, "receive ring: slots that the NIC has filled so far, modulo "
                                    "65536", 0),
        ("receive_level", _RO, 16, "receive window: whole packets in the receive FIFO", 0),
        ("receive_trace", _RO, 24, "receive window: trace number of the head packet", 0),
        ("packets_sent", _RO, 48, "packets handed to the link", 0),
        ("packets_received", _RO, 48, "good packets taken from the link", 0),
        ("send_refused", _RO, 32, "PIO packets refused whole (no room, or a bad length) and "
                                   "descriptors refused for lengths that disagree", 0),
        ("doorbells_refused", _RO, 32, "doorbell values refused: beyond the ring's size, "
                                        "backwards, or with the send ring off", 0),
        ("crc_errors", _RO, 32, "packets dropped because their CRC was wrong", 0),
        ("misrouted", _RO, 32, "packets dropped because their destination is another node", 0),
        ("overflows", _RO, 32, "packets dropped for lack of room (nic.overflow = drop)", 0),
        ("malformed", _RO, 32, "packets dropped because their length field is wrong", 0),
        ("credit_stalls", _RO, 48, "cycles in which a flit waited for a credit of the link", 0),
        ("receive_stalls", _RO, 48, "cycles in which the link waited for the receive FIFO", 0),
        ("process_refused", _RO, 32, "accesses to kernel registers by a process other than 0", 0),
        ("vi_select", _RW, 12, "VI (for the cq_ registers: completion queue) that the following "
                               "registers refer to", 0),
        ("vi_attributes", _RW, 48, "layouts.via.ATTRIBUTES for the next command", 0),
        ("vi_peer", _RW, 60, "layouts.via.PEER for the next command", 0),
        ("vi_command", _RW, 3, "write: a layouts.via.ViCommand for vi_select; reads as the command "
                               "under way, 0 when it is done. A command while one is under way is "
                               "lost", 0),
        ("vi_state", _RO, 2, "layouts.via.ViState of vi_select", 0),
        ("vi_posted", _RO, 32, "descriptors that vi_select's doorbells posted since CREATE, modulo "
                               "65536: send in the low half, receive in the high half", 0),
        ("vi_completed", _RO, 32, "the same counts of descriptors that have completed", 0),
        ("cq_base", _RW, 64, "layouts.via.ADDRESS of the completion queue's memory", 0),
        ("cq_config", _RW, 29, "layouts.via.CQ_CONFIG; a write sets up queue vi_select with "
                               "this and cq_base, empties it and disarms it", 0),
        ("via_event", _RO, 28, "layouts.via.EVENT: the oldest event; a read removes it", 0),
        ("via_ready", _RO, 1, "the engine has cleared its tables after reset", 0),
        ("table_base", _RW, 32, "via.translation = cache: the table's address in host memory, a "
                                "multiple of 16", 0),
        ("table_index", _RW, 14, "table, physical: entry that table_place writes", 0),
        ("table_flags", _RW, 56, "word 0 of that entry", 0),
        ("table_place", _WO, 64, "word 1 of that entry; writes the entry", 0),
        ("invalidate", _WO, 14, "write: invalidate the entry of this index. Only when invalidated "
                                "has counted all earlier ones", 0),
        ("invalidated", _RO, 16, "entries invalidated and no longer in use, modulo 65536", 0),
        ("translation_hits", _RO, 48, "addresses translated from the cache, or from NIC memory", 0),
        ("translation_misses", _RO, 48, "addresses that had to be looked up in host memory", 0),
        ("translation_walk", _RO, 48, "cycles spent on those look-ups", 0),
        ("doorbells_foreign", _RO, 32, "doorbells, armings and completion queue writes refused: "
                                       "another process's page, or nothing open there", 0),
        ("doorbells_lost", _RO, 32, "doorbell tokens that found the token queue full; the VI gets "
                                 "VI_OVERRUN", 0),
        ("events_lost", _RO, 32, "events that found no room; CATASTROPHIC follows", 0),
        ("via_unmatched", _RO, 32, "packets dropped because they belong to no connection", 0),
        ("via_duplicates", _RO, 32, "packets dropped because they had already arrived", 0),
        ("via_gaps", _RO, 32, "packets dropped because one before them is missing", 0),
        ("via_dropped", _RO, 32, "messages dropped because no receive descriptor was posted", 0),
        ("via_resent", _RO, 48, "packets sent again", 0),
        ("via_sent", _RO, 48, "packets sent for the first time", 0),
        ("processor_control", _RW, 1, "layouts.processor.CONTROL", 0),
        ("processor_status", _RO, 16, "layouts.processor.STATUS", 0),
        ("processor_pc", _RO, 32, "address of the instruction fetched last; after a crash: of "
                                  "the place", 0),
        ("processor_cause", _RO, 32, "after a crash: its cause, by the reason", 0),
        ("window_owner", _WO, 24, "layouts.processor.WINDOW_OWNER", 0),
        ("doorbell_owner", _WO, 25, "layouts.processor.DOORBELL_OWNER", 0),
        ("doorbell_words", _RW, 25, "layouts.processor.DOORBELL_WORDS", 0),
        ("load_words", _RW, 32, "8-byte words written to NIC memory by PIO since this was written",
         0),
        ("load_sum", _RW, 64, "check sum of these words: for each, the sum is rotated left by one "
                               "and the word is added", 0),
        ("window_refused", _RO, 32, "accesses to NIC memory by a process that does not own the "
                                    "page, or beyond its end", 0),
        ("page_refused", _RO, 32, "doorbells to a page of another process", 0),
        ("page_lost", _RO, 32, "doorbells that found the doorbell queue full", 0),
    ])
)


def _group(first: str, last: str) -> tuple[Register, ...]:
    names = [register.name for register in REGISTERS]
    return REGISTERS[names.index(first):names.index(last) + 1]


ENGINE_REGISTERS = _group("vi_select", "via_sent")
"""Registers of the VI engine. A NIC without one reads 0 there and ignores writes."""
PROCESSOR_REGISTERS = _group("processor_control", "page_lost")
"""Registers of the NIC processor. A NIC without one reads 0 there and ignores writes."""

_BY_NAME = {register.name: register for register in REGISTERS}


def address(name: str) -> int:
    """CPU address of register ``name``."""
    return NIC_BASE + _BY_NAME[name].offset
