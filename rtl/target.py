"""The whole target: all nodes, the fabric between them, and time."""

from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Instance,
    Module,
    ResetSignal,
    Signal,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ..layouts.description import Description
from ..layouts.fabric import Topology, chain
from ..layouts.operations import ANSWER_WORDS, BLOCK, ENTRY_WORDS
from ..layouts.processor import CRASH_WORDS
from .config import TimingRegisters
from .fabric import Fabric
from .mailbox import Mailbox
from .memory import HostMemory
from .node import CPUS, Node, NodeSide
from .timekeeper import Timekeeper
from .trace_sink import TraceSink

__all__ = ["NODE_MODULE", "TARGET_MODULE", "Target"]

NODE_MODULE = "nicbed_node"
TARGET_MODULE = "target"


class Target(wiring.Component):
    """Nodes, host memories, fabric, timing registers and timekeeper in one clock domain.

    What its environment has to do is said by :class:`Timekeeper` (attention, stall) and
    :class:`HostPort` (blocks). Reset is synchronous, and one cycle of it is enough; timing
    registers are written during it.

    The nodes are copies of one module, converted to Verilog on its own: :attr:`modules` lists what
    is to be converted. With ``inline`` they are submodules instead, so that Amaranth's simulator
    can run the target.

    Parameters
    ----------
    description : :class:`Description`
        Its structure knobs; its timing knobs are the registers' values after power-up.
    memory : :class:`str`
        Kind of :class:`HostMemory`.
    inline : :class:`bool`
        Nodes as submodules.
    gated : :class:`bool`
        The clock of all but the host ports and the timekeeper stands still while these have nothing
        to do. Changes no cycle, and saves a simulator half of its work; not with ``inline``.

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
        The first crash of a NIC processor, with which time ended, as layouts.processor says.
    attention, stall, expired : ``Out(1)``, cycle : ``Out(64)``
        As :class:`Timekeeper` says.
    waiting, stopped : ``Out(P)``, quiescent : ``Out(1)``, go : ``In(P)``
        One bit a host port. ``quiescent``: nothing but deadlines is pending.
    port{p}_count : ``In(3)``, port{p}_entries : ``In``, port{p}_answers : ``Out``
        Blocks of host port ``p``, as :class:`Mailbox` lays them out.

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    ValueError
        ``memory`` is not a kind of host memory.
    """

    def __init__(self, *, description: Description, memory: str, inline: bool = False,
                 gated: bool = False) -> None:
        if not isinstance(description, Description):
            raise TypeError(f"description must be a Description, not {description!r}")
        if memory not in HostMemory.KINDS:
            raise ValueError(f"memory must be 'array' or 'dpi', not {memory!r}")
        self._description = description
        self._memory = memory
        if inline and gated:
            raise ValueError("a target cannot be both inline and gated")
        self._inline = inline
        self._gated = gated
        self._ports = ports = description.fabric.nodes * CPUS
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
            "quiescent": Out(1),
            "crash": Out(32 * CRASH_WORDS),
            "go": In(ports),
            **{f"port{port}_{name}": member for port in range(ports) for name, member in (
                ("count", In(3)),
                ("entries", In(BLOCK * ENTRY_WORDS * 32)),
                ("answers", Out(BLOCK * ANSWER_WORDS * 32)),
            )},
        })

    @property
    def description(self) -> Description:
        """What it was made from."""
        return self._description

    @property
    def memory(self) -> str:
        """Kind of host memory."""
        return self._memory

    @property
    def ports(self) -> int:
        """Host ports: those of node 0 first."""
        return self._ports

    @property
    def topology(self) -> Topology:
        """The fabric's graph."""
        description = self._description
        return chain(description.fabric.nodes, description.fabric.switches,
                     description.switch.ports)

    @property
    def modules(self) -> list[tuple[str, wiring.Component]]:
        """Name of each Verilog module and what to convert into it, this target last."""
        if self._inline:
            return [(TARGET_MODULE, self)]
        return [(NODE_MODULE, Node(description=self._description, gated=self._gated)),
                (TARGET_MODULE, self)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        description = self._description
        registers = TimingRegisters(description=description)
        m.submodules.timekeeper = keeper = Timekeeper(ports=self._ports)
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
            # In a cycle that wakes the rest this is late, but the fabric looks at it later only.
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
        fabric = Fabric(topology=self.topology, mtu=description.nic.mtu,
                        buffer=description.link.buffer)
        m.submodules.fabric = rest(fabric)
        m.submodules.registers = rest(registers)
        nodes = []
        for number in range(description.fabric.nodes):
            if self._inline:
                node = Node(description=description)
                m.submodules[f"node_{number}"] = node
            else:
                node = NodeSide(description).create(path=(f"node_{number}",))
                m.submodules[f"node_{number}"] = _instance(node)
            nodes.append(node)
        cpus = [cpu for node in nodes for cpu in node.cpu]

        m.d.comb += [
            registers.we.eq(self.cfg_we),
            registers.index.eq(self.cfg_index),
            registers.data.eq(self.cfg_data),
            fabric.timing.eq(registers.timing),
            fabric.now.eq(now),
            keeper.skip_enable.eq(self.skip_enable),
            keeper.limit.eq(self.limit),
            keeper.fatal.eq(Cat(node.crashed for node in nodes).any()),
            # Once all programs have ended there is no deadline left to jump to.
            keeper.quiescent.eq(self.quiescent & ~self.stopped.all()),
            self.attention.eq(keeper.attention),
            self.stall.eq(keeper.stall),
            self.expired.eq(keeper.expired),
            self.cycle.eq(keeper.cycle),
            self.waiting.eq(Cat(cpu.waiting for cpu in cpus)),
            self.stopped.eq(Cat(cpu.stopped for cpu in cpus)),
            self.quiescent.eq(Cat(fabric.idle, *(node.idle for node in nodes),
                                  *(cpu.rests for cpu in cpus)).all()),
        ]

        if gated:
            m.d.comb += [
                busy.eq(~fabric.idle | Cat(node.wake for node in nodes).any()
                        | Cat(event.valid for event in fabric.events).any()),
                *(node.clk_rest.eq(ClockSignal("rest")) for node in nodes),
            ]

        for number, node in enumerate(nodes):
            memory = HostMemory(words=description.memory.bytes // 8, kind=self._memory,
                                node=number)
            m.submodules[f"memory_{number}"] = rest(memory)
            connect(m, node.memory, memory.port)
            connect(m, node.tx, fabric.up[number])
            connect(m, fabric.down[number], node.rx)
            m.d.comb += [
                node.node.eq(number),
                node.cycle.eq(keeper.cycle),
                node.timing.eq(registers.timing),
                node.trace_enable.eq(self.trace_enable),
                node.profile_enable.eq(self.profile_enable),
                node.credit_stall.eq(fabric.credit_stall[number]),
            ]

        with m.If(keeper.fatal & ~self.expired):
            for node in reversed(nodes):
                with m.If(node.crashed):
                    m.d.sync += self.crash.eq(node.crash)

        for number, cpu in enumerate(cpus):
            m.submodules[f"mailbox_{number}"] = box = Mailbox()
            m.d.comb += [
                cpu.go.eq(self.go[number]),
                cpu.count.eq(getattr(self, f"port{number}_count")),
                cpu.entry.eq(box.entry),
                box.index.eq(cpu.index),
                box.answer.eq(cpu.answer),
                box.slot.eq(cpu.slot),
                box.store.eq(cpu.answers),
                box.discard.eq(cpu.discards),
                box.entries.eq(getattr(self, f"port{number}_entries")),
                getattr(self, f"port{number}_answers").eq(box.answers),
                keeper.distance[number].eq(cpu.distance),
                keeper.asks[number].eq(cpu.asks),
                keeper.needs[number].eq(cpu.needs),
            ]

        for number, ((node, block), event) in enumerate(zip(fabric.event_sources, fabric.events,
                                                            strict=True)):
            sink = TraceSink(block=block)
            m.submodules[f"trace_{number}"] = rest(sink)
            connect(m, event, sink.event)
            m.d.comb += [
                sink.enable.eq(self.trace_enable),
                sink.cycle.eq(keeper.cycle),
                sink.node.eq(node),
            ]
        return m


def _instance(node: wiring.PureInterface) -> Instance:
    """An instance of the module that a node is converted to, joined to the interface ``node``."""
    ports = {}
    for path, member, value in node.signature.flatten(node):
        direction = "i" if member.flow == In else "o"
        ports[f"{direction}_{'__'.join(map(str, path))}"] = value
    return Instance(NODE_MODULE, i_clk=ClockSignal(), i_rst=ResetSignal(), **ports)
