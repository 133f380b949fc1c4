"""One node sends to many in turn: its gap falls if the remote reply was the bottleneck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import Activity
from ...estimate.compare import check
from ...estimate.fairness import Fairness, fairness
from ...results.document import cycles
from ...results.tables import amount, table
from ...truth.service import to_many
from ...truth.spans import spans
from ..benchmark import Benchmark, Tell
from ..common.gap_bound import bound_line
from ..common.gap_report import (
    GapResults,
    draw_gaps,
    gap_figures,
    gap_headlines,
    gap_rows,
    gap_series,
    gap_truth,
    share_table,
)
from ..common.headline import Headline, Series
from ..common.streams import gap_of, measure_counts, services_of, starving, stream_truth
from ..fields import Outcome, figure, setting

__all__ = ["OneToMany", "OneToManyParameters", "OneToManyResults"]

SENDER = 0


@dataclass(frozen=True)
class OneToManyParameters:
    """1 to N - 1 receivers."""

    issues: int = setting(384, "requests of the sender")
    receivers: Sequence[int] = setting([1], "nodes to which it sends in turn")


@dataclass(frozen=True)
class OneToManyResults(GapResults):
    """The gap of the sender by number of receivers."""

    residual: Mapping[str, float] = figure("cycles", "of the line that the gap is the slope of")


def _shares(run: Mapping[str, Any]) -> Fairness:
    """Requests of the stream that each receiver handled."""
    begin = run["streams"][SENDER]["begin"]
    handled: dict[int, list[int]] = {}
    for span in spans(run["marks"]):
        if span.activity == Activity.REQUEST_HANDLE and span.begin >= begin:
            handled.setdefault(span.node, []).append(span.begin)
    return fairness({receiver: begin for receiver in handled}, handled)


class OneToMany(Benchmark):
    """One node sends to many."""

    nodes = 4
    Parameters = OneToManyParameters
    Results = OneToManyResults

    def parameters(self, description: Description) -> OneToManyParameters:
        """All nodes but one receive."""
        return OneToManyParameters(receivers=list(range(1, description.fabric.nodes)))

    async def measure(self, lab: Any, layer: str, parameters: OneToManyParameters, tell: Tell
                      ) -> dict[int, Any]:
        """One run for each number of receivers."""
        return await measure_counts(
            lab, layer, "receivers", parameters.receivers,
            lambda count: {SENDER: list(range(1, count + 1))}, parameters.issues, tell)

    def evaluate(self, raw: Any, description: Description, parameters: OneToManyParameters
                 ) -> Outcome:
        """The sender's gap by number of receivers, the prediction from the stages' services with
        the fewest receivers, and the receivers' shares."""
        lines = {count: gap_of(run["streams"][SENDER]) for count, run in raw.items()}
        truth = {count: stream_truth(run, SENDER, 1, description.design)
                 for count, run in raw.items()}
        one = lines[min(lines)].slope
        shares = {count: _shares(run) for count, run in raw.items()}
        services = services_of(raw[min(raw)], SENDER, 1, description.design)
        predicted = {count: to_many(services, one, SENDER, count) for count in lines}
        return Outcome(
            results=OneToManyResults(
                **gap_figures({count: line.slope for count, line in lines.items()}, predicted,
                              shares, truth),
                residual={str(count): cycles(line.residual) for count, line in lines.items()}),
            truth=gap_truth(truth, services),
            points={str(count): [cycles(ticks) for ticks in run["streams"][SENDER]["issued"]]
                    for count, run in raw.items()},
            checks=[check("more receivers do not raise the gap",
                          max(line.slope for line in lines.values()) <= one * Fraction(102, 100),
                          f"{cycles(one)} cycles at one receiver"),
                    *(check(f"the gap to {count} receivers is no more than predicted",
                            line.slope <= predicted[count].gap * Fraction(11, 10),
                            f"{cycles(line.slope)} measured, {cycles(predicted[count].gap)} "
                            "predicted") for count, line in lines.items()),
                    *(starving(found, f"of {count} receivers")
                      for count, found in shares.items())])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each number of receivers."""
        results, truth = self.results(document), document["truth"]
        rows = gap_rows(results, document["clock_mhz"],
                        lambda count: [amount(truth[count]["gap"])])
        last = list(results.gap)[-1]
        return [table("One to many: the sender's gap",
                      ["receivers", "gap", "µs", "over one", "traced gap", "bound by"], rows),
                share_table(results, "receivers"),
                bound_line(results.bound["1"], "g at 1 receiver"),
                bound_line(results.bound[last], f"g at {last} receivers")]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """The gap over the number of receivers."""
        results = self.results(document)
        gaps, bounds = results.gap, results.bound
        axes = figure.add_subplot()
        draw_gaps(results, axes, lambda count: f"{amount(gaps[count])}\n{bounds[count].block}",
                  max(gaps.values()) * 1.25, document["clock_mhz"])
        axes.set_xlabel("receivers, in turn")
        axes.set_ylabel("gap of the sender (cycles), and what bounds it")
        axes.set_title("One to many")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The gap by number of receivers."""
        return gap_headlines(self.results(document), "to")

    def series(self, document: Mapping[str, Any]) -> Series:
        """The gap over receivers."""
        return gap_series(self.results(document), "receivers", "the sender")
