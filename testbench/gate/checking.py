"""Finds what moved since it was accepted, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...layouts.description import knobs
from ..benches.common.headline import Headline
from ..why.difference import difference
from .file import Entry, Value
from .measuring import Measured, value_of
from .record import Kept

__all__ = ["Finding", "Row", "check", "compare", "why"]

Moved = tuple[str, Any, Any]
"""A name, what was accepted, and what is now."""


@dataclass(frozen=True)
class Row:
    """A figure: its accepted value, None if there is none yet, and its value now."""

    bench: str
    figure: str
    accepted: Value | None
    now: Value
    unit: str = "cycles"

    @property
    def holds(self) -> bool:
        """Tells whether it is the same, to the last digit."""
        return self.accepted == self.now

    @property
    def more(self) -> float | None:
        """By how much it moved, where both are numbers."""
        if isinstance(self.accepted, (int, float)) and isinstance(self.now, (int, float)):
            return self.now - self.accepted
        return None


@dataclass(frozen=True)
class Finding:
    """An entry beside its accepted values.

    Attributes
    ----------
    name
        The entry.
    rows
        Its figures.
    trip
        A round trip, accepted and now; None where none is split.
    parts
        Parts of the round trip that moved: cost items and stages. They add up to its difference.
    blocks
        Blocks whose busy cycles a message moved, in steady state.
    bound
        The block that bounds g, accepted and now; None where none is split.
    knobs
        Knobs that the description has otherwise now. They are no failure by themselves.
    area
        Cells of the NIC's blocks that are more or fewer, each block with what is inside.
    unknown
        Why there are no parts, where there should be.
    measured_area
        Whether the cells of the blocks were compared.
    """

    name: str
    rows: tuple[Row, ...]
    trip: tuple[float, float] | None = None
    parts: tuple[Moved, ...] = ()
    blocks: tuple[Moved, ...] = ()
    bound: tuple[str, str] | None = None
    knobs: tuple[Moved, ...] = field(default=())
    area: tuple[Moved, ...] = ()
    unknown: str = ""
    measured_area: bool = False

    @property
    def moved(self) -> list[Row]:
        """The figures that are others."""
        return [row for row in self.rows if not row.holds]

    @property
    def holds(self) -> bool:
        """Tells whether everything is as it was accepted."""
        return not (self.moved or self.parts or self.blocks or self.area or self.unknown)

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"name": self.name, "holds": self.holds, "knobs": self.knobs, "trip": self.trip,
                "parts": self.parts, "blocks": self.blocks, "bound": self.bound,
                "area": self.area, "unknown": self.unknown,
                "figures": [{"benchmark": row.bench, "figure": row.figure, "unit": row.unit,
                             "accepted": row.accepted, "now": row.now, "holds": row.holds}
                            for row in self.rows]}


def check(entry: Entry, kept: Kept | None, now: Measured) -> Finding:
    """``entry`` now, beside its accepted values and what was ``kept`` with them."""
    rows = [row for bench, figures in now.figures.items()
            for row in compare(bench, entry.accepted.get(bench, {}), figures)]
    return why(entry.name, rows, kept, now.kept)


def compare(bench: str, accepted: Mapping[str, Value], figures: Sequence[Headline]) -> list[Row]:
    """The figures of a benchmark beside their accepted values."""
    return [Row(bench, one.name, accepted.get(one.name), value_of(one), one.unit)
            for one in figures]


def why(name: str, rows: Sequence[Row], kept: Kept | None, now: Kept) -> Finding:
    """A finding with ``rows``, and what moved in the configuration and in the round trip."""
    if kept is None or (kept.split is None) != (now.split is None):
        nothing = now.split is None and now.area is None and kept is None
        return Finding(name, tuple(rows), unknown="" if nothing else "no round trip was accepted, "
                       "or there is none now: accept again")
    if (kept.area is None) != (now.area is None):
        return Finding(name, tuple(rows), unknown="no area of blocks was accepted, or there is "
                       "none now: accept again")
    others = tuple(_knobs(kept.config, now.config))
    measured_area = now.area is not None
    area = tuple(_cells(kept.area or {}, now.area or {}))
    if kept.split is None or now.split is None:
        return Finding(name, tuple(rows), knobs=others, area=area,
                       measured_area=measured_area)
    found = difference(kept.split, now.split)
    one, other = found["bound"]
    trip, now_trip = found["total"]
    return Finding(name, tuple(rows), (trip, now_trip), _moved(found["parts"]),
                   _moved(found["blocks"]), (one, other), others, area,
                   measured_area=measured_area)


def _moved(rows: Sequence[Sequence[Any]]) -> tuple[Moved, ...]:
    return tuple((name, one, other) for name, one, other in rows if one != other)


def _cells(one: Mapping[str, Mapping[str, int]], other: Mapping[str, Mapping[str, int]]
           ) -> list[Moved]:
    """The blocks with another count of a kind of cell; 0 for a block that is not there."""
    found = []
    for block in dict.fromkeys([*one, *other]):
        a, b = one.get(block, {}), other.get(block, {})
        found += [(f"{block}: {cell}", a.get(cell, 0), b.get(cell, 0))
                  for cell in dict.fromkeys([*a, *b]) if a.get(cell, 0) != b.get(cell, 0)]
    return found


def _knobs(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Moved]:
    """The knobs with another value; None where a configuration does not have one."""
    found = []
    for knob in knobs():
        section, key = knob.name.split(".")
        values = [config.get(section, {}).get(key) for config in (one, other)]
        if values[0] != values[1]:
            found.append((knob.name, *values))
    return found
