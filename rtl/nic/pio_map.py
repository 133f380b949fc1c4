"""Joins the registers, windows and pages that software reaches by PIO to their blocks."""

from typing import Protocol

from amaranth.hdl import Cat, Const, Module, Mux, Signal, ValueLike, signed
from amaranth.lib import wiring

from ...layouts.registers import (
    ENGINE_REGISTERS,
    PROCESSOR_REGISTERS,
    RECEIVE_WINDOW,
    RECHECK,
    REGISTERS,
    SEND_WINDOW,
    WINDOW_BYTES,
    Irq,
)
from ...layouts.trace import Kind
from ..parts.csr_file import CsrFile
from .attachment import Attachment
from .fifos.receive_fifo import ReceiveFifo
from .fifos.receive_window import ReceiveWindow
from .fifos.send_window import SendWindow
from .rings.no_send_dma import NoSendDma
from .rings.receive_dma import ReceiveDma
from .rings.send_dma import SendDma

__all__ = ["PioMap"]

_COUNTERS = {
    "packets_sent": 1, "packets_received": 1, "send_refused": 2, "doorbells_refused": 1,
    "crc_errors": 1, "misrouted": 1, "overflows": 1, "malformed": 1, "credit_stalls": 1,
    "receive_stalls": 1, "process_refused": 1,
}
_RING_REGISTERS = tuple(register for register in REGISTERS
                        if register not in ENGINE_REGISTERS + PROCESSOR_REGISTERS)


class _Nic(Protocol):
    """The blocks of a NIC that the map joins."""

    pio: wiring.PureInterface
    link: wiring.PureInterface
    irq: Signal
    node: Signal
    cycle: Signal


