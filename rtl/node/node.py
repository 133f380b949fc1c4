"""A node: host ports, buses, memory controller and NICs."""

from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from amaranth.hdl import Cat, ClockDomain, DomainRenamer, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import MAX_CPUS, Description
from ...layouts.processor import CRASH_WORDS
from ..bus.bus import Bus
from ..bus.memory import MemoryController, MemoryPort
from ..cpu.host_port import HostPort, join_ports
from ..cpu.port_members import HostSide
from ..nic.nic import Nic
from ..parts.flit import FlitStream
from ..parts.timing import Timing
from ..parts.trace_sink import TRACES, TracePort, TraceSink, expose

__all__ = ["HostSide", "LinkEnd", "NodeSide", "Node", "link_ends", "link_members"]


def link_members(nics: int) -> dict[str, Any]:
    """Members of a node for the links of its ``nics`` NICs: with several, arrays."""
    def each(flow: Any) -> Any:
        return flow if nics == 1 else flow.array(nics)
    return {"tx": each(Out(FlitStream)), "rx": each(In(FlitStream)), "credit_stall": each(In(1))}


class LinkEnd(NamedTuple):
    """The ports of a node for the link of one NIC."""

    tx: Any
    rx: Any
    credit_stall: Any


def link_ends(node: Any, nics: int) -> list[LinkEnd]:
    """The ports of ``node`` for the link of each of its ``nics`` NICs."""
    if nics == 1:
        return [LinkEnd(node.tx, node.rx, node.credit_stall)]
    return [LinkEnd(*ends) for ends in zip(node.tx, node.rx, node.credit_stall, strict=True)]


