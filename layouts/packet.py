"""A packet on a link: header word, payload in 8-byte flits, a CRC-32 trailer."""

from enum import IntEnum

from .bits import Field, Word

__all__ = ["FLIT_BYTES", "HEADER", "HEADER_BYTES", "CRC_BYTES", "MAX_HEADER_BYTES", "HOPS",
           "HOP_BITS", "MESH_BITS", "TRACE_BITS", "Protocol", "encode_displacement",
           "encode_route"]

FLIT_BYTES = 8
HEADER_BYTES = 8
CRC_BYTES = 4
MAX_HEADER_BYTES = 24 + CRC_BYTES
"""Most bytes around a full payload: wire header, 16 bytes of a protocol's own header, CRC."""

HOPS = 4
HOP_BITS = 4
MESH_BITS = 8
"""Width of a displacement in a mesh, along the row or the column."""
TRACE_BITS = 24
"""Width of a trace number; 0 is no number. It travels beside the flits, never in them."""

HEADER = Word(
    "header",
    Field("route", HOPS * HOP_BITS, "output port of each switch on the way, next hop lowest; each "
                                    "switch shifts its own off, so the CRC leaves this field "
                                    "out. In a mesh: switches to the right in the low byte, down "
                                    "in the high one, two's complement; each counts one off"),
    Field("length", 16, "bytes behind this header word, CRC excluded"),
    Field("source", 8, "node that sent it"),
    Field("destination", 8, "node it is for; elsewhere it is counted as misrouted and dropped"),
    Field("protocol", 8, "which layer above it belongs to"),
    Field("detail", 8, "the layer's own; zero where it has no use for it"),
)


class Protocol(IntEnum):
    """Values of ``HEADER.protocol``."""

    RAW = 0
    AM = 1
    VIA = 2
    VIA_CONTROL = 3
    """Between the kernel agents of VIA: connections."""
    GM = 4
    FM = 5
    NOTE = 6
    """Between NICs, of firmware elan: questions whether a packet has arrived, and their answers."""
    IP = 7
    """The Internet protocol's packets, as they are."""
    AM2 = 8
    UNET = 9
    VMMC = 10


def encode_route(ports: list[int]) -> int:
    """The route field for a path through output ``ports``, first hop first."""
    if len(ports) > HOPS:
        raise ValueError(f"a route has at most {HOPS} hops, not {len(ports)}")
    return sum(port << HOP_BITS * hop for hop, port in enumerate(ports))


def encode_displacement(right: int, down: int) -> int:
    """The route field to the node ``right`` and ``down`` of a mesh's switches away."""
    half = 1 << MESH_BITS - 1
    if not (-half <= right < half and -half <= down < half):
        raise ValueError(f"a route leads {-half} to {half - 1} switches along a row or column, "
                         f"not {right} and {down}")
    mask = 2 * half - 1
    return (down & mask) << MESH_BITS | right & mask
