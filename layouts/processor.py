"""The NIC processor's side of the NIC: memory map, registers, doorbells, queues from the host.

The processor subsystem (:mod:`nicbed.rtl.processor`), the firmware and its host libraries share
these declarations. The processor is a riscv32; its registers are 32 bits wide and 4 bytes apart.
NIC memory begins at address 0 of the processor, and at ``NIC_MEMORY`` of the NIC's PIO window.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from .bits import Field, Word
from .packet import TRACE_BITS
from .registers import Access

__all__ = ["CONTROL", "CRASH", "CRASH_WORDS", "CrashReason", "DOORBELL_ENTRY",
           "DOORBELL_OWNER", "DOORBELL_PAGES_MAX", "DOORBELL_WORDS", "ENGINE_QUEUE",
           "ENGINE_STRIDE", "ENGINES_BASE", "Engine",
           "EngineRegister", "H2N_PLACE", "HOST_BASE", "MMIO_BASE", "MMIO_REGISTERS",
           "MmioRegister",
           "NIC_MEMORY", "PROTOCOL_SELECT", "Pending", "REGISTERS_BASE", "SEND_WORD", "SLOT_BYTES",
           "STATUS", "SendKind", "StartFlag", "State", "WINDOW_OWNER", "WINDOW_PAGE",
           "mmio_address"]

NIC_MEMORY = 0x40_0000
"""Address of NIC memory in the NIC's PIO window."""
WINDOW_PAGE = 4096
"""NIC memory belongs to processes page by page; process 0, the kernel, may access all of it."""
DOORBELL_PAGES_MAX = 1024
"""Doorbell pages of a NIC with a processor. They lie where those of VIs do
(:data:`nicbed.layouts.via.DOORBELL_PAGES`, stride ``via.PAGE``)."""

# --- Host registers (layouts.registers, processor_... and after) ----------------------------------

CONTROL = Word("processor_control", Field("run", 1, "0: the processor is held in reset"))


class State(IntEnum):
    """State of the processor."""

    RESET = 0
    RUNNING = 1
    ASLEEP = 2
    """In a read of ``wait``."""
    CRASHED = 3


class CrashReason(IntEnum):
    """The reason for which a processor stopped for good."""

    NONE = 0
    TRAP = 1
    """The core stopped by itself (illegal or misaligned instruction)."""
    EXCEPTION = 2
    """The runtime's trap handler was entered; cause: mcause."""
    WATCHDOG = 3
    """Awake for processor.watchdog cycles without a look at ``wait`` or a kick."""
    PANIC = 4
    """The firmware gave up; cause: its code."""
    BUS = 5
    """An access to an address where nothing is; cause: the address."""


STATUS = Word(
    "processor_status",
    Field("state", 2, "State"), Field("reserved", 6), Field("reason", 8, "CrashReason"),
)
CRASH_WORDS = 3
"""32-bit words in which the target reports the first crash of a processor: word 0 CRASH, word 1 the
program counter, word 2 the cause."""
CRASH = Word("crash", Field("valid", 1), Field("reserved", 7),
             Field("address", 8, "wire address of the NIC"),
             Field("reason", 8, "CrashReason"), width=32)
WINDOW_OWNER = Word(
    "window_owner",
    Field("page", 8, "page of NIC memory"), Field("reserved", 8),
    Field("process", 8, "that may read and write it by PIO, beside the kernel"),
)
DOORBELL_OWNER = Word(
    "doorbell_owner",
    Field("page", 10, "doorbell page"), Field("reserved", 6),
    Field("process", 8, "whose doorbells are taken"),
    Field("enable", 1, "whether any are"),
)
DOORBELL_WORDS = Word(
    "doorbell_words",
    Field("address", 20, "address in NIC memory, a multiple of 16: page p's doorbell at offset 0 "
                         "or 8 is written to address + 16 p + offset"),
    Field("reserved", 4),
    Field("enable", 1, "doorbells are words in NIC memory; else they go into the queue"),
)

