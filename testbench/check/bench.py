"""Two NICs in a simulator, cycle by cycle: their inputs are set and their outputs observed."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...host.port.memory import Allocator, ArrayMemory
from ...host.port.node import Programs
from ...host.runtime import Runtime
from ...layouts.description import Description
from .host_port import HostPort
from .nic_ports import NicPorts
from .pair import NICS, Pair
from .sides import DmaPort, Stalls, Wire

__all__ = ["Bench", "Broken", "How", "Outcome"]

PATIENCE = 20_000
"""Cycles in which something must happen at a port."""


@dataclass(frozen=True)
class Broken:
    """A broken rule: where, when, and with which values."""

    rule: str
    where: str
    cycle: int
    what: str

    def __str__(self) -> str:
        at = f" at cycle {self.cycle}" if self.cycle else ""
        return f"{self.where}{at}: {self.what}" if self.where else self.what


@dataclass(frozen=True)
class How:
    """The circumstances of a run.

    Attributes
    ----------
    seed
        Of all that is random.
    stall
        Probability that a cycle is a stall, at each port.
    every
        The links take and give a flit in one of so many cycles.
    shared
        A node's accesses to the NIC and the bursts of its ports go over one bus.
    asleep
        The clock of a NIC stands still while it is idle and nothing comes in.
    reset_at
        Cycle of a reset in the middle, after which the programs begin anew; 0 for none.
    own
        Timing knobs of the design's own that differ from the description: keys and values.
    """

    seed: int = 1
    stall: float = 0.0
    every: int = 1
    shared: bool = False
    asleep: bool = False
    reset_at: int = 0
    own: tuple[tuple[str, int], ...] = ()


@dataclass
class Outcome:
    """The outcome of a run: the broken rules, the cycles that it took, all transfers, and for each
    port their number and the cycles of the first and the last."""

    broken: list[Broken] = field(default_factory=list)
    cycles: int = 0
    logs: list[list[tuple[int, str, int]]] = field(default_factory=list)
    spans: list[dict[str, list[int]]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)


class Bench:
    """The mailbox and the memories that a :class:`Runtime` wants of a target, around ``pair``.

    Parameters
    ----------
    step
        Called with the inputs of both NICs; awaits until they have settled and returns the outputs.
    clock
        Called with whether each NIC's clock has an edge, beside the bench's own, and whether there
        is a reset.
    configure
        Called with the changed timing knobs of a run, in front of its reset.
    """

    ports = NICS

    def __init__(self, description: Description, pair: Pair, step: Any, clock: Any,
                 configure: Callable[[Mapping[str, int]], None]) -> None:
        self.description, self._pair = description, pair
        self._step, self._clock, self._configure = step, clock, configure
        self.now = 0
        self._found: list[Broken] = []

    # A runtime's mailbox

    def look(self) -> tuple[int, int, int]:
        return self.now, sum(host.waiting << at for at, host in enumerate(self.hosts)), 0

    def cycle(self) -> int:
        return self.now

    def crash(self) -> tuple[int, ...]:
        return 0, 0, 0

    def answers(self, port: int) -> bytearray:
        return self.hosts[port].answers

    def block(self, port: int) -> bytearray:
        return self.hosts[port].block

    def give(self, port: int, count: int) -> None:
        self.hosts[port].give(count)

    # Running

    def _broken(self, rule: str, where: str, what: str) -> None:
        self._found.append(Broken(rule, where, self.now, what))

    def _ports_of(self, number: int) -> NicPorts:
        def report(rule: str, port: str, what: str) -> None:
            self._broken(rule, f"NIC {number}, {port}", what)

        return NicPorts(number, self._pair.inputs, self._pair.outputs, report)

    def _set_up(self, how: How) -> None:
        side = self._pair.side
        self.nics = [self._ports_of(number) for number in range(NICS)]
        self.memories = [ArrayMemory(self.description.memory.bytes) for _ in range(NICS)]
        self.hosts: list[HostPort] = []
        self._agents: list[Any] = []

        def stalls(name: str, every: int = 1) -> Stalls:
            return Stalls(f"{how.seed} {name}", how.stall, every)

        for nic, memory in zip(self.nics, self.memories, strict=True):
            nic.shared = how.shared
            host = HostPort(nic, memory, stalls(f"host {nic.number}"))
            self.hosts.append(host)
            self._agents.append(host)
            self._agents += [DmaPort(nic, number, side, memory,
                                     stalls(f"dma {nic.number} {number}"))
                             for number in range(side.dma)]
        for nic in self.nics:
            other = self.nics[1 - nic.number]
            self._agents.append(Wire(nic, other, stalls(f"tx {nic.number}", how.every),
                                     stalls(f"rx {nic.number}", how.every)))

    async def run(self, programs: Programs, how: How) -> Outcome:
        """Reset the NICs and run ``programs`` to their ends, or until a rule is broken."""
        self._found = []
        outcome = await self._run(programs, how)
        if how.reset_at and not outcome.broken:
            again = await self._run(programs, How(how.seed + 1, how.stall, how.every, how.shared))
            outcome.broken = [Broken("reset", one.where, one.cycle,
                                     f"after a reset in cycle {how.reset_at}: rule {one.rule}: "
                                     f"{one.what}") for one in again.broken]
        return outcome

    async def _run(self, programs: Programs, how: How) -> Outcome:
        self.now = 0
        self._set_up(how)
        for nic in self.nics:
            nic.word = 0
        self._configure(dict(how.own))
        await self._step([0] * NICS)
        await self._clock([True] * NICS, True)
        runtime = Runtime(self.description, self, self.memories, programs, tracing=False)
        for nic, node in zip(self.nics, runtime.nodes, strict=True):
            node.host.allocator = given = _Given(self.description.memory.bytes)
            nic.allow = given.has
        last, quiet = 0, [0] * NICS
        more = runtime.attention()
        while more and not self._found and self.now != how.reset_at - 1:
            self.now += 1
            for agent in self._agents:
                agent.drive()
            seen = await self._step([nic.word for nic in self.nics])
            for nic, word in zip(self.nics, seen, strict=True):
                nic.seen, nic.now = word, self.now
                if flags := nic.get("broken"):
                    self._name(nic, flags)
                self._events(nic)
            edges = [not (how.asleep and nic.get("idle") and nic.get("quiet"))
                     for nic in self.nics]
            await self._clock(edges, False)
            for agent in self._agents:
                agent.sampled()
            if any(host.waiting for host in self.hosts):
                more = runtime.attention()
            moved = [sum(span[0] for name, span in nic.spans.items() if name[:3] != "pio")
                     for nic in self.nics]
            if moved != quiet:
                quiet, last = moved, self.now
            if self.now - last > PATIENCE:
                self._broken("ends", "", f"nothing has moved at a port for {PATIENCE} "
                            "cycles, and " + "; ".join(_waiting(runtime, self.now)))
        if runtime.failed is not None and not self._found:
            failed = runtime.failed
            rule, _, text = str(failed).partition(": ") if isinstance(failed, AssertionError) \
                else ("driver", "", f"{type(failed).__name__}: {failed}")
            self._broken(rule, "", text)
        return Outcome(list(self._found), self.now, [nic.log for nic in self.nics],
                       [nic.spans for nic in self.nics], runtime.results)

    def _name(self, nic: NicPorts, flags: int) -> None:
        for bit, (rule, port) in enumerate(self._pair.rules):
            if flags >> bit & 1:
                nic.broken(rule, port, nic.values(port))

    def _events(self, nic: NicPorts) -> None:
        for number in range(self._pair.side.events):
            if nic.get(f"events__{number}__valid"):
                value = nic.get(f"events__{number}__kind"), nic.get(f"events__{number}__number")
                nic.moved(f"events[{number}]", value[1] << 8 | value[0])


class _Given(Allocator):
    """Memory that a node gives to its programs and drivers, with gaps that it gives to nobody."""

    __slots__ = ("_ends",)

    GAP = 64

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._ends: list[tuple[int, int]] = []

    def allocate(self, length: int, align: int = 64) -> int:
        address = super().allocate(length + self.GAP, align)
        self._ends.append((address, address + -(-length // self.GAP) * self.GAP))
        return address

    def has(self, address: int, size: int) -> bool:
        """Tells whether all of these bytes were given."""
        at = bisect_right(self._ends, (address, self.size)) - 1
        return at >= 0 and address + size <= self._ends[at][1]


def _waiting(runtime: Runtime, now: int) -> Sequence[str]:
    return [f"{runtime.name(server.index)} {server.port.describe(now)}"
            for server in runtime.servers if server.coroutine is not None]
