"""The network interface: registers, send and receive FIFOs with their windows and DMA engines."""

from functools import reduce
from operator import or_

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from ...layouts.description import Description
from ...layouts.rings import LINE_BYTES
from ...layouts.trace import Block, Kind
from ..bus.watch import Watch
from ..node.nic_side import NicSide
from .attachment import Attachment
from .crc import CrcAppend, CrcCheck
from .fifos.lane_merge import LaneMerge
from .fifos.receive_fifo import ReceiveFifo
from .fifos.receive_window import ReceiveWindow
from .fifos.send_window import SendWindow
from .packet_merge import PacketMerge
from .pio_map import PioMap
from .protocol_split import ProtocolSplit
from .rings.no_send_dma import NoSendDma
from .rings.receive_dma import ReceiveDma
from .rings.send_dma import SendDma

__all__ = ["Nic", "nic_side"]

_EVENT_SOURCES = (Block.SEND_PIO, Block.SEND_PIO, Block.SEND_DMA, Block.RECEIVE_LINK,
                  Block.RECEIVE_LINK, Block.RECEIVE_DMA, Block.RECEIVE_PIO, Block.RECEIVE_PIO)


def _watched(description: Description, attached: type[Attachment] | None) -> list[str]:
    """For what the CPUs' lines are watched on the memory bus."""
    if description.nic.attachment != "memory_bus":
        return []
    wanted = {"ring": description.nic.send_ring > 0,
              "range": attached is not None and attached.watches}
    return [name for name, there in wanted.items() if there]


def _event_sources(description: Description, attached: type[Attachment] | None,
                   cpus: int) -> tuple[Block, ...]:
    """The block behind each port of ``events``."""
    return (*_EVENT_SOURCES, *(attached.event_sources if attached is not None else ()),
            *(Watch.event_source,) * (len(_watched(description, attached)) * cpus))


def nic_side(description: Description, attached: type[Attachment] | None, cpus: int) -> NicSide:
    """The socket of a :class:`Nic` with an attachment of this class."""
    return NicSide(dma=2 + (attached.dma_ports if attached is not None else 0), cpus=cpus,
                   events=len(_event_sources(description, attached, cpus)))


class Nic(wiring.Component):
    """A network interface as :mod:`nicbed.layouts.registers` declares it to software.

    Latency, in cycles, with nothing in the way: last word of a PIO packet written to its first
    flit on ``link.tx``, 2; last flit on ``link.rx`` to the receive ring's request on ``dma``, 3;
    doorbell written to the send ring's, 2. Throughput: 1 flit a cycle each way. Back-pressure:
    ``link.rx`` waits while a packet finds no room (nic.overflow = push). Reset: rings off, all
    empty.

    What is attached has packets of its own: those that it sends are merged with those of the rings
    a whole packet at a time, and those of the protocol that it selects go to it, never to a ring.

    With ``nic.attachment = "memory_bus"`` CPUs' ownership transactions are seen here: those of the
    send ring, where it is one of lines, by the send DMA, those of the attachment's range by it.

    A doorbell value is refused if it is more than the ring ahead of ``send_done``, if it would
    take back what was posted, or while the send ring is off. Without a send ring
    (``nic.send_ring = 0``) nothing is ever posted.

    Parameters
    ----------
    description : Description
        Its ``nic`` section and ``slot_bytes``.
    attached : Attachment, optional
        What is attached.
    cpus : int
        CPUs whose lines are watched on the memory bus.

    Its signature is :class:`~nicbed.rtl.node.nic_side.NicSide`, always ready for accesses and with
    answers in the next cycle. Ports of ``dma``: the send ring's, the receive ring's, then those
    of what is attached; all may be busy at the same time. ``bus.max_burst`` and
    ``nic.overflow`` of ``timing`` are used.
    """

    def __init__(self, *, description: Description, attached: Attachment | None = None,
                 cpus: int = 1) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        self._description = description
        self._attached = attached
        kind = None if attached is None else type(attached)
        self._event_sources = _event_sources(description, kind, cpus)
        # Watches by what they watch for, one a CPU.
        self._watches = {name: [Watch() for _ in range(cpus)]
                         for name in _watched(description, kind)}
        super().__init__(nic_side(description, kind, cpus))

    @property
    def description(self) -> Description:
        """The description that it was made from."""
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
        attached = self._attached
        software = PioMap(m, self, attached)
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
            early=attached.early if attached is not None else None)
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
        if attached is not None:
            to_link, from_fifo = self._attach(m, attached, to_link, from_fifo)
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
        m.d.comb += self.idle.eq(
            (attached.idle if attached is not None else 1)
            & merge.idle & send_dma.idle & crc_append.idle & crc_check.idle & receive_fifo.idle
            & receive_dma.idle & ~self.link.rx.valid & ~self.link.tx.valid
            & (send_window.space == nic.send_fifo))
        return m

    def _attach(self, m: Module, attached: Attachment, to_link: wiring.PureInterface,
                from_fifo: wiring.PureInterface
                ) -> tuple[wiring.PureInterface, wiring.PureInterface]:
        """Joins what is attached to memory and to the packets of the rings; what is then left for
        the link, and for the rings."""
        m.submodules.attached = attached
        m.submodules.flit_merge = merge = PacketMerge(inputs=2)
        m.submodules.split = split = ProtocolSplit()
        for burst, port in zip(attached.dma, self.dma[2:], strict=True):
            connect(m, burst, flipped(port))
        connect(m, attached.run, flipped(self.processor))
        connect(m, to_link, merge.i[0])
        connect(m, attached.packets.tx, merge.i[1])
        connect(m, from_fifo, split.i)
        connect(m, split.match, attached.packets.rx)
        m.d.comb += [
            split.select.eq(attached.packets.select),
            attached.around.node.eq(self.node),
            attached.around.timing.eq(self.timing),
            attached.around.cycle.eq(self.cycle),
        ]
        return merge.o, split.other

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
                wanted = self._attached.watch
                for watch in watches:
                    m.d.comb += [
                        watch.base.eq(wanted.base),
                        watch.bytes.eq(wanted.bytes),
                    ]
                m.d.comb += wanted.hit.eq(reduce(or_, (watch.watched.valid for watch in watches)))

    def _events(self, m: Module, send_window: SendWindow, merge: LaneMerge,
                send_dma: SendDma | NoSendDma, receive_fifo: ReceiveFifo,
                receive_dma: ReceiveDma, receive_window: ReceiveWindow) -> None:
        sources = (send_window.begin, merge.end, send_dma.event, None, receive_fifo.end,
                   receive_dma.event, receive_window.begin, receive_window.end,
                   *(self._attached.events if self._attached is not None else ()),
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
