"""The two axes of the design space: how much processing is in the NIC, and where it is attached.

A point on an axis is a set of knobs on top of a base description.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ...layouts.doors import CORES
from ..errors import UserError, nearest
from . import load

__all__ = ["AXES", "Point", "points"]

PATIENCE = {"am.retry_timeout": 4_000_000, "via.retry_timeout": 4_000_000}
"""Time-outs of all points of a comparison, so long that packets of the slowest processor are not
taken for lost."""

PROCESSORS = {"hardwired": "none", **{core: core for core in reversed(CORES.builtin)}}
"""Points of the axis of processing, from the most to the least. Hardwired: rings, or the VI
engine."""

ATTACHMENTS = {"memory bus": "memory-bus", "local bus": "local-bus", "I/O bus": "io-bus"}
"""Points of the axis of attachment, from the nearest on, with the description of each."""


def _processor(name: str) -> dict[str, Any]:
    return {"nic.processor": PROCESSORS[name], **PATIENCE}


def _attachment(name: str) -> dict[str, Any]:
    """Values of this description for every key in which the three descriptions differ."""
    files = [load.load(file) for file in ATTACHMENTS.values()]
    differing = load.difference(files)
    index = list(ATTACHMENTS).index(name)
    return {knob: values[index] for knob, values in differing.items()}


AXES = {"processor": (tuple(PROCESSORS), _processor),
        "attachment": (tuple(ATTACHMENTS), _attachment)}
"""Names of the points of each axis, in order, with the knobs of each point."""


@dataclass(frozen=True)
class Point:
    """A design point: its position on each axis, and the ``--set`` texts that make it."""

    name: str
    place: Mapping[str, str]
    overrides: tuple[str, ...]


def points(axes: Sequence[str]) -> list[Point]:
    """All combinations of points of ``axes``.

    Raises
    ------
    UserError
        An axis does not exist, or is named twice.
    """
    for axis in axes:
        if axis not in AXES:
            raise UserError(f"no axis is called {axis}{nearest(axis, list(AXES))}")
        if list(axes).count(axis) > 1:
            raise UserError(f"--axis {axis} is given twice")
    made = []
    for places in product(*(AXES[axis][0] for axis in axes)):
        knobs: dict[str, Any] = {}
        for axis, place in zip(axes, places, strict=True):
            knobs |= AXES[axis][1](place)
        made.append(Point(", ".join(places), dict(zip(axes, places, strict=True)),
                          tuple(f"{knob}={value}" for knob, value in knobs.items())))
    return made
