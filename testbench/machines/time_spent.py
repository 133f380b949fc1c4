"""Tells from traces where a machine's time goes: a round trip in parts, and how long each block is
busy for a message.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..benches.common.logp_results import LogpResults
from ..benches.fields import read
from ..results.document import number
from ..why.round_trip import Parts, RoundTrip, beside, split
from .measured import ROUND_TRIP

__all__ = ["Spent", "spent"]

SHOWN = Fraction(1, 200)
"""Parts that take less than this on every machine, in microseconds, are left out."""

Outcomes = Mapping[tuple[str, str], Mapping[str, Any]]
"""Outcomes by machine and benchmark, each with its clock in MHz."""


@dataclass(frozen=True)
class Spent:
    """Times of parts in microseconds: of each part, one for each of ``machines``, None where a
    machine has no such part."""

    title: str
    machines: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Fraction | None, ...]], ...]

    def cells(self) -> Iterator[tuple[str, ...]]:
        """The rows as text."""
        for name, times in self.rows:
            yield name, *("–" if one is None else f"{float(one):.2f}" for one in times)

    def plain(self) -> dict[str, Any]:
        """As a result file has it."""
        return {name: {machine: None if one is None else number(one)
                       for machine, one in zip(self.machines, times, strict=True)}
                for name, times in self.rows}


def spent(outcomes: Outcomes) -> list[Spent]:
    """Of ``outcomes``, the round trips that were traced, whose parts, with those left out, add up
    to the last row; and how long each block is busy for a message in steady state, of which the
    longest bounds g."""
    trips, gaps = {}, {}
    for (machine, bench), outcome in outcomes.items():
        clock = Fraction(str(outcome["clock_mhz"]))
        if bench == ROUND_TRIP:
            trip = RoundTrip.of(outcome["results"])
            trips[machine] = [(name, cycles / clock) for name, cycles in split(trip)]
            trips[machine].append(("a round trip", trip.total / clock))
        elif bench == "logp":
            results: LogpResults = read(LogpResults, outcome["results"])
            gap = Fraction(str(results.g)) / clock
            gaps[machine] = [(one.block, Fraction(str(one.busy)) * gap)
                             for one in results.bound.shares]
            gaps[machine].append(("g", gap))
    return [_spent(title, one) for title, one in (
        ("Where a round trip of the smallest message goes (µs)", trips),
        ("What each block is busy for a message in steady state (µs)", gaps)) if one]


def _spent(title: str, times: Mapping[str, Parts]) -> Spent:
    """Of each machine's ``times``, the last one is the whole."""
    rows = [(name, tuple(several)) for name, several in beside([one[:-1] for one in times.values()])
            if any(one is not None and abs(one) >= SHOWN for one in several)]
    [(whole, several)] = beside([one[-1:] for one in times.values()])
    return Spent(title, tuple(times), (*rows, (whole, tuple(several))))
