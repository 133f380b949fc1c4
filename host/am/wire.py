"""Active Messages packets as the CPU sees them: shifts of the header, one struct for a slot."""

import struct
from operator import index

from ...layouts.am import AM_HEADER, AM_HEADER_BYTES, AmKind
from ...layouts.operations import NIC_BASE
from ...layouts.packet import HEADER, HEADER_BYTES, Protocol
from ...layouts.registers import SEND_WINDOW
from ...layouts.rings import COMPLETION

__all__ = ["SLOT", "DESCRIPTOR", "LINE", "WINDOW", "NO_HANDLER", "SMALL_BEATS",
           "SMALL_BYTES", "TRACE_SHIFT", "TRACE_MASK", "wire_header", "arguments"]

SLOT = struct.Struct("<Q2xHB3xHBBIIIII")
"""The beginning of a receive slot: completion; of the wire header length and source; flags of the
AM header, handler, sequence, the three acknowledgements; four arguments."""

DESCRIPTOR = struct.Struct("<8Q")
LINE = struct.Struct("<4Q")

WINDOW = NIC_BASE + SEND_WINDOW
NO_HANDLER = 255
"""Handler index of a bulk transfer without a handler."""
SMALL_BEATS = 4
"""Most beats of a small message, wire header included: one PIO burst."""
SMALL_BYTES = 8 * SMALL_BEATS
SPACE_MASK = (1 << 32) - 1 & ~(2 * SMALL_BYTES - 1)
"""Bits of the register send_space. If one of them is set, two small packets have room."""

BEHIND_HEADER = 8 + HEADER_BYTES
"""Offset in a slot of what is behind the wire header."""

COUNT = AM_HEADER.offset("count")
FIRST = AM_HEADER.mask("first")
LAST = AM_HEADER.mask("last")
ANSWER = AM_HEADER.mask("answer")
CHANNEL = AM_HEADER.offset("channel")
HANDLER = AM_HEADER.offset("handler")
SEQUENCE = AM_HEADER.offset("sequence")
ACKS = AM_HEADER.offset("ack_request")

TRACE_SHIFT = COMPLETION.offset("trace")
TRACE_MASK = COMPLETION.mask("trace") >> TRACE_SHIFT

K_REQUEST, K_REPLY, K_NULL = int(AmKind.REQUEST), int(AmKind.REPLY), int(AmKind.NULL)
K_GET, K_STORE, K_DATA = int(AmKind.GET), int(AmKind.STORE), int(AmKind.DATA)
K_BYE, K_ACK, K_NACK = int(AmKind.BYE), int(AmKind.ACK), int(AmKind.NACK)
K_PROBE = int(AmKind.PROBE)
WITH_WORD = frozenset((K_GET, K_STORE, K_DATA, K_PROBE))
"""Kinds of packets that have a word 1 without counting it as an argument."""

# The struct above splits the words where the declared fields say.
if (HANDLER, SEQUENCE, ACKS) != (16, 24, 32) or HEADER.offset("source") != 32:
    raise AssertionError("SLOT does not match the declared layouts")


def wire_header(route: int, source: int, destination: int, behind: int) -> int:
    """The wire header of an Active Messages packet with ``behind`` bytes behind it."""
    return HEADER.pack(route=route, length=behind, source=source, destination=destination,
                       protocol=Protocol.AM)


def arguments(args: tuple[int, ...]) -> tuple[int, int, int]:
    """Words 1 and 2 of a message with ``args``, and its beats.

    Raises
    ------
    ValueError
        There are more than four, or one is not an unsigned 32-bit word.
    """
    count = len(args)
    if count == 0:
        return 0, 0, 3
    if count == 1:
        low, high, beats = args[0], 0, 3
        wide = low
    elif count == 2:
        a, b = map(index, args)  # a numpy integer has no room for the shift
        low, high, beats = a | b << 32, 0, 3
        wide = a | b
    elif count == 3:
        a, b, high = map(index, args)
        low, beats = a | b << 32, 4
        wide = a | b | high
    elif count == 4:
        a, b, c, d = map(index, args)
        low, high, beats = a | b << 32, c | d << 32, 4
        wide = a | b | c | d
    else:
        raise ValueError(f"a message has 0 to 4 words, not {count}")
    if wide >> 32:
        raise ValueError(f"a message's words are unsigned, of 32 bits, not {list(args)}")
    return low, high, beats


BULK_HEADER_BYTES = AM_HEADER_BYTES
BULK_DATA = 8 + HEADER_BYTES + AM_HEADER_BYTES
"""Offset of a bulk packet's data in its slot."""
BULK_ENTRY = HEADER_BYTES + AM_HEADER_BYTES
"""The same in an entry to be sent."""
