"""Chooses the fitted knobs again at each point of typical values, by linear steps.

A point at random hardly ever meets the figures to which a description is fitted: what a typical
value takes from a round trip the fit would have given back. A search as of ``nicbed fit`` takes
tens of runs a point; so here each point begins at the description's fit with the slopes that were
measured there, and takes at most four steps. Each step corrects the slopes by what it has seen
(Broyden's rule).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from ..lattice import Point

__all__ = ["STEPS", "Refitted", "refitted"]

STEPS = 4
DAMPING = 1e-3
"""Keeps a step small in directions that no figure fixes."""
Tell = Callable[[int], None]
Residuals = Callable[[Sequence[tuple[int, Point]]], list[list[float]]]
"""Relative residuals, ours / published - 1, of the fit's figures at (case, fitted knobs)."""


@dataclass(frozen=True)
class Refitted:
    """The best fitted knobs of a case, as indices, and the residuals there."""

    point: Point
    residuals: tuple[float, ...]

    @property
    def cost(self) -> float:
        """Sum of squares."""
        return float(sum(one * one for one in self.residuals))


def refitted(cases: int, start: Point, counts: Sequence[int], slopes: np.ndarray,
             residuals: Residuals, met: Callable[[Sequence[float]], bool]) -> list[Refitted]:
    """The fitted knobs of each case; each begins at ``start``. ``counts``: the highest index of
    each knob. ``slopes``: change of each residual over a knob's whole range. ``met``: whether the
    residuals are within the figures' rounding, where a case ends."""
    scale = np.array([max(count, 1) for count in counts], dtype=float)
    here = dict.fromkeys(range(cases), start)
    slope = {case: np.array(slopes, dtype=float) for case in here}
    before: dict[int, tuple[Point, np.ndarray]] = {}
    tried = {case: {start} for case in here}
    best: dict[int, Refitted] = {}
    for _ in range(STEPS + 1):
        if not here:
            break
        rows = residuals(list(here.items()))
        there = {}
        for (case, point), row in zip(here.items(), rows, strict=True):
            found = Refitted(point, tuple(row))
            if case not in best or found.cost < best[case].cost:
                best[case] = found
            if met(row) or not counts:
                continue
            values = np.array(row, dtype=float)
            if case in before:
                slope[case] = _corrected(slope[case], before[case], (point, values), scale)
            before[case] = point, values
            step = _step(point, values, slope[case], counts, scale)
            if step not in tried[case]:
                tried[case].add(step)
                there[case] = step
        here = there
    return [best[case] for case in range(cases)]


def _corrected(slope: np.ndarray, before: tuple[Point, np.ndarray],
               now: tuple[Point, np.ndarray], scale: np.ndarray) -> np.ndarray:
    """``slope`` with the change that a step has made."""
    moved = (np.array(now[0]) - np.array(before[0])) / scale
    surprise = now[1] - before[1] - slope @ moved
    return slope + np.outer(surprise, moved) / float(moved @ moved)


def _step(point: Point, values: np.ndarray, slope: np.ndarray, counts: Sequence[int],
          scale: np.ndarray) -> Point:
    """The point where ``values`` would be 0, within the bounds."""
    low = -np.array(point) / scale
    high = (np.array(counts) - np.array(point)) / scale
    damped = np.vstack([slope, DAMPING * np.eye(len(counts))])
    wanted = np.concatenate([-values, np.zeros(len(counts))])
    step = lsq_linear(damped, wanted, (low - 1e-9, high + 1e-9), method="bvls").x * scale
    return tuple(int(min(max(round(index + float(change)), 0), count))
                 for index, change, count in zip(point, step, counts, strict=True))
