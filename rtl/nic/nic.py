"""The network interface: registers, send and receive FIFOs with their windows and DMA engines."""

from functools import reduce
from operator import or_

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect, flipped

from ...layouts.description import Description
from ...layouts.packet import Protocol
from ...layouts.processor import CRASH
from ...layouts.registers import ENGINE_REGISTERS, PROCESSOR_REGISTERS, Register
from ...layouts.rings import LINE_BYTES
from ...layouts.trace import Block, Kind
from ..bus.watch import Watch
from ..node.nic_side import NicSide
from ..processor.processor import Processor
from ..vi.engine import Engine
from .crc import CrcAppend, CrcCheck
from .fifos.lane_merge import LaneMerge
from .fifos.receive_fifo import ReceiveFifo
from .fifos.receive_window import ReceiveWindow
from .fifos.send_window import SendWindow
from .packet_merge import PacketMerge
from .pio_map import RING_REGISTERS, PioMap
from .protocol_split import ProtocolSplit
from .rings.no_send_dma import NoSendDma
from .rings.receive_dma import ReceiveDma
from .rings.send_dma import SendDma

__all__ = ["Nic", "nic_side", "registers_of"]

_EVENT_SOURCES = (Block.SEND_PIO, Block.SEND_PIO, Block.SEND_DMA, Block.RECEIVE_LINK,
                  Block.RECEIVE_LINK, Block.RECEIVE_DMA, Block.RECEIVE_PIO, Block.RECEIVE_PIO)


def _has_engine(description: Description) -> bool:
    return description.via.design == "engine"


def _has_processor(description: Description) -> bool:
    return description.nic.processor != "none"


def _watched(description: Description) -> list[str]:
    """For what the CPUs' lines are watched on the memory bus."""
    if description.nic.attachment != "memory_bus":
        return []
    wanted = {"ring": description.nic.send_ring > 0, "range": _has_processor(description)}
    return [name for name, there in wanted.items() if there]


def event_sources(description: Description, cpus: int) -> tuple[Block, ...]:
    """The block behind each port of ``events`` of a :class:`Nic`."""
    return (*_EVENT_SOURCES,
            *(Engine.event_sources if _has_engine(description) else ()),
            *(Processor.event_sources if _has_processor(description) else ()),
            *(Watch.event_source,) * (len(_watched(description)) * cpus))


def registers_of(description: Description) -> tuple[Register, ...]:
    """The registers of a :class:`Nic`."""
    return RING_REGISTERS + (ENGINE_REGISTERS if _has_engine(description) else ()) + (
        PROCESSOR_REGISTERS if _has_processor(description) else ())


def nic_side(description: Description, cpus: int) -> NicSide:
    """The socket of a :class:`Nic`."""
    dma = 2 + (Engine.DMA if _has_engine(description) else 0) + (
        Processor.DMA if _has_processor(description) else 0)
    return NicSide(dma=dma, cpus=cpus, events=len(event_sources(description, cpus)))


