"""Benchmarks over layers of which each CPU can have a process: a lab whose programs, marks and
results are one a process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....host.port.node import Program
from ....layouts.description import Description
from ....layouts.doors import LAYERS
from ....layouts.trace import OF_NODES, OF_SWITCHES, Event
from .one_nic import OneNic

__all__ = ["Processes", "alike", "as_counted", "in_words", "wires"]

Place = tuple[int, int]
"""A node and a CPU."""


def wires(places: Sequence[Place], description: Description) -> list[int]:
    """The wire address of the NIC of each process: CPU k's is NIC k modulo ``node.nics``."""
    nics = description.node.nics
    return [node * nics + cpu % nics for node, cpu in places]


class Processes:
    """A lab whose programs are one a process, by number; marks and results have a process's number
    for a node's, and CPU 0. Events of a NIC, a bus or a memory are those of the first process that
    uses it; those of what none uses are left out.

    Parameters
    ----------
    lab
        A lab whose programs are one a node.
    places
        Node and CPU of each process, in order of both.
    """

    def __init__(self, lab: Any, places: Sequence[Place]) -> None:
        self._lab = lab
        self.places = list(places)
        """Node and CPU of each process."""
        self.traced: list[Event] = []
        """The events of the last run as the lab had them, by wire address."""
        used = wires(self.places, lab.description)
        self._by_place = {place: number for number, place in enumerate(self.places)}
        self._by_wire = {wire: used.index(wire) for wire in used}
        self._by_node = {node: number for number, (node, _) in
                         reversed(list(enumerate(self.places)))}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)

    @property
    def parties(self) -> int:
        """Number of processes."""
        return len(self.places)

    async def run(self, programs: Sequence[Any], **options: Any) -> Any:
        """As :meth:`~nicbed.testbench.lab.Lab.run`, of programs by process. Layers number those
        that run, so that those that do not are the last.

        Raises
        ------
        ValueError
            One is missing before others.
        """
        nodes, cpus = self.description.fabric.nodes, self.description.node.cpus
        if None in programs and any(programs[programs.index(None):]):
            raise ValueError("give the first processes a program each")
        each: list[list[Program | None]] = [[None] * cpus for _ in range(nodes)]
        for (node, cpu), program in zip(self.places, programs, strict=True):
            each[node][cpu] = program
        run = await self._lab.run([entry if any(entry) else None for entry in each], **options)
        self.traced = run.events
        return replace(
            run,
            results=[(run.results[node] or [None] * cpus)[cpu] for node, cpu in self.places],
            counters=[run.counters[node * cpus + cpu] for node, cpu in self.places]
            if run.counters else [],
            marks=[mark._replace(node=number, cpu=0) for mark in run.marks
                   if (number := self._by_place.get((mark.node, mark.cpu))) is not None],
            events=[found for event in run.events if (found := self._of(event)) is not None])

    def _of(self, event: Event) -> Event | None:
        """``event`` with the process to which its place belongs."""
        if event.block in OF_SWITCHES:
            return event
        where: Mapping[int, int] = self._by_node if event.block in OF_NODES else self._by_wire
        number = where.get(event.node)
        return None if number is None else event._replace(node=number)


def as_counted(lab: Any, layer: str) -> Any:
    """``lab`` as benchmarks over ``layer`` count: a program a process, where the layer has
    processes; else one a node, on NIC 0 where nodes have several."""
    places: Callable[[Description], Sequence[Place]] | None = LAYERS.get(layer).processes
    if places is not None:
        return Processes(lab, places(lab.description))
    return OneNic(lab) if lab.description.node.nics > 1 else lab


def alike(places: Sequence[Sequence[int]], count: int) -> bool:
    """Tells whether the first ``count`` processes are on one node, or each on one of its own: else
    what some of them do does not tell what the others will. True without any ``places``."""
    nodes = {node for node, _ in places[:count]}
    return len(nodes) <= 1 or len(nodes) == count


def in_words(places: Sequence[Sequence[int]]) -> str:
    """The processes of a result, in a line."""
    nodes = sorted({node for node, _ in places})
    cpus = sorted({cpu for _, cpu in places})

    def those(what: str, numbers: Sequence[int]) -> str:
        return (f"{what} {numbers[0]}" if len(numbers) == 1
                else f"{what}s {numbers[0]} to {numbers[-1]}")

    return f"{len(places)} processes: {those('CPU', cpus)} of {those('node', nodes)}"
