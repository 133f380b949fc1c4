"""Components that processes join into larger ones, round after round: the algorithm alone.

Components are lists of edges, as in Split-C: each edge lies with the process of its own end, names
the component that the search found at its other end, and the edge behind it in its list. Whoever
has the root of a component walks along its list, wherever the edges are, and lists are joined
without moving edges.

:func:`joined` is one process's part, a generator. It yields what it wants of all processes, and is
sent the answer; all processes yield the same in the same order. A program carries that out by
messages, :func:`played` in one place, for all.
"""

from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from .lattice import Lattice

__all__ = ["Chain", "Join", "Link", "Read", "Total", "Walk", "Write", "chains", "joined", "played"]


class Chain(NamedTuple):
    """A list of edges: the first one and the last one. Edge n of process p has the number
    p * most + n, where ``most`` is the lattice's."""

    head: int
    tail: int


@dataclass(frozen=True)
class Walk:
    """Wants of the edges of ``lists``, list after list: number, other end, and the edge behind."""

    lists: list[Chain]


@dataclass(frozen=True)
class Read:
    """Wants the parents of ``nodes``, as they are before anybody writes. ``jump``: to go on from
    there, not to look at the ends of edges."""

    nodes: list[int]
    jump: bool = False


@dataclass(frozen=True)
class Write:
    """Wants ``parents`` of own nodes to be written."""

    parents: dict[int, int]


@dataclass(frozen=True)
class Link:
    """Wants edges to be put behind others: ``behind`` has the number of the one behind each."""

    behind: dict[int, int]


@dataclass(frozen=True)
class Total:
    """Wants the sum of all processes' ``value``."""

    value: int


@dataclass(frozen=True)
class Join:
    """Wants ``lists`` to be told to those who have their new roots, which come first; the answer
    are those that were told here, sorted."""

    lists: list[tuple[int, int, int]]


Step = Walk | Read | Write | Link | Total | Join
Walked = list[list[tuple[int, int, int]]]


def chains(lattice: Lattice, process: int, found: Mapping[int, int] | list[int]
           ) -> tuple[dict[int, Chain], list[int]]:
    """The lists of ``process``, whose search has ``found`` a component for each node of its block:
    by root; and of each of its edges the one behind it (of the last one of a list, itself)."""
    base, first = process * lattice.count, process * lattice.most
    lists: dict[int, Chain] = {}
    behind: list[int] = []
    for number, one in enumerate(lattice.outer[process][0].tolist(), first):
        root = found[one - base]
        behind.append(number)
        if root in lists:
            behind[lists[root].tail - first] = number
        lists[root] = Chain(lists[root].head if root in lists else number, number)
    return lists, behind


def joined(lists: dict[int, Chain]) -> Generator[Step, Any, None]:
    """Join components until no edge is left between any two.

    Each round: a root with a smaller one at the other end of an edge hooks to the smallest. The
    parents of all that ever hooked jump until all trees are stars. Edges within a component leave
    its list. The list of a root that has just hooked goes behind that of its new root.
    """
    hooked: dict[int, int] = {}
    while (yield Total(len(lists))):
        new = {}
        for root, edges in (yield from _ends(lists)).items():
            if (least := min(end for _, end, _ in edges)) < root:
                new[root] = least
        hooked.update(new)
        yield from _stars(hooked, new)
        behind: dict[int, int] = {}
        for root, edges in (yield from _ends(lists)).items():
            kept = [(edge, then) for edge, end, then in edges if end != hooked.get(root, root)]
            if not kept:
                del lists[root]
                continue
            lists[root] = Chain(kept[0][0], kept[-1][0])
            behind.update((edge, after) for (edge, then), (after, _)
                          in zip(kept, kept[1:], strict=False) if then != after)
        yield Link(behind)
        leaving = [(hooked[root], lists.pop(root)) for root in new if root in lists]
        told = yield Join([(root, chain.head, chain.tail) for root, chain in leaving])
        behind = {}
        for root, head, tail in told:
            if root in lists:
                behind[lists[root].tail] = head
            lists[root] = Chain(lists[root].head if root in lists else head, tail)
        yield Link(behind)