class PioMap:
    """The address map of a NIC under elaboration: makes the register file of the rings, and joins
    each block to it by a method. What is attached has registers of its own.

    Parameters
    ----------
    m : Module
        The NIC's.
    nic : Nic
        Its members ``pio``, ``node``, ``cycle``, ``link`` and ``irq`` of the NIC.
    attached : Attachment or None
        What is attached.
    """

    def __init__(self, m: Module, nic: _Nic, attached: Attachment | None) -> None:
        self._m = m
        self._nic = nic
        self._pio = nic.pio
        m.submodules.registers = self._file = file = CsrFile(
            registers=_RING_REGISTERS, counters=_COUNTERS,
            external=["send_doorbell", "receive_taken"])
        m.d.comb += [
            file.access.write.eq(self._pio.write),
            file.access.offset.eq(self._pio.address),
            file.access.data.eq(self._pio.data),
            file.values.node.eq(nic.node),
            file.values.cycle.eq(nic.cycle),
        ]
        self._attached_read: ValueLike = 0
        self._irq: ValueLike = Const(0)
        self._raises: ValueLike = Const(0)
        self._receive_again = Signal()
        if attached is not None:
            self._attach(attached)

    def windows(self, send: SendWindow, receive: ReceiveWindow) -> None:
        """The registers' page, and the windows of the FIFOs."""
        m, pio, file = self._m, self._pio, self._file
        m.d.comb += [
            send.data.eq(pio.data),
            send.trace.eq(pio.trace),
            file.values.send_space.eq(send.space),
            pio.ready.eq(1),
            pio.answer.data.eq(file.access.read | receive.data | self._attached_read),
        ]
        m.d.sync += pio.answer.valid.eq(pio.valid & ~pio.write)
        # All that is here belongs to the kernel.
        ours = pio.valid & (pio.address[16:] == 0)
        allowed = pio.process == 0
        m.d.comb += file.counts.process_refused.eq(ours & ~allowed)
        with m.If(ours & allowed):
            with m.Switch(pio.address[(WINDOW_BYTES - 1).bit_length():16]):
                with m.Case(0):
                    m.d.comb += file.access.select.eq(1)
                with m.Case(SEND_WINDOW // WINDOW_BYTES):
                    m.d.comb += send.write.eq(pio.write)
                with m.Case(RECEIVE_WINDOW // WINDOW_BYTES):
                    m.d.comb += receive.read.eq(~pio.write)

    def send_ring(self, dma: SendDma | NoSendDma, *, ring: int, coherent: bool) -> None:
        """The send ring's registers, and its doorbell."""
        m, file = self._m, self._file
        registers = dma.registers
        posted = Signal(16)
        value = self._pio.data[:16]
        pending = Signal(16)
        wanted = Signal(16)
        accept = Signal()
        m.d.comb += [
            file.values.send_doorbell.eq(posted),
            file.values.send_done.eq(registers.done),
            registers.enable.eq(file.values.control[0]),
            registers.base.eq(file.values.send_base),
            registers.posted.eq(posted),
            registers.report.eq(file.values.send_report),
        ]
        if coherent:
            m.d.comb += dma.pull.enable.eq(file.values.control[2])
        with m.If(file.writes.send_doorbell):
            m.d.comb += [
                pending.eq(posted - registers.done),
                wanted.eq(value - registers.done),
                accept.eq(registers.enable & (wanted <= ring) & (wanted >= pending)),
                file.counts.doorbells_refused.eq(~accept),
            ]
            with m.If(accept):
                m.d.sync += posted.eq(value)

    def receive_ring(self, dma: ReceiveDma) -> None:
        """Joins the receive ring's registers. Counts of several CPUs may arrive in any order, so
        a smaller one than the last is ignored. The host may count a slot before the NIC has
        counted it as filled, because a CPU sees the completion word before the NIC knows that it
        has landed: the difference can be negative for a moment."""
        m, file, pio, registers = self._m, self._file, self._pio, dma.registers
        values = file.values
        taken = Signal(16)
        step = Signal(signed(16))
        following = Signal(16)
        left = Signal(signed(16))
        m.d.comb += [
            values.receive_taken.eq(taken),
            registers.enable.eq(values.control[1]),
            registers.base.eq(values.receive_base),
            registers.taken.eq(taken),
            values.receive_filled.eq(registers.filled),
        ]
        with m.If(file.writes.receive_taken | file.writes.irq_status):
            m.d.comb += [
                step.eq(pio.data[:16] - taken),
                following.eq(taken),
                left.eq(registers.filled - following),
                self._receive_again.eq((pio.data & RECHECK).any() & (left > 0)),
            ]
            with m.If(file.writes.receive_taken & (step > 0)):
                m.d.comb += following.eq(pio.data[:16])
            m.d.sync += taken.eq(following)

    def packets(self, send: SendWindow, send_dma: SendDma | NoSendDma, receive: ReceiveFifo,
                receive_dma: ReceiveDma) -> None:
        """Joins the counts of packets, and the interrupts."""
        nic, file = self._nic, self._file
        values, counts, tx = file.values, file.counts, nic.link.tx
        error = Signal()
        self._m.d.comb += [
            values.receive_level.eq(receive.level),
            values.receive_trace.eq(Mux(receive.o.valid, receive.o.payload.trace, 0)),
            counts.packets_sent.eq(tx.valid & tx.ready & tx.payload.last),
            counts.packets_received.eq(receive.counts.good),
            counts.send_refused.eq(Cat(send.refused, send_dma.lane.skip)),
            counts.crc_errors.eq(receive.counts.crc_error),
            counts.misrouted.eq(receive.counts.misrouted),
            counts.overflows.eq(receive.counts.overflow),
            counts.malformed.eq(receive.counts.malformed),
            counts.credit_stalls.eq(nic.link.credit_stall),
            counts.receive_stalls.eq(receive.counts.stalled),
            error.eq(send.refused | send_dma.lane.skip | counts.doorbells_refused
                     | (receive.end.valid & (receive.end.kind == Kind.DROP))),
            # In the order of layouts.registers.Irq.
            file.sets.irq_status.eq(Cat(receive_dma.registers.landed | self._receive_again,
                                        send_dma.registers.empty, error, Const(0),
                                        self._raises)),
            nic.irq.eq((values.irq_status & values.irq_enable).any()
                       | (self._irq & values.irq_enable[Irq.VIA.bit_length() - 1])),
        ]

    def _attach(self, attached: Attachment) -> None:
        """Hands accesses on to what is attached."""
        pio, access, inner = self._pio, self._file.access, attached.access
        self._irq, self._raises = attached.irq.level, attached.irq.raises
        self._attached_read = inner.read | attached.pio.read
        self._m.d.comb += [
            *(getattr(inner, name).eq(getattr(access, name))
              for name in ("select", "write", "offset", "data")),
            *(getattr(attached.pio, name).eq(getattr(pio, name))
              for name in ("valid", "write", "address", "data", "trace", "process")),
        ]
