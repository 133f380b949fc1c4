"""The target for simulators: the machine with its host memories and mailboxes."""

from amaranth.hdl import ClockDomain, DomainRenamer, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect

from ..layouts.description import Description
from ..layouts.fabric import Graph
from .bus.memory import HostMemory
from .cpu.mailbox import add_mailboxes, mailbox_ports
from .machine import NODE_MODULE, Machine

__all__ = ["TARGET_MODULE", "Target"]

TARGET_MODULE = "target"
_SHARED = ("cfg_we", "cfg_index", "cfg_data", "trace_enable", "profile_enable", "skip_enable",
           "limit", "attention", "stall", "expired", "cycle", "waiting", "stopped", "quiescent",
           "crash")
"""Members that the target shares with the machine."""


class Target(wiring.Component):
    """A :class:`Machine`, a :class:`HostMemory` for each node, and a :class:`Mailbox` for each host
    port.

    :attr:`modules` lists the components to convert to Verilog.

    Parameters
    ----------
    description : :class:`Description`
        As of :class:`Machine`.
    memory : :class:`str`
        Kind of :class:`HostMemory`.
    inline, gated : :class:`bool`
        As of :class:`Machine`. With ``inline``, Amaranth's simulator can run the target.

    Members
    -------
    cfg_we, cfg_index, cfg_data, trace_enable, skip_enable, limit, profile_enable, crash, attention,
    stall, expired, cycle, waiting, stopped, quiescent
        As of :class:`Machine`.
    go : ``In(P)``
        One bit a host port.
    port{p}_count : ``In(3)``, port{p}_entries : ``In``, port{p}_answers : ``Out``
        Blocks of host port ``p``, as :class:`Mailbox` lays them out.

    Raises
    ------
    TypeError
        ``description`` is not a :class:`Description`.
    ValueError
        ``memory`` is not a kind of host memory, or ``inline`` and ``gated`` are both wanted.
    """

    def __init__(self, *, description: Description, memory: str, inline: bool = False,
                 gated: bool = False) -> None:
        self._machine = Machine(description=description, inline=inline, gated=gated)
        if memory not in HostMemory.KINDS:
            raise ValueError(f"memory must be 'array' or 'dpi', not {memory!r}")
        self._memory = memory
        self._inline = inline
        self._gated = gated
        ports = self._machine.ports
        super().__init__({
            **{name: self._machine.signature.members[name] for name in _SHARED},
            **mailbox_ports(ports),
        })

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._machine.description

    @property
    def memory(self) -> str:
        """Kind of host memory."""
        return self._memory

    @property
    def ports(self) -> int:
        """Host ports: those of node 0 first, ``node.cpus`` of each."""
        return self._machine.ports

    @property
    def topology(self) -> Graph:
        """The fabric's graph."""
        return self._machine.topology

    @property
    def modules(self) -> list[tuple[str, wiring.Component]]:
        """Name of each Verilog module and the component that it is converted from, this target
        last."""
        if self._inline:
            return [(TARGET_MODULE, self)]
        return [(NODE_MODULE, self._machine.node_module), (TARGET_MODULE, self)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.machine = machine = self._machine
        with_machine = DomainRenamer({"sync": "memories"} if self._gated else {})
        if self._gated:
            m.domains.memories = domain = ClockDomain(async_reset=True, local=True)
            m.d.comb += [domain.clk.eq(machine.clk_rest), domain.rst.eq(ResetSignal())]
        for name in _SHARED:
            inside, outside = getattr(machine, name), getattr(self, name)
            m.d.comb += (inside.eq(outside) if self.signature.members[name].flow == In
                         else outside.eq(inside))
        for number, port in enumerate(machine.memory):
            memory = HostMemory(words=self.description.memory.bytes // 8, kind=self._memory)
            m.submodules[f"memory_{number}"] = with_machine(memory)
            m.d.comb += memory.node.eq(number)
            connect(m, port, memory.port)
        add_mailboxes(m, self, machine.cpu)
        return m
