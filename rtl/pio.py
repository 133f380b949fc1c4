"""How the host bus reaches the NIC's registers and FIFO windows: one 8-byte access a beat."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts.packet import TRACE_BITS

__all__ = ["PIO_ADDRESS_BITS", "PioTarget"]

PIO_ADDRESS_BITS = 16
"""Bytes of a NIC's PIO window, as a power of two: what is left of an address below NIC_BASE's bit."""

PioTarget = wiring.Signature({
    "valid": Out(1),
    "write": Out(1),
    "address": Out(PIO_ADDRESS_BITS),
    "data": Out(64),
    "trace": Out(TRACE_BITS),
    "read": In(64),
})
"""An initiator's side. Each cycle with ``valid`` is one access of 8 bytes at ``address`` (a multiple
of 8): there is no back-pressure, and accesses may follow each other every cycle. A write's ``data``
and ``trace`` (the trace number of the packet that the write begins, else 0) come with it; a read's
answer is on ``read`` in the cycle after ``valid``, and only then."""
