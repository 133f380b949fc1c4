"""All pairs at once, half of the nodes requesting, half replying: is each as fast as one alone?"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, micro, percent, table
from ..common.headline import Headline
from ..common.streams import gap_of, measure_streams, stream_truth

__all__ = ["FIGURES", "draw", "evaluate", "headline", "measure", "parameters", "tables"]

FIGURES = ("g, one pair alone", "g, the slowest of all pairs")


def parameters(description: Description) -> dict[str, Any]:
    """Node 2i requests, node 2i + 1 replies."""
    nodes = description.fabric.nodes
    if nodes % 2:
        raise UserError(f"pairs needs an even number of nodes: fabric.nodes = {nodes}: must be a "
                        "multiple of 2")
    return {"issues": 384, "pairs": nodes // 2}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One pair alone, then all pairs at once."""
    tell("one pair", 0, 2)
    alone = await measure_streams(lab, layer, {0: [1]}, parameters["issues"])
    tell("all pairs", 1, 2)
    ways = {2 * pair: [2 * pair + 1] for pair in range(parameters["pairs"])}
    together = await measure_streams(lab, layer, ways, parameters["issues"])
    return {"alone": alone, "together": together}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """The gap of one pair alone, and of each pair when all run at once."""
    alone = gap_of(raw["alone"]["streams"][0]).slope
    gaps = {sender: gap_of(stream).slope for sender, stream in raw["together"]["streams"].items()}
    truth_alone = stream_truth(raw["alone"], 0, 1, description.design)
    truth = {sender: stream_truth(raw["together"], sender, sender + 1, description.design)
             for sender in gaps}
    worst = max(abs(value / alone - 1) for value in gaps.values())
    return {
        "results": {"alone": cycles(alone),
                    "gap": {f"{sender}-{sender + 1}": cycles(value)
                            for sender, value in gaps.items()},
                    "worst": number(worst), "bound": truth_alone["bound"]},
        "truth": {"alone": truth_alone["gap"],
                  "gap": {f"{sender}-{sender + 1}": one["gap"] for sender, one in truth.items()}},
        "points": {f"{sender}-{sender + 1}": [cycles(ticks) for ticks in stream["issued"]]
                   for sender, stream in raw["together"]["streams"].items()},
        "checks": [check("each pair is as fast as one alone within 1 %",
                         worst <= Fraction(1, 100),
                         f"the worst is off by {percent(float(worst))}")],
    }


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each pair."""
    results, truth, clock = document["results"], document["truth"], document["clock_mhz"]
    rows = [("one alone", amount(results["alone"]), micro(results["alone"], clock), "",
             amount(truth["alone"]))]
    rows += [(pair, amount(value), micro(value, clock), percent(value / results["alone"] - 1),
              amount(truth["gap"][pair])) for pair, value in results["gap"].items()]
    return [table("All pairs at once: each requester's gap",
                  ["pair", "gap", "µs", "to one alone", "traced gap"], rows)]


def draw(document: Mapping[str, Any], figure: Any) -> None:
    """One bar for each pair, and the line of one alone."""
    from ...results.plots import INK, PALETTE, microseconds

    results = document["results"]
    axes = figure.add_subplot()
    names = list(results["gap"])
    axes.bar(names, list(results["gap"].values()), width=0.55, color=PALETTE[0])
    axes.axhline(results["alone"], color=INK, ls=(0, (5, 3)), lw=1.1)
    axes.annotate(f"one pair alone: {amount(results['alone'])}", (0.01, results["alone"]),
                  xycoords=("axes fraction", "data"), xytext=(0, 4), textcoords="offset points",
                  fontsize=8.5)
    axes.grid(axis="x", visible=False)
    axes.set_ylim(0, max(results["alone"], *results["gap"].values()) * 1.15)
    axes.set_xlabel("pair")
    axes.set_ylabel("gap of the requester (cycles)")
    microseconds(axes, document["clock_mhz"])
    axes.set_title(f"All {len(names)} pairs at once")


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """The gap of one pair alone, and of the slowest of all at once."""
    results = document["results"]
    values = (results["alone"], max(results["gap"].values()))
    return [Headline(*one) for one in zip(FIGURES, values, strict=True)]
