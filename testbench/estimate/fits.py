"""Straight lines through measured points, in exact arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Line", "fit"]


@dataclass(frozen=True)
class Line:
    """``slope`` * x + ``intercept``; ``residual`` is the largest distance of a point from it."""

    slope: Fraction
    intercept: Fraction
    residual: Fraction

    def at(self, x: int | Fraction) -> Fraction:
        """The line's value at ``x``."""
        return self.slope * x + self.intercept


def fit(x: Sequence[int | Fraction], y: Sequence[int | Fraction]) -> Line:
    """Least squares through the points (x, y).

    Raises
    ------
    ValueError
        There are fewer than two different x.
    """
    count = len(x)
    if count != len(y) or len(set(x)) < 2:
        raise ValueError(f"a line needs two different points, not {len(set(x))}")
    sum_x, sum_y = sum(x), sum(y)
    sum_xx = sum(a * a for a in x)
    sum_xy = sum(a * b for a, b in zip(x, y, strict=True))
    slope = Fraction(count * sum_xy - sum_x * sum_y) / Fraction(count * sum_xx - sum_x * sum_x)
    intercept = (Fraction(sum_y) - slope * sum_x) / count
    # The largest of count distances: floating point finds it, exact arithmetic gives its value.
    near = max(range(count), key=lambda i: abs(float(y[i]) - float(slope) * float(x[i])
                                               - float(intercept)))
    return Line(slope, intercept, abs(y[near] - slope * x[near] - intercept))
