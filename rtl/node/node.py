"""A node: host ports, bus, memory controller and NIC."""

from typing import Any

from amaranth.hdl import Cat, ClockDomain, DomainRenamer, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ...layouts.description import Description
from ...layouts.processor import CRASH_WORDS
from ..bus.bus import Bus
from ..bus.memory import MemoryController, MemoryPort
from ..cpu.coherence import join_ports
from ..cpu.host_port import HostPort, HostSide
from ..nic.nic import Nic
from ..parts.flit import FlitStream
from ..parts.timing import Timing
from ..parts.trace_sink import TRACES, TracePort, TraceSink, expose

__all__ = ["HostSide", "NodeSide", "Node"]


def NodeSide(description: Description, cpus: int | None = None) -> wiring.Signature:
    """The ports of a :class:`Node` with ``cpus`` host ports (default: ``node.cpus``)."""
    return wiring.Signature({
        "cpu": In(HostSide).array(cpus or description.node.cpus),
        "memory": Out(MemoryPort(description.memory.bytes // 8)),
        "tx": Out(FlitStream),
        "rx": In(FlitStream),
        "credit_stall": In(1),
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


class Node(wiring.Component):
    """The host ports of a node on its bus, with the memory controller and the NIC.

    The memory itself is outside and the node's number is an input, so that all nodes are one
    module. Initiators on the bus, in order: the host ports, the NIC's send DMA, its receive DMA,
    and the DMA of its VI engine or processor. At the memory controller: the bus, then the host
    ports.

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
        The NIC's links.
    node : ``In(8)``
        The node's number.
    cycle : ``In(64)``, timing : ``In(Timing)``, trace_enable : ``In(1)``
        Time, the timing registers, and whether events are traced.
    profile_enable : ``In(1)``, crashed : ``Out(1)``, crash : ``Out(32 * CRASH_WORDS)``
        Whether the NIC processor is profiled; whether, and how, it crashed.
    clk_rest : ``In(1)``
        The target's clock without the edges at which only host ports have work.
    wake : ``Out(1)``
        ``clk_rest`` must have the next edge.
    idle : ``Out(1)``
        Bus, memory and NIC are idle: only a host port or ``rx`` can change them.
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
        self._nic = Nic(description=description, step=step)
        self._cpus = cpus or description.node.cpus
        if self._cpus < description.node.cpus:
            raise ValueError(f"cpus must be at least node.cpus = {description.node.cpus}, "
                             f"not {cpus}")
        self._bus = Bus(ports=self._cpus, engines=len(self._nic.dma))
        self._traced = trace == "ports"
        sources = len(self._nic.event_sources) + len(self._bus.event_sources)
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
        nic, bus = self._nic, self._bus
        m.submodules.nic = rest(nic)
        m.submodules.bus = rest(bus)
        controller = MemoryController(initiators=1 + self._cpus, traced=self._cpus > 1,
                                      words=description.memory.bytes // 8)
        m.submodules.controller = rest(controller)

        connect(m, controller.port, flipped(self.memory))
        connect(m, bus.memory, controller.burst[0])
        connect(m, bus.pio, nic.pio)
        for burst, port in zip(nic.dma, bus.engine, strict=True):
            connect(m, burst, port)
        connect(m, nic.link.tx, flipped(self.tx))
        connect(m, flipped(self.rx), nic.link.rx)
        m.d.comb += [
            nic.node.eq(self.node),
            nic.cycle.eq(self.cycle),
            nic.timing.eq(self.timing),
            nic.link.credit_stall.eq(self.credit_stall),
            nic.processor.profile.eq(self.profile_enable),
            self.crashed.eq(nic.processor.crashed),
            self.crash.eq(nic.processor.crash),
            bus.timing.eq(self.timing),
            controller.timing.eq(self.timing),
            controller.lock[0].eq(0),
            self.wake.eq(~self.idle | Cat(event.valid for event in (*bus.events, *nic.events)).any()
                         | Cat(burst.request.valid for burst in controller.burst[1:]).any()
                         | nic.taken.valid),
            self.idle.eq(Cat(nic.idle, bus.idle, controller.idle).all()),
        ]

        peers = self._cpus - 1
        ports = [HostPort(posted_writes=description.bus.posted_writes,
                          cache_lines=description.cpu.cache_lines, source=1 + number, peers=peers,
                          line_bytes=description.cpu.line_bytes,
                          coherent=description.nic.attachment == "memory_bus")
                 for number in range(self._cpus)]
        if peers:
            join_ports(m, ports)
        for number, (cpu, port) in enumerate(zip(self.cpu, ports, strict=True)):
            m.submodules[f"port_{number}"] = port
            connect(m, port.pio, bus.port[number])
            connect(m, port.memory, controller.burst[1 + number])
            m.d.comb += [
                controller.lock[1 + number].eq(port.lock),
                port.snoop.eq(controller.snoop),
                port.irq.eq(nic.irq),
                port.now.eq(now),
                port.timing.eq(self.timing),
            ]
            if peers:
                with m.If(controller.snoop.source != 0):
                    m.d.comb += port.snoop.valid.eq(0)
            connect(m, flipped(cpu), port.host)
            with m.If(port.taken.valid):
                m.d.comb += [nic.taken.valid.eq(1), nic.taken.address.eq(port.taken.address)]

        units: list[tuple[Any, str]] = [(bus, "bus"), (nic, "nic")]
        if peers:
            units.append((controller, "memory"))
        if self._traced:
            sources = [source for unit, _ in units
                       for source in zip(unit.event_sources, unit.events, strict=True)]
            for (block, event), trace in zip(sources, self.trace, strict=True):
                expose(m, event, trace, node=self.node, block=block)
            return m
        for unit, name in units:
            for number, (block, event) in enumerate(zip(unit.event_sources, unit.events,
                                                        strict=True)):
                sink = TraceSink(block=block)
                m.submodules[f"{name}_trace_{number}"] = rest(sink)
                connect(m, event, sink.event)
                m.d.comb += [
                    sink.enable.eq(self.trace_enable),
                    sink.cycle.eq(self.cycle),
                    sink.node.eq(self.node),
                ]
        return m