class Nic(wiring.Component):
    """A network interface as :mod:`nicbed.layouts.registers` declares it to software.

    Latency, in cycles, with nothing in the way: last word of a PIO packet written to its first
    flit on ``link.tx``, 2; last flit on ``link.rx`` to the receive ring's request on ``dma``, 3;
    doorbell written to the send ring's, 2. Throughput: 1 flit a cycle each way. Back-pressure:
    ``link.rx`` waits while a packet finds no room (nic.overflow = push). Reset: rings off, all
    empty.

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
    cpus : int
        CPUs whose lines are watched on the memory bus.

    Its signature is :class:`~nicbed.rtl.node.nic_side.NicSide`, always ready for accesses and with
    answers in the next cycle. Ports of ``dma``: the send ring's, the receive ring's, then the VI
    engine's or the processor's; all may be busy at the same time. ``bus.max_burst`` and
    ``nic.overflow`` of ``timing`` are used.
    """

    def __init__(self, *, description: Description, step: Signal | None = None,
                 cpus: int = 1) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        self._event_sources = event_sources(description, cpus)
        self._engine = Engine(description=description) if _has_engine(description) else None
        self._processor = (Processor(description=description, step=step)
                           if _has_processor(description) else None)
        # Watches by what they watch for, one a CPU.
        self._watches = {name: [Watch() for _ in range(cpus)] for name in _watched(description)}
        super().__init__(nic_side(description, cpus))

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
        coherent = "ring" in self._watches
        software = PioMap(m, self, engine=self._engine, processor=self._processor)
        m.submodules.send_window = send_window = SendWindow(fifo_bytes=nic.send_fifo, mtu=nic.mtu)
        if nic.send_ring:
            send_dma: SendDma | NoSendDma = SendDma(
                fifo_bytes=nic.send_fifo, mtu=nic.mtu, ring=nic.send_ring,
                coherent=len(self.taken) if coherent else 0)
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

        # Registers and windows.
        software.windows(send_window, receive_window)
        software.send_ring(send_dma, ring=nic.send_ring, coherent=coherent)
        software.receive_ring(receive_dma)
        software.packets(send_window, send_dma, receive_fifo, receive_dma)

        # Send: two lanes, joined, with a CRC.
        connect(m, send_window.lane, merge.pio)
        connect(m, send_dma.lane, merge.dma)
        to_link, from_fifo = merge.o, receive_fifo.o
        if self._engine is not None:
            to_link, from_fifo = self._attach_engine(m, self._engine, to_link, from_fifo)
        elif self._processor is not None:
            to_link, from_fifo = self._attach_processor(m, self._processor, to_link, from_fifo)
        connect(m, to_link, crc_append.i)
        connect(m, crc_append.o, flipped(self.link.tx))
        m.d.comb += send_window.posted.eq(send_dma.accepted)

        # Receive: checked packets, to the ring or to the window.
        connect(m, flipped(self.link.rx), crc_check.i)
        connect(m, crc_check.o, receive_fifo.i)
        m.d.comb += [
            receive_fifo.bad.eq(crc_check.bad),
            receive_fifo.node.eq(self.node),
            receive_fifo.drop.eq(self.timing.nic_overflow),
            # A packet that the engine has begun is finished, whatever the register says.
            receive_window.enable.eq(~receive_dma.registers.enable & receive_dma.idle),
            receive_dma.i.payload.eq(from_fifo.payload),
            receive_dma.i.valid.eq(from_fifo.valid),
            receive_window.i.payload.eq(from_fifo.payload),
            receive_window.i.valid.eq(from_fifo.valid),
            from_fifo.ready.eq(receive_dma.i.ready | receive_window.i.ready),
        ]

        # Host memory.
        for engine, burst in zip((send_dma, receive_dma), self.dma[:2], strict=True):
            connect(m, engine.bus, flipped(burst))
            m.d.comb += engine.max_beats.eq(self.timing.bus_max_burst >> 3)
        m.d.comb += send_dma.now.eq(self.cycle[:32])
        self._watch(m, send_dma)

        self._events(m, send_window, merge, send_dma, receive_fifo, receive_dma, receive_window)
        attached = self._engine or self._processor
        m.d.comb += self.idle.eq(
            (attached.idle if attached is not None else 1)
            & merge.idle & send_dma.idle & crc_append.idle & crc_check.idle & receive_fifo.idle
            & receive_dma.idle & ~self.link.rx.valid & ~self.link.tx.valid
            & (send_window.space == nic.send_fifo))
        return m

    def _attach(self, m: Module, split: ProtocolSplit, tx: wiring.PureInterface,
                rx: wiring.PureInterface, to_link: wiring.PureInterface,
                from_fifo: wiring.PureInterface
                ) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        """Joins ``tx`` and ``rx`` of VI engine or processor to the packets of the rings; what is
        then left for the link, and for the rings."""
        m.submodules.flit_merge = merge = PacketMerge(inputs=2)
        m.submodules.split = split
        connect(m, to_link, merge.i[0])
        connect(m, tx, merge.i[1])
        connect(m, from_fifo, split.i)
        connect(m, split.match, rx)
        return merge.o, split.other

    def _attach_engine(self, m: Module, engine: Engine, to_link: wiring.PureInterface,
                       from_fifo: wiring.PureInterface
                       ) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        m.submodules.engine = engine
        for burst, port in zip(engine.dma, self.dma[2:], strict=True):
            connect(m, burst, flipped(port))
        m.d.comb += [
            engine.node.eq(self.node),
            engine.timing.eq(self.timing),
            engine.now.eq(self.cycle[:32]),
        ]
        return self._attach(m, ProtocolSplit(protocol=Protocol.VIA), engine.tx, engine.rx,
                            to_link, from_fifo)

    def _attach_processor(self, m: Module, processor: Processor, to_link: wiring.PureInterface,
                          from_fifo: wiring.PureInterface
                          ) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        m.submodules.processor = processor
        split = ProtocolSplit(protocol=None)
        for burst, port in zip(processor.dma, self.dma[2:], strict=True):
            connect(m, burst, flipped(port))
        state = processor.registers.state
        status = data.View(data.StructLayout({"state": 2, "reserved": 6, "reason": 8}),
                           state.status)
        m.d.comb += [
            split.select.eq(processor.asks.protocol),
            processor.node.eq(self.node),
            processor.timing.eq(self.timing),
            processor.cycle.eq(self.cycle),
            processor.profile.eq(self.processor.profile),
            self.processor.crashed.eq(state.crashed),
            self.processor.crash.eq(Cat(C(CRASH.pack(valid=1), 8), self.node, status.reason,
                                        C(0, 8), state.pc, state.cause)),
        ]
        return self._attach(m, split, processor.packets.tx, processor.packets.rx,
                            to_link, from_fifo)

    def _watch(self, m: Module, send_dma: SendDma | NoSendDma) -> None:
        """Joins what sees the CPUs take lines, on the memory bus."""
        for name, watches in self._watches.items():
            for cpu, (watch, taken) in enumerate(zip(watches, self.taken, strict=True)):
                m.submodules[f"watch_{name}_{cpu}"] = watch
                connect(m, flipped(taken), watch.taken)
            if name == "ring":
                ring, pull = send_dma.registers, send_dma.pull
                for watch, watched in zip(watches, send_dma.watched, strict=True):
                    connect(m, watch.watched, watched)
                    m.d.comb += [
                        watch.base.eq(ring.base),
                        watch.bytes.eq(Mux(ring.enable & pull.enable,
                                           LINE_BYTES * send_dma.ring, 0)),
                    ]
                m.d.comb += pull.node.eq(self.node)
            else:
                asks = self._processor.asks
                for watch in watches:
                    m.d.comb += [
                        watch.base.eq(asks.watch_base),
                        watch.bytes.eq(asks.watch_bytes),
                    ]
                m.d.comb += asks.watched.eq(reduce(or_, (watch.watched.valid
                                                         for watch in watches)))

    def _events(self, m: Module, send_window: SendWindow, merge: LaneMerge,
                send_dma: SendDma | NoSendDma, receive_fifo: ReceiveFifo,
                receive_dma: ReceiveDma, receive_window: ReceiveWindow) -> None:
        sources = (send_window.begin, merge.end, send_dma.event, None, receive_fifo.end,
                   receive_dma.event, receive_window.begin, receive_window.end,
                   *(self._engine.events if self._engine is not None else ()),
                   *(self._processor.events if self._processor is not None else ()),
                   *(watch.event for watches in self._watches.values() for watch in watches))
        for port, source in zip(self.events, sources, strict=True):
            if source is not None:
                connect(m, flipped(port), source)
        rx = self.link.rx
        m.d.comb += [
            self.events[3].valid.eq(rx.valid & rx.ready & rx.payload.first),
            self.events[3].kind.eq(Kind.BEGIN),
            self.events[3].number.eq(rx.payload.trace),
        ]
