"""Shares of a resource that several parties wanted at once."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["STARVED", "Fairness", "fairness", "progress"]

STARVED = Fraction(9, 10)
"""A party starves if it gets less than this fraction of a fair share."""


def progress(times: Sequence[int], at: Fraction, begin: int = 0) -> Fraction:
    """Returns how many of ``times``, in order, had passed at ``at``. Between two of them, or
    between ``begin`` and the first, the value is interpolated."""
    count = bisect_right(times, at)
    if count == len(times):
        return Fraction(count)
    before = times[count - 1] if count else begin
    return count + max(Fraction(0), at - before) / (times[count] - before)


@dataclass(frozen=True)
class Fairness:
    """The shares of several parties in an interval in which all of them wanted more.

    Attributes
    ----------
    got
        Messages of each party, with fractions.
    length
        Length of the interval, in ticks.
    """

    got: Mapping[int, Fraction]
    length: Fraction

    @property
    def shares(self) -> dict[int, Fraction]:
        """Returns what each party got, divided by a fair share."""
        total = sum(self.got.values(), Fraction(0))
        return {one: len(self.got) * value / total if total else Fraction(1)
                for one, value in self.got.items()}

    @property
    def least(self) -> Fraction:
        return min(self.shares.values())

    @property
    def most(self) -> Fraction:
        return max(self.shares.values())

    @property
    def jain(self) -> Fraction:
        """Jain's index: 1 if all got the same, 1/K if one of K got everything."""
        shares = self.shares.values()
        total = sum(shares, Fraction(0))
        return total * total / (len(shares) * sum(share * share for share in shares))

    @property
    def starves(self) -> bool:
        """Tells whether a party got less than STARVED."""
        return self.least < STARVED

    @property
    def gap(self) -> Fraction:
        """Ticks from one message to the next of each party, averaged over all parties."""
        total = sum(self.got.values(), Fraction(0))
        return len(self.got) * self.length / total


def fairness(begins: Mapping[int, int], times: Mapping[int, Sequence[int]],
             skip: Fraction = Fraction(1, 3)) -> Fairness:
    """Fairness in an interval that ends when the first party has all of its ``times`` (ticks, in
    order). It begins at the latest of ``begins``, plus the fraction ``skip`` of the time from there
    to the end, in which pipelines fill.

    A party that has begun and gets nothing counts as well.
    """
    start = Fraction(max(begins.values()))
    stop = Fraction(min(each[-1] for each in times.values()))
    if stop <= start:  # one had finished before another began
        start = Fraction(min(begins.values()))
    start += (stop - start) * skip
    return Fairness({one: progress(each, stop, begins[one]) - progress(each, start, begins[one])
                     for one, each in times.items()}, stop - start)
