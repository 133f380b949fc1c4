"""K nodes send to one: the gap at K senders over the gap at one, beside the prediction from the
stages' services, and each sender's share.

When a shared stage is the bottleneck, each of K senders gets one Kth of it: its gap is K times the
service of a request and its reply in this stage.
"""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ....layouts.fabric import graph_of
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, table
from ...truth.service import from_many
from ..common.headline import Headline, Series
from ..common.logp_report import bound_line
from ..common.streams import (
    common,
    draw_gaps,
    gap_headlines,
    gap_results,
    gap_rows,
    gap_series,
    gap_truth,
    measure_counts,
    services_of,
    shares_table,
    starving,
    stream_truth,
)

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

RECEIVER = 0


def parameters(description: Description) -> dict[str, Any]:
    """1 to N - 1 senders."""
    return {"issues": 256, "senders": list(range(1, description.fabric.nodes))}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each number of senders, all of them streaming to node 0."""
    return await measure_counts(
        lab, layer, "senders", parameters["senders"],
        lambda count: {sender: [RECEIVER] for sender in range(1, count + 1)},
        parameters["issues"], tell)


def evaluate(raw: Mapping[int, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
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
                                  description.node.nics)
                 for count in gaps}
    checks = [check(f"the gap at {count} senders follows the prediction",
                    abs(gaps[count] - predicted[count].gap) <= predicted[count].gap / 10,
                    f"{cycles(gaps[count])} measured, {cycles(predicted[count].gap)} predicted")
              for count in gaps]
    checks += [starving(shares, f"of {count} senders") for count, shares in found.items()]
    return {
        "results": {**gap_results(gaps, predicted, found, truth),
                    "predicted_ratio": {str(count): number(value.gap / one)
                                        for count, value in predicted.items()}},
        "truth": gap_truth(truth, services),
        "points": {str(count): {str(sender): {"begin": cycles(stream["begin"]), "issued": [
            cycles(ticks) for ticks in stream["issued"]]}
            for sender, stream in run["streams"].items()} for count, run in raw.items()},
        "checks": checks,
    }


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each number of senders."""
    results, truth = document["results"], document["truth"]
    rows = gap_rows(document, lambda count: [f"{results['predicted_ratio'][count]:.3f}",
                                             amount(truth[count]["o_r"]),
                                             amount(truth[count]["o_s"])])
    made = table("Many to one: each sender's gap",
                 ["senders", "gap", "µs", "over one", "predicted", "o_r there", "o_s there",
                  "bound by"], rows)
    last = list(results["gap"])[-1]
    return [made, shares_table(document, "senders"),
            bound_line(results["bound"][last], f"g at {last} senders")]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """Measured and predicted gap over the number of senders."""
    from ...results.plots import INK

    gaps, predicted = (document["results"][name] for name in ("gap", "predicted_gap"))
    axes = figure.add_subplot()
    axes.plot([int(count) for count in predicted], list(predicted.values()), color=INK,
              ls=(0, (5, 3)), lw=1.2,
              label="predicted: K services of the stage that all share, or the gap of one")
    draw_gaps(document, axes, lambda count: amount(gaps[count]),
              max(*gaps.values(), *predicted.values()) * 1.15)
    axes.set_xlabel("senders, K")
    axes.set_ylabel("gap of each sender (cycles)")
    axes.legend(loc="upper left")
    axes.set_title("Many to one")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The gap by number of senders."""
    return gap_headlines(document, "from")


def series(document: Mapping[str, Any]) -> Series:
    """The gap over senders."""
    return gap_series(document, "senders", "a sender")
