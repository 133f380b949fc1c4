"""The LogP signature of asynchronous calls, and what it says of a host that is the bottleneck.

The method is that of Active Messages. A host that spends more on a call and its reply than the rest
of the path takes has no idle time: g is o_s + o_r, and any computation between the calls, however
short, raises the cost of a call by its length.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from ....layouts.description import Description
from ....layouts.trace import TICKS
from ...estimate.compare import check
from ...estimate.logp import LogP, estimate
from ...results.document import cycles
from ...results.tables import amount, micro, table
from ..am.logp import AmLogp, SignatureParameters
from ..common.gap_bound import bound_line, bound_of, busy_table
from ..common.logp_evaluation import signature_points, trips_and_curves
from ..common.logp_results import DelayCost, SignatureResults, signature_figures
from ..common.logp_truth import LogpTruth
from ..fields import Outcome

__all__ = ["RpcLogp"]

NAMES = {"o_s": "o_s", "o_r": "o_r", "g": "g", "L": "L", "rtt": "RTT", "idle": "idle"}
CLOSE = Fraction(3, 100)


class RpcLogp(AmLogp):
    """LogP of asynchronous calls."""

    Results: ClassVar[type] = SignatureResults
    SHORT: ClassVar[Mapping[str, Any]] = {}

    def parameters(self, description: Description) -> SignatureParameters:
        """128 calls of one word; D as fractions of the round trip, two of them beyond it."""
        return SignatureParameters(128, delays=["0", "1/16", "1/8", "1/2", "1", "3/2"])

    def evaluate(self, raw: Any, description: Description, parameters: SignatureParameters
                 ) -> Outcome:
        """The parameters, the gap and the bound from the trace, and whether the host is the
        bottleneck."""
        trips, curves = trips_and_curves(raw)
        found = estimate(curves, Fraction(sum(trips), len(trips)))
        truth = LogpTruth.of(raw, description.design)
        gap, limit = truth.g, bound_of(truth.bound)
        figures = signature_figures(found, curves)
        results = SignatureResults(**figures, g_visible=found.visible, bound=limit)
        return Outcome(results=results, truth={"g": cycles(gap)}, points=signature_points(raw),
                       checks=_checks(found, gap, figures["cost_by_delay"]))

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """The parameters, the cost of a call by D, the busy shares and the bound."""
        results, clock = self.results(document), document["clock_mhz"]
        return [table("LogP, asynchronous calls", ["", "cycles", "µs"],
                      [(title, amount(getattr(results, name)),
                        micro(getattr(results, name), clock)) for name, title in NAMES.items()]),
                table("What a call costs in steady state, by D", ["D", "cost", "cost − D", "µs"],
                      [(amount(one.delay), amount(one.cost), amount(one.cost - one.delay),
                        micro(one.cost, clock)) for one in results.cost_by_delay or ()]),
                busy_table(results.bound), bound_line(results.bound)]


def _checks(found: LogP, gap: Fraction, costs: Sequence[DelayCost]) -> list[dict[str, Any]]:
    first = min((one for one in costs if one.delay), key=lambda one: one.delay)
    more = Fraction(first.cost) - found.g / TICKS
    return [
        check("g within 3 % of the truth", abs(found.g - gap) <= CLOSE * gap,
              f"{cycles(found.g)} and {cycles(gap)} cycles"),
        check("no idle time: g is o_s + o_r within 3 %", abs(found.idle) <= CLOSE * found.g,
              f"g {cycles(found.g)}, o_s + o_r {cycles(found.o_s + found.o_r)}"),
        check("the first D raises the cost of a call by its length, within 10 %",
              abs(more - Fraction(first.delay)) <= Fraction(first.delay) / 10,
              f"D {first.delay}, {float(more):.1f} cycles more"),
    ]
