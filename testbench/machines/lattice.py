"""Least squares over knobs that have steps.

A knob takes whole numbers or fractions on a grid, so a point is a tuple of indices, one for each
parameter, and what a simulator measures is known at points alone. The search goes from the middle
of the bounds: Gauss-Newton steps on differences between points, rounded to points, until they come
back; then from the best point a search among all neighbours, which rounding alone would miss. No
step depends on anything but the figures, so that equal figures give equal bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import lsq_linear

__all__ = ["Found", "Point", "search", "slopes"]

Point = tuple[int, ...]
Residuals = Callable[[Sequence[Point]], list[list[float]]]
"""Relative residuals, ours / published - 1, of the figures at each point."""

ROUNDS = 24
"""Most Gauss-Newton steps, and most moves of the search among neighbours."""
GRAIN = 48
"""A step's difference is taken over this part of a parameter's range, at least one step of it."""
COARSE = 8
"""The part of the range for the Jacobian of a result: so large that it does not show the phase of a
poll, which a figure has in it and which any parameter moves."""
WORSE, RIPPLE = 2.0, 1e-4
"""A step is kept unless it makes the sum of squares worse than this."""
DAMPING = 1e-6
"""Keeps the step small in directions that no figure fixes."""
MOST_NEIGHBOURS = 80


@dataclass(frozen=True)
class Found:
    """The best point, its residuals, and the number of points measured."""

    point: Point
    residuals: tuple[float, ...]
    measured: int

    @property
    def cost(self) -> float:
        """Sum of squares."""
        return float(sum(one * one for one in self.residuals))


def search(counts: Sequence[int], residuals: Residuals) -> Found:
    """The point with the least sum of squares; index j is 0 to ``counts[j]``."""
    known: dict[Point, list[float]] = {}

    def at(points: Sequence[Point]) -> list[np.ndarray]:
        new = [one for one in dict.fromkeys(points) if one not in known]
        known.update(zip(new, residuals(new), strict=True) if new else ())
        return [np.array(known[one]) for one in points]

    def cost(point: Point) -> float:
        return float(sum(one * one for one in known[point]))

    here: Point = tuple(count // 2 for count in counts)
    scale = np.array([max(count, 1) for count in counts], dtype=float)
    tried = {here}
    reach = 0.5
    for _ in range(ROUNDS):
        base, slope = _differences(here, counts, at)
        low = np.maximum(-np.array(here), -reach * scale) / scale
        high = np.minimum(np.array(counts) - np.array(here), reach * scale) / scale
        damped = np.vstack([slope * scale, DAMPING * np.eye(len(counts))])
        wanted = np.concatenate([-base, np.zeros(len(counts))])
        step = lsq_linear(damped, wanted, (low - 1e-12, high + 1e-12), method="bvls").x * scale
        there: Point = tuple(int(min(max(round(a + float(d)), 0), count))
                             for a, d, count in zip(here, step, counts, strict=True))
        if there in tried:
            break
        tried.add(there)
        at([there])
        # Rounding alone may make a point a little worse than the one before it.
        if cost(there) > WORSE * cost(here) + RIPPLE:
            reach /= 4
        else:
            here, reach = there, min(2 * reach, 0.5)
    here = min(known, key=lambda point: (cost(point), point))
    for _ in range(ROUNDS):
        around = list(_neighbours(here, counts))
        at(around)
        best = min(around, key=lambda point: (cost(point), point), default=here)
        if not cost(best) < cost(here):
            break
        here = best
    return Found(here, tuple(float(one) for one in known[here]), len(known))


def slopes(point: Point, counts: Sequence[int], residuals: Residuals) -> np.ndarray:
    """The Jacobian at ``point``: the change of each figure, relative to the published one, over
    the whole range of each parameter."""
    def at(points: Sequence[Point]) -> list[np.ndarray]:
        return [np.array(one) for one in residuals(points)]

    _, slope = _differences(point, counts, at, COARSE)
    return slope * np.array(counts, dtype=float)


def _differences(here: Point, counts: Sequence[int],
                 at: Callable[[Sequence[Point]], list[np.ndarray]], grain: int = GRAIN
                 ) -> tuple[np.ndarray, np.ndarray]:
    """Residuals at ``here``, and their change for a step of each parameter."""
    points, widths = [here], []
    for index, count in enumerate(counts):
        width = max(1, count // grain)
        width = width if here[index] + width <= count else -width
        width = max(width, -here[index])
        widths.append(width)
        points.append((*here[:index], here[index] + width, *here[index + 1:]))
    base, *others = at(points)
    columns = [(other - base) / width if width else np.zeros_like(base)
               for other, width in zip(others, widths, strict=True)]
    return base, np.stack(columns, axis=1)


def _neighbours(here: Point, counts: Sequence[int]) -> list[Point]:
    """The points one step away in any number of parameters; in one at a time, if those are too
    many."""
    steps = [move for move in product((-1, 0, 1), repeat=len(here)) if any(move)]
    if len(steps) > MOST_NEIGHBOURS:
        steps = [move for move in steps if sum(map(abs, move)) <= 2]
    moved = [tuple(a + d for a, d in zip(here, move, strict=True)) for move in steps]
    return [point for point in moved
            if all(0 <= a <= count for a, count in zip(point, counts, strict=True))]
