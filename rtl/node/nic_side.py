"""The socket of a node for a network interface: all that a node knows of it."""

from amaranth.hdl import Shape
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.description import MAX_CPUS
from ...layouts.processor import CRASH_WORDS
from ..bus.burst import Burst
from ..bus.pio import PioTarget
from ..bus.watch import LineTaken
from ..parts.event import EventPort
from ..parts.flit import flit_stream
from ..parts.sizes import check_count
from ..parts.timing import Timing

__all__ = ["LinkSide", "NicSide", "ProcessorSide"]

DMA_MAX = 14
"""DMA ports that a bus can have beside a host port."""


def LinkSide(width: int = 8) -> wiring.Signature:
    """The NIC's side of its link: packets to and from it in flits of ``width`` bytes
    (:func:`flit_stream`). A packet has two flits of 8 bytes or more and begins with
    layouts.packet.HEADER, by which the fabric finds its way; what else is in it, such as a CRC
    that tells corrupted packets, is the NIC's affair. ``credit_stall``: the link to ``tx`` has a
    flit and no credit."""
    return wiring.Signature({
        "tx": Out(flit_stream(width)),
        "rx": In(flit_stream(width)),
        "credit_stall": In(1),
    })


ProcessorSide = wiring.Signature({
    "profile": In(1),
    "crashed": Out(1),
    "crash": Out(32 * CRASH_WORDS),
})
"""What the run of a target sees of a NIC's processor: whether its cycles are to be counted by
program counter; it has stopped for good, and how. Without a processor ``crashed`` stays 0."""


class NicSide(wiring.Signature):
    """A network interface as its node sees it, from the side of the network interface.

    The target has one clock, ``sync``, with a synchronous reset. Between runs the target is reset.

    Parameters
    ----------
    dma : :class:`int`
        Ports to host memory, 0 to 14.
    width : :class:`int`
        Bytes of a beat at these ports: 8, 16, 32 or 64.
    tags : :class:`int`
        Bursts that may be under way at each of them, 1 to 256.
    link_width : :class:`int`
        Bytes of a flit: 8, 16, 32 or 64.
    irqs : :class:`int`
        Interrupt lines, 0 to MAX_CPUS.
    cpus : :class:`int`
        Host ports of the node, 1 to MAX_CPUS.
    events : :class:`int`
        Ports for trace events.
    own : :class:`~amaranth.lib.data.StructLayout`, optional
        The timing registers of the design itself.

    Members
    -------
    pio : ``In(PioTarget)``
        Accesses of the CPUs to registers and windows. The bus waits for ``ready`` and ``answer``.
    dma : ``Out(Burst(width, tags))``, an array of ``dma``
        To host memory. A burst has at most ``timing.bus_max_burst`` bytes.
    link : ``Out(LinkSide(link_width))``
        To the fabric.
    irq : ``Out(irqs)``
        Interrupt lines, levels. A NIC with one line interrupts all CPUs of a node with one NIC;
        see :class:`~nicbed.rtl.node.node.Node` for the others.
    taken : ``In(LineTaken)``, an array of ``cpus``
        Lines of host memory that each CPU takes for writing (nic.attachment = "memory_bus").
    events : ``Out(EventPort)``, an array of ``events``
        Trace events.
    idle : ``Out(1)``
        Nothing changes here until something comes in, in this cycle or later. Its node may then
        sleep: its clock stands still until an input changes.
    cycle : ``In(64)``
        The cycle counter.
    node : ``In(8)``
        The wire address.
    timing : ``In(Timing)``, own : ``In(own)``
        The timing registers of the target and, if there are any, those of the design. Constant
        outside reset.
    processor : ``Out(ProcessorSide)``
        A processor in the NIC, for the run.

    Raises
    ------
    TypeError
        A parameter is of another type.
    ValueError
        A parameter is none of the values above.
    """

    def __init__(self, *, dma: int = 1, width: int = 8, tags: int = 1, link_width: int = 8,
                 irqs: int = 1, cpus: int = 1, events: int = 0,
                 own: data.StructLayout | None = None) -> None:
        for name, value, least, most in (("dma", dma, 0, DMA_MAX), ("irqs", irqs, 0, MAX_CPUS),
                                         ("cpus", cpus, 1, MAX_CPUS), ("events", events, 0, None)):
            check_count(name, value, least=least)
            if most is not None and value > most:
                raise ValueError(f"{name} must be at most {most}, not {value}")
        if own is not None and not isinstance(own, data.StructLayout):
            raise TypeError(f"own must be a StructLayout, not {own!r}")
        self._burst = Burst(width, tags)
        self._link_width = link_width
        self._own = own
        super().__init__({
            "pio": In(PioTarget),
            "dma": Out(self._burst).array(dma),
            "link": Out(LinkSide(link_width)),
            "irq": Out(irqs),
            "taken": In(LineTaken).array(cpus),
            "events": Out(EventPort).array(events),
            "idle": Out(1),
            "cycle": In(64),
            "node": In(8),
            "timing": In(Timing),
            **({} if own is None else {"own": In(own)}),
            "processor": Out(ProcessorSide),
        })

    @property
    def dma(self) -> int:
        """Ports to host memory."""
        return self.members["dma"].dimensions[0]

    @property
    def width(self) -> int:
        """Bytes of a beat of a burst."""
        return self._burst.width

    @property
    def tags(self) -> int:
        """Bursts under way at a port."""
        return self._burst.tags

    @property
    def link_width(self) -> int:
        """Bytes of a flit."""
        return self._link_width

    @property
    def irqs(self) -> int:
        """Interrupt lines."""
        return Shape.cast(self.members["irq"].shape).width

    @property
    def cpus(self) -> int:
        """Host ports of the node."""
        return self.members["taken"].dimensions[0]

    @property
    def events(self) -> int:
        """Ports for trace events."""
        return self.members["events"].dimensions[0]

    @property
    def own(self) -> data.StructLayout | None:
        """The design's own timing registers, if it has any."""
        return self._own

    def _values(self) -> tuple[object, ...]:
        return (self.dma, self.width, self.tags, self.link_width, self.irqs, self.cpus,
                self.events, self.own)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NicSide) and self._values() == other._values()

    def __repr__(self) -> str:
        names = ("dma", "width", "tags", "link_width", "irqs", "cpus", "events", "own")
        return f"NicSide({', '.join(map('{}={!r}'.format, names, self._values()))})"
