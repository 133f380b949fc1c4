"""A complete target behind a serial line."""

from amaranth.hdl import ClockDomain, ClockSignal, DomainRenamer, EnableInserter, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ...layouts.description import Description
from ...layouts.timing import timing_registers
from ..machine import Machine
from ..node.shared_nodes import Turn
from .harness import Harness
from .line.serial_link import SerialLink
from .turns import Turns

__all__ = ["BoardCore"]


class BoardCore(wiring.Component):
    """The machine of a description, its host memories and blocks, and its control.

    There is one clock; control enables the machine's edges. With nodes that share their logic, node
    0's edge is one clock before the edge of the rest, a target cycle is 4 clocks, and control and
    the line exchange words only in some clocks (:class:`Turns`). Reset: as after power-up, with the
    machine in reset until the back end ends this.

    Parameters
    ----------
    description : :class:`Description`
        Its structure knobs; up to NODES_MAX nodes.
    divisor : :class:`int`
        Clock cycles of a bit on the line, 2 or more.
    identity : :class:`bytes`
        The configuration's hash: 4 IDENTITY_WORDS bytes.
    frames : :class:`int`
        Pages of host memory for each node on the board.
    shared : :class:`bool`
        Two nodes, without NIC processors, share one copy of a node's logic.

    Members
    -------
    rx : ``In(1)``, tx : ``Out(1)``
        The line from and to the back end, high when idle.
    running : ``Out(1)``
        Time runs.

    Raises
    ------
    TypeError, ValueError
        As :class:`Machine`, :class:`SerialLink` and :class:`Harness` do; and if ``node.cpus`` is
        more than 1.
    """

    rx: In(1, init=1)
    tx: Out(1)
    running: Out(1)

    def __init__(self, *, description: Description, divisor: int, identity: bytes,
                 frames: int, shared: bool = False) -> None:
        super().__init__()
        if description.node.cpus > 1:
            raise ValueError(f"node.cpus = {description.node.cpus}: a node on a board has one CPU")
        if description.node.nics > 1:
            raise ValueError(f"node.nics = {description.node.nics}: a node on a board has one NIC")
        self._link = SerialLink(divisor=divisor)
        self._step = Signal()
        self._turn = Turn() if shared else None
        self._machine = machine = Machine(description=description, inline=True, trace="ports",
                                          step=self._step, turn=self._turn)
        self._harness = Harness(
            nodes=machine.ports, words=description.memory.bytes // 8, sources=len(machine.trace),
            identity=identity, frames=frames, registers=len(timing_registers(description)))

    @property
    def description(self) -> Description:
        """The description of which it was made."""
        return self._machine.description

    @property
    def divisor(self) -> int:
        """Clock cycles of a bit."""
        return self._link.divisor

    @property
    def identity(self) -> bytes:
        """The configuration's hash."""
        return self._harness.identity

    @property
    def frames(self) -> int:
        """Pages of host memory for each node on the board."""
        return self._harness.frames

    @property
    def shared(self) -> bool:
        """Tells whether two nodes share one copy of a node's logic."""
        return self._turn is not None

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.link = link = self._link
        harness = self._harness
        machine = self._machine
        shared = self.shared
        # Whether the harness advances. Between two turns of nodes that share their logic it stands
        # still, and so do the streams between it and the link.
        look = Signal(init=1)
        m.submodules.harness = EnableInserter(look)(harness) if shared else harness

        # The same clock by other names, so that logic which depends on the machine's reset sees it.
        for name in ("target", "banks") if shared else ("target",):
            m.domains += (domain := ClockDomain(name, local=True))
            m.d.comb += [domain.clk.eq(ClockSignal()), domain.rst.eq(harness.reset)]
        enabled = EnableInserter(self._step)(machine)
        m.submodules.machine = DomainRenamer("target")(enabled)
        if self._turn is not None:
            m.submodules.turns = turns = Turns(turn=self._turn)
            m.d.comb += [turns.step.eq(harness.step), self._step.eq(turns.last),
                         look.eq(turns.look)]
        else:
            m.d.comb += self._step.eq(harness.step)

        # While ``look`` is low, a side sees no offered item, and its own items are not taken.
        for one, other in ((link.command, harness.command), (harness.response, link.response)):
            m.d.comb += [
                other.payload.eq(one.payload),
                other.valid.eq(one.valid & look),
                one.ready.eq(other.ready & look),
            ]
        m.d.comb += [
            link.rx.eq(self.rx),
            self.tx.eq(link.tx),
            link.again.eq(harness.again & look),
            self.running.eq(harness.running),
            *(getattr(machine, name).eq(getattr(harness, name)) for name in (
                "cfg_we", "cfg_index", "cfg_data", "trace_enable", "skip_enable", "limit")),
            *(getattr(harness, name).eq(getattr(machine, name)) for name in (
                "stall", "expired", "cycle", "needs", "crash")),
        ]
        for inside, outside in ((machine.cpu, harness.cpu), (machine.memory, harness.memory),
                                (machine.trace, harness.trace)):
            for one, other in zip(inside, outside, strict=True):
                connect(m, one, other)
        return m
