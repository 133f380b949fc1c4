"""Accesses of the host bus to the NIC's registers and FIFO windows: one 8-byte access in each
beat."""

from amaranth.hdl import Cat, Module, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.operations import NIC_BYTES
from ...layouts.packet import TRACE_BITS
from ...layouts.via import PAGE

__all__ = ["PIO_ADDRESS_BITS", "PROCESS_BITS", "LastWrite", "PageWrite", "PioAccess", "PioTarget",
           "connect_pages"]

PIO_ADDRESS_BITS = (NIC_BYTES - 1).bit_length()
"""Bits of an address within a NIC. The two bits above them select the NIC."""

PROCESS_BITS = 8

PioAccess = wiring.Signature({
    "valid": Out(1),
    "write": Out(1),
    "address": Out(PIO_ADDRESS_BITS),
    "data": Out(64),
    "trace": Out(TRACE_BITS),
    "process": Out(PROCESS_BITS),
    "read": In(64),
})
"""Accesses to a part of a NIC that never waits, from the side that makes them. A cycle with
``valid`` is one access of 8 bytes at ``address``, a multiple of 8: there is no back-pressure, and
accesses may follow each other every cycle. A write's ``data`` and ``trace`` (the trace number of
the operation it belongs to) come with it, and with any access the ``process`` that makes it, 0 for
the kernel; a read's answer is on ``read`` in the cycle after ``valid``, and only then."""

PioTarget = wiring.Signature({
    "valid": Out(1),
    "ready": In(1),
    "write": Out(1),
    "address": Out(PIO_ADDRESS_BITS),
    "data": Out(64),
    "strobe": Out(8),
    "trace": Out(TRACE_BITS),
    "process": Out(PROCESS_BITS),
    "answer": In(wiring.Signature({"valid": Out(1), "data": Out(64)})),
})
"""The bus's side of a NIC. A cycle with ``valid`` and ``ready`` is one access of 8 bytes at
``address``, a multiple of 8. While ``valid`` waits for ``ready``, nothing of the access changes;
accesses may follow each other every cycle. ``data``, ``strobe`` (the bytes that are written, today
always all) and ``trace`` (the trace number of the operation it belongs to) are a write's; with any
access comes the ``process`` that makes it, 0 for the kernel. A write is over when it is taken. A
read is over when ``answer`` is valid, with its data: once, in a cycle after that in which it was
taken, and the bus makes no other access before."""

_OFFSET_BITS = (PAGE - 1).bit_length()

PageWrite = wiring.Signature({
    "valid": Out(1),
    "page": Out(PIO_ADDRESS_BITS - _OFFSET_BITS),
    "offset": Out(_OFFSET_BITS),
    "data": Out(64),
    "process": Out(PROCESS_BITS),
    "refused": In(1),
    "lost": In(1),
})
"""Writes to pages that processes own, such as doorbells. A cycle with ``valid`` is one write of
``data``, by ``process``, at ``offset`` bytes in ``page``; there is no back-pressure. In the next
cycle ``refused`` is high if ``process`` must not write there, and ``lost`` if there was no room for
the data. A refused write has no other effect."""


def connect_pages(m: Module, pio: wiring.PureInterface, pages: wiring.PureInterface, first: int,
                  end: int) -> None:
    """Makes of the writes of ``pio``, a PioAccess, at ``first`` up to ``end`` those of ``pages``, a
    PageWrite."""
    m.d.comb += [
        pages.valid.eq(pio.valid & pio.write & (pio.address >= first) & (pio.address < end)),
        Cat(pages.offset, pages.page).eq(pio.address - first),
        pages.data.eq(pio.data),
        pages.process.eq(pio.process),
    ]


class LastWrite:
    """Holds the last write at a PageWrite ``port`` for a cycle, for a block that looks up the owner
    of the page meanwhile. In a cycle without ``valid`` the other fields are those of the last
    write.

    Parameters
    ----------
    m : Module
        The module in which the registers are made.
    port : PageWrite
        The port, from the side that answers.
    """

    def __init__(self, m: Module, port: wiring.PureInterface) -> None:
        self.valid = Signal(name="came")
        self.page = Signal.like(port.page, name="page")
        self.offset = Signal.like(port.offset, name="offset")
        self.data = Signal.like(port.data, name="word")
        self.process = Signal.like(port.process, name="process")
        m.d.sync += self.valid.eq(port.valid)
        with m.If(port.valid):
            m.d.sync += [self.page.eq(port.page), self.offset.eq(port.offset),
                         self.data.eq(port.data), self.process.eq(port.process)]

    def by(self, owner: ValueLike) -> Value:
        """Tells whether process ``owner`` made the write, or process 0, the kernel, which may
        always write."""
        return (self.process == 0) | (self.process == owner)
