"""What software reaches by PIO: registers, windows and pages, joined to the blocks they are of."""

from operator import attrgetter
from typing import Protocol

from amaranth.hdl import Cat, Const, Module, Mux, Signal, ValueLike, signed
from amaranth.lib import wiring

from ...layouts.processor import DOORBELL_PAGES_MAX, NIC_MEMORY
from ...layouts.registers import (
    ENGINE_REGISTERS,
    NIC_BASE,
    PROCESSOR_REGISTERS,
    RECEIVE_WINDOW,
    RECHECK,
    REGISTERS,
    SEND_WINDOW,
    WINDOW_BYTES,
    Irq,
    address,
)
from ...layouts.trace import Kind
from ...layouts.via import CQ_PAGES, DOORBELL_PAGES, PAGE
from ..bus.pio import PIO_ADDRESS_BITS
from ..processor.processor import Processor
from ..vi.engine import Engine
from .fifos.receive_fifo import ReceiveFifo
from .fifos.receive_window import ReceiveWindow
from .fifos.send_window import SendWindow
from .registers import CsrFile
from .rings.no_send_dma import NoSendDma
from .rings.receive_dma import ReceiveDma
from .rings.send_dma import SendDma

__all__ = ["RING_REGISTERS", "PioMap"]

WINDOW_SPACE = 1 << 20
"""Of NIC memory in the PIO window."""

_COUNTERS = {
    "packets_sent": 1, "packets_received": 1, "send_refused": 2, "doorbells_refused": 1,
    "crc_errors": 1, "misrouted": 1, "overflows": 1, "malformed": 1, "credit_stalls": 1,
    "receive_stalls": 1, "process_refused": 1,
}
_ENGINE_COUNTERS = {
    "translation_hits": ("registers.translation.hit",),
    "translation_misses": ("registers.translation.miss",),
    "translation_walk": ("registers.translation.walking",),
    "doorbells_foreign": ("doorbells.refused", "cq_pages.refused"),
    "doorbells_lost": ("doorbells.lost",),
    "events_lost": ("registers.event.lost",),
    "via_unmatched": ("registers.packets.unmatched",),
    "via_duplicates": ("registers.packets.duplicate",),
    "via_gaps": ("registers.packets.gap",),
    "via_dropped": ("registers.packets.dropped",),
    "via_resent": ("registers.packets.resent",),
    "via_sent": ("registers.packets.sent",),
}
"""The engine's counters, and its pulses that each counts."""
_PROCESSOR_COUNTERS = {
    "window_refused": ("registers.window_refused",), "page_refused": ("pages.refused",),
    "page_lost": ("pages.lost",),
}
"""The processor's counters, and its pulses."""
RING_REGISTERS = tuple(register for register in REGISTERS
                       if register not in ENGINE_REGISTERS + PROCESSOR_REGISTERS)
"""Registers of every NIC, whatever is attached to it."""


class _Nic(Protocol):
    """What the map joins of a NIC."""

    pio: wiring.PureInterface
    link: wiring.PureInterface
    irq: Signal
    node: Signal
    cycle: Signal


