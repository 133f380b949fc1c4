"""Components that processes join into larger ones, round after round: the algorithm alone.

:func:`joined` is one process's part of it, a generator. It yields what it wants of all processes,
and is sent the answer; all processes yield the same in the same order. A program carries that out
by messages, :func:`played` in one place, for all.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .lattice import Lattice

__all__ = ["MOVED", "Components", "Merge", "Read", "Total", "Write", "joined", "played"]

MOVED = 3
"""Most edges that a message of a merge moves: beside them it has the root."""


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
class Total:
    """Wants the sum of all processes' ``value``."""

    value: int


@dataclass(frozen=True)
class Merge:
    """Wants edges to be moved: root, and nodes at the other ends, up to MOVED of them."""

    moves: list[tuple[int, ...]]


Step = Read | Write | Total | Merge


@dataclass
class Components:
    """The components whose roots a process has: the other ends of their edges."""

    ends: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, lattice: Lattice, process: int, found: Sequence[int]) -> "Components":
        """Those in the block of ``process``, which its search has ``found``."""
        made = cls()
        base = process * lattice.count
        for one, two in zip(*(end.tolist() for end in lattice.outer[process]), strict=True):
            made.take(found[one - base], two)
        return made

    def take(self, root: int, *ends: int) -> None:
        """Take edges of ``root``."""
        self.ends.setdefault(root, []).extend(ends)


def joined(mine: Components) -> Generator[Step, Any, None]:
    """Join components until no edge is left between any two.

    Each round: the ends of edges become the roots that they now belong to, and edges within a
    component go. A root with a smaller one at another end hooks to the smallest. The parents of all
    that ever hooked jump until all trees are stars. The edges of a root that has just hooked move
    to its new root.
    """
    hooked: dict[int, int] = {}
    while True:
        roots = sorted(mine.ends)
        parents = iter((yield Read([end for root in roots for end in mine.ends[root]])))
        for root in roots:
            ends = [parent for _ in mine.ends[root] if (parent := next(parents)) != root]
            if ends:
                mine.ends[root] = ends
            else:
                del mine.ends[root]
        if not (yield Total(len(mine.ends))):
            break
        new = {root: least for root, ends in mine.ends.items() if (least := min(ends)) < root}
        hooked.update(new)
        yield from _stars(hooked, new)
        moves = []
        for root in new:
            ends = [end for end in mine.ends.pop(root) if end != hooked[root]]
            moves += [(hooked[root], *ends[at:at + MOVED]) for at in range(0, len(ends), MOVED)]
        yield Merge(moves)


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
def played(lattice: Lattice) -> tuple[list[Counter[int]], list[Counter[int]]]:
    """All processes of ``lattice``, one beside the other: how often each one reads from each other
    one, and how often it moves edges there."""
    procs, count = lattice.procs, lattice.count
    searched = [lattice.searched(process) for process in range(procs)]
    parents = [parent for found in searched for parent in found]
    reads: list[Counter[int]] = [Counter() for _ in range(procs)]
    moves: list[Counter[int]] = [Counter() for _ in range(procs)]
    mine = [Components.of(lattice, process, found) for process, found in enumerate(searched)]
    running = [joined(one) for one in mine]
    steps: list[Any] = [next(one) for one in running]
    while steps:
        answers: list[Any] = [None] * procs
        if isinstance(steps[0], Read):
            for me, step in enumerate(steps):
                reads[me].update(node // count for node in step.nodes if node // count != me)
                answers[me] = [parents[node] for node in step.nodes]
        elif isinstance(steps[0], Total):
            answers = [sum(step.value for step in steps)] * procs
        for me, step in enumerate(steps):
            if isinstance(step, Write):
                for node, parent in step.parents.items():
                    parents[node] = parent
            elif isinstance(step, Merge):
                for root, *ends in step.moves:
                    mine[root // count].take(root, *ends)
                    if root // count != me:
                        moves[me][root // count] += 1
        steps = []
        for one, answer in zip(running, answers, strict=True):
            try:
                steps.append(one.send(answer))
            except StopIteration:
                pass
    return reads, moves
