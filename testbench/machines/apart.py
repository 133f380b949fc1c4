"""Fits each parameter by itself, if each has a figure of its own that is nearly linear in it.

What a program computes with changes the time of that program alone, and the time is a line over it
but for waiting. So each parameter takes three runs, or a few more, where :mod:`.lattice`, which
knows of no such order, takes several for a step and all neighbours at the end: the middle of the
bounds; the value that were right if the figure were proportional to it; then where the line through
the two best values says, until it says the same again. All parameters take a step at the same time.
"""

from collections.abc import Sequence

import numpy as np

from .lattice import COARSE, ROUNDS, Found, Point, Residuals

__all__ = ["search_apart"]

Known = dict[int, float]
"""Of one parameter: the residuals of its figure, by index."""


def search_apart(counts: Sequence[int], zeros: Sequence[float], residuals: Residuals
                 ) -> tuple[Found, np.ndarray]:
    """The point of least residuals, and their change over the whole range of each parameter, as a
    matrix of one row a figure.

    Parameters
    ----------
    counts
        Index j is 0 to ``counts[j]``.
    zeros
        The index at which the knob would be 0, of each parameter; mostly below 0, and no whole
        number.
    residuals
        Of figure j, which depends on parameter j alone, in place j.
    """
    known: list[Known] = [{} for _ in counts]
    there: Point = tuple(count // 2 for count in counts)
    measured = 0
    for _ in range(ROUNDS):
        [row] = residuals([there])
        measured += 1
        for mine, index, residual in zip(known, there, row, strict=True):
            mine[index] = residual
        following = tuple(_next(mine, count, zero)
                          for mine, count, zero in zip(known, counts, zeros, strict=True))
        if following == there:
            break
        there = following
    found = tuple(_best(mine)[0] for mine in known)
    slopes = [_slope(mine, min(mine), max(mine)) * count
              for mine, count in zip(known, counts, strict=True)]
    return Found(found, tuple(mine[index] for mine, index in zip(known, found, strict=True)),
                 measured), np.diag(slopes)


def _best(known: Known) -> list[int]:
    """The indices, that of the least residual first."""
    return sorted(known, key=lambda index: (abs(known[index]), index))


def _slope(known: Known, one: int, other: int) -> float:
    return (known[one] - known[other]) / (one - other)


def _next(known: Known, count: int, zero: float) -> int:
    """Where to measure next."""
    best, *others = _best(known)
    if not others:
        guess = _within(round(zero + (best - zero) / (1 + known[best])), count)
        return guess if guess != best else _within(best + max(1, count // COARSE), count)
    slope = _slope(known, best, others[0])
    if not slope:
        return best
    return _within(round(best - known[best] / slope), count)


def _within(index: int, count: int) -> int:
    return min(max(index, 0), count)
