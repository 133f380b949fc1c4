"""The VI engine attached to the NIC: with its registers and pages."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import connect, flipped

from ...layouts.description import Description
from ...layouts.packet import Protocol
from ...layouts.processor import PROTOCOL_SELECT
from ...layouts.registers import ENGINE_REGISTERS, NIC_BASE, address
from ...layouts.via import CQ_PAGES, DOORBELL_PAGES
from ..bus.pio import PIO_ADDRESS_BITS, connect_pages
from ..nic.attachment import Attachment
from ..parts.csr_file import CsrFile
from .engine import Engine

__all__ = ["AttachedEngine"]


class AttachedEngine(Attachment):
    """An :class:`Engine` and its part of the NIC's PIO window.

    Latency, throughput, back-pressure and reset are those of the engine; a register's write acts at
    the end of its cycle.

    Parameters
    ----------
    description : Description
        As of :class:`Engine`.
    step : Signal or None
        Not used: an engine has no clock of its own.
    """

    dma_ports = Engine.DMA
    event_sources = Engine.event_sources
    early = Protocol.VIA

    def __init__(self, *, description: Description, step: Signal | None = None) -> None:
        self._engine = Engine(description=description)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.engine = engine = self._engine
        registers, pio, access = engine.registers, self.pio, self.access
        packets, translation = registers.packets, registers.translation
        counted = {
            "translation_hits": [translation.hit],
            "translation_misses": [translation.miss],
            "translation_walk": [translation.walking],
            "doorbells_foreign": [engine.doorbells.refused, engine.cq_pages.refused],
            "doorbells_lost": [engine.doorbells.lost],
            "events_lost": [registers.event.lost],
            "via_unmatched": [packets.unmatched],
            "via_duplicates": [packets.duplicate],
            "via_gaps": [packets.gap],
            "via_dropped": [packets.dropped],
            "via_resent": [packets.resent],
            "via_sent": [packets.sent],
        }
        m.submodules.registers = file = CsrFile(
            registers=ENGINE_REGISTERS, external=["vi_command", "cq_config"],
            counters={name: len(pulses) for name, pulses in counted.items()})
        values, writes = file.values, file.writes
        completion = registers.completion
        event_read = access.offset == address("via_event") - NIC_BASE
        connect(m, flipped(access), file.access)
        connect_pages(m, pio, engine.doorbells, DOORBELL_PAGES, 1 << PIO_ADDRESS_BITS)
        connect_pages(m, pio, engine.cq_pages, CQ_PAGES, DOORBELL_PAGES)
        m.d.comb += [
            *(getattr(file.counts, name).eq(Cat(pulses)) for name, pulses in counted.items()),
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
            registers.event.pop.eq(access.select & ~access.write & event_read),
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
            engine.node.eq(self.around.node),
            engine.timing.eq(self.around.timing),
            engine.now.eq(self.around.cycle[:32]),
            self.packets.select.eq(PROTOCOL_SELECT.pack(enable=1, protocol=Protocol.VIA)),
            self.irq.level.eq(engine.irq),
            self.idle.eq(engine.idle),
        ]
        with m.If(writes.cq_config):
            m.d.sync += values.cq_config.eq(pio.data)
        connect(m, engine.tx, flipped(self.packets.tx))
        connect(m, flipped(self.packets.rx), engine.rx)
        for inner, outer in (*zip(engine.dma, self.dma, strict=True),
                             *zip(engine.events, self.events, strict=True)):
            connect(m, inner, flipped(outer))
        return m
