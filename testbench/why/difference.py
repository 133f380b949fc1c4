"""The difference in parts, and the first event in which two runs differ."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...layouts.trace import Block, Event, Kind
from ..estimate.compare import check
from ..results.document import number
from .observation import Observation
from .round_trip import beside, split

__all__ = ["difference", "parting"]


def difference(one: Observation, other: Observation) -> dict[str, Any]:
    """The differences of two sides as plain data: figures, the round trip in parts, blocks in
    steady state, the event at which their runs part, and the checks that the parts add up."""
    parts = [(name, *(cycles or Fraction(0) for cycles in several))
             for name, several in beside([split(one), split(other)])]
    sums = [sum((a for _, a, _ in parts), Fraction(0)), sum((b for _, _, b in parts), Fraction(0))]
    checks = [check(f"the parts of {name}'s round trip add up", total == found.total,
                    "exactly" if total == found.total else
                    f"{number(total)} of {number(found.total)} cycles")
              for name, total, found in zip("AB", sums, (one, other), strict=True)]
    return {
        "figures": [[name, one.figures.get(name), other.figures.get(name)]
                    for name in dict.fromkeys([*one.figures, *other.figures])],
        "total": [number(one.total), number(other.total)],
        "parts": [[name, number(a), number(b)] for name, a, b in parts],
        "work": [_counts(one.work[node], other.work[node]) for node in (0, 1)],
        "bound": [one.bound, other.bound],
        "blocks": _blocks(one, other),
        "parting": parting(one.events, other.events),
        "checks": checks,
    }


def _counts(one: Mapping[str, tuple[Fraction, Fraction]],
            other: Mapping[str, tuple[Fraction, Fraction]]) -> list[list[Any]]:
    """Of each item: how many in a round trip on both sides."""
    none = (Fraction(0), Fraction(0))
    return [[item, number(one.get(item, none)[0]), number(other.get(item, none)[0])]
            for item in sorted({*one, *other})]


def _blocks(one: Observation, other: Observation) -> list[list[Any]]:
    """Of each block: cycles in which it is busy for a message in steady state, on both sides. Of
    the buses, memories and switch ports on the path there is the busiest one, which may be that of
    another node on the other side: it is the same row, whose name has both."""
    places = [{name.partition(",")[0]: name for name in found.blocks} for found in (one, other)]

    def busy(found: Observation, name: str | None) -> float | None:
        share, gap = found.blocks.get(name or ""), found.figures.get("g")
        return None if share is None or gap is None else number(Fraction(share) * Fraction(gap))

    rows: list[list[Any]] = []
    for block in dict.fromkeys([*places[0], *places[1]]):
        a, b = (place.get(block) for place in places)
        where = (b or "").removeprefix(f"{block}, ")
        rows.append([f"{a} in A, {where} in B" if a and b and a != b else a or b,
                     busy(one, a), busy(other, b)])
    return rows


def parting(one: Sequence[Event], other: Sequence[Event]) -> dict[str, Any] | None:
    """The first event in which two runs differ, on both sides; None if they are the same."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return {"place": place, "events": [_said(a), _said(b)]}
    if len(one) != len(other):
        place = min(len(one), len(other))
        return {"place": place, "events": [_said(events[place]) if place < len(events)
                                           else "no further event" for events in (one, other)]}
    return None


def _said(event: Event) -> str:
    name = f", message {event.number}" if event.number else ""
    return (f"cycle {event.cycle}: node {event.node}, {Block(event.block).name} "
            f"{Kind(event.kind).name}{name}")
