"""Finds what a cluster reads only in a branch: while the branch is not taken, it is no input."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from .accesses import Statement, condition_of, read_keys, statement
from .clusters import Cluster
from .model import Scope, statements

__all__ = ["Branches", "branches", "heard"]

MOST = 4
"""So many branches of a cluster are told apart, those that read the most that nothing around them
reads. What others read counts as read by the branch around them, or always. With 8, nothing is
faster."""


def heard(number: int) -> str:
    """Variable of a cluster's function: not 0 if it took the branch ``number``."""
    return f"heard_{number}"


@dataclass
class _Branch:
    """Statements, and the keys that they read whichever branches in them are taken."""

    body: list["Statement | _Conditional"] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
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


@dataclass(frozen=True)
class Branches:
    """The branches of a cluster's statements, which are ``whole``. ``readers``: for each key that
    only numbered branches read, their numbers."""

    whole: _Branch
    readers: dict[str, set[int]]

    @property
    def count(self) -> int:
        """Of the branches that are numbered."""
        return len(set[int]().union(*self.readers.values()))

    def text(self, bit: int, written: Callable[[Statement], str]) -> str:
        """The statements, each that is not conditional as ``written``. A numbered branch that is
        taken sets its variable (:func:`heard`) to ``bit``."""
        return _text(self.whole, bit, written)


def _text(branch: _Branch, bit: int, written: Callable[[Statement], str]) -> str:
    lines = [] if branch.number is None else [f"{heard(branch.number)} = {bit:#x}ULL;"]
    for one in branch.body:
        if isinstance(one, Statement):
            lines.append(written(one))
            continue
        first, second = (_text(side, bit, written) for side in one.sides)
        lines.append(f"if ({one.condition}) {{\n{first}\n}}"
                     + (f" else {{\n{second}\n}}" if second else ""))
    return "\n".join(lines)


def _branch(texts: Iterable[str], scope: Scope) -> _Branch:
    found = _Branch()
    for text in texts:
        if not text.startswith("if"):
            one = statement(text, scope)
            found.body.append(one)
            found.reads |= one.reads
            continue
        condition, *others = condition_of(text)
        sides = [_branch(statements(side), scope) for side in others]
        found.body.append(_Conditional(condition, sides))
        # What both sides read is read whichever is taken.
        found.reads |= read_keys(condition, scope)
        found.reads |= sides[0].reads & sides[1].reads
    return found


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
    told = [(found[at][0], found[at][1] - always) for at in chosen if found[at][1] - always]
    for number, (branch, keys) in enumerate(told):
        branch.number = number
        for key in keys:
            readers.setdefault(key, set()).add(number)
    return readers


def branches(cluster: Cluster, scope: Scope, most: int = MOST
             ) -> Branches:
    """The branches of ``cluster``, of which up to ``most`` are numbered.

    What a cluster did when it ran last follows from what it read then. As long as none of that
    changes it would take the same branches, so that what only the others read does not matter.
    """
    whole = _branch((one.text for one in cluster.statements), scope)
    # What it also writes, others may write, too.
    return Branches(whole, _numbered(whole, cluster.reads - cluster.writes.keys(), most))
