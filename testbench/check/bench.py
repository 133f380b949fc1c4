"""Two NICs in a simulator, cycle by cycle: what comes in is set, what goes out is looked at."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...host.port.memory import Allocator, ArrayMemory
from ...host.port.node import Programs
from ...host.runtime import Runtime
from ...layouts.description import Description
from .host import HostPort
from .pair import NICS, Fields, Pair
from .sides import DmaPort, Stalls, Wire

__all__ = ["Bench", "Broken", "How", "Nic", "Outcome"]

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
    """Circumstances of a run.

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
    """

    seed: int = 1
    stall: float = 0.0
    every: int = 1
    shared: bool = False
    asleep: bool = False
    reset_at: int = 0


class Nic:
    """A NIC's ports as numbers, by their flat names."""

    def __init__(self, number: int, inputs: Fields, outputs: Fields) -> None:
        self.number = number
        self._inputs, self._outputs = inputs.places, outputs.places
        self.word = 0
        self.seen = 0
        self.now = 0
        self.spans: dict[str, list[int]] = {}
        """By port: transfers, and the cycles of the first and the last."""
        self.log: list[tuple[int, str, int]] | None = None
        self.allow: Callable[[int, int], bool]
        self._owner: object | None = None
        self.shared = False

    def set(self, name: str, value: int) -> None:
        at, mask = self._inputs[name]
        self.word = self.word & ~(mask << at) | value << at

    def get(self, name: str) -> int:
        at, mask = self._outputs[name]
        return self.seen >> at & mask

    was = get

    @property
    def irq(self) -> bool:
        return "irq" in self._outputs and bool(self.get("irq"))

    def moved(self, port: str, value: int) -> None:
        """A transfer at ``port``."""
        span = self.spans.setdefault(port, [0, self.now, self.now])
        span[0] += 1
        span[2] = self.now
        if self.log is not None:
            self.log.append((self.now, port, value))

    def bus_for(self, who: object, asks: int | bool) -> bool:
        """Whether the bus is free for ``who``, and its from now on if it ``asks``."""
        if not self.shared:
            return True
        if self._owner is None and asks:
            self._owner = who
        return self._owner is who

    def bus_free(self, who: object) -> None:
        if self._owner is who:
            self._owner = None


@dataclass
class Outcome:
    """Of a run: the rules that were broken, how many cycles it took, all transfers, and by port how
    many there were, with the cycles of the first and the last."""

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
    """

    ports = NICS

    def __init__(self, description: Description, pair: Pair, step: Any, clock: Any) -> None:
        self.description, self._pair = description, pair
        self._step, self._clock = step, clock
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

    def broken(self, rule: str, nic: Nic | None, port: str, what: str) -> None:
        """Keep that ``rule`` was broken."""
        where = port if nic is None else f"NIC {nic.number}, {port}"
        self._found.append(Broken(rule, where, self.now, what))

    def _set_up(self, how: How) -> None:
        pair, side = self._pair, self._pair.side
        self.nics = [Nic(number, pair.inputs, pair.outputs) for number in range(NICS)]
        self.memories = [ArrayMemory(self.description.memory.bytes) for _ in range(NICS)]
        self.hosts, self._agents = [], []

        def stalls(name: str, every: int = 1) -> Stalls:
            return Stalls(f"{how.seed} {name}", how.stall, every)

        for nic, memory in zip(self.nics, self.memories, strict=True):
            nic.log = []
            nic.shared = how.shared
            host = HostPort(self, nic, memory, stalls(f"host {nic.number}"))
            self.hosts.append(host)
            self._agents.append(host)
            self._agents += [DmaPort(self, nic, number, side, memory,
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
        await self._step([0] * NICS)
        await self._clock([True] * NICS, True)
        runtime = Runtime(self.description, self, self.memories, programs, tracing=False)
        for nic, node in zip(self.nics, runtime.nodes, strict=True):
            node._allocator = given = _Given(self.description.memory.bytes)
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
                self.broken("ends", None, "", f"nothing has moved at a port for {PATIENCE} "
                            "cycles, and " + "; ".join(_waiting(runtime, self.now)))
        if runtime.failed is not None and not self._found:
            failed = runtime.failed
            rule, _, text = str(failed).partition(": ") if isinstance(failed, AssertionError) \
                else ("driver", "", f"{type(failed).__name__}: {failed}")
            self.broken(rule, None, "", text)
        return Outcome(list(self._found), self.now, [nic.log or [] for nic in self.nics],
                       [nic.spans for nic in self.nics], runtime.results)

    def _name(self, nic: Nic, flags: int) -> None:
        for bit, (rule, port) in enumerate(self._pair.rules):
            if flags >> bit & 1:
                self.broken(rule, nic, port, _values(nic, port))

    def _events(self, nic: Nic) -> None:
        for number in range(self._pair.side.events):
            if nic.get(f"events__{number}__valid"):
                value = nic.get(f"events__{number}__kind"), nic.get(f"events__{number}__number")
                nic.moved(f"events[{number}]", value[1] << 8 | value[0])


def _values(nic: Nic, port: str) -> str:
    """What is at ``port``, in words."""
    prefix = port.replace("[", "__").replace("]", "").replace(".", "__")
    found = {name[len(prefix):].lstrip("_"): nic.get(name) for name in nic._outputs
             if name.startswith(prefix) and name != "broken"}
    return ", ".join(f"{name.replace('__', '.') or prefix} = {value:#x}"
                     for name, value in found.items())


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
        """Whether all of these bytes were given."""
        at = bisect_right(self._ends, (address, self.size)) - 1
        return at >= 0 and address + size <= self._ends[at][1]


def _waiting(runtime: Runtime, now: int) -> Sequence[str]:
    return [f"{runtime.name(server.index)} {server.port.describe(now)}"
            for server in runtime.servers if server.coroutine is not None]