# --- The processor's registers --------------------------------------------------------------------

HOST_BASE = 0x4000_0000
"""With processor.host_access = uncached, host memory begins here: words of 32 bits."""
MMIO_BASE = 0x8000_0000
REGISTERS_BASE = 0
ENGINES_BASE = 0x100
ENGINE_STRIDE = 0x20
ENGINE_QUEUE = 8
"""Commands that an engine holds, the one under way among them."""


class Pending(IntFlag):
    """Bits of ``pending``. All are sticky and cleared by writing them to ``pending``, but DOORBELL
    and TIMER, which are levels."""

    WINDOW = 1
    """The host wrote to NIC memory (also: a doorbell word)."""
    DOORBELL = 2
    """The doorbell queue is not empty."""
    RECEIVE = 4
    """A packet has been received into a buffer."""
    H2N = 8
    """A transfer from the host has ended."""
    N2H = 16
    """A transfer to the host has ended."""
    SEND = 32
    """A piece of a packet has left NIC memory."""
    TIMER = 64
    """The timer is armed and its cycle has come."""
    WATCH = 128
    """A CPU has taken a watched line of host memory for writing (nic.attachment = memory_bus)."""


class Engine(IntEnum):
    """The four engines between host memory, NIC memory and the link. All may run at once."""

    H2N = 0
    """From host memory to NIC memory. ``host`` and ``local``: any alignment."""
    N2H = 1
    """From NIC memory to host memory. The same."""
    SEND = 2
    """From NIC memory to the link: a packet, wire header first, or a piece of one. ``local``: a
    multiple of 8; ``length``: of all pieces but a packet's last, a multiple of 8."""
    RECEIVE = 3
    """From the link to NIC memory: the next packet into a buffer of ``length`` bytes at ``local``,
    both multiples of 8. Word 0 gets layouts.rings.COMPLETION with the packet's length and trace
    number, and phase and index 0; the wire header and what follows it come behind. What does not
    fit is dropped, but ``length`` in word 0 is the packet's. Word 0 is written last."""


class EngineRegister(IntEnum):
    """Offsets of an engine's registers, from ENGINES_BASE + ENGINE_STRIDE * engine."""

    HOST = 0x00
    """rw: byte address in host memory (H2N, N2H)."""
    LOCAL = 0x04
    """rw: byte address in NIC memory."""
    LENGTH = 0x08
    """rw: bytes, up to 65535; 0 ends at once (RECEIVE: at least 24)."""
    TRACE = 0x0C
    """rw: trace number of the message (RECEIVE: unused)."""
    START = 0x10
    """wo: StartFlag; queues the command. With no room the write waits until there is."""
    SPACE = 0x14
    """ro: commands that can be queued now."""
    DONE = 0x18
    """ro: commands that have ended since reset, modulo 2^32. Commands end in order."""


class StartFlag(IntFlag):
    """Bits of a write to START."""

    NONE = 0
    FIRST_LAST = 1
    """N2H: ``host`` is a multiple of 8, and the first 8 bytes are written after all others: a slot
    with its completion word. ``local`` is a multiple of 8 too."""
    MORE = 2
    """SEND: another piece of this packet follows."""


@dataclass(frozen=True)
class MmioRegister:
    """A register of the processor."""

    name: str
    offset: int
    access: Access
    width: int
    doc: str


_RW, _RO, _W1C, _WO = Access.RW, Access.RO, Access.W1C, Access.WO

