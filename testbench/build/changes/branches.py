"""What a cluster reads only in a branch: while the branch is not taken, it is no input."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from .accesses import Variables, condition_of, read_keys, statement
from .clusters import Cluster
from .model import statements

__all__ = ["Branches", "branches", "heard"]

MOST = 4
"""So many branches of a cluster are told apart, those that read the most that nothing around them
reads. What others read counts as read by the branch around them, or always. With 8, nothing is
faster."""


def heard(number: int) -> str:
    """Variable of a cluster's function: not 0 if it took the branch ``number``."""
    return f"heard_{number}"


@dataclass(frozen=True)
class Branches:
    """The statements of a cluster as ``text``, in which ``count`` branches note that they are
    taken. ``readers``: for each key that only these read, their numbers."""

    text: str
    count: int
    readers: dict[str, set[int]]


@dataclass
class _Branch:
    """Statements, and the keys that they read whichever branches in them are taken."""

    body: list["str | _Conditional"]
    reads: set[str]
    number: int | None = None

    def inner(self) -> Iterator["_Branch"]:
        """The branches in it."""
        for one in self.body:
            if isinstance(one, _Conditional):
                yield from one.sides


@dataclass
class _Conditional:
    condition: str
    sides: list[_Branch]


class _Reader:
    def __init__(self, members: Variables, variables: Variables) -> None:
        self.members = members
        self.variables = variables

    def branch(self, texts: Iterable[str]) -> _Branch:
        found = _Branch([], set())
        for text in texts:
            if not text.lstrip().startswith("if"):
                found.body.append(text)
                found.reads |= statement(text, self.members, self.variables).reads
                continue
            condition, first, second = condition_of(text.strip())
            sides = [self.branch(statements(first)), self.branch(statements(second))]
            found.body.append(_Conditional(condition, sides))
            # What both sides read is read whichever is taken.
            found.reads |= read_keys(condition, self.members, self.variables)
            found.reads |= sides[0].reads & sides[1].reads
        return found


def _text(branch: _Branch, bit: int) -> str:
    lines = [] if branch.number is None else [f"{heard(branch.number)} = {bit:#x}ULL;"]
    for one in branch.body:
        if isinstance(one, str):
            lines.append(one)
            continue
        first, second = (_text(side, bit) for side in one.sides)
        lines.append(f"if ({one.condition}) {{\n{first}\n}}"
                     + (f" else {{\n{second}\n}}" if second else ""))
    return "\n".join(lines)


def _numbered(whole: _Branch, wanted: set[str], most: int) -> dict[str, set[int]]:
    """Number up to ``most`` branches in ``whole``, and tell for each key of ``wanted`` that only
    they read in which it is read."""
    found: list[tuple[_Branch, set[str], int]] = []

    def collect(branch: _Branch, known: set[str], around: int) -> None:
        for inner in branch.inner():
            found.append((inner, inner.reads & wanted - known, around))
            collect(inner, known | inner.reads, len(found) - 1)

    collect(whole, whole.reads, -1)
    chosen = sorted(sorted(range(len(found)), key=lambda at: -len(found[at][1]))[:most])
    always = set[str]()
    for at in reversed(range(len(found))):
        _, keys, around = found[at]
        if at not in chosen:
            (found[around][1] if around >= 0 else always).update(keys)
    readers: dict[str, set[int]] = {}
    numbers = count()
    for branch, keys, _ in (found[at] for at in chosen):
        if keys := keys - always:
            branch.number = next(numbers)
            for key in keys:
                readers.setdefault(key, set()).add(branch.number)
    return readers


def branches(cluster: Cluster, bit: int, members: Variables, variables: Variables,
             most: int = MOST) -> Branches:
    """The branches of ``cluster``, up to ``most``. Those that are taken set their variables to
    ``bit``.

    What a cluster did when it ran last follows from what it read then. As long as none of that
    changes it would take the same branches, so that what only the others read does not matter.
    """
    whole = _Reader(members, variables).branch(one.text for one in cluster.statements)
    # What it also writes, others may write, too.
    readers = _numbered(whole, cluster.reads - cluster.writes.keys(), most)
    return Branches(_text(whole, bit), len(set[int]().union(*readers.values())), readers)
