"""K nodes send to one: the gap at K senders over the gap at one, beside the prediction from the
stages' services, and each sender's share.

When a shared stage is the bottleneck, each of K senders gets one Kth of it: its gap is K times the
service of a request and its reply in this stage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ....layouts.fabric import graph_of
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, table
from ...truth.service import from_many
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
from ..common.one_nic import nic_0
from ..common.streams import common, measure_counts, services_of, starving, stream_truth
from ..fields import Outcome, figure, setting

__all__ = ["ManyToOne", "ManyToOneParameters", "ManyToOneResults"]

RECEIVER = 0


@dataclass(frozen=True)
class ManyToOneParameters:
    """1 to N - 1 senders."""

    issues: int = setting(256, "requests of each sender")
    senders: Sequence[int] = setting([1], "nodes that send at once")


@dataclass(frozen=True)
class ManyToOneResults(GapResults):
    """The gap of each sender by number of senders."""

    predicted_ratio: Mapping[str, float] = figure("", "predicted, over that of the fewest senders")


class ManyToOne(Benchmark):
    """Many nodes send to one."""

    nodes = 4
    Parameters = ManyToOneParameters
    Results = ManyToOneResults

    def parameters(self, description: Description) -> ManyToOneParameters:
        """All nodes but one send."""
        return ManyToOneParameters(senders=list(range(1, description.fabric.nodes)))

    async def measure(self, lab: Any, layer: str, parameters: ManyToOneParameters, tell: Tell
                      ) -> dict[int, Any]:
        """One run for each number of senders, all of them streaming to node 0."""
        return await measure_counts(
            lab, layer, "senders", parameters.senders,
            lambda count: {sender: [RECEIVER] for sender in range(1, count + 1)},
            parameters.issues, tell)

    def evaluate(self, raw: Any, description: Description, parameters: ManyToOneParameters
                 ) -> Outcome:
        """Gaps, their ratios, shares, and the prediction from the stages' services with the fewest
        senders."""
        found = {count: common(run) for count, run in raw.items()}
        gaps = {count: one.gap for count, one in found.items()}
        truth = {count: stream_truth(run, 1, RECEIVER, description.design)
                 for count, run in raw.items()}
        fewest = min(gaps)
        one = gaps[fewest]
        services = services_of(raw[fewest], 1, RECEIVER, description.design)
        graph = graph_of(description)
        predicted = {count: from_many(services, one, RECEIVER, range(1, count + 1), graph,
                                      nic_0(description))
                     for count in gaps}
        checks = [check(f"the gap at {count} senders follows the prediction",
                        abs(gaps[count] - predicted[count].gap) <= predicted[count].gap / 10,
                        f"{cycles(gaps[count])} measured, {cycles(predicted[count].gap)} predicted")
                  for count in gaps]
        checks += [starving(shares, f"of {count} senders") for count, shares in found.items()]
        return Outcome(
            results=ManyToOneResults(
                **gap_figures(gaps, predicted, found, truth),
                predicted_ratio={str(count): number(value.gap / one)
                                 for count, value in predicted.items()}),
            truth=gap_truth(truth, services),
            points={str(count): {str(sender): {"begin": cycles(stream["begin"]), "issued": [
                cycles(ticks) for ticks in stream["issued"]]}
                for sender, stream in run["streams"].items()} for count, run in raw.items()},
            checks=checks)

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each number of senders."""
        results, truth = self.results(document), document["truth"]
        rows = gap_rows(results, document["clock_mhz"], lambda count: [
            f"{results.predicted_ratio[count]:.3f}", amount(truth[count]["o_r"]),
            amount(truth[count]["o_s"])])
        made = table("Many to one: each sender's gap",
                     ["senders", "gap", "µs", "over one", "predicted", "o_r there", "o_s there",
                      "bound by"], rows)
        last = list(results.gap)[-1]
        return [made, share_table(results, "senders"),
                bound_line(results.bound[last], f"g at {last} senders")]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Measured and predicted gap over the number of senders."""
        from ...results.plots import INK

        results = self.results(document)
        gaps, predicted = results.gap, results.predicted_gap
        axes = figure.add_subplot()
        axes.plot([int(count) for count in predicted], list(predicted.values()), color=INK,
                  ls=(0, (5, 3)), lw=1.2,
                  label="predicted: K services of the stage that all share, or the gap of one")
        draw_gaps(results, axes, lambda count: amount(gaps[count]),
                  max(*gaps.values(), *predicted.values()) * 1.15, document["clock_mhz"])
        axes.set_xlabel("senders, K")
        axes.set_ylabel("gap of each sender (cycles)")
        axes.legend(loc="upper left")
        axes.set_title("Many to one")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The gap by number of senders."""
        return gap_headlines(self.results(document), "from")

    def series(self, document: Mapping[str, Any]) -> Series:
        """The gap over senders."""
        return gap_series(self.results(document), "senders", "a sender")
