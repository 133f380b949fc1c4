"""From the runs of logp on VIA to o_s(n), o_r(n), g(n), L(n), the truth beside them, and checks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import TICKS, Activity
from ...estimate.compare import Row, check
from ...estimate.one_way import counting_loop, growth, receive_overhead
from ...results.document import cycles, number
from ...truth.breakdown import via_life
from ...truth.spans import spans
from ..common.bulk_report import size_text
from ..common.gap_bound import bound_of
from ..common.logp_results import RegimeEnds
from ..fields import Outcome
from .logp_results import InterruptResults, SizeResults, ViaLogpResults
from .size_estimates import SizeEstimates
from .size_truth import RECEIVER, SizeTruth

__all__ = ["evaluate"]


def evaluate(raw: Mapping[str, Any], description: Description) -> Outcome:
    """All figures by size, the signature at the smallest size, and o_r from the counting loop."""
    found = {size: _Size.of(description, size, run) for size, run in raw["sizes"].items()}
    rows = {size: one.rows() for size, one in found.items()}
    least = min(found)
    truth = {str(size): one.plain_truth() for size, one in found.items()}
    checks = _checks(found, rows)
    interrupts = None
    if raw.get("counting"):
        interrupts, lost, more = _counting(raw["counting"])
        truth["interrupts"] = {"o_r": lost}
        checks.append(more)
    return Outcome(
        results=_results(found, interrupts), truth=truth,
        comparison=[row.plain() for row in rows[least]],
        points={"curves": [{"delay": run["delay"],
                            "issued": [cycles(ticks) for ticks in run["issued"]],
                            "handled": list(run["handled"])} for run in raw["curves"]],
                "trips": {str(size): [cycles(trip) for trip in run["trips"]["trips"]]
                          for size, run in raw["sizes"].items()}},
        breakdown={size_text(size): via_life(one.truth.pairs, one.truth.trips["events"],
                                             description.design)
                   for size, one in found.items()},
        checks=checks)


@dataclass(frozen=True)
class _Size:
    """Estimates beside the truth at one size."""

    estimates: SizeEstimates
    truth: SizeTruth

    @classmethod
    def of(cls, description: Description, size: int, run: Mapping[str, Any]) -> "_Size":
        runs = run["trips"], run["delayed"], run["stream"]
        estimates = SizeEstimates(description, size, *runs)
        return cls(estimates, SizeTruth(description, *runs, estimates.packets, estimates.few))

    @property
    def visible(self) -> bool:
        """The gap is more than the host's own cost."""
        return (self.truth.bound.block != "host"
                and self.estimates.g > self.estimates.o_s * Fraction(102, 100))

    def rows(self) -> list[Row]:
        """Estimate and truth side by side, in cycles."""
        found, true, bias = self.estimates, self.truth, self.bias()
        made = []
        for name in ("o_s", "o_r", "g", "L") if true.there else ("o_s", "g"):
            value = getattr(true, name)
            if value is not None:
                made.append(Row(name, getattr(found, name) / TICKS, value / TICKS,
                                [(what, size / TICKS) for what, size in bias.get(name, [])]))
        return made

    def bias(self) -> dict[str, list[tuple[str, Fraction]]]:
        """The named reasons for which estimate and truth differ, in ticks."""
        found, true, legs = self.estimates, self.truth, self.truth.legs
        uncovered = (receive_overhead(found.delayed["trips"], found.delay, Fraction(0))
                     - true.sends_late - true.o_r)
        return {
            "o_s": [("interrupts at the end of the call", true.behind())],
            "o_r": [("sends cost other than the stream's first",
                     true.sends_late - found.o_s_alone),
                    ("what no mark covers, and checks that find nothing", uncovered)],
            "L": [("phase of the CPU's clock and of the poll", legs.seen),
                  ("between finding a message and echoing it; interrupts", legs.turn),
                  ("o_s and o_r here, less as estimated",
                   legs.o_s - found.o_s_alone + legs.o_r - found.o_r)],
        }

    def results(self) -> SizeResults:
        """The estimates in the form of a result file."""
        found, there, bound = self.estimates, self.truth.there, self.truth.bound
        return SizeResults(
            o_s=cycles(found.o_s), o_s_alone=cycles(found.o_s_alone),
            o_r=cycles(found.o_r) if there else None, L=cycles(found.L) if there else None,
            g=cycles(found.g) if self.visible else None, rate=cycles(found.g),
            g_visible=self.visible, half=cycles(found.half), bound_by=bound.block,
            busy=number(bound.busy))

    def plain_truth(self) -> dict[str, Any]:
        """The truth in the form of a result file."""
        true = self.truth
        return {"o_s": cycles(true.o_s), "o_r": cycles(true.o_r), "L": cycles(true.L),
                "half": cycles(true.half), "g": None if true.g is None else cycles(true.g),
                "post_receive": cycles(true.post_receive()),
                "send_complete": cycles(true.send_complete()),
                "legs": {name: cycles(value) for name, value in asdict(true.legs).items()}}