def _ends(lists: Mapping[int, Chain]) -> Generator[Step, Any, dict[int, list[Any]]]:
    """The edges of each list: number, the root at the other end, and the edge behind."""
    walked: Walked = yield Walk([*lists.values()])
    parents = iter((yield Read([end for edges in walked for _, end, _ in edges])))
    return {root: [(edge, next(parents), then) for edge, _, then in edges]
            for root, edges in zip([*lists], walked, strict=True)}


def _stars(parents: dict[int, int], new: Mapping[int, int]) -> Generator[Step, Any, None]:
    """Write the ``new`` ones of ``parents``, and let all of these jump until each is a root that
    has none but itself."""
    yield Write(dict(new))
    pending = sorted(parents)
    while (yield Total(len(pending))):
        above = yield Read([parents[root] for root in pending], jump=True)
        further = {root: parent for root, parent in zip(pending, above, strict=True)
                   if parent != parents[root]}
        parents.update(further)
        pending = [*further]
        yield Write(further)


@lru_cache(maxsize=1)
def played(lattice: Lattice) -> dict[str, list[Counter[int]]]:
    """All processes of ``lattice``, one beside the other: by kind of message, how many each one
    sends to each other one."""
    return _Played(lattice).sent


class _Played:
    """All processes in one place."""

    def __init__(self, lattice: Lattice) -> None:
        self._count, self._most, self._procs = lattice.count, lattice.most, lattice.procs
        searched = [lattice.searched(process) for process in range(lattice.procs)]
        self._parents = [parent for found in searched for parent in found]
        self._behind: list[int] = []
        self._ends: list[int] = []
        self.sent: dict[str, list[Counter[int]]] = {
            kind: [Counter() for _ in range(lattice.procs)]
            for kind in ("get", "read", "put", "store")}
        running = []
        for process, found in enumerate(searched):
            lists, behind = chains(lattice, process, found)
            running.append(joined(lists))
            ends = [self._parents[end] for end in lattice.outer[process][1].tolist()]
            self._send("get", process, lattice.outer[process][1] // self._count)
            room = [0] * (self._most - len(ends))
            self._behind += behind + room
            self._ends += ends + room
        steps: list[Any] = [next(one) for one in running]
        while steps:
            answers = self._answers(steps)
            steps = []
            for one, answer in zip(running, answers, strict=True):
                try:
                    steps.append(one.send(answer))
                except StopIteration:
                    pass

    def _send(self, kind: str, process: int, to: Any) -> None:
        self.sent[kind][process].update(int(other) for other in to if other != process)

    def _answers(self, steps: list[Any]) -> list[Any]:
        """Carry out what all want."""
        if isinstance(steps[0], Total):
            return [sum(step.value for step in steps)] * self._procs
        if isinstance(steps[0], Join):
            told: list[Any] = [[] for _ in steps]
            for me, step in enumerate(steps):
                for root, head, tail in step.lists:
                    told[root // self._count].append((root, head, tail))
                self._send("store", me, (root // self._count for root, _, _ in step.lists))
            return [sorted(one) for one in told]
        return [self._answer(me, step) for me, step in enumerate(steps)]

    def _answer(self, me: int, step: Walk | Read | Write | Link) -> Any:
        """Carry out what one wants, which does not depend on the others' steps."""
        if isinstance(step, Read):
            self._send("get", me, (node // self._count for node in step.nodes))
            return [self._parents[node] for node in step.nodes]
        if isinstance(step, Walk):
            walked = [self._walked(chain) for chain in step.lists]
            self._send("read", me, (edge // self._most for one in walked for edge, _, _ in one))
            return walked
        if isinstance(step, Link):
            self._send("put", me, (edge // self._most for edge in step.behind))
            for edge, then in step.behind.items():
                self._behind[edge] = then
            return None
        for node, parent in step.parents.items():
            self._parents[node] = parent
        return None

    def _walked(self, chain: Chain) -> list[tuple[int, int, int]]:
        edge, found = chain.head, []
        while True:
            found.append((edge, self._ends[edge], self._behind[edge]))
            if edge == chain.tail:
                return found
            edge = self._behind[edge]
