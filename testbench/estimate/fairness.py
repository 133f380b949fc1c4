"""Who got how much of what several wanted at once."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["STARVED", "Fairness", "fairness", "progress"]

STARVED = Fraction(9, 10)
"""Who gets less than this of a fair share starves."""


def progress(times: Sequence[int], at: Fraction, begin: int = 0) -> Fraction:
    """How many of ``times``, in order, had passed at ``at``; between two of them, or ``begin`` and
    the first, the part of the way to the next."""
    count = bisect_right(times, at)
    if count == len(times):
        return Fraction(count)
    before = times[count - 1] if count else begin
    return count + max(Fraction(0), at - before) / (times[count] - before)


@dataclass(frozen=True)
class Fairness:
    """What each of several got in a time in which all of them wanted more.

    Attributes
    ----------
    got
        Of each, messages, or parts of them.
    length
        Of the time, ticks.
    """

    got: Mapping[int, Fraction]
    length: Fraction

    @property
    def shares(self) -> dict[int, Fraction]:
        """Of each, what it got over a fair share."""
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
        """Jain's index: 1 where all got the same, 1/K where one of K got all."""
        shares = self.shares.values()
        total = sum(shares, Fraction(0))
        return total * total / (len(shares) * sum(share * share for share in shares))

    @property
    def starves(self) -> bool:
        """Whether one got less than STARVED."""
        return self.least < STARVED

    @property
    def gap(self) -> Fraction:
        """Ticks from one message to the next of each, on average of all."""
        total = sum(self.got.values(), Fraction(0))
        return len(self.got) * self.length / total


def fairness(begins: Mapping[int, int], times: Mapping[int, Sequence[int]],
             skip: Fraction = Fraction(1, 3)) -> Fairness:
    """From the latest of ``begins`` to the time at which the first has all of its ``times``, ticks
    in order, less the first ``skip`` of that, in which pipelines fill.

    One that has begun and gets nothing counts: it wanted to.
    """
    start = Fraction(max(begins.values()))
    stop = Fraction(min(each[-1] for each in times.values()))
    if stop <= start:  # one was through before another had begun
        start = Fraction(min(begins.values()))
    start += (stop - start) * skip
    return Fairness({one: progress(each, stop, begins[one]) - progress(each, start, begins[one])
                     for one, each in times.items()}, stop - start)
