"""The timed part of a run, from marks alone: computation, communication, waiting.

A kernel marks its timed part as phases: what comes before the first iteration, each iteration,
what comes after the last. In these lie the calls of MPI, and in them what the layers below do; and
interrupts of computation, which are communication. Waiting is a look that finds nothing, or a wait
for an interrupt.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from ....host.apps.nas.process import PHASES
from ....layouts.trace import Activity
from ...truth.spans import Span

__all__ = ["KINDS", "Part", "Timed", "timed"]

KINDS = ("computation", "communication", "waiting")
_WAITING = (Activity.EMPTY_CHECK, Activity.BLOCKED)
_ITERATION = [phase.name for phase in PHASES].index("iteration")


@dataclass(frozen=True, slots=True)
class Part:
    """From ``begin`` to ``end`` ticks a process did one of KINDS."""

    kind: str
    begin: int
    end: int


@dataclass(slots=True)
class Timed:
    """The timed part of one process.

    Attributes
    ----------
    begin, end
        Ticks.
    first, iterations
        Ticks at which the first iteration began, and at which each ended.
    parts
        All of it, in order.
    """

    begin: int
    end: int = 0
    first: int = 0
    iterations: list[int] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def ticks(self, kind: str) -> int:
        """Tells how long it did one of KINDS."""
        return sum(part.end - part.begin for part in self.parts if part.kind == kind)

    def shares(self, begin: int, end: int, bins: int) -> list[list[Fraction]]:
        """Of ``bins`` equal stretches from ``begin`` to ``end``: the share of each of KINDS."""
        width = Fraction(end - begin, bins)
        found = [[Fraction(0)] * len(KINDS) for _ in range(bins)]
        for part in self.parts:
            kind = KINDS.index(part.kind)
            at: int | Fraction = part.begin
            while at < part.end:
                place = min(bins - 1, int((at - begin) / width))
                upto = min(part.end, begin + (place + 1) * width) if place < bins - 1 else part.end
                found[place][kind] += (upto - at) / width
                at = upto
        return found


def timed(found: Iterable[Span]) -> dict[int, Timed]:
    """The timed part of each node's process."""
    processes: dict[int, Timed] = {}
    for span in found:
        if span.activity != Activity.COMPUTE:
            continue
        one = processes.setdefault(span.node, Timed(span.begin))
        one.end = span.end
        if span.number == _ITERATION:
            one.first = one.first or span.begin
            one.iterations.append(span.end)
        one.parts += _parts(span, "computation")
    return processes


def _parts(span: Span, kind: str) -> Iterator[Part]:
    """The time of ``span``, whose own is ``kind``, in order."""
    at = span.begin
    for inner in span.inner:
        if at < inner.begin:
            yield Part(kind, at, inner.begin)
        yield from _parts(inner, "waiting" if inner.activity in _WAITING else "communication")
        at = inner.end
    if at < span.end:
        yield Part(kind, at, span.end)
