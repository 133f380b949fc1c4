"""The LogP signature of asynchronous calls, and what it says of a host that is the bottleneck.

The method is that of Active Messages. A host that spends more on a call and its reply than the rest
of the path takes has no idle time: g is o_s + o_r, and any computation between the calls, however
short, raises the cost of a call by its length.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.logp import Curve, LogP, estimate
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ...results.tables import shares as shares_table
from ...truth.bound import bound, shares
from ...truth.budget import sends
from ...truth.spans import spans
from ...truth.steady import departures, true_gap, window
from ..am.logp import measure_signature
from ..common.logp_evaluation import bound_of, costs_by_delay
from ..common.logp_report import FIGURES, bound_line, draw, headline, series

__all__ = ["FIGURES", "draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

NAMES = {"o_s": "o_s", "o_r": "o_r", "g": "g", "L": "L", "rtt": "RTT", "idle": "idle"}
CLOSE = Fraction(3, 100)


def parameters(description: Description) -> dict[str, Any]:
    """128 calls of one word; D as fractions of the round trip, two of them beyond it."""
    return {"issues": 128, "words": 1, "delays": ["0", "1/16", "1/8", "1/2", "1", "3/2"]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """The round trip, then one run for each D."""
    return await measure_signature(lab, layer, parameters, tell)


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """The parameters, the gap and the bound from the trace, and whether the host is the
    bottleneck."""
    curves = [Curve(run["delay"] * TICKS, tuple(run["issued"]), tuple(run["handled"]))
              for run in raw["curves"]]
    trips = raw["rtt"]["trips"]
    found = estimate(curves, Fraction(sum(trips), len(trips)))
    gap, limit = _truth(raw["curves"], description.design)
    costs = costs_by_delay(curves)
    return {
        "results": {
            "o_s": cycles(found.o_s), "o_r": cycles(found.o_r), "g": cycles(found.g),
            "L": cycles(found.L), "rtt": cycles(found.rtt), "idle": cycles(found.idle),
            "g_residual": cycles(found.residual), "g_visible": found.visible,
            "o_r_by_delay": [{"delay": cycles(delay), "o_r": cycles(value)}
                             for delay, value in found.by_delay],
            "regimes": {"send_only": found.regimes.send_only, "steady": found.regimes.steady},
            "cost_by_delay": costs, "bound": limit},
        "truth": {"g": cycles(gap)},
        "points": {"rtt": [cycles(trip) for trip in trips],
                   "curves": [{"delay": run["delay"],
                               "issued": [cycles(ticks) for ticks in run["issued"]],
                               "handled": list(run["handled"])} for run in raw["curves"]]},
        "checks": _checks(found, gap, costs),
    }


def _truth(runs: Any, design: NicDesign) -> tuple[Fraction, dict[str, Any]]:
    """The time between packets of calls in steady state, and what bounds it, at D = 0."""
    base = next(run for run in runs if run["delay"] == 0)
    marks = spans(base["marks"])
    stream = [span.number for span in sends(marks, 0) if span.begin >= base["begin"]]
    times = departures(base["events"], 0, stream[:len(base["issued"])])
    found = bound(shares(base["events"], marks, *window(times), 0, 1, design))
    return true_gap(times), bound_of(found)


def _checks(found: LogP, gap: Fraction, costs: Any) -> list[dict[str, Any]]:
    first = min((one for one in costs if one["delay"]), key=lambda one: one["delay"])
    more = Fraction(first["cost"]) - found.g / TICKS
    return [
        check("g within 3 % of the truth", abs(found.g - gap) <= CLOSE * gap,
              f"{cycles(found.g)} and {cycles(gap)} cycles"),
        check("no idle time: g is o_s + o_r within 3 %", abs(found.idle) <= CLOSE * found.g,
              f"g {cycles(found.g)}, o_s + o_r {cycles(found.o_s + found.o_r)}"),
        check("the first D raises the cost of a call by its length, within 10 %",
              abs(more - Fraction(first["delay"])) <= Fraction(first["delay"]) / 10,
              f"D {first['delay']}, {float(more):.1f} cycles more"),
    ]


def tables(document: Mapping[str, Any]) -> list[Any]:
    """The parameters, the cost of a call by D, the busy shares and the bound."""
    results, clock = document["results"], document["clock_mhz"]
    return [table("LogP, asynchronous calls", ["", "cycles", "µs"],
                  [(title, amount(results[name]), micro(results[name], clock))
                   for name, title in NAMES.items()]),
            table("What a call costs in steady state, by D", ["D", "cost", "cost − D", "µs"],
                  [(amount(one["delay"]), amount(one["cost"]), amount(one["cost"] - one["delay"]),
                    micro(one["cost"], clock)) for one in results["cost_by_delay"]]),
            shares_table(results["bound"]), bound_line(results["bound"])]
