"""How the host bus reaches the NIC's registers and FIFO windows: one 8-byte access a beat."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts.packet import TRACE_BITS

__all__ = ["PIO_ADDRESS_BITS", "PROCESS_BITS", "PioTarget"]

PIO_ADDRESS_BITS = 25
"""A NIC's PIO window has 2 to this power bytes; the address bits above say that it is the NIC."""

PROCESS_BITS = 8

PioTarget = wiring.Signature({
    "valid": Out(1),
    "write": Out(1),
    "address": Out(PIO_ADDRESS_BITS),
    "data": Out(64),
    "trace": Out(TRACE_BITS),
    "process": Out(PROCESS_BITS),
    "read": In(64),
})
"""An initiator's side. A cycle with ``valid`` is one access of 8 bytes at ``address``, a multiple
of 8: there is no back-pressure, and accesses may follow each other every cycle. A write's ``data``
and ``trace`` (the trace number of the operation it belongs to) come with it, and with any access
the ``process`` that makes it, 0 for the kernel; a read's answer is on
``read`` in the cycle after ``valid``, and only then."""
