"""A node: host ports, buses, memory controller and NICs."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import (
    Cat,
    ClockDomain,
    Const,
    DomainRenamer,
    Module,
    ResetSignal,
    Shape,
    Signal,
    Value,
)
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import MAX_CPUS, Description
from ...layouts.doors import DoorError
from ...layouts.doors.trace_block import numbered
from ...layouts.processor import CRASH_WORDS
from ...layouts.trace import Block
from ..bus.bus import Bus
from ..bus.memory import MemoryController, MemoryPort
from ..cpu.host_port import HostPort, join_ports
from ..cpu.port_members import HostSide
from ..cpu.port_shape import PortShape
from ..parts.timing import Timing, own_timing, whole_timing
from ..parts.trace_sink import TRACES, TracePort, TraceSink, expose
from .dma_adapter import DmaAdapter
from .link_adapter import LinkAdapter
from .nic_side import LinkSide, NicSide

__all__ = ["HostSide", "Node", "NodeSide"]


def NodeSide(description: Description, cpus: int | None = None) -> wiring.Signature:
    """The ports of a :class:`Node` with ``cpus`` host ports (default: ``node.cpus``)."""
    return wiring.Signature({
        "cpu": In(HostSide).array(cpus or description.node.cpus),
        "memory": Out(MemoryPort(description.memory.bytes // 8)),
        "link": Out(LinkSide()).array(description.node.nics),
        "cpus": In(range(MAX_CPUS + 1)),
        "node": In(8),
        "cycle": In(64),
        "timing": In(whole_timing(description)),
        "trace_enable": In(1),
        "profile_enable": In(1),
        "crashed": Out(1),
        "crash": Out(32 * CRASH_WORDS),
        "wake": Out(1),
        "clk_rest": In(1),
        "idle": Out(1),
    })


class Node(wiring.Component):
    """The host ports of a node, its memory controller, and its NICs, each behind a bus.

    The NICs are made by the design that ``nic.design`` names, and are known by
    :class:`~.nic_side.NicSide` alone. Wide ports and links of theirs are joined by
    :class:`~.dma_adapter.DmaAdapter` and :class:`~.link_adapter.LinkAdapter`.

    The memory itself is outside and the node's number is an input, so that all nodes are one
    module. Initiators on a bus, in order: the host ports, the DMA ports of the NIC. At the memory
    controller: the buses, then the host ports, then their buffers for block stores.

    All host ports are on the bus of each NIC. NIC ``k`` of node ``n`` has the wire address
    ``n * node.nics + k``. The events of a NIC and of its bus have this address, those of the memory
    controller the node's number.

    A NIC alone with one interrupt line interrupts all CPUs. Otherwise line ``i`` of NIC ``k``
    interrupts CPU ``k + i`` modulo the number of CPUs.

    Parameters
    ----------
    description : :class:`Description`
        Its structure knobs.
    gated : :class:`bool`
        Everything but the host ports runs on ``clk_rest``.
    trace : :class:`str`
        How events leave: one of TRACES.
    step : :class:`Signal`, optional
        Clock enable of the enclosing block, for the NIC (:class:`NicDesign`).
    cpus : :class:`int`, optional
        Host ports, at least ``node.cpus``, which is the default. Those beyond get no block; they
        change no cycle of the others.

    Members
    -------
    cpu : ``In(HostSide)``, one a CPU
        The host ports' environment.
    memory : ``Out(MemoryPort)``
        Host memory.
    link : ``Out(LinkSide())``, one a NIC
        The NICs' links.
    cpus : ``In(4)``
        How many of the host ports are CPUs. Constant outside reset.
    node : ``In(8)``
        The node's number.
    cycle : ``In(64)``, timing : ``In(whole_timing(description))``, trace_enable : ``In(1)``
        Time, the timing registers, and whether events are traced.
    profile_enable : ``In(1)``, crashed : ``Out(1)``, crash : ``Out(32 * CRASH_WORDS)``
        Whether the NICs' processors are profiled; whether, and how, one crashed.
    clk_rest : ``In(1)``
        The target's clock without the edges at which only host ports have work.
    wake : ``Out(1)``
        ``clk_rest`` must have the next edge.
    idle : ``Out(1)``
        Buses, memory and NICs are idle: only a host port or a link can change them.
    trace : ``Out(TracePort)``, one a source of events
        Only where ``trace`` is "ports".

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    ValueError
        ``trace`` is none of TRACES, or ``cpus`` is less than ``node.cpus``.
    DoorError
        What the NIC design makes does not fit together.
    """

    def __init__(self, *, description: Description, gated: bool = False, trace: str = TRACES[0],
                 step: Signal | None = None, cpus: int | None = None) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        if trace not in TRACES:
            raise ValueError(f"trace must be {' or '.join(map(repr, TRACES))}, not {trace!r}")
        self._description = description
        self._gated = gated
        self._cpus = cpus or description.node.cpus
        self._design = design = description.design
        self._side = side = design.side(description, self._cpus)
        self._nics = [design.build(description, side, step=step)
                      for _ in range(description.node.nics)]
        for nic in self._nics:
            if not isinstance(getattr(nic, "signature", None), NicSide) or nic.signature != side:
                raise DoorError(f"build() of NIC design {design.name!r} must make a component "
                                f"of signature {side!r}, not "
                                f"{getattr(nic, 'signature', type(nic).__name__)!r}")
        if self._cpus < description.node.cpus:
            raise ValueError(f"cpus must be at least node.cpus = {description.node.cpus}, "
                             f"not {cpus}")
        if side.own not in (None, own_timing(description)):
            raise DoorError(f"side() of NIC design {design.name!r} must have the registers of its "
                             f"own knobs, own = {own_timing(description)!r}, not {side.own!r}")
        self._blocks = design.event_blocks(self._nics[0])
        if len(self._blocks) != side.events:
            raise DoorError(f"NIC design {design.name!r} names blocks of {len(self._blocks)} "
                             f"ports of events, and its side has {side.events}")
        known = {*Block} | numbered(design.trace).keys()
        if unknown := [number for number in self._blocks if number not in known]:
            raise DoorError(f"event_blocks() of NIC design {design.name!r} must give numbers of "
                            f"its blocks, those of `trace`, or of a Block, not {unknown[0]!r}")
        self._buses = [Bus(ports=self._cpus, engines=side.dma,
                           pio_width=description.bus.pio_width) for _ in self._nics]
        self._traced = trace == "ports"
        sources = len(self._nics) * (side.events + len(Bus.event_sources))
        if self._cpus > 1:
            sources += len(MemoryController.event_sources)
        super().__init__(wiring.Signature({
            **NodeSide(description, self._cpus).members,
            **({"trace": Out(TracePort).array(sources)} if self._traced else {})}))

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._description

    @property
    def nics(self) -> Sequence[wiring.Component]:
        """Its NICs, as their design built them."""
        return self._nics

    def elaborate(self, platform: object) -> Module:
        m = Module()
        description = self._description
        now = self.cycle[:32]
        timing, own = self._timing()
        rest = DomainRenamer({"sync": "rest"} if self._gated else {})
        if self._gated:
            m.domains.rest = domain = ClockDomain(async_reset=True, local=True)
            m.d.comb += [domain.clk.eq(self.clk_rest), domain.rst.eq(ResetSignal())]
        nics, buses = self._nics, self._buses
        for number, (nic, bus) in enumerate(zip(nics, buses, strict=True)):
            m.submodules[f"nic_{number}"] = rest(nic)
            m.submodules[f"bus_{number}"] = rest(bus)
        shape = PortShape.of(description, self._cpus)
        controller = MemoryController(initiators=len(buses) + self._cpus, traced=self._cpus > 1,
                                      words=description.memory.bytes // 8,
                                      writers=self._cpus if shape.block_stores else 0)
        m.submodules.controller = rest(controller)

        connect(m, controller.port, flipped(self.memory))
        addresses = [self.node * len(nics) + number for number in range(len(nics))]
        idle = [controller.idle]
        for number, (nic, bus) in enumerate(zip(nics, buses, strict=True)):
            connect(m, bus.memory, controller.burst[number])
            connect(m, bus.pio, nic.pio)
            m.d.comb += [
                nic.node.eq(addresses[number]),
                nic.cycle.eq(self.cycle),
                nic.timing.eq(timing),
                nic.processor.profile.eq(self.profile_enable),
                bus.timing.eq(timing),
                controller.lock[number].eq(0),
            ]
            if own is not None and self._side.own is not None:
                m.d.comb += nic.own.eq(own)
            idle += [bus.idle, nic.idle if self._design.sleeps else Const(0),
                     *self._memory_and_link(m, number, self.link[number], rest)]
        events = [event for unit in (*buses, *nics) for event in unit.events]
        m.d.comb += [
            controller.timing.eq(timing),
            self.wake.eq(~self.idle | Cat(event.valid for event in events).any()
                         | Cat(burst.request.valid for burst in controller.burst[len(buses):]).any()
                         | reduce(or_, (taken.valid for taken in nics[0].taken))),
            self.idle.eq(Cat(idle).all()),
        ]
        with m.If(Cat(nic.processor.crashed for nic in nics).any()):
            m.d.comb += self.crashed.eq(1)
        for nic in reversed(nics):
            with m.If(nic.processor.crashed):
                m.d.comb += self.crash.eq(nic.processor.crash)

        ports = [HostPort(shape=shape, source=len(buses) + number)
                 for number in range(self._cpus)]
        if shape.peers:
            join_ports(m, ports)
        for number, (cpu, port) in enumerate(zip(self.cpu, ports, strict=True)):
            m.submodules[f"port_{number}"] = port
            for bus, pio in zip(buses, [port.pio] if len(buses) == 1 else port.pio, strict=True):
                connect(m, pio, bus.port[number])
            connect(m, port.memory, controller.burst[len(buses) + number])
            m.d.comb += [
                controller.lock[len(buses) + number].eq(port.lock),
                port.snoop.eq(controller.snoop),
                port.irq.eq(self._interrupt(number)),
                port.now.eq(now),
                port.timing.eq(timing),
            ]
            if shape.block_stores:
                writer = len(buses) + self._cpus + number
                connect(m, port.block_memory, controller.burst[writer])
                m.d.comb += controller.lock[writer].eq(0)
            if shape.peers:
                with m.If(controller.snoop.source >= len(buses)):
                    m.d.comb += port.snoop.valid.eq(0)
            connect(m, flipped(cpu), port.host)
            if shape.coherent:
                m.d.comb += [value for nic in nics for value in (
                    nic.taken[number].valid.eq(port.taken.valid),
                    nic.taken[number].address.eq(port.taken.address))]

        self._trace(m, controller, addresses, rest)
        return m

    def _timing(self) -> tuple[Any, Any]:
        """The registers of the target, and those of the NIC design or None."""
        layout = own_timing(self._description)
        bits = Shape.cast(Timing).width
        held = self.timing.as_value()
        return (data.View(Timing, held[:bits]),
                None if layout is None else data.View(layout, held[bits:]))

    def _memory_and_link(self, m: Module, number: int, link: Any,
                         rest: Callable[[Any], Any]) -> list[Value]:
        """Joins the DMA ports of a NIC to its bus, and the NIC to ``link``; whether what is between
        them is idle."""
        nic, bus, idle = self._nics[number], self._buses[number], []
        for place, (burst, engine) in enumerate(zip(nic.dma, bus.engine, strict=True)):
            if (self._side.width, self._side.tags) != (8, 1):
                adapter = DmaAdapter(width=self._side.width, tags=self._side.tags)
                m.submodules[f"dma_{number}_{place}"] = rest(adapter)
                connect(m, burst, adapter.nic)
                idle.append(adapter.idle)
                burst = adapter.bus
            connect(m, burst, engine)
        side = nic.link
        if self._side.link_width != 8:
            adapter = LinkAdapter(width=self._side.link_width)
            m.submodules[f"link_{number}"] = rest(adapter)
            connect(m, side, adapter.nic)
            idle.append(adapter.idle)
            side = adapter.link
        connect(m, side, flipped(link))
        return idle

    def _trace(self, m: Module, controller: MemoryController, addresses: list[Value],
               rest: Callable[[Any], Any]) -> None:
        """The exits of the events of buses, NICs and memory controller."""
        units: list[tuple[str, Any, Any, Any]] = [
            *((f"bus_{number}", Bus.event_sources, bus.events, addresses[number])
              for number, bus in enumerate(self._buses)),
            *((f"nic_{number}", self._blocks, nic.events, addresses[number])
              for number, nic in enumerate(self._nics))]
        if self._cpus > 1:
            units.append(("memory", controller.event_sources, controller.events, self.node))
        if self._traced:
            sources = [(*source, place) for _, blocks, events, place in units
                       for source in zip(blocks, events, strict=True)]
            for (block, event, place), trace in zip(sources, self.trace, strict=True):
                expose(m, event, trace, node=place, block=block)
            return
        for label, blocks, events, place in units:
            for number, (block, event) in enumerate(zip(blocks, events, strict=True)):
                sink = TraceSink(block=block)
                m.submodules[f"{label}_trace_{number}"] = rest(sink)
                connect(m, event, sink.event)
                m.d.comb += [
                    sink.enable.eq(self.trace_enable),
                    sink.cycle.eq(self.cycle),
                    sink.node.eq(place),
                ]

    def _interrupt(self, cpu: int) -> Value:
        """The interrupt line of ``cpu``."""
        lines = [(number + line, nic.irq[line]) for number, nic in enumerate(self._nics)
                 for line in range(self._side.irqs)]
        if self._cpus == 1 or len(lines) == 1:
            return Cat(line for _, line in lines).any()
        return Cat(line & self.cpus.matches(*(count for count in range(1, MAX_CPUS + 1)
                                              if place % count == cpu))
                   for place, line in lines).any()