MMIO_REGISTERS = tuple(
    MmioRegister(name, REGISTERS_BASE + 4 * index, access, width, doc)
    for index, (name, access, width, doc) in enumerate([
        ("node", _RO, 8, "this node's number"),
        ("cycle", _RO, 32, "the target's cycle counter, low half"),
        ("cycle_high", _RO, 32, "its high half, as it was when cycle was last read"),
        ("memory_bytes", _RO, 32, "size of NIC memory"),
        ("pending", _W1C, 8, "Pending"),
        ("wait_mask", _RW, 8, "Pending bits that end a wait"),
        ("wait", _RO, 8, "reading sleeps until a bit of pending & wait_mask is set, and gives "
                         "pending & wait_mask"),
        ("timer", _RW, 32, "writing arms it: TIMER is set once cycle has reached this "
                           "(difference modulo 2^32 not negative)"),
        ("timer_off", _WO, 1, "disarms the timer"),
        ("watchdog", _WO, 1, "kicks the watchdog"),
        ("host_irq", _WO, 1, "sets registers.Irq.PROCESSOR in irq_status"),
        ("event_number", _RW, TRACE_BITS, "trace number of the events to come"),
        ("event_arg", _RW, 32, "argument of the events to come"),
        ("event", _WO, 3, "emits an event of trace.Kind, of trace.Block.FIRMWARE"),
        ("protocol", _RW, 9, "PROTOCOL_SELECT: packets that go to the engine RECEIVE"),
        ("doorbell", _RO, 32, "DOORBELL_ENTRY: the oldest doorbell; 0: none"),
        ("doorbell_low", _RO, 32, "data of the oldest doorbell, bits 31:0"),
        ("doorbell_high", _RO, 32, "data of the oldest doorbell, bits 63:32"),
        ("doorbell_pop", _WO, 1, "removes the oldest doorbell from the queue"),
        ("doorbell_page", _RW, 10, "page for doorbell_enable"),
        ("doorbell_enable", _WO, 9, "bits 7:0: process whose doorbells page doorbell_page takes; "
                                    "bit 8: whether it takes any"),
        ("watch_base", _RW, 32, "watched host memory: address, a multiple of 32"),
        ("watch_bytes", _RW, 32, "and its size, a multiple of 32; 0: nothing is watched"),
        ("crash_pc", _RW, 32, "place of the crash"),
        ("crash_cause", _RW, 32, "cause of the crash, for the report"),
        ("crash", _WO, 8, "stops the processor: CrashReason"),
    ])
)

_MMIO = {register.name: register for register in MMIO_REGISTERS}


def mmio_address(name: str) -> int:
    """The processor's address of register ``name``."""
    return MMIO_BASE + _MMIO[name].offset


PROTOCOL_SELECT = Word(
    "protocol_select",
    Field("protocol", 8, "packet.Protocol"), Field("enable", 1, "0: no packet goes to the engine"),
)
DOORBELL_ENTRY = Word(
    "doorbell_entry",
    Field("page", 10, "doorbell page"), Field("offset", 6, "in words of 8 bytes: 0 to 63"),
    Field("process", 8, "that rang it"), Field("reserved", 6),
    Field("lost", 1, "doorbells found the queue full since the entry before this one"),
    Field("valid", 1), width=32)

# --- Queues from the host -------------------------------------------------------------------------

SLOT_BYTES = 64
"""Slot of a queue from a host program to the firmware; a queue has a power of two of them."""


class SendKind(IntEnum):
    """Values of ``SEND_WORD.kind`` that the firmwares am and fm share."""

    INLINE = 0
    """The packet's bytes follow the send word in the slot."""
    BULK = 1
    """``length`` counts all bytes behind the wire header. Words 1 and 2 of the slot are the first
    16 bytes; the other ``length`` - 16 bytes are in host memory, at the address in word 3
    (H2N_PLACE)."""


SEND_WORD = Word(
    "send_word",
    Field("route", 16, "the wire header's"),
    Field("length", 11, "bytes behind the wire header"),
    Field("phase", 1, "1 on the queue's first lap, 0 on the second, and so on"),
    Field("kind", 4, "SendKind"),
    Field("destination", 8, "the wire header's"),
    Field("trace", TRACE_BITS, "trace number"),
)
"""Word 0 of a slot: a wire header in which phase, kind and trace number replace the fields that
firmware can fill in (source, protocol, detail)."""

H2N_PLACE = Word("h2n_place", Field("address", 32, "in host memory, any alignment"),
                 Field("reserved", 32))
