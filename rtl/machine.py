"""The machine: all nodes, the fabric between them, and time, without its environment."""

from typing import Any

from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Instance,
    Module,
    ResetSignal,
    Shape,
    Signal,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ..layouts.description import Description
from ..layouts.fabric import Graph, graph_of
from ..layouts.processor import CRASH_WORDS
from .bus.memory import MemoryPort
from .fabric.fabric import Fabric
from .node.node import HostSide, Node, NodeSide
from .node.shared_nodes import SharedNodes, Turn
from .parts.timing import Timing
from .parts.timing_registers import TimingRegisters
from .parts.trace_sink import TRACES, TracePort, TraceSink, expose
from .timekeeper import Timekeeper

__all__ = ["NODE_MODULE", "Machine"]

NODE_MODULE = "nicbed_node"


class Machine(wiring.Component):
    """Nodes, fabric, timing registers and timekeeper in one clock domain.

    Its environment has the host memories and the host ports' blocks, and follows the rules of
    :class:`Timekeeper` (attention, stall) and :class:`HostPort` (blocks). It is :class:`Target` in
    a simulator and :class:`BoardCore` on a board. One cycle of reset is enough; timing registers
    are written during it.

    The nodes are copies of one module, :attr:`node_module`, which is converted to Verilog
    separately. With ``inline`` they are submodules instead.

    Parameters
    ----------
    description : :class:`Description`
        Its structure knobs; its timing knobs are the registers' values after power-up.
    inline : :class:`bool`
        Nodes as submodules.
    gated : :class:`bool`
        The clock of all blocks but the host ports and the timekeeper stands still while they are
        idle. Changes no cycle and saves a simulator half of its work. Not with ``inline``.
    trace : :class:`str`
        How events leave: one of TRACES. "ports" only with ``inline``.
    step : :class:`Signal`, optional
        Clock enable of the enclosing block, for the NICs (:class:`NicDesign`).
    turn : :class:`Turn`, optional
        Selects one of two nodes that share one copy of a node's logic, in domain ``banks``. Only
        with ``inline``.

    Members
    -------
    cfg_we : ``In(1)``, cfg_index : ``In(8)``, cfg_data : ``In(32)``
        Timing registers.
    trace_enable : ``In(1)``, skip_enable : ``In(1)``, limit : ``In(64)``
        Whether to trace, whether to skip quiescent time, and the cycle at which time ends (0:
        none).
    profile_enable : ``In(1)``
        Whether NIC processors' cycles are counted by program counter.
    crash : ``Out(32 * CRASH_WORDS)``
        The first crash of a NIC processor, which ended time, as layouts.processor declares it.
    attention, stall, expired : ``Out(1)``, cycle : ``Out(64)``
        As :class:`Timekeeper` says.
    waiting, stopped, needs : ``Out(P)``, quiescent : ``Out(1)``
        One bit a host port. ``quiescent``: nothing but deadlines is pending.
    cpu : ``In(HostSide)``, one a host port
        The host ports' environment: CPU ``c`` of node ``n`` is ``n * node.cpus + c``.
    memory : ``Out(MemoryPort)``, one a node
        Host memories.
    clk_rest : ``Out(1)``
        With ``gated``, the clock that stands still, for the host memories.
    trace : ``Out(TracePort)``, one a source of events
        Only where ``trace`` is "ports".

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`, or ``turn`` no :class:`Turn`.
    ValueError
        ``trace`` is none of TRACES; or ``trace`` or ``turn`` cannot be combined with the other
        parameters.
    """

    def __init__(self, *, description: Description, inline: bool = False, gated: bool = False,
                 trace: str = TRACES[0], step: Signal | None = None,
                 turn: Turn | None = None) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        if turn is not None:
            if not isinstance(turn, Turn):
                raise TypeError(f"turn must be a Turn, not {turn!r}")
            if not (inline and trace == "ports" and description.fabric.nodes == 2
                    and description.nic.processor == "none"):
                raise ValueError("a turn is one of two inline nodes without a NIC processor, whose "
                                 "trace is 'ports'")
        if inline and gated:
            raise ValueError("a target cannot be both inline and gated")
        if trace not in TRACES:
            raise ValueError(f"trace must be {' or '.join(map(repr, TRACES))}, not {trace!r}")
        if trace == "ports" and not inline:
            raise ValueError("trace = 'ports' needs inline nodes")
        self._description = description
        self._inline = inline
        self._gated = gated
        self._traced = trace == "ports"
        self._nodes: list[Any] = []
        self._shared = None
        if turn is not None:
            self._shared = SharedNodes(node=Node(description=description, trace=trace), turn=turn)
            self._nodes = list(self._shared.node)
        elif inline:
            self._nodes = [Node(description=description, trace=trace, step=step)
                           for _ in range(description.fabric.nodes)]
        self._fabric = Fabric(topology=self.topology, mtu=description.nic.mtu,
                              buffer=description.link.buffer)
        ports = description.fabric.nodes * description.node.cpus
        traces = len(self._fabric.events) + sum(
            len(node.trace) for node in self._nodes if self._traced)
        super().__init__({
            "cfg_we": In(1),
            "cfg_index": In(8),
            "cfg_data": In(32),
            "trace_enable": In(1),
            "profile_enable": In(1),
            "skip_enable": In(1),
            "limit": In(64),
            "attention": Out(1),
            "stall": Out(1),
            "expired": Out(1),
            "cycle": Out(64),
            "waiting": Out(ports),
            "stopped": Out(ports),
            "needs": Out(ports),
            "quiescent": Out(1),
            "crash": Out(32 * CRASH_WORDS),
            "cpu": In(HostSide).array(ports),
            "memory": Out(MemoryPort(description.memory.bytes // 8)).array(
                description.fabric.nodes),
            "clk_rest": Out(1),
            **({"trace": Out(TracePort).array(traces)} if self._traced else {}),
        })

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._description

    @property
    def ports(self) -> int:
        """Host ports: those of node 0 first, ``node.cpus`` of each."""
        return len(self.cpu)

    @property
    def topology(self) -> Graph:
        """The fabric's graph."""
        return graph_of(self._description)

    @property
    def node_module(self) -> Node:
        """The component that module NODE_MODULE is converted from; not with ``inline``."""
        return Node(description=self._description, gated=self._gated)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        description = self._description
        registers = TimingRegisters(description=description)
        m.submodules.timekeeper = keeper = Timekeeper(ports=self.ports)
        gated = self._gated
        rest = DomainRenamer({"sync": "rest"} if gated else {})
        now = Signal(32)
        if gated:
            # An edge is let through if anything was under way in the cycle before it, or a few
            # cycles earlier. It is decided at the falling edge, so that the clock cannot glitch.
            m.domains.rest = domain = ClockDomain(async_reset=True, local=True)
            m.domains.low = low = ClockDomain(clk_edge="neg", reset_less=True, local=True)
            wake, busy, settling = Signal(), Signal(), Signal(2)
            awake = Signal(init=1)
            m.d.low += awake.eq(wake)
            # In a cycle that wakes the rest this is late, but the fabric uses it only later.
            m.d.rest += now.eq(keeper.following)
            m.d.comb += [
                low.clk.eq(ClockSignal()),
                domain.clk.eq(ClockSignal() & awake),
                domain.rst.eq(ResetSignal()),
                # A port that needs its program may be given it after ``awake`` was set.
                wake.eq(ResetSignal() | busy | keeper.stall | (settling != 0)),
            ]
            with m.If(busy):
                m.d.sync += settling.eq(3)
            with m.Elif(settling != 0):
                m.d.sync += settling.eq(settling - 1)
        else:
            m.d.comb += now.eq(keeper.now)
        fabric = self._fabric
        m.submodules.fabric = rest(fabric)
        m.submodules.registers = rest(registers)
        nodes = list(self._nodes)
        if self._shared is not None:
            m.submodules.nodes = self._shared
        for number in range(description.fabric.nodes):
            if not self._inline:
                nodes.append(NodeSide(description).create(path=(f"node_{number}",)))
                m.submodules[f"node_{number}"] = _instance(nodes[number])
            elif self._shared is None:
                m.submodules[f"node_{number}"] = nodes[number]
        cpus = [cpu for node in nodes for cpu in node.cpu]

        m.d.comb += [
            registers.we.eq(self.cfg_we),
            registers.index.eq(self.cfg_index),
            registers.data.eq(self.cfg_data),
            fabric.timing.eq(registers.timing.as_value()[:Shape.cast(Timing).width]),
            fabric.now.eq(now),
            keeper.skip_enable.eq(self.skip_enable),
            keeper.limit.eq(self.limit),
            keeper.fatal.eq(Cat(node.crashed for node in nodes).any()),
            # When all programs have ended, there is no deadline to jump to.
            keeper.quiescent.eq(self.quiescent & ~self.stopped.all()),
            self.attention.eq(keeper.attention),
            self.stall.eq(keeper.stall),
            self.expired.eq(keeper.expired),
            self.cycle.eq(keeper.cycle),
            self.waiting.eq(Cat(cpu.waiting for cpu in cpus)),
            self.stopped.eq(Cat(cpu.stopped for cpu in cpus)),
            self.needs.eq(Cat(cpu.needs for cpu in cpus)),
            self.quiescent.eq(Cat(fabric.idle, *(node.idle for node in nodes),
                                  *(cpu.rests for cpu in cpus)).all()),
        ]

        if gated:
            m.d.comb += [
                busy.eq(~fabric.idle | Cat(node.wake for node in nodes).any()
                        | Cat(event.valid for event in fabric.events).any()),
                *(node.clk_rest.eq(ClockSignal("rest")) for node in nodes),
                self.clk_rest.eq(ClockSignal("rest")),
            ]

        for number, node in enumerate(nodes):
            connect(m, node.memory, flipped(self.memory[number]))
            nics = description.node.nics
            for place, link in enumerate(node.link, number * nics):
                connect(m, link.tx, fabric.up[place])
                connect(m, fabric.down[place], link.rx)
                m.d.comb += link.credit_stall.eq(fabric.credit_stall[place])
            m.d.comb += [
                node.node.eq(number),
                node.cpus.eq(description.node.cpus),
                node.cycle.eq(keeper.cycle),
                node.timing.eq(registers.timing),
                node.trace_enable.eq(self.trace_enable),
                node.profile_enable.eq(self.profile_enable),
            ]

        with m.If(keeper.fatal & ~self.expired):
            for node in reversed(nodes):
                with m.If(node.crashed):
                    m.d.sync += self.crash.eq(node.crash)

        for number, (cpu, outside) in enumerate(zip(cpus, self.cpu, strict=True)):
            connect(m, flipped(outside), cpu)
            m.d.comb += [
                keeper.distance[number].eq(cpu.distance),
                keeper.asks[number].eq(cpu.asks),
                keeper.needs[number].eq(cpu.needs),
            ]

        sources = list(zip(fabric.event_sources, fabric.events, strict=True))
        if self._traced:
            inner = [trace for node in nodes for trace in node.trace]
            for outside, inside in zip(self.trace, inner, strict=False):
                connect(m, flipped(outside), inside)
            for outside, ((place, block), event) in zip(self.trace[len(inner):], sources,
                                                        strict=True):
                expose(m, event, outside, node=place, block=block)
            return m
        for number, ((place, block), event) in enumerate(sources):
            sink = TraceSink(block=block)
            m.submodules[f"trace_{number}"] = rest(sink)
            connect(m, event, sink.event)
            m.d.comb += [
                sink.enable.eq(self.trace_enable),
                sink.cycle.eq(keeper.cycle),
                sink.node.eq(place),
            ]
        return m


def _instance(node: wiring.PureInterface) -> Instance:
    """An instance of the module that a node is converted to, joined to the interface ``node``."""
    ports = {}
    for path, member, value in node.signature.flatten(node):
        direction = "i" if member.flow == In else "o"
        ports[f"{direction}_{'__'.join(map(str, path))}"] = value
    return Instance(NODE_MODULE, i_clk=ClockSignal(), i_rst=ResetSignal(), **ports)
