"""Send ring descriptors and receive ring slots, in host memory."""

from .bits import Field, Word
from .packet import TRACE_BITS

__all__ = ["DESCRIPTOR_BYTES", "INLINE_BYTES", "DESCRIPTOR_CONTROL", "COMPLETION", "LINE_BYTES",
           "LINE_INLINE", "LINE_PAYLOAD_INLINE", "LINE_WORD"]

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

# The send ring that the NIC pulls (control bit 2, nic.attachment = memory_bus): a descriptor is one
# cache line, so that a message is one ownership transaction. 8-byte words:
#   0    LINE_WORD, stored last; the NIC makes the wire header of it and of its own node's number
#   1-3  the bytes behind the wire header, up to 24; with a payload: 1 and 2 its first 16 bytes,
#        3 the address of the rest in host memory, any alignment
# Descriptor n lies at send_base + LINE_BYTES * (n modulo the ring's entries). There is no doorbell:
# the NIC reads a line after a CPU has taken it for writing. Descriptors are stored in order.
LINE_BYTES = 32
LINE_INLINE = 24
LINE_PAYLOAD_INLINE = 16

LINE_WORD = Word(
    "line_word",
    Field("route", 16, "the wire header's"),
    Field("length", 11, "bytes behind the wire header"),
    Field("phase", 1, "1 on the ring's first lap, 0 on the second, and so on"),
    Field("protocol", 3, "the wire header's"),
    Field("payload", 1, "all but the first 16 bytes are at the address in word 3"),
    Field("destination", 8, "the wire header's"),
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
