"""The linear model of a protocol, and which protocols are worth having."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from ...fields import figure

__all__ = ["Error", "Fit", "dominated", "fit", "ranked"]

MANY, MORE = 512, 1024
"""Messages whose times give the cost of one."""
Times = Mapping[int, Fraction]
"""Cycles by number of messages."""


@dataclass(frozen=True)
class Error:
    """Of a·messages + b·bytes against the times, as parts of them."""

    most: float = figure("", "the largest")
    mean: float = figure("", "the mean")


class Fit(NamedTuple):
    """``a``: cycles a message, None if too few numbers of messages were measured; ``b``: cycles a
    byte; ``errors``: by which messages."""

    a: Fraction | None
    b: Fraction
    errors: dict[str, Error]


def fit(times: Times, volume: int, eager: int) -> Fit:
    """b = min T_N / bytes, a = (T_1024 − T_512) / 512, of ``volume`` bytes. If messages of up to
    ``eager`` bytes go by another way than the others, and both were measured, the errors of each
    are told, too."""
    b = min(time / volume for time in times.values())
    if MANY not in times or MORE not in times:
        return Fit(None, b, {})
    a = (times[MORE] - times[MANY]) / (MORE - MANY)
    short = [count for count in times if volume <= eager * count]
    parts = {"all": list(times)}
    if short and len(short) < len(times):
        parts |= {"eager": short, "longer": [count for count in times if count not in short]}
    found = {}
    for name, counts in parts.items():
        off = [abs(float((a * count + b * volume) / times[count] - 1)) for count in counts]
        found[name] = Error(max(off), sum(off) / len(off))
    return Fit(a, b, found)


def ranked(times: Mapping[str, Fraction]) -> list[str]:
    """Names by time, the fastest first; of equal ones in their order."""
    return sorted(times, key=lambda name: times[name])


def dominated(times: Mapping[str, Iterable[Fraction]]) -> dict[str, str]:
    """For each name that is nowhere faster than some other, and somewhere slower: that other, the
    one with the least sum. ``times`` has all names at the same points."""
    every = {name: list(points) for name, points in times.items()}
    found = {}
    for name, mine in every.items():
        better = [other for other, points in every.items()
                  if points != mine and all(one <= own for one, own in zip(points, mine,
                                                                           strict=True))]
        if better:
            found[name] = min(better, key=lambda other: sum(every[other]))
    return found
