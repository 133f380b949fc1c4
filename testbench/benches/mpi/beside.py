"""A ping-pong over MPI beside its twin over the layer below, and what the layer itself costs.

What a round trip over MPI takes beyond its twin's is the library's paths by part, its copies and
its registrations, what its calls of the channel take beyond the twin's own calls, and what is
waited longer. What is left of the measured difference, the rest, has a row of its own, and a check
that it is nothing but rounding.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.one_way import half_trip
from ...results.document import cycles, number
from ...results.tables import amount, table
from ..common.latencies import Latencies, Runs, ordered
from .split import PARTS_SHOWN, by_kind, split

__all__ = ["beside", "beside_tables", "beyond", "split_tables"]

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


def beside(outcome: dict[str, Any], runs: Runs, below: Runs, twins: Mapping[str, str],
           description: Description, report: Latencies) -> dict[str, Any]:
    """``outcome``, the evaluation of ``runs`` by ``report``, with the twins that ``twins`` name for
    each variant, the difference of each, and its split."""
    results, wrong, left = outcome["results"], [], {}
    results["twins"] = dict(twins)
    results["below"] = {name: {str(x): cycles(half_trip(run["trips"]).mean)
                               for x, run in by_x.items()} for name, by_x in below.items()}
    results["beyond"] = {}
    for variant, by_x in runs.items():
        found = results["beyond"][variant] = {}
        for x, run in by_x.items():
            twin = below[twins[variant]]
            other = twin[x if x in twin else min(twin)]
            parts, said = beyond(run, other, description)
            left[f"{variant}, {report.text(x)}"] = abs(parts[REST])
            found[str(x)] = {name: number(value) for name, value in parts.items()}
            if said:
                wrong.append(f"{variant}, {report.text(x)}: {said}")
    worst, most = max(left.items(), key=lambda one: one[1])
    outcome["checks"] += [
        check("the library's own time is what its paths were charged", not wrong,
              wrong[0] if wrong else "of every ping-pong, to two cycles a round trip"),
        check("the parts are all that a round trip takes beyond its twin", most <= MOST,
              f"but for at most {float(most):.2f} cycles" if most <= MOST else
              f"{worst}: but for {float(most):.2f} cycles")]
    return outcome


def beside_tables(document: Mapping[str, Any], report: Latencies) -> list[Any]:
    """Each variant beside its twin; then each difference by part (:func:`split_tables`)."""
    results = document["results"]
    half, below, twins = results["half"], results["below"], results["twins"]
    every = ordered(x for by_x in half.values() for x in by_x)
    columns, cells = [], []
    for variant, by_x in half.items():
        twin = below[twins[variant]]
        columns += [twins[variant], variant, "more"]
        values = [(twin.get(x, twin[ordered(twin)[0]]), by_x.get(x)) for x in every]
        cells += [[amount(under) for under, _ in values], [amount(over) for _, over in values],
                  [amount(None if over is None else over - under) for under, over in values]]
    shown: list[Any] = []
    for first in range(0, len(columns), COLUMNS):
        rows = [(report.text(x), *(column[index] for column in cells[first:first + COLUMNS]))
                for index, x in enumerate(every)]
        shown.append(table("Beside the layer below: half the round trip (cycles)",
                           [report.x, *columns[first:first + COLUMNS]], rows))
    return shown + split_tables(document, report)


def split_tables(document: Mapping[str, Any], report: Latencies) -> list[Any]:
    """Each difference by part."""
    results, shown = document["results"], []
    for variant, by_x in results["beyond"].items():
        chosen = ordered(by_x)[::max(1, -(-len(by_x) // (COLUMNS - 1)))]
        rows = [(text, *(amount(by_x[x][name]) for x in chosen)) for name, text in SHOWN.items()
                if name != "waiting"]
        rows += [("rank 0's CPU", *(amount(sum(by_x[x].values()) - by_x[x]["waiting"])
                                    for x in chosen)),
                 (SHOWN["waiting"], *(amount(by_x[x]["waiting"]) for x in chosen)),
                 ("a round trip", *(amount(sum(by_x[x].values())) for x in chosen))]
        shown.append(table(f"What a round trip takes beyond {results['twins'][variant]}: {variant} "
                           "(cycles)",
                           ["", *(report.text(x) for x in chosen)], rows))
    return shown
