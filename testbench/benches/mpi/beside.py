"""A ping-pong over MPI beside its twin over the layer below, and what the layer itself costs.

What a round trip over MPI takes beyond its twin's is the library's paths by part, its copies and
its registrations, what its calls of the channel take beyond the twin's own calls, and what is
waited longer. What is left of the measured difference, the rest, has a row of its own, and a check
that it is nothing but rounding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.one_way import half_trip
from ...results.document import cycles, number
from ...results.tables import amount, table
from ..benchmark import Benchmark
from ..common.headline import Headline, Series
from ..common.latencies import Latencies, Runs, ordered
from ..fields import Outcome, figure
from .split import PARTS_SHOWN, Parts, by_kind, split

__all__ = ["Beside", "BesideResults", "Beyond", "beyond", "split_tables"]

REST = "rest"
SHOWN = {**PARTS_SHOWN, "channel": "calls of the channel, less those below",
         REST: "in no part: marks less counts"}
"""Rows of rank 0's CPU time, and of what it waits."""
MOST = 2
"""The rest, in cycles a round trip, at most. On the functional model it is below 0.01: marks are
rounded to ticks."""
COLUMNS = 6
"""Columns of a table, at most."""


def beyond(run: Mapping[str, Any], below: Mapping[str, Any], description: Description
           ) -> tuple[dict[str, Fraction], str]:
    """Returns what a round trip takes beyond its twin's, in target cycles of each part, and the
    rest, in none; and what the marks and the counts do not agree on, "" if nothing."""
    count, theirs = len(run["trips"]), len(below["trips"])
    parts, said = split(run, description, count)
    parts[REST] = Fraction(sum(run["trips"]), TICKS * count) - sum(parts.values())
    ends = [(stop - trip, stop) for trip, stop in zip(below["trips"], below["stops"], strict=True)]
    waits = by_kind(below["spans"], 0, ends).get("waiting", Fraction(0)) / TICKS / theirs
    parts["channel"] -= Fraction(sum(below["trips"]), TICKS * theirs) - waits
    parts["waiting"] -= waits
    return parts, said


@dataclass(frozen=True, kw_only=True)
class Beyond(Parts):
    """The difference between a round trip over MPI and its twin's, by part."""

    rest: float = figure("cycles", "in no part")


@dataclass(frozen=True, kw_only=True)
class BesideResults:
    """Half round trips over MPI, and over the layer below."""

    half: Mapping[str, Mapping[str, float]] = figure("cycles", "half the mean round trip, by way")
    extra: Mapping[str, Mapping[str, float]] | None = figure(
        "cycles", "what that is beyond the plain way", optional=True)
    twins: Mapping[str, str] = figure("", "the ping-pong below with which each way is compared")
    below: Mapping[str, Mapping[str, float]] = figure("cycles", "half the round trip of each twin")
    beyond: Mapping[str, Mapping[str, Beyond]] = figure(
        "cycles", "what a round trip takes beyond its twin's, by way")


class Beside(Benchmark):
    """A ping-pong over MPI in several ways, each beside its twin over the layer below. Its runs
    are {"runs": by way and x, "below": by twin and x}."""

    Results = BesideResults

    def report(self, parameters: Any) -> Latencies:
        """The evaluation and presentation of the half round trips."""
        raise NotImplementedError

    def twins(self, parameters: Any) -> dict[str, str]:
        """The name of each way's twin."""
        raise NotImplementedError

    def half(self, raw: Mapping[str, Any]) -> Runs:
        """The runs whose half round trips are the results."""
        return raw["runs"]

    def evaluate(self, raw: Mapping[str, Any], description: Description, parameters: Any
                 ) -> Outcome:
        """Latencies, those of the twins, the difference of each, and its split."""
        report, twins, below = self.report(parameters), self.twins(parameters), raw["below"]
        found, wrong, left = report.evaluate(self.half(raw), description), [], {}
        more: dict[str, dict[str, Beyond]] = {}
        for variant, by_x in raw["runs"].items():
            more[variant] = {}
            for x, run in by_x.items():
                twin = below[twins[variant]]
                other = twin[x if x in twin else min(twin)]
                parts, said = beyond(run, other, description)
                left[f"{variant}, {report.text(x)}"] = abs(parts[REST])
                more[variant][str(x)] = Beyond(**{name: number(value)
                                                  for name, value in parts.items()})
                if said:
                    wrong.append(f"{variant}, {report.text(x)}: {said}")
        worst, most = max(left.items(), key=lambda one: one[1])
        results = BesideResults(
            **found["results"], twins=twins, beyond=more,
            below={name: {str(x): cycles(half_trip(run["trips"]).mean)
                          for x, run in by_x.items()} for name, by_x in below.items()})
        return Outcome(**{**found, "results": results, "checks": [
            *found["checks"],
            check("the library's own time is what its paths were charged", not wrong,
                  wrong[0] if wrong else "of every ping-pong, to two cycles a round trip"),
            check("the parts are all that a round trip takes beyond its twin", most <= MOST,
                  f"but for at most {float(most):.2f} cycles" if most <= MOST else
                  f"{worst}: but for {float(most):.2f} cycles")]})

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Latencies; each way beside its twin; then each difference by part."""
        report, results = self.report(self.parameters_of(document)), self.results(document)
        return [*report.tables(document), *_twins_tables(results, report),
                *split_tables(results, report)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Half round trips over x, one line for each way."""
        self.report(self.parameters_of(document)).draw(document, figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Half round trips of each way, and its difference to the plain one."""
        return self.report(self.parameters_of(document)).headline(document)

    def series(self, document: Mapping[str, Any]) -> Series:
        """Half the round trip over x."""
        return self.report(self.parameters_of(document)).series(document)


def _twins_tables(results: BesideResults, report: Latencies) -> list[Any]:
    """Each variant beside its twin."""
    half, below, twins = results.half, results.below, results.twins
    every = ordered(x for by_x in half.values() for x in by_x)
    columns, cells = [], []
    for variant, by_x in half.items():
        twin = below[twins[variant]]
        columns += [twins[variant], variant, "more"]
        least = next(iter(twin.values()))
        values = [(twin.get(x, least), by_x.get(x)) for x in every]
        cells += [[amount(under) for under, _ in values], [amount(over) for _, over in values],
                  [amount(None if over is None else over - under) for under, over in values]]
    shown: list[Any] = []
    for first in range(0, len(columns), COLUMNS):
        rows = [(report.text(x), *(column[index] for column in cells[first:first + COLUMNS]))
                for index, x in enumerate(every)]
        shown.append(table("Beside the layer below: half the round trip (cycles)",
                           [report.x, *columns[first:first + COLUMNS]], rows))
    return shown


def split_tables(results: BesideResults, report: Latencies) -> list[Any]:
    """Each difference by part."""
    shown = []
    for variant, by_x in results.beyond.items():
        chosen = list(by_x.items())[::max(1, -(-len(by_x) // (COLUMNS - 1)))]
        rows = [(text, *(amount(getattr(one, name)) for _, one in chosen))
                for name, text in SHOWN.items() if name != "waiting"]
        rows += [("rank 0's CPU", *(amount(one.whole - one.waiting) for _, one in chosen)),
                 (SHOWN["waiting"], *(amount(one.waiting) for _, one in chosen)),
                 ("a round trip", *(amount(one.whole) for _, one in chosen))]
        shown.append(table(f"What a round trip takes beyond {results.twins[variant]}: {variant} "
                           "(cycles)", ["", *(report.text(x) for x, _ in chosen)], rows))
    return shown
