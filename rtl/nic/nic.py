"""The network interface: registers, send and receive FIFOs with their windows and DMA engines."""

from operator import attrgetter

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.packet import Protocol
from ...layouts.processor import CRASH, CRASH_WORDS, DOORBELL_PAGES_MAX, NIC_MEMORY
from ...layouts.registers import (
    ENGINE_REGISTERS,
    NIC_BASE,
    PROCESSOR_REGISTERS,
    RECEIVE_WINDOW,
    REGISTERS,
    SEND_WINDOW,
    WINDOW_BYTES,
    Irq,
    address,
)
from ...layouts.rings import LINE_BYTES
from ...layouts.trace import Block, Kind
from ...layouts.via import CQ_PAGES, DOORBELL_PAGES, PAGE
from ..bus.burst import Burst
from ..bus.pio import PIO_ADDRESS_BITS, PioTarget
from ..bus.watch import Watch
from ..parts.event import EventPort
from ..parts.flit import FlitStream
from ..parts.timing import Timing
from ..processor.subsystem import Processor
from ..vi.engine import Engine
from .crc import CrcAppend, CrcCheck
from .fifos.lane_merge import LaneMerge
from .fifos.receive_fifo import ReceiveFifo
from .fifos.receive_window import ReceiveWindow
from .fifos.send_window import SendWindow
from .packet_merge import FlitMerge
from .protocol_split import ProtocolSplit
from .registers import CsrFile
from .rings.no_send_dma import NoSendDma
from .rings.receive_dma import ReceiveDma
from .rings.send_dma import SendDma

__all__ = ["Nic"]

WINDOW_SPACE = 1 << 20
"""Of NIC memory in the PIO window."""

_EVENT_SOURCES = (Block.SEND_PIO, Block.SEND_PIO, Block.SEND_DMA, Block.RECEIVE_LINK,
                  Block.RECEIVE_LINK, Block.RECEIVE_DMA, Block.RECEIVE_PIO, Block.RECEIVE_PIO)

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
    "window_refused": "registers.window_refused", "page_refused": "pages.refused",
    "page_lost": "pages.lost",
}
"""The processor's counters, and its pulses."""
_RING_REGISTERS = tuple(register for register in REGISTERS
                        if register not in ENGINE_REGISTERS + PROCESSOR_REGISTERS)


