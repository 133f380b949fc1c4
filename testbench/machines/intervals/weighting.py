"""Weights of points, by how well they meet the figures of the fit; quantiles by weight."""

import math
from collections.abc import Sequence

__all__ = ["GRAIN", "KEPT", "effective", "interval", "quantile", "tolerance", "weight"]

GRAIN = 0.01
"""A fit meets a figure to this part of it at best: a message waits for the next look of a poll, so
times have steps."""
KEPT = 0.1
"""A point of less weight is not kept."""
ENDS = (0.05, 0.95)


def tolerance(published: float, rounding: float) -> float:
    """The largest residual at which a figure is met: its rounding, and :data:`GRAIN` at least."""
    return max(rounding / published, GRAIN)


def weight(residuals: Sequence[float], tolerances: Sequence[float]) -> float:
    """1 where all figures are met, and beyond that a normal density of what is over the
    tolerance, in units of it; 0 below :data:`KEPT`."""
    beyond = [max(0.0, abs(one) / most - 1) for one, most in zip(residuals, tolerances,
                                                                  strict=True)]
    found = math.exp(-sum(one * one for one in beyond) / 2)
    return found if found >= KEPT else 0.0


def effective(weights: Sequence[float]) -> float:
    """The number of points of equal weight that say as much."""
    squares = sum(one * one for one in weights)
    return sum(weights) ** 2 / squares if squares else 0.0


def quantile(values: Sequence[float], weights: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the weight is. Each value stands in the middle of its
    weight; between two values the quantile is on the line between them."""
    pairs = sorted((value, one) for value, one in zip(values, weights, strict=True) if one > 0)
    whole = sum(one for _, one in pairs)
    places, below = [], 0.0
    for _, one in pairs:
        places.append((below + one / 2) / whole)
        below += one
    if share <= places[0]:
        return pairs[0][0]
    for index in range(1, len(pairs)):
        if share <= places[index]:
            left, right = places[index - 1], places[index]
            between = (share - left) / (right - left)
            return pairs[index - 1][0] + between * (pairs[index][0] - pairs[index - 1][0])
    return pairs[-1][0]


def interval(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """The quantiles of 5 and 95 %."""
    low, high = (quantile(values, weights, share) for share in ENDS)
    return low, high