class PioMap:
    """The address map of a NIC under elaboration: makes its register file, joins the VI engine or
    processor to it, and each other block by a method.

    Parameters
    ----------
    m : Module
        The NIC's.
    nic : Nic
        Its members ``pio``, ``node``, ``cycle``, ``link`` and ``irq`` of the NIC.
    engine, processor : Engine, Processor or None
        What is attached; one of the two at most.
    """

    def __init__(self, m: Module, nic: _Nic, *, engine: Engine | None,
                 processor: Processor | None) -> None:
        self._m = m
        self._nic = nic
        self._pio = nic.pio
        counters, external = dict(_COUNTERS), ["send_doorbell", "receive_taken"]
        registers = RING_REGISTERS
        attached: dict[str, tuple[str, ...]] = {}
        if engine is not None:
            registers += ENGINE_REGISTERS
            attached = _ENGINE_COUNTERS
            external += ["vi_command", "cq_config"]
        elif processor is not None:
            registers += PROCESSOR_REGISTERS
            attached = _PROCESSOR_COUNTERS
            external += ["load_words", "load_sum"]
        counters |= {name: len(pulses) for name, pulses in attached.items()}
        m.submodules.registers = self._file = file = CsrFile(
            registers=registers, counters=counters, external=external)
        m.d.comb += [
            file.access.write.eq(self._pio.write),
            file.access.offset.eq(self._pio.address),
            file.access.data.eq(self._pio.data),
            file.values.node.eq(nic.node),
            file.values.cycle.eq(nic.cycle),
            *(getattr(file.counts, name).eq(Cat(attrgetter(pulse)(engine or processor)
                                                for pulse in pulses))
              for name, pulses in attached.items()),
        ]
        self._nic_memory_read: ValueLike = 0
        self._engine_irq = self._processor_irq = Const(0)
        self._receive_again = Signal()
        if engine is not None:
            self._attach_engine(engine)
        elif processor is not None:
            self._attach_processor(processor)

    def windows(self, send: SendWindow, receive: ReceiveWindow) -> None:
        """The registers' page, and the windows of the FIFOs."""
        m, pio, file = self._m, self._pio, self._file
        m.d.comb += [
            send.data.eq(pio.data),
            send.trace.eq(pio.trace),
            file.values.send_space.eq(send.space),
            pio.ready.eq(1),
            pio.answer.data.eq(file.access.read | receive.data | self._nic_memory_read),
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
        """The receive ring's registers. Counts of several CPUs may arrive in any order, so they
        only move on. A count may be ahead of those filled, as a CPU sees a completion word before
        the NIC knows that it has landed: then fewer than none are left."""
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
        """What is counted of packets, and the interrupts."""
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
                                        self._processor_irq)),
            nic.irq.eq((values.irq_status & values.irq_enable).any()
                       | (self._engine_irq & values.irq_enable[Irq.VIA.bit_length() - 1])),
        ]

    def _attach_engine(self, engine: Engine) -> None:
        """The VI engine's registers and pages."""
        m, pio, file = self._m, self._pio, self._file
        values, writes = file.values, file.writes
        self._engine_irq = engine.irq
        self._pages(engine.doorbells, DOORBELL_PAGES, 1 << PIO_ADDRESS_BITS)
        self._pages(engine.cq_pages, CQ_PAGES, DOORBELL_PAGES)
        registers = engine.registers
        completion, translation = registers.completion, registers.translation
        event_read = pio.address == address("via_event") - NIC_BASE
        m.d.comb += [
            registers.command.valid.eq(writes.vi_command),
            registers.command.payload.vi.eq(values.vi_select),
            registers.command.payload.command.eq(pio.data),
            registers.command.payload.attributes.eq(values.vi_attributes),
            registers.command.payload.peer.eq(values.vi_peer),
            values.vi_command.eq(registers.busy),
            values.vi_state.eq(registers.context.data.state),
            values.vi_posted.eq(registers.posted.counts),
            values.vi_completed.eq(completion.completed.counts),
            completion.setup.valid.eq(writes.cq_config),
            completion.setup.cq.eq(values.vi_select),
            completion.setup.base.eq(values.cq_base),
            completion.setup.config.eq(pio.data),
            values.via_event.eq(registers.event.head),
            registers.event.pop.eq(file.access.select & ~pio.write & event_read),
            values.via_ready.eq(registers.ready),
            translation.table_base.eq(values.table_base),
            translation.table.valid.eq(writes.table_place),
            translation.table.index.eq(values.table_index),
            translation.table.flags.eq(values.table_flags),
            translation.table.place.eq(pio.data),
            translation.invalidate.valid.eq(writes.invalidate),
            translation.invalidate.payload.eq(pio.data),
            values.invalidated.eq(translation.invalidated),
            *(port.vi.eq(values.vi_select)
              for port in (registers.context, registers.posted, completion.completed)),
        ]
        with m.If(writes.cq_config):
            m.d.sync += values.cq_config.eq(pio.data)

    def _attach_processor(self, processor: Processor) -> None:
        """The processor's registers, doorbell pages, and the window to NIC memory."""
        m, pio, file = self._m, self._pio, self._file
        values, writes = file.values, file.writes
        self._processor_irq = processor.asks.irq
        self._nic_memory_read = processor.window.read
        self._pages(processor.pages, DOORBELL_PAGES, DOORBELL_PAGES + DOORBELL_PAGES_MAX * PAGE)
        registers, window = processor.registers, processor.window
        load, state = registers.load, registers.state
        m.d.comb += [
            window.valid.eq(pio.valid & (pio.address >= NIC_MEMORY)
                            & (pio.address < NIC_MEMORY + WINDOW_SPACE)),
            window.address.eq(pio.address - NIC_MEMORY),
            window.write.eq(pio.write),
            window.data.eq(pio.data),
            window.trace.eq(pio.trace),
            window.process.eq(pio.process),
            registers.run.eq(values.processor_control),
            values.processor_status.eq(state.status),
            values.processor_pc.eq(state.pc),
            values.processor_cause.eq(state.cause),
            registers.window_owner.valid.eq(writes.window_owner),
            registers.window_owner.payload.eq(pio.data),
            registers.doorbell_owner.valid.eq(writes.doorbell_owner),
            registers.doorbell_owner.payload.eq(pio.data),
            registers.doorbell_words.eq(values.doorbell_words),
            load.clear.eq(writes.load_words | writes.load_sum),
            values.load_words.eq(load.words),
            values.load_sum.eq(load.sum),
        ]

    def _pages(self, pages: wiring.PureInterface, first: int, end: int) -> None:
        """Joins a block's pages to the PIO writes at ``first`` up to ``end``."""
        pio = self._pio
        self._m.d.comb += [
            pages.valid.eq(pio.valid & pio.write & (pio.address >= first) & (pio.address < end)),
            Cat(pages.offset, pages.page).eq(pio.address - first),
            pages.data.eq(pio.data),
            pages.process.eq(pio.process),
        ]
