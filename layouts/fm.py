"""The header of Fast Messages: one 8-byte word behind the wire header, then up to a frame's bytes.

A frame fits one slot of the queue to the firmware, so that a message is sent by PIO alone.
"""

from enum import IntEnum

from .bits import Field, Word
from .packet import HEADER_BYTES
from .processor import SLOT_BYTES

__all__ = ["ACCEPTED_MAX", "FM_HEADER", "FM_HEADER_BYTES", "FRAME_BYTES", "FmKind"]

FM_HEADER_BYTES = 8
FRAME_BYTES = SLOT_BYTES - HEADER_BYTES - FM_HEADER_BYTES
"""Most bytes of a message."""


class FmKind(IntEnum):
    """Values of ``FM_HEADER.kind``."""

    WORDS = 1
    """FM_send_4: four 32-bit words."""
    FRAME = 2
    """FM_send."""
    ACCEPTED = 3
    """No data: carries ``accepted`` only."""


FM_HEADER = Word(
    "fm_header",
    Field("kind", 4, "FmKind"),
    Field("returned", 1, "the packet goes back to its sender, which keeps it and sends it again"),
    Field("reserved", 3),
    Field("handler", 8, "index in the handler table"),
    Field("bytes", 8, "of the message"),
    Field("accepted", 8, "packets of the destination that were accepted since the last report to "
                         "it: it may send as many more"),
)

ACCEPTED_MAX = FM_HEADER.mask("accepted") >> FM_HEADER.offset("accepted")