def _results(found: Mapping[int, _Size], interrupts: InterruptResults | None) -> ViaLogpResults:
    """All results by size, and those at the smallest one."""
    least = min(found)
    by_size = {str(size): one.results() for size, one in found.items()}
    growing = (growth(list(found), [one.estimates.o_s for one in found.values()]).slope / TICKS
               if len(found) > 1 else None)
    where = found[least].estimates.regimes
    return ViaLogpResults(
        **vars(by_size[str(least)]), size=least, by_size=by_size,
        o_s_per_byte=None if growing is None else number(growing),
        bound=bound_of(found[least].truth.bound),
        regimes=RegimeEnds(where.send_only, where.steady), interrupts=interrupts)


def _counting(raw: Mapping[str, Any]) -> tuple[InterruptResults, float, dict[str, Any]]:
    """o_r with interrupts, and the truth: the cycles in which the loop did not compute, less the
    same time of the loop alone; and their check."""
    alone, disturbed = raw["alone"], raw["disturbed"]
    messages = disturbed["messages"]
    o_r = counting_loop(alone["count"], disturbed["count"], messages, alone["ticks"])
    truth = Fraction(_lost(disturbed) - _lost(alone), messages)
    count = Fraction(alone["ticks"], alone["count"])
    # A loop ends at a whole count, so there is a rounding of one count at each end.
    return (InterruptResults(o_r=cycles(o_r), messages=messages, alone=alone["count"],
                             disturbed=disturbed["count"], per_count=cycles(count)),
            cycles(truth),
            check("o_r of the counting loop is the time that the loop lost",
                  abs(o_r - truth) <= max(truth / 50, 2 * count / messages),
                  f"{cycles(o_r)} estimated, {cycles(truth)} traced"))


def _lost(run: Mapping[str, Any]) -> int:
    """Ticks of a counting loop in which it did not count."""
    return run["ticks"] - sum(span.end - span.begin for span in spans(run["marks"])
                              if span.node == RECEIVER and span.activity == Activity.COMPUTE
                              and run["begin"] <= span.begin < run["end"])


def _checks(found: Mapping[int, _Size], rows: Mapping[int, Sequence[Row]]
            ) -> list[dict[str, Any]]:
    inexact = [size for size, one in found.items() if not one.truth.exact]
    waited = [size for size, one in found.items()
              if not one.truth.there and not one.truth.takes_cpu]
    unsteady = [size for size, one in found.items() if not one.estimates.regimes.steady]
    made = [
        check("half the round trip is the sum of its legs", not inexact,
              f"not at {inexact} bytes" if inexact else "to the tick"),
        check("a delay beyond L: each message is there when it is looked for", not waited,
              f"not at {waited} bytes" if waited else "each is"),
        check("a steady state is reached", not unsteady,
              f"not at {unsteady} bytes" if unsteady else "at every size"),
    ]
    for name, rest in (("o_s", True), ("g", False), ("o_r", True), ("L", True)):
        each = [(size, row) for size, by_size in rows.items() for row in by_size
                if row.quantity == name]
        off = [(size, row.left if rest else row.estimate - row.truth, row.truth)
               for size, row in each]
        limits = {size: max(abs(truth) / 50, Fraction(1, 8)) for size, _, truth in off}
        wrong = [one for one in off if abs(one[1]) > limits[one[0]]]
        worst = max(off, key=lambda one: abs(one[1]) / limits[one[0]], default=None)
        said = "no figures" if worst is None else (
            f"off by {float(worst[1]):.3f} cycles of {float(worst[2]):.3f} at {worst[0]} bytes")
        made.append(check(f"{name} within 2 % of the truth"
                          + (" plus its named bias" if rest else ""), not wrong, said))
    return made
