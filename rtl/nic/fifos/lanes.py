"""Joins the two lanes of the send FIFO, PIO and DMA, to their merge."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS

__all__ = ["DmaLane", "PioLane", "SendPacket"]


class SendPacket(data.Struct):
    """A whole packet in the PIO lane: its trace number, and the value that ``send_doorbell`` had
    when its last word was written: it follows that many descriptors onto the wire."""

    trace: TRACE_BITS
    after: 16


PioLane = wiring.Signature({
    "words": Out(stream.Signature(64)),
    "packets": Out(stream.Signature(SendPacket)),
})
"""The PIO lane's side: its words, and its whole packets. Words are taken only as far as ``packets``
tells of them, a packet with its last word."""

DmaLane = wiring.Signature({
    "words": Out(stream.Signature(64)),
    "traces": Out(stream.Signature(TRACE_BITS)),
    "skip": Out(1),
    "merged": In(16),
})
"""The DMA lane's side: its words, and the trace numbers of its packets, each there with the
packet's header at the latest; words may be late. ``skip`` is high for the cycle in which the
descriptor whose turn it is is refused: it has no packet. ``merged`` counts the descriptors that
have gone or were skipped, modulo 65536."""
