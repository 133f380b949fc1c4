"""Operations of the host port: the ways in which a host CPU spends time.

A program gives a port a *block* of up to ``BLOCK`` entries; the port executes them in order and
answers each. An entry is ``ENTRY_WORDS`` 32-bit words, an answer ``ANSWER_WORDS``.
"""

import struct
from enum import IntEnum, IntFlag
from typing import NamedTuple

__all__ = ["BLOCK", "ENTRY_WORDS", "ANSWER_WORDS", "BURST", "WATCHES", "WORK_BITS", "CACHE_LINE",
           "Forgotten",
           "NIC_BASE", "NIC_BYTES", "Op", "Flag", "Status", "Answer", "ENTRY",
           "SHORT_ENTRY", "SHORT_ENTRIES", "ANSWER"]

BLOCK = 6
"""Entries in a block."""
BURST = 4
"""8-byte beats that a PIO write entry carries inline."""
WATCHES = 4
"""Locations that one poll watches: WATCH entries, followed by the POLL as the last one."""
WORK_BITS = 8
"""Fraction bits of an entry's work field (target cycles)."""
CACHE_LINE = 32
NIC_BASE = 0x8000_0000
"""Addresses from here on are the NICs' (PIO); below is host memory."""
NIC_BYTES = 1 << 25
"""Addresses of a NIC: those of a node's NIC k begin at NIC_BASE + k * NIC_BYTES. A number beyond
the last NIC's is the last one's; so a node with one NIC has it at all of them."""


class Op(IntEnum):
    """Bits 3:0 of word 0 of an entry."""

    DELAY = 0
    """Spend the work field and end."""
    PIO_READ = 1
    """Read 8 bytes at ``address``; posted writes go first."""
    PIO_WRITE = 2
    """Write ``count`` (1 to BURST) beats of ``data`` at ``address``, consecutive addresses."""
    TOUCH = 3
    """CPU traffic over ``length`` bytes of memory at ``address``, line by line through the
    cache."""
    POLL = 4
    """The last watch of a poll: spin over all watches until one holds or ``timeout`` cycles
    passed."""
    WATCH = 5
    """A further watch, in an entry before its POLL."""
    WAIT_IRQ = 6
    """Wait for the NIC's interrupt or for ``timeout``."""
    CAS = 7
    """Compare-and-swap of an 8-byte memory word: data[0] expected, data[1] new."""
    STOP = 8
    """The program has ended; the port never asks again."""


class Flag(IntFlag):
    """Bits 15:8 of word 0 of an entry."""

    NONE = 0
    POSTED = 1
    """PIO_WRITE: ends when its beats are in the posted-write buffer; without it, when the NIC has
    them."""
    STORE = 2
    """TOUCH: stores (lines become dirty); without it, loads."""
    NOT_EQUAL = 4
    """WATCH, POLL: holds when (word & mask) != compare; without it, when ==."""
    INTERRUPTIBLE = 8
    """DELAY: an interrupt ends it early; the answer's data is the remaining work."""
    ONCE = 16
    """POLL: check each watch once, in turn, until one holds. If none does, the poll ends with
    TIMEOUT after the last check, and the rest of the block is executed."""
    BLOCK = 32
    """TOUCH with STORE, of whole lines: block stores, which put lines to memory past the cache,
    posted. Without block stores in the port they are other stores."""
    FLUSH = 64
    """TOUCH without STORE: lines are written back if they are dirty, and made invalid. On a
    coherent bus it is a load."""


class Status(IntFlag):
    """Bits of an answer's status word.

    Bits 7:4 hold the number of the watch that held; bits 23:8, of a POLL, the cycles that its last
    check took, work and read together (at most 65535); bits 31:24 the port's fraction of a cycle
    (WORK_BITS) of CPU work done but not yet a whole cycle: the CPU's own time is cycle + fraction.
    """

    OK = 0
    TIMEOUT = 1
    """A poll or wait ran into its timeout; the rest of its block was discarded."""
    INTERRUPTED = 2
    """An interrupt ended a delay early; the rest of its block was discarded."""
    DISCARDED = 4
    """This entry was not executed."""
    IRQ = 8
    """The NIC's interrupt line was high, as the CPU sees it, when the operation ended."""
    STALE = 128
    """On a bus that is not coherent: a line was not flushed that had to be, in this operation or
    one before. The answer's data is the line's address, and in bits 33:32 what happened
    (:class:`Forgotten`)."""
    WATCH_SHIFT = 4
    CHECK_SHIFT = 8
    FRACTION_SHIFT = 24


class Forgotten(IntEnum):
    """The fate of a line that was not flushed."""

    OLD_READ = 0
    """DMA read it while it was dirty in the cache."""
    LOST_WRITE = 1
    """DMA wrote to it while it was dirty in the cache."""
    OLD_LOAD = 2
    """The CPU found it in the cache after DMA had written to it."""


# Words of an entry, all little-endian 32 bits:
#   0  op 3:0, flags 15:8, count 19:16 (beats of a PIO_WRITE), process 27:20 (of PIO: which process
#      makes it; 0 is the kernel)
#   1  work: target cycles before the operation, WORK_BITS fraction bits
#      (WATCH, POLL: the cost of one check of this watch, spent before each check)
#   2  address, a multiple of 8 but for TOUCH
#   3  length (TOUCH, bytes) or timeout (POLL, WAIT_IRQ: cycles, 0 = none)
#   4-11  data[0..3], 64 bits each; WATCH and POLL: data[0] compare, data[1] mask; POLL: the low
#         half of data[2] is work spent once, before the first check of the first watch (its timeout
#         counts from there).
#   12  trace number (23:0) of a PIO_WRITE that begins a packet
ENTRY_WORDS = 13
ENTRY = struct.Struct("<4I4Q1I")
SHORT_ENTRY = struct.Struct("<4I36x")
"""An entry whose words behind the length are 0."""
SHORT_ENTRIES = struct.Struct("<4I36x4I36x")
"""Two of them."""

# Words of an answer:
#   0  cycle at whose edge the operation ended, low 32 bits
#   1  status
#   2-3  data: word read (PIO_READ, CAS: the old word; POLL: the word that held)
ANSWER_WORDS = 4
ANSWER = struct.Struct("<2IQ")


class Answer(NamedTuple):
    """A decoded answer; ``cycle`` extended to its full width by the reader."""

    cycle: int
    status: int
    data: int
