"""The points of a search, without those that conditions exclude or descriptions refuse."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UserError
from ..testbed.measurement import Measurement
from ..wording import counted
from .search import Search

__all__ = ["LISTED", "Place", "Point", "Space"]

LISTED = 500
"""Up to so many points are all looked at before the first is tried."""

Place = tuple[float, ...]
"""Where a point is on each axis: the number of a value, or a share of a range, 0 to 1."""


@dataclass(frozen=True)
class Point:
    """A point: its place, its knobs by name, all knobs by section and name, and what is measured
    by benchmark."""

    place: Place
    knobs: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Any]]
    wanted: Mapping[str, Measurement]


class Space:
    """The points of a search.

    Attributes
    ----------
    listed
        All points, if there are not more than :data:`LISTED`.
    excluded
        How many points that were looked at the conditions on knobs exclude.
    refused
        The line of each point that was looked at and that a description refuses, by its knobs.

    Raises
    ------
    UserError
        The description is wrong, or of all points none is left.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._conditions = [one for one in search.conditions if not one.figures]
        self._known: dict[tuple[Any, ...], Point | None] = {}
        self._bed = search.start.bed()
        self.excluded = 0
        self.refused: dict[tuple[Any, ...], str] = {}
        counts = [len(one.values) for one in search.axes]
        self.listed: list[Point] | None = None
        if 0 < math.prod(counts) <= LISTED:
            found = (self.point(place) for place in itertools.product(*map(range, counts)))
            self.listed = [one for one in found if one is not None]
            if not self.listed:
                why = next(iter(self.refused.values()), "the conditions exclude all")
                points = counted(math.prod(counts), "point")
                raise UserError(f"of {points} none can be tried: {why}")

    def point(self, place: Place) -> Point | None:
        """The point at ``place``; None if a condition excludes or the description refuses it."""
        axes = self._search.axes
        knobs = {axis.knob: axis.values[int(at)] if axis.values else axis.at(at)
                 for axis, at in zip(axes, place, strict=True)}
        known = tuple(knobs.values())
        if known not in self._known:
            self._known[known] = self._look(place, knobs)
        return self._known[known]

    def remarks(self) -> list[str]:
        """Returns what is to be told of points that are refused."""
        lines = list(dict.fromkeys(self.refused.values()))
        if not lines:
            return []
        left = "" if self.listed is None else (
            f"; {counted(len(self.listed), 'point is left', 'points are left')}")
        count = len(self.refused)
        return [f"{count} points are refused, such as: {lines[0]}{left}" if count > 1
                else f"a point is refused: {lines[0]}{left}"]

    def _look(self, place: Place, knobs: Mapping[str, Any]) -> Point | None:
        search = self._search
        try:
            values = search.start.description(knobs).model_dump()
            if not all(one.holds(values) for one in self._conditions):
                self.excluded += 1
                return None
            wanted = self._bed.wanted(search.benches, layer=search.start.layer, knobs=knobs)
        except UserError as error:
            self.refused[tuple(knobs.values())] = str(error).removeprefix("set: ")
            return None
        return Point(place, knobs, values, wanted)
