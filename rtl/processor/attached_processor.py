"""The processor attached to the NIC: with its registers, doorbell pages and window."""

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import connect, flipped

from ...layouts.description import Description
from ...layouts.processor import CRASH, DOORBELL_PAGES_MAX, NIC_MEMORY
from ...layouts.registers import PROCESSOR_REGISTERS
from ...layouts.via import DOORBELL_PAGES, PAGE
from ..bus.pio import connect_pages
from ..nic.attachment import Attachment
from ..parts.csr_file import CsrFile
from .processor import Processor

__all__ = ["AttachedProcessor"]

WINDOW_SPACE = 1 << 20
"""Bytes of the PIO window that map NIC memory."""

_Status = data.StructLayout({"state": 2, "reserved": 6, "reason": 8})


class AttachedProcessor(Attachment):
    """A :class:`~.processor.Processor` and its part of the NIC's PIO window.

    Latency, throughput, back-pressure and reset are those of the processor; a register's write acts
    at the end of its cycle.

    Parameters
    ----------
    description, step
        As of :class:`~.processor.Processor`.
    """

    dma_ports = Processor.DMA
    event_sources = Processor.event_sources
    watches = True

    def __init__(self, *, description: Description, step: Signal | None = None) -> None:
        self._processor = Processor(description=description, step=step)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.processor = processor = self._processor
        registers, window, pio = processor.registers, processor.window, self.pio
        load, state, asks = registers.load, registers.state, processor.asks
        counted = {"window_refused": registers.window_refused,
                   "page_refused": processor.pages.refused, "page_lost": processor.pages.lost}
        m.submodules.registers = file = CsrFile(
            registers=PROCESSOR_REGISTERS, external=["load_words", "load_sum"],
            counters=dict.fromkeys(counted, 1))
        values, writes = file.values, file.writes
        connect(m, flipped(self.access), file.access)
        connect_pages(m, pio, processor.pages, DOORBELL_PAGES,
                      DOORBELL_PAGES + DOORBELL_PAGES_MAX * PAGE)
        status = data.View(_Status, state.status)
        m.d.comb += [
            *(getattr(file.counts, name).eq(pulse) for name, pulse in counted.items()),
            window.valid.eq(pio.valid & (pio.address >= NIC_MEMORY)
                            & (pio.address < NIC_MEMORY + WINDOW_SPACE)),
            window.address.eq(pio.address - NIC_MEMORY),
            window.write.eq(pio.write),
            window.data.eq(pio.data),
            window.trace.eq(pio.trace),
            window.process.eq(pio.process),
            pio.read.eq(window.read),
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
            self.packets.select.eq(asks.protocol),
            self.irq.raises.eq(asks.irq),
            self.watch.base.eq(asks.watch_base),
            self.watch.bytes.eq(asks.watch_bytes),
            asks.watched.eq(self.watch.hit),
            processor.node.eq(self.around.node),
            processor.timing.eq(self.around.timing),
            processor.cycle.eq(self.around.cycle),
            processor.profile.eq(self.run.profile),
            self.run.crashed.eq(state.crashed),
            self.run.crash.eq(Cat(C(CRASH.pack(valid=1), 8), self.around.node, status.reason,
                                  C(0, 8), state.pc, state.cause)),
            self.idle.eq(processor.idle),
        ]
        connect(m, processor.packets.tx, flipped(self.packets.tx))
        connect(m, flipped(self.packets.rx), processor.packets.rx)
        for inner, outer in (*zip(processor.dma, self.dma, strict=True),
                             *zip(processor.events, self.events, strict=True)):
            connect(m, inner, flipped(outer))
        return m
