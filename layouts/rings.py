"""Send ring descriptors and receive ring slots, in host memory."""

from .bits import Field, Word
from .packet import TRACE_BITS

__all__ = ["DESCRIPTOR_BYTES", "INLINE_BYTES", "DESCRIPTOR_CONTROL", "COMPLETION"]

# A send descriptor, 8-byte words:
#   0    wire header (layouts.packet.HEADER); length = inline + payload
#   1-4  inline bytes
#   5    payload address in host memory, any alignment
#   6    control, below
#   7    reserved
DESCRIPTOR_BYTES = 64
INLINE_BYTES = 32

DESCRIPTOR_CONTROL = Word(
    "descriptor_control",
    Field("inline", 8, "inline bytes that follow the header, 0 to 32, a multiple of 8 when a "
                       "payload follows"),
    Field("payload", 16, "bytes fetched from the payload address, 0 for none"),
    Field("trace", TRACE_BITS, "trace number"),
)

# A receive slot: word 0 the completion word, word 1 the wire header, then the packet's bytes.
# The completion word is written last.
COMPLETION = Word(
    "completion",
    Field("phase", 1, "1 on the first lap of the ring, 0 on the second, and so on"),
    Field("reserved", 7),
    Field("length", 16, "bytes behind the wire header"),
    Field("trace", TRACE_BITS, "trace number"),
    Field("index", 16, "slot number"),
)
