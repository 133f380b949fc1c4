"""The NIC's slot for an attachment: a VI engine or a processor."""

from typing import ClassVar

from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import Protocol
from ...layouts.trace import Block
from ..bus.burst import Burst
from ..bus.pio import PioAccess
from ..node.nic_side import ProcessorSide
from ..parts.csr_file import CsrAccess
from ..parts.event import EventPort
from ..parts.flit import FlitStream
from ..parts.receive_word import ReceiveWord
from ..parts.timing import Timing

__all__ = ["AttachedInterrupts", "AttachedPackets", "Attachment", "Surroundings", "WatchedRange"]

AttachedPackets = wiring.Signature({
    "tx": Out(FlitStream),
    "rx": In(stream.Signature(ReceiveWord)),
    "select": Out(9),
})
"""Packets to the link, without CRC, and those from it of the protocol that ``select`` says
(layouts.processor.PROTOCOL_SELECT)."""

AttachedInterrupts = wiring.Signature({
    "level": Out(1),
    "raises": Out(1),
})
"""An interrupt as a level (Irq.VIA), and a pulse that sets Irq.PROCESSOR."""

Surroundings = wiring.Signature({
    "node": Out(8),
    "timing": Out(Timing),
    "cycle": Out(64),
})
"""The wire address, the timing registers, the cycle counter, from the side of the NIC."""

WatchedRange = wiring.Signature({
    "base": Out(32),
    "bytes": Out(32),
    "hit": In(1),
})
"""A range of host memory, multiples of 32 bytes, from the side of who wants to know: ``hit``, a CPU
takes a line of it for writing, on the memory bus. No bytes: nothing is watched."""


class Attachment(wiring.Component):
    """Base of an attachment: a block of the NIC beside its rings that has packets, registers,
    windows and pages of its own.

    A subclass sets the class attributes and elaborates.

    Attributes
    ----------
    dma_ports
        Ports to host memory.
    event_sources
        The block behind each port of ``events``.
    early
        The protocol whose packets it wants to see as they come, not only when they are whole.
    watches
        Whether it uses ``watch``.

    Members
    -------
    packets : ``Out(AttachedPackets)``
        Its packets.
    dma : ``Out(Burst())``, an array of ``dma_ports``
        To host memory.
    access : ``In(CsrAccess)``
        Accesses of the kernel to the page of registers; those of others do nothing and read 0.
    pio : ``In(PioAccess)``
        All accesses to the NIC; ``read`` is 0 for those that are not its own.
    irq : ``Out(AttachedInterrupts)``
        Its interrupts.
    watch : ``Out(WatchedRange)``
        A range of host memory.
    run : ``Out(ProcessorSide)``
        What the run of a target sees of a processor.
    around : ``In(Surroundings)``
        What it knows of the target.
    idle : ``Out(1)``
        Nothing changes here until something comes in.
    events : ``Out(EventPort)``, one for each of ``event_sources``
        Events.
    """

    dma_ports: ClassVar[int] = 0
    event_sources: ClassVar[tuple[Block, ...]] = ()
    early: ClassVar[Protocol | None] = None
    watches: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__({
            "packets": Out(AttachedPackets),
            "dma": Out(Burst()).array(self.dma_ports),
            "access": In(CsrAccess),
            "pio": In(PioAccess),
            "irq": Out(AttachedInterrupts),
            "watch": Out(WatchedRange),
            "run": Out(ProcessorSide),
            "around": In(Surroundings),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self.event_sources)),
        })