def NodeSide(description: Description, cpus: int | None = None) -> wiring.Signature:
    """The ports of a :class:`Node` with ``cpus`` host ports (default: ``node.cpus``)."""
    return wiring.Signature({
        "cpu": In(HostSide).array(cpus or description.node.cpus),
        "memory": Out(MemoryPort(description.memory.bytes // 8)),
        **link_members(description.node.nics),
        **({"cpus": In(range(MAX_CPUS + 1))} if _steers(description, cpus) else {}),
        "node": In(8),
        "cycle": In(64),
        "timing": In(Timing),
        "trace_enable": In(1),
        "profile_enable": In(1),
        "crashed": Out(1),
        "crash": Out(32 * CRASH_WORDS),
        "wake": Out(1),
        "clk_rest": In(1),
        "idle": Out(1),
    })


def _steers(description: Description, cpus: int | None) -> bool:
    """Whether there are several NICs and several CPUs that they could interrupt."""
    return description.node.nics > 1 and (cpus or description.node.cpus) > 1


def _interrupts(cpu: int, nic: int, cpus: Value) -> Value:
    """Whether NIC ``nic`` interrupts CPU ``cpu`` of ``cpus``."""
    return cpus.matches(*(count for count in range(1, MAX_CPUS + 1) if nic % count == cpu))


class Node(wiring.Component):
    """The host ports of a node on its bus, with the memory controller and the NIC.

    The memory itself is outside and the node's number is an input, so that all nodes are one
    module. Initiators on the bus, in order: the host ports, the NIC's send DMA, its receive DMA,
    and the DMA of its VI engine or processor. At the memory controller: the bus, then the host
    ports, then their buffers for block stores.

    With ``node.nics`` above 1 each NIC has a bus of its own, which all host ports are on, and a
    wire address: NIC ``k`` of node ``n`` has ``n * node.nics + k``. It interrupts CPU ``k`` modulo
    the number of CPUs; one NIC alone interrupts all CPUs. The events of a NIC and of its bus have
    its wire address, those of the memory controller the node's number.

    Parameters
    ----------
    description : :class:`Description`
        Its structure knobs.
    gated : :class:`bool`
        Everything but the host ports runs on ``clk_rest``.
    trace : :class:`str`
        How events leave: one of TRACES.
    step : :class:`Signal`, optional
        Clock enable of the enclosing block, for the NIC processor's core (:class:`Nic`).
    cpus : :class:`int`, optional
        Host ports, at least ``node.cpus``, which is the default. Those beyond get no block; they
        change no cycle of the others.

    Members
    -------
    cpu : ``In(HostSide)``, one a CPU
        The host ports' environment.
    memory : ``Out(MemoryPort)``
        Host memory.
    tx : ``Out(FlitStream)``, rx : ``In(FlitStream)``, credit_stall : ``In(1)``
        The NIC's links; with several NICs arrays.
    cpus : ``In(4)``
        Only with several NICs and several host ports: how many of the host ports are CPUs.
        Constant outside reset.
    node : ``In(8)``
        The node's number.
    cycle : ``In(64)``, timing : ``In(Timing)``, trace_enable : ``In(1)``
        Time, the timing registers, and whether events are traced.
    profile_enable : ``In(1)``, crashed : ``Out(1)``, crash : ``Out(32 * CRASH_WORDS)``
        Whether the NICs' processors are profiled; whether, and how, one crashed.
    clk_rest : ``In(1)``
        The target's clock without the edges at which only host ports have work.
    wake : ``Out(1)``
        ``clk_rest`` must have the next edge.
    idle : ``Out(1)``
        Buses, memory and NICs are idle: only a host port or ``rx`` can change them.
    trace : ``Out(TracePort)``, one a source of events
        Only where ``trace`` is "ports".

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    ValueError
        ``trace`` is none of TRACES, or ``cpus`` is less than ``node.cpus``.
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
        self._nics = [Nic(description=description, step=step, cpus=self._cpus)
                      for _ in range(description.node.nics)]
        if self._cpus < description.node.cpus:
            raise ValueError(f"cpus must be at least node.cpus = {description.node.cpus}, "
                             f"not {cpus}")
        self._buses = [Bus(ports=self._cpus, engines=len(nic.dma),
                           pio_width=description.bus.pio_width) for nic in self._nics]
        self._traced = trace == "ports"
        sources = sum(len(unit.event_sources) for unit in (*self._nics, *self._buses))
        if self._cpus > 1:
            sources += len(MemoryController.event_sources)
        super().__init__(wiring.Signature({
            **NodeSide(description, self._cpus).members,
            **({"trace": Out(TracePort).array(sources)} if self._traced else {})}))

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._description

    def elaborate(self, platform: object) -> Module:
        m = Module()
        description = self._description
        now = self.cycle[:32]
        rest = DomainRenamer({"sync": "rest"} if self._gated else {})
        if self._gated:
            m.domains.rest = domain = ClockDomain(async_reset=True, local=True)
            m.d.comb += [domain.clk.eq(self.clk_rest), domain.rst.eq(ResetSignal())]
        nics, buses = self._nics, self._buses
        several = len(nics) > 1

        def name(unit: str, number: int) -> str:
            return f"{unit}_{number}" if several else unit

        for number, (nic, bus) in enumerate(zip(nics, buses, strict=True)):
            m.submodules[name("nic", number)] = rest(nic)
            m.submodules[name("bus", number)] = rest(bus)
        block_stores = description.cpu.copy_by == "block"
        controller = MemoryController(initiators=len(buses) + self._cpus, traced=self._cpus > 1,
                                      words=description.memory.bytes // 8,
                                      writers=self._cpus if block_stores else 0)
        m.submodules.controller = rest(controller)

        connect(m, controller.port, flipped(self.memory))
        addresses = [self.node * len(nics) + number if several else self.node
                     for number in range(len(nics))]
        for number, (nic, bus, link) in enumerate(zip(nics, buses, link_ends(self, len(nics)),
                                                      strict=True)):
            connect(m, bus.memory, controller.burst[number])
            connect(m, bus.pio, nic.pio)
            for burst, port in zip(nic.dma, bus.engine, strict=True):
                connect(m, burst, port)
            connect(m, nic.link.tx, flipped(link.tx))
            connect(m, flipped(link.rx), nic.link.rx)
            m.d.comb += [
                nic.node.eq(addresses[number]),
                nic.cycle.eq(self.cycle),
                nic.timing.eq(self.timing),
                nic.link.credit_stall.eq(link.credit_stall),
                nic.processor.profile.eq(self.profile_enable),
                bus.timing.eq(self.timing),
                controller.lock[number].eq(0),
            ]
        events = [event for unit in (*buses, *nics) for event in unit.events]
        self._crashes(m)
        m.d.comb += [
            controller.timing.eq(self.timing),
            self.wake.eq(~self.idle | Cat(event.valid for event in events).any()
                         | Cat(burst.request.valid for burst in controller.burst[len(buses):]).any()
                         | reduce(or_, (taken.valid for taken in nics[0].taken_by))),
            self.idle.eq(Cat(*(nic.idle for nic in nics), *(bus.idle for bus in buses),
                             controller.idle).all()),
        ]

        peers = self._cpus - 1
        ports = [HostPort(posted_writes=description.bus.posted_writes,
                          cache_lines=description.cpu.cache_lines, source=len(buses) + number,
                          peers=peers, line_bytes=description.cpu.line_bytes, nics=len(nics),
                          coherent=description.nic.attachment == "memory_bus",
                          owned_swaps=description.cpu.cas_place == "cache",
                          block_stores=block_stores, beat_bytes=description.memory.width,
                          flushes=not description.bus.coherent,
                          l2_lines=description.cpu.l2_lines, l2_hit=description.cpu.l2_hit)
                 for number in range(self._cpus)]
        if peers:
            join_ports(m, ports)
        for number, (cpu, port) in enumerate(zip(self.cpu, ports, strict=True)):
            m.submodules[f"port_{number}"] = port
            for bus, pio in zip(buses, port.pio if several else [port.pio], strict=True):
                connect(m, pio, bus.port[number])
            connect(m, port.memory, controller.burst[len(buses) + number])
            m.d.comb += [
                controller.lock[len(buses) + number].eq(port.lock),
                port.snoop.eq(controller.snoop),
                port.irq.eq(self._interrupt(number)),
                port.now.eq(now),
                port.timing.eq(self.timing),
            ]
            if block_stores:
                writer = len(buses) + self._cpus + number
                connect(m, port.block_memory, controller.burst[writer])
                m.d.comb += controller.lock[writer].eq(0)
            if peers:
                with m.If(controller.snoop.source >= len(buses) if several
                          else controller.snoop.source != 0):
                    m.d.comb += port.snoop.valid.eq(0)
            connect(m, flipped(cpu), port.host)
            with m.If(port.taken.valid):
                for nic in nics:
                    taken = nic.taken_by[number % len(nic.taken_by)]
                    m.d.comb += [taken.valid.eq(1), taken.address.eq(port.taken.address)]

        units: list[tuple[Any, str, Any]] = [
            *((bus, name("bus", number), addresses[number]) for number, bus in enumerate(buses)),
            *((nic, name("nic", number), addresses[number]) for number, nic in enumerate(nics))]
        if peers:
            units.append((controller, "memory", self.node))
        if self._traced:
            sources = [(*source, place) for unit, _, place in units
                       for source in zip(unit.event_sources, unit.events, strict=True)]
            for (block, event, place), trace in zip(sources, self.trace, strict=True):
                expose(m, event, trace, node=place, block=block)
            return m
        for unit, label, place in units:
            for number, (block, event) in enumerate(zip(unit.event_sources, unit.events,
                                                        strict=True)):
                sink = TraceSink(block=block)
                m.submodules[f"{label}_trace_{number}"] = rest(sink)
                connect(m, event, sink.event)
                m.d.comb += [
                    sink.enable.eq(self.trace_enable),
                    sink.cycle.eq(self.cycle),
                    sink.node.eq(place),
                ]
        return m

    def _crashes(self, m: Module) -> None:
        """Crashes of the NICs' processors: of several in one cycle that of the first NIC."""
        if len(self._nics) == 1:
            side = self._nics[0].processor
            m.d.comb += [self.crashed.eq(side.crashed), self.crash.eq(side.crash)]
            return
        for nic in reversed(self._nics):
            with m.If(nic.processor.crashed):
                m.d.comb += [self.crashed.eq(1), self.crash.eq(nic.processor.crash)]

    def _interrupt(self, cpu: int) -> Value:
        """The interrupt line of ``cpu``."""
        if len(self._nics) == 1:
            return self._nics[0].irq
        if self._cpus == 1:
            return Cat(nic.irq for nic in self._nics).any()
        return Cat(nic.irq & _interrupts(cpu, number, self.cpus)
                   for number, nic in enumerate(self._nics)).any()
