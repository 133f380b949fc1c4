"""Decides which statements run together, and in which order."""

from collections.abc import Set
from dataclasses import dataclass, field
from functools import cached_property

from .accesses import Statement, statement
from .groups import Groups
from .model import Model, Phase
from .parts import taken_apart

__all__ = ["Cluster", "clusters"]

SIZE = 30
"""Accesses from which on a cluster takes nothing more. About 20 is 2 to 3 % slower, and more to
compile; about 40 is 3 to 9 % slower: docs/explanation/performance.md."""

ALWAYS_SIZE = 1000
"""The same of a cluster that always runs."""

SHARE = 0.5
"""What joins a cluster has at least this share of its inputs in common with it, or is of the same
block."""

DEPTH = 6
"""So many names of a variable's path are those of a block."""


@dataclass
class Cluster:
    """Statements of phase ``phase`` that run one after the other, if at all.

    ``reads``: keys on whose value from before it depends; ``writes``: all that it may write.
    ``always``: it runs in each evaluation of its phase."""

    phase: int
    always: bool
    statements: list[Statement] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
    writes: dict[str, None] = field(default_factory=dict)
    sets: set[str] = field(default_factory=set)
    size: int = 0
    known: set[str] = field(default_factory=set)

    def take(self, one: Statement) -> None:
        """Append a statement."""
        self.statements.append(one)
        self.reads |= one.reads - self.sets
        self.sets |= one.sets
        self.writes.update(one.writes)
        self.size += one.size

    @property
    def locals(self) -> set[str]:
        """Variables of its function that it uses."""
        return set[str]().union(*(one.locals for one in self.statements))


def _order(body: list[Statement]) -> tuple[Groups, list[set[int]]]:
    """Statements that must stay together, and for each those that must come later."""
    groups = Groups(len(body))
    later: list[set[int]] = [set() for _ in body]
    by_local: dict[str, int] = {}
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    last_act = -1
    for number, one in enumerate(body):
        for local in one.locals:
            groups.join(number, by_local.setdefault(local, number))
        for key in one.reads:
            if key in writer:
                later[writer[key]].add(number)
            readers.setdefault(key, []).append(number)
        for key in one.writes:
            for reader in readers.pop(key, ()):
                if reader != number:
                    later[reader].add(number)
            if key in writer:
                # Of a variable all writers of a phase are in one cluster: skipped or run at once.
                groups.join(number, writer[key])
                later[writer[key]].add(number)
            writer[key] = number
        if one.acts:
            if last_act >= 0:
                later[last_act].add(number)
            last_act = number
    return groups, later


def _circles(nodes: list[int], after: dict[int, set[int]]) -> list[list[int]]:
    """Sets of nodes each of which comes after each other (Tarjan's algorithm)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found = []
    for root in nodes:
        if root in index:
            continue
        path = [(root, iter(after[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, others = path[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    path.append((other, iter(after[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = []
                    while not circle or circle[-1] != node:
                        circle.append(stack.pop())
                        on_stack.discard(circle[-1])
                    if len(circle) > 1:
                        found.append(circle)
    return found


def _of_groups(groups: Groups, later: list[set[int]]) -> dict[int, set[int]]:
    """``later`` for whole groups, each by the number that stands for it."""
    after: dict[int, set[int]] = {groups.of(number): set() for number in range(len(later))}
    for number, others in enumerate(later):
        after[groups.of(number)] |= {groups.of(other) for other in others}
    for group, others in after.items():
        others.discard(group)
    return after


@dataclass
class _Atom:
    """Statements that stay together. ``first``: the number of the first; ``after``: atoms that come
    later; ``before``: how many of those that come earlier are still to be placed."""

    first: int
    statements: list[Statement]
    after: set[int]
    before: int = 0
    inputs: set[str] = field(init=False)
    outputs: set[str] = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.outputs = set[str]().union(*(one.writes for one in self.statements))
        self.inputs = set[str]().union(*(one.reads for one in self.statements)) - self.outputs
        self.size = sum(one.size for one in self.statements)

    @cached_property
    def path(self) -> tuple[str, ...]:
        """Of the block that the first variable which is written is of."""
        first = next((key for one in self.statements for key in one.writes), "")
        return tuple(first.split("__DOT__")[:-1][:DEPTH])

    def always(self, blocks: Set[str]) -> bool:
        """Tells whether it runs always: it acts outside the model, or is of none of ``blocks``."""
        named = [key for key in self.outputs if "__DOT__" in key] or self.inputs
        return (any(one.acts for one in self.statements)
                or all(blocks.isdisjoint(key.split("__DOT__")[1:-1]) for key in named))


def _atoms(body: list[Statement]) -> dict[int, _Atom]:
    """What stays together of the statements of a phase: no two of them come after each other."""
    groups, later = _order(body)
    while circles := _circles(sorted(after := _of_groups(groups, later)), after):
        for first, *others in circles:
            for other in others:
                groups.join(other, first)
    atoms = {groups.of(numbers[0]): _Atom(numbers[0], [body[at] for at in numbers],
                                          after[groups.of(numbers[0])])
             for numbers in groups.all()}
    for atom in atoms.values():
        for other in atom.after:
            atoms[other].before += 1
    return atoms


def _of_phase(model: Model, number: int, phase: Phase, blocks: Set[str]) -> list[Cluster]:
    """The clusters of a phase, each after those that it depends on.

    They are filled one after the other with what may come next: first what is of the same block and
    has most of its inputs in common with the cluster, as that is likely to change when it does."""
    scope = model.scope(phase)
    atoms = _atoms([statement(part, scope) for text in phase.body
                    for part in taken_apart(text, scope)])
    steady = {atom.first: atom.always(blocks) for atom in atoms.values()}
    ready = [atom for atom in atoms.values() if not atom.before]
    found: list[Cluster] = []
    path: tuple[str, ...] = ()

    def fitting(cluster: Cluster) -> _Atom | None:
        """Returns what belongs into the cluster most of all that may come next."""
        most = ALWAYS_SIZE if cluster.always else SIZE
        best, share = None, SHARE
        for atom in ready if cluster.size < most else ():
            if steady[atom.first] != cluster.always or 2 * (cluster.size + atom.size) > 3 * most:
                continue
            common = (len(atom.inputs & cluster.known) / max(len(atom.inputs), 1)
                      + (cluster.always or atom.path[:len(path)] == path))
            if common > share or (best is None and common == share):
                best, share = atom, common
        return best

    while ready:
        ready.sort(key=lambda atom: atom.first)
        chosen = fitting(found[-1]) if found else None
        if chosen is None:
            chosen = ready[0]
            found.append(Cluster(number, steady[chosen.first]))
            path = chosen.path
        ready.remove(chosen)
        found[-1].known |= chosen.inputs | chosen.outputs
        for one in chosen.statements:
            found[-1].take(one)
        for other in chosen.after:
            atoms[other].before -= 1
            if not atoms[other].before:
                ready.append(atoms[other])
    return found


def clusters(model: Model, blocks: Set[str]) -> list[Cluster]:
    """All clusters of ``model``, in the order in which they run; those of ``blocks`` may rest.

    Raises
    ------
    NotKnown
        A statement is not of the forms known here.
    """
    return [cluster for number, phase in enumerate(model.phases)
            for cluster in _of_phase(model, number, phase, blocks)]
