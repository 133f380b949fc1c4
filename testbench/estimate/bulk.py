"""Bandwidth figures from times over sizes. Times in cycles, sizes in bytes, both exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .fits import Line, fit

__all__ = ["Bandwidth", "bandwidth", "gap_per_byte", "prtt_send", "prtt_gap"]


@dataclass(frozen=True)
class Bandwidth:
    """``r_inf`` bytes a cycle for very long transfers; ``T0`` cycles, the intercept, which mixes
    overhead, latency and protocol; ``n_half`` the size (bytes) that reaches half of r_inf."""

    r_inf: Fraction
    T0: Fraction
    n_half: Fraction | None
    residual: Fraction


def bandwidth(sizes: Sequence[int], times: Sequence[Fraction]) -> Bandwidth:
    """r_inf from the slope of T(n) over the largest sizes, n_1/2 where n / T(n) crosses half of it
    (between two measured sizes, on the line between their times)."""
    points = sorted(zip(sizes, times, strict=True))
    large = [point for point in points if point[0] * 16 >= points[-1][0]]
    if len(large) < 2:
        large = points[-2:]
    line = fit([size for size, _ in large], [time for _, time in large])
    half = line.slope and 1 / (2 * line.slope)
    n_half = None
    for (size, time), (size2, time2) in zip(points, points[1:], strict=False):
        if Fraction(size) / time <= half <= Fraction(size2) / time2:
            # n = half * T(n) on the line between the two points.
            slope = (time2 - time) / (size2 - size)
            n_half = half * (time - slope * size) / (1 - half * slope)
            break
    if n_half is None and points and Fraction(points[0][0]) / points[0][1] > half:
        n_half = Fraction(points[0][0])
    return Bandwidth(1 / line.slope, line.intercept, n_half, line.residual)


def gap_per_byte(sizes: Sequence[int], gaps: Sequence[Fraction]) -> Line:
    """G: the slope of g(n), cycles a byte."""
    return fit(sizes, gaps)


def prtt_send(many: Fraction, one: Fraction, count: int, delay: int) -> Fraction:
    """o_s = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d, for d beyond the round trip."""
    return (many - one) / (count - 1) - delay


def prtt_gap(many: Fraction, one: Fraction, count: int) -> Fraction:
    """g(s) = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1)."""
    return (many - one) / (count - 1)