class Nic(wiring.Component):
    """A network interface as :mod:`nicbed.layouts.registers` declares it to software.

    Latency, in cycles, with nothing in the way: last word of a PIO packet written to its first
    flit on ``tx``, 2; last flit on ``rx`` to the request on ``dma_receive``, 3; doorbell written to
    the request on ``dma_send``, 2. Throughput: 1 flit a cycle each way. Back-pressure: ``rx``
    waits while a packet finds no room (nic.overflow = push). Reset: rings off, all empty.

    With ``via.design = "engine"`` there is a VI engine beside the rings: its packets are merged
    with theirs a whole packet at a time, and packets of Protocol.VIA go to it, never to a ring.
    With ``nic.processor`` there is a processor in its place, which gets the packets of the protocol
    that its firmware names.

    With ``nic.attachment = "memory_bus"`` CPUs' ownership transactions are seen here: those of the
    send ring, where it is one of lines, by the send DMA, those of the processor's range by it.

    A doorbell value is refused if it is more than the ring ahead of ``send_done``, if it would
    take back what was posted, or while the send ring is off. Without a send ring
    (``nic.send_ring = 0``) nothing is ever posted.

    Parameters
    ----------
    description : Description
        Its ``nic`` section and ``slot_bytes``.
    step : Signal or None
        The clock enable that all of this is wrapped in, for the processor (:class:`Processor`).

    Members
    -------
    pio : In(PioTarget)
        From the host bus.
    dma_send, dma_receive : Out(Burst), Out(Burst)
        To host memory; both may be busy at the same time.
    dma_engine : Out(Burst), an array
        The VI engine's or the processor's; empty without either.
    tx, rx : Out(FlitStream), In(FlitStream)
        To and from the link, with CRC.
    irq : Out(1)
        Interrupt line, a level.
    node : In(8)
        This node's number.
    timing : In(Timing)
        ``bus.max_burst`` and ``nic.overflow`` are used here.
    now, cycle : In(32), In(64)
        Cycle counter, its low bits and all of it.
    credit_stall : In(1)
        The link to ``tx`` has a flit and no credit.
    owns, owned : In(1), In(32)
        A CPU takes the line at ``owned`` for writing (:class:`HostPort`).
    profile_enable : In(1)
        Whether the processor's cycles are counted by program counter.
    crashed : Out(1), crash : Out(32 * CRASH_WORDS)
        The processor has stopped for good, and how.
    idle : Out(1)
        Nothing changes here until something comes in.
    events : Out(EventPort), an array
        Of the blocks in :attr:`event_sources`.
    """

    def __init__(self, *, description: Description, step: Signal | None = None) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        self._engine = None
        self._event_sources = _EVENT_SOURCES
        if description.via.design == "engine":
            self._engine = Engine(description=description)
            self._event_sources += self._engine.event_sources
        self._processor = None
        if description.nic.processor != "none":
            self._processor = Processor(description=description, step=step)
            self._event_sources += self._processor.event_sources
        # Watches, by what they watch for.
        self._watches: dict[str, Watch] = {}
        if description.nic.attachment == "memory_bus":
            if description.nic.send_ring:
                self._watches["ring"] = Watch()
            if self._processor is not None:
                self._watches["range"] = Watch()
            self._event_sources += (Watch.event_source,) * len(self._watches)
        attached = self._engine or self._processor
        super().__init__({
            "pio": In(PioTarget),
            "dma_send": Out(Burst),
            "dma_receive": Out(Burst),
            "dma_engine": Out(Burst).array(attached.DMA if attached else 0),
            "tx": Out(FlitStream),
            "rx": In(FlitStream),
            "irq": Out(1),
            "node": In(8),
            "timing": In(Timing),
            "now": In(32),
            "cycle": In(64),
            "credit_stall": In(1),
            "owns": In(1),
            "owned": In(32),
            "profile_enable": In(1),
            "crashed": Out(1),
            "crash": Out(32 * CRASH_WORDS),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self._event_sources)),
        })

    @property
    def description(self) -> Description:
        """What it was made from."""
        return self._description

    @property
    def event_sources(self) -> tuple[Block, ...]:
        """The block behind each port of ``events``. Two ports of one block carry its BEGIN and its
        END, so that both may happen in one cycle."""
        return self._event_sources

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nic = self._description.nic
        m.submodules.registers = csr = self._csr()
        m.submodules.send_window = send_window = SendWindow(fifo_bytes=nic.send_fifo, mtu=nic.mtu)
        if nic.send_ring:
            send_dma: SendDma | NoSendDma = SendDma(
                fifo_bytes=nic.send_fifo, mtu=nic.mtu, ring=nic.send_ring,
                coherent="ring" in self._watches)
        else:
            send_dma = NoSendDma()
        m.submodules.send_dma = send_dma
        m.submodules.merge = merge = LaneMerge()
        m.submodules.crc_append = crc_append = CrcAppend()
        m.submodules.crc_check = crc_check = CrcCheck()
        m.submodules.receive_fifo = receive_fifo = ReceiveFifo(
            fifo_bytes=nic.receive_fifo, mtu=nic.mtu,
            early=Protocol.VIA if self._engine is not None else None)
        m.submodules.receive_dma = receive_dma = ReceiveDma(
            ring=nic.receive_ring, slot_bytes=self._description.slot_bytes)
        m.submodules.receive_window = receive_window = ReceiveWindow()

        self._pio(m, csr, send_window, receive_window)
        engine = self._engine
        posted = self._doorbell(m, csr, send_dma)
        max_beats = self.timing.bus_max_burst >> 3

        # Send: two lanes, joined, with a CRC.
        connect(m, merge.pio, send_window.o)
        connect(m, merge.pio_packet, send_window.packet)
        connect(m, merge.dma, send_dma.o)
        connect(m, merge.dma_trace, send_dma.o_trace)
        to_link, from_fifo = merge.o, receive_fifo.o
        if engine is not None:
            to_link, from_fifo = self._attach(m, engine, csr, to_link, from_fifo)
        processor = self._processor
        if processor is not None:
            to_link, from_fifo = self._attach_processor(m, processor, csr, to_link, from_fifo)
        connect(m, crc_append.i, to_link)
        connect(m, flipped(self.tx), crc_append.o)
        connect(m, flipped(self.dma_send), send_dma.bus)
        m.d.comb += [
            send_window.posted.eq(send_dma.accepted),
            send_dma.enable.eq(csr.control[0]),
            send_dma.base.eq(csr.send_base),
            send_dma.posted.eq(posted),
            send_dma.report.eq(csr.send_report),
            send_dma.max_beats.eq(max_beats),
            send_dma.merged.eq(merge.merged),
            send_dma.now.eq(self.now),
            merge.skip.eq(send_dma.refused),
        ]
        self._watch(m, csr, send_dma)

        # Receive: checked packets, to the ring or to the window.
        connect(m, flipped(self.rx), crc_check.i)
        connect(m, receive_fifo.i, crc_check.o)
        connect(m, flipped(self.dma_receive), receive_dma.bus)
        to_ring = csr.control[1]
        m.d.comb += [
            receive_fifo.bad.eq(crc_check.bad),
            receive_fifo.node.eq(self.node),
            receive_fifo.drop.eq(self.timing.nic_overflow),
            receive_dma.enable.eq(to_ring),
            receive_dma.base.eq(csr.receive_base),
            receive_dma.taken.eq(csr.receive_taken),
            receive_dma.max_beats.eq(max_beats),
            # A packet that the engine has begun is finished, whatever the register says.
            receive_window.enable.eq(~to_ring & receive_dma.idle),
            receive_dma.i.payload.eq(from_fifo.payload),
            receive_dma.i.valid.eq(from_fifo.valid),
            receive_window.i.payload.eq(from_fifo.payload),
            receive_window.i.valid.eq(from_fifo.valid),
            from_fifo.ready.eq(receive_dma.i.ready | receive_window.i.ready),
        ]

        self._status(m, csr, send_window, send_dma, receive_fifo, receive_dma)
        self._events(m, send_window, merge, send_dma, receive_fifo, receive_dma, receive_window)
        m.d.comb += self.idle.eq(
            (engine.idle if engine is not None else 1)
            & (processor.idle if processor is not None else 1)
            & merge.idle & send_dma.idle & crc_append.idle & crc_check.idle & receive_fifo.idle
            & receive_dma.idle & ~self.rx.valid & ~self.tx.valid & (send_window.space
                                                                    == nic.send_fifo))
        return m

    def _csr(self) -> CsrFile:
        if self._processor is not None:
            return CsrFile(registers=_RING_REGISTERS + PROCESSOR_REGISTERS,
                           counters=_COUNTERS | dict.fromkeys(_PROCESSOR_COUNTERS, 1),
                           external=("send_doorbell", "load_words", "load_sum"))
        if self._engine is None:
            return CsrFile(registers=_RING_REGISTERS, counters=_COUNTERS,
                           external=("send_doorbell",))
        counters = {name: len(pulses) for name, pulses in _ENGINE_COUNTERS.items()}
        return CsrFile(registers=_RING_REGISTERS + ENGINE_REGISTERS, counters=_COUNTERS | counters,
                       external=("send_doorbell", "vi_command", "cq_config"))

    def _attach(self, m: Module, engine: Engine, csr: CsrFile, to_link: wiring.PureInterface,
                from_fifo: wiring.PureInterface
                ) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        """Joins the VI engine to registers, bus and packets; what is then left for the link, and
        for the rings."""
        m.submodules.engine = engine
        m.submodules.flit_merge = merge = FlitMerge(inputs=2)
        m.submodules.split = split = ProtocolSplit(protocol=Protocol.VIA)
        connect(m, to_link, merge.i[0])
        connect(m, engine.tx, merge.i[1])
        connect(m, from_fifo, split.i)
        connect(m, split.match, engine.rx)
        for port, burst in zip(self.dma_engine, engine.dma, strict=True):
            connect(m, flipped(port), burst)

        self._pages(m, engine.doorbells, DOORBELL_PAGES, 1 << PIO_ADDRESS_BITS)
        self._pages(m, engine.cq_pages, CQ_PAGES, DOORBELL_PAGES)
        registers = engine.registers
        completion, translation = registers.completion, registers.translation
        event_read = self.pio.address == address("via_event") - NIC_BASE
        m.d.comb += [
            engine.node.eq(self.node),
            engine.timing.eq(self.timing),
            engine.now.eq(self.now),
            registers.command.valid.eq(csr.vi_command_write),
            registers.command.payload.vi.eq(csr.vi_select),
            registers.command.payload.command.eq(self.pio.data),
            registers.command.payload.attributes.eq(csr.vi_attributes),
            registers.command.payload.peer.eq(csr.vi_peer),
            csr.vi_command.eq(registers.busy),
            csr.vi_state.eq(registers.context.data.state),
            csr.vi_posted.eq(registers.posted.counts),
            csr.vi_completed.eq(completion.completed.counts),
            completion.setup.valid.eq(csr.cq_config_write),
            completion.setup.cq.eq(csr.vi_select),
            completion.setup.base.eq(csr.cq_base),
            completion.setup.config.eq(self.pio.data),
            csr.via_event.eq(registers.event.head),
            registers.event.pop.eq(csr.select & ~self.pio.write & event_read),
            csr.via_ready.eq(registers.ready),
            translation.table_base.eq(csr.table_base),
            translation.table.valid.eq(csr.table_place_write),
            translation.table.index.eq(csr.table_index),
            translation.table.flags.eq(csr.table_flags),
            translation.table.place.eq(self.pio.data),
            translation.invalidate.valid.eq(csr.invalidate_write),
            translation.invalidate.payload.eq(self.pio.data),
            csr.invalidated.eq(translation.invalidated),
            *(port.vi.eq(csr.vi_select)
              for port in (registers.context, registers.posted, completion.completed)),
            *(getattr(csr, f"{name}_count").eq(Cat(attrgetter(pulse)(engine) for pulse in pulses))
              for name, pulses in _ENGINE_COUNTERS.items()),
        ]
        with m.If(csr.cq_config_write):
            m.d.sync += csr.cq_config.eq(self.pio.data)
        return merge.o, split.other

    def _attach_processor(self, m: Module, processor: Processor, csr: CsrFile,
                          to_link: wiring.PureInterface, from_fifo: wiring.PureInterface
                          ) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        """Joins the processor to registers, bus and packets; what is then left for the link, and
        for the rings."""
        m.submodules.processor = processor
        m.submodules.flit_merge = merge = FlitMerge(inputs=2)
        m.submodules.split = split = ProtocolSplit(protocol=None)
        connect(m, to_link, merge.i[0])
        connect(m, processor.packets.tx, merge.i[1])
        connect(m, from_fifo, split.i)
        connect(m, split.match, processor.packets.rx)
        for port, burst in zip(self.dma_engine, processor.dma, strict=True):
            connect(m, flipped(port), burst)

        registers, window = processor.registers, processor.window
        load, state = registers.load, registers.state
        status = data.View(data.StructLayout({"state": 2, "reserved": 6, "reason": 8}),
                           state.status)
        self._pages(m, processor.pages, DOORBELL_PAGES, DOORBELL_PAGES + DOORBELL_PAGES_MAX * PAGE)
        m.d.comb += [
            split.select.eq(processor.asks.protocol),
            processor.node.eq(self.node),
            processor.timing.eq(self.timing),
            processor.cycle.eq(self.cycle),
            processor.profile.eq(self.profile_enable),
            self.crashed.eq(state.crashed),
            self.crash.eq(Cat(C(CRASH.pack(valid=1), 8), self.node, status.reason, C(0, 8),
                              state.pc, state.cause)),
            window.valid.eq(self.pio.valid & (self.pio.address >= NIC_MEMORY)
                            & (self.pio.address < NIC_MEMORY + WINDOW_SPACE)),
            window.address.eq(self.pio.address - NIC_MEMORY),
            window.write.eq(self.pio.write),
            window.data.eq(self.pio.data),
            window.trace.eq(self.pio.trace),
            window.process.eq(self.pio.process),
            registers.run.eq(csr.processor_control),
            csr.processor_status.eq(state.status),
            csr.processor_pc.eq(state.pc),
            csr.processor_cause.eq(state.cause),
            registers.window_owner.valid.eq(csr.window_owner_write),
            registers.window_owner.payload.eq(self.pio.data),
            registers.doorbell_owner.valid.eq(csr.doorbell_owner_write),
            registers.doorbell_owner.payload.eq(self.pio.data),
            registers.doorbell_words.eq(csr.doorbell_words),
            load.clear.eq(csr.load_words_write | csr.load_sum_write),
            csr.load_words.eq(load.words),
            csr.load_sum.eq(load.sum),
            *(getattr(csr, f"{name}_count").eq(attrgetter(pulse)(processor))
              for name, pulse in _PROCESSOR_COUNTERS.items()),
        ]
        return merge.o, split.other

    def _pages(self, m: Module, pages: wiring.PureInterface, first: int, end: int) -> None:
        """Joins a block's pages to the PIO writes at ``first`` up to ``end``."""
        pio = self.pio
        m.d.comb += [
            pages.valid.eq(pio.valid & pio.write & (pio.address >= first) & (pio.address < end)),
            Cat(pages.offset, pages.page).eq(pio.address - first),
            pages.data.eq(pio.data),
            pages.process.eq(pio.process),
        ]

    def _pio(self, m: Module, csr: CsrFile, send_window: SendWindow,
             receive_window: ReceiveWindow) -> None:
        m.d.comb += [
            csr.write.eq(self.pio.write),
            csr.offset.eq(self.pio.address),
            csr.data.eq(self.pio.data),
            send_window.data.eq(self.pio.data),
            send_window.trace.eq(self.pio.trace),
            self.pio.read.eq(csr.read | receive_window.data
                             | (self._processor.window.read if self._processor else 0)),
        ]
        # All that is here belongs to the kernel.
        ours = self.pio.valid & (self.pio.address[16:] == 0)
        allowed = self.pio.process == 0
        m.d.comb += csr.process_refused_count.eq(ours & ~allowed)
        with m.If(ours & allowed):
            with m.Switch(self.pio.address[(WINDOW_BYTES - 1).bit_length():16]):
                with m.Case(0):
                    m.d.comb += csr.select.eq(1)
                with m.Case(SEND_WINDOW // WINDOW_BYTES):
                    m.d.comb += send_window.write.eq(self.pio.write)
                with m.Case(RECEIVE_WINDOW // WINDOW_BYTES):
                    m.d.comb += receive_window.read.eq(~self.pio.write)

    def _doorbell(self, m: Module, csr: CsrFile, send_dma: SendDma | NoSendDma) -> Signal:
        """The descriptors posted so far; returns the register."""
        posted = Signal(16)
        value = self.pio.data[:16]
        pending = Signal(16)
        wanted = Signal(16)
        accept = Signal()
        m.d.comb += csr.send_doorbell.eq(posted)
        with m.If(csr.send_doorbell_write):
            m.d.comb += [
                pending.eq(posted - send_dma.done),
                wanted.eq(value - send_dma.done),
                accept.eq(csr.control[0] & (wanted <= self._description.nic.send_ring)
                          & (wanted >= pending)),
                csr.doorbells_refused_count.eq(~accept),
            ]
            with m.If(accept):
                m.d.sync += posted.eq(value)
        return posted

    def _watch(self, m: Module, csr: CsrFile, send_dma: SendDma | NoSendDma) -> None:
        """Joins what sees the CPUs take lines, on the memory bus."""
        for name, watch in self._watches.items():
            m.submodules[f"watch_{name}"] = watch
            m.d.comb += [watch.owns.eq(self.owns), watch.owned.eq(self.owned)]
            if name == "ring":
                lines = csr.control[0] & csr.control[2]
                m.d.comb += [
                    watch.base.eq(csr.send_base),
                    watch.bytes.eq(Mux(lines, LINE_BYTES * send_dma.ring, 0)),
                    send_dma.pull.eq(csr.control[2]),
                    send_dma.node.eq(self.node),
                    send_dma.watched.eq(watch.watched),
                    send_dma.line.eq(self.owned),
                ]
            else:
                processor = self._processor
                m.d.comb += [
                    watch.base.eq(processor.asks.watch_base),
                    watch.bytes.eq(processor.asks.watch_bytes),
                    processor.asks.watched.eq(watch.watched),
                ]

    def _status(self, m: Module, csr: CsrFile, send_window: SendWindow,
                send_dma: SendDma | NoSendDma, receive_fifo: ReceiveFifo,
                receive_dma: ReceiveDma) -> None:
        error = Signal()
        engine_irq = self._engine.irq if self._engine is not None else Const(0)
        processor_irq = self._processor.asks.irq if self._processor is not None else Const(0)
        m.d.comb += [
            csr.node.eq(self.node),
            csr.cycle.eq(self.cycle),
            csr.send_space.eq(send_window.space),
            csr.send_done.eq(send_dma.done),
            csr.receive_filled.eq(receive_dma.filled),
            csr.receive_level.eq(receive_fifo.level),
            csr.receive_trace.eq(Mux(receive_fifo.o.valid, receive_fifo.o.payload.trace, 0)),
            csr.packets_sent_count.eq(self.tx.valid & self.tx.ready & self.tx.payload.last),
            csr.packets_received_count.eq(receive_fifo.good),
            csr.send_refused_count.eq(Cat(send_window.refused, send_dma.refused)),
            csr.crc_errors_count.eq(receive_fifo.crc_error),
            csr.misrouted_count.eq(receive_fifo.misrouted),
            csr.overflows_count.eq(receive_fifo.overflow),
            csr.malformed_count.eq(receive_fifo.malformed),
            csr.credit_stalls_count.eq(self.credit_stall),
            csr.receive_stalls_count.eq(receive_fifo.stalled),
            error.eq(send_window.refused | send_dma.refused | csr.doorbells_refused_count
                     | (receive_fifo.end.valid & (receive_fifo.end.kind == Kind.DROP))),
            # In the order of layouts.registers.Irq.
            csr.irq_status_set.eq(Cat(receive_dma.landed, send_dma.empty, error, Const(0),
                                      processor_irq)),
            self.irq.eq((csr.irq_status & csr.irq_enable).any()
                        | (engine_irq & csr.irq_enable[Irq.VIA.bit_length() - 1])),
        ]

    def _events(self, m: Module, send_window: SendWindow, merge: LaneMerge,
                send_dma: SendDma | NoSendDma, receive_fifo: ReceiveFifo,
                receive_dma: ReceiveDma, receive_window: ReceiveWindow) -> None:
        sources = (send_window.begin, merge.end, send_dma.event, None, receive_fifo.end,
                   receive_dma.event, receive_window.begin, receive_window.end,
                   *(self._engine.events if self._engine is not None else ()),
                   *(self._processor.events if self._processor is not None else ()),
                   *(watch.event for watch in self._watches.values()))
        for port, source in zip(self.events, sources, strict=True):
            if source is not None:
                connect(m, flipped(port), source)
        flit = self.rx.payload
        m.d.comb += [
            self.events[3].valid.eq(self.rx.valid & self.rx.ready & flit.first),
            self.events[3].kind.eq(Kind.BEGIN),
            self.events[3].number.eq(flit.trace),
        ]
