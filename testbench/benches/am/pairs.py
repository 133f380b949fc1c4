"""All pairs at once, half of the nodes requesting, half replying: is each as fast as one alone?"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ...errors import UserError
from ...estimate.compare import check
from ...results.document import cycles, number
from ...results.tables import amount, micro, percent, table
from ..benchmark import Benchmark, Tell
from ..common.gap_bound import GapBound
from ..common.headline import Headline
from ..common.streams import gap_of, measure_streams, stream_truth
from ..fields import Outcome, figure, setting

__all__ = ["Pairs", "PairsParameters", "PairsResults"]

FIGURES = ("g, one pair alone", "g, the slowest of all pairs")


@dataclass(frozen=True)
class PairsParameters:
    """Node 2i requests, node 2i + 1 replies."""

    issues: int = setting(384, "requests of each pair")
    pairs: int = setting(1, "pairs that run at once")


@dataclass(frozen=True)
class PairsResults:
    """The gaps of requesters."""

    alone: float = figure("cycles", "gap of one pair alone")
    gap: Mapping[str, float] = figure("cycles", "gap of each pair when all run at once")
    worst: float = figure("", "the most by which one of them is off, relative")
    bound: GapBound = figure("", "what bounds the gap of one pair alone")


class Pairs(Benchmark):
    """All pairs at once."""

    nodes = 4
    Parameters = PairsParameters
    Results = PairsResults
    FIGURES = FIGURES

    def parameters(self, description: Description) -> PairsParameters:
        """All nodes are in pairs.

        Raises
        ------
        UserError
            One is left over.
        """
        nodes = description.fabric.nodes
        if nodes % 2:
            raise UserError(f"pairs needs an even number of nodes: fabric.nodes = {nodes}: must be "
                            "a multiple of 2")
        return PairsParameters(pairs=nodes // 2)

    async def measure(self, lab: Any, layer: str, parameters: PairsParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One pair alone, then all pairs at once."""
        tell("one pair", 0, 2)
        alone = await measure_streams(lab, layer, {0: [1]}, parameters.issues)
        tell("all pairs", 1, 2)
        ways = {2 * pair: [2 * pair + 1] for pair in range(parameters.pairs)}
        together = await measure_streams(lab, layer, ways, parameters.issues)
        return {"alone": alone, "together": together}

    def evaluate(self, raw: Any, description: Description, parameters: PairsParameters) -> Outcome:
        """The gap of one pair alone, and of each pair when all run at once."""
        alone = gap_of(raw["alone"]["streams"][0]).slope
        streams = raw["together"]["streams"]
        gaps = {sender: gap_of(stream).slope for sender, stream in streams.items()}
        truth_alone = stream_truth(raw["alone"], 0, 1, description.design)
        truth = {sender: stream_truth(raw["together"], sender, sender + 1, description.design)
                 for sender in gaps}
        worst = max(abs(value / alone - 1) for value in gaps.values())
        return Outcome(
            results=PairsResults(
                alone=cycles(alone), gap={f"{sender}-{sender + 1}": cycles(value)
                                          for sender, value in gaps.items()},
                worst=number(worst), bound=truth_alone.bound),
            truth={"alone": truth_alone.gap,
                   "gap": {f"{sender}-{sender + 1}": one.gap for sender, one in truth.items()}},
            points={f"{sender}-{sender + 1}": [cycles(ticks) for ticks in stream["issued"]]
                    for sender, stream in streams.items()},
            checks=[check("each pair is as fast as one alone within 1 %",
                          worst <= Fraction(1, 100),
                          f"the worst is off by {percent(float(worst))}")])

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each pair."""
        results, truth, clock = self.results(document), document["truth"], document["clock_mhz"]
        rows = [("one alone", amount(results.alone), micro(results.alone, clock), "",
                 amount(truth["alone"]))]
        rows += [(pair, amount(value), micro(value, clock), percent(value / results.alone - 1),
                  amount(truth["gap"][pair])) for pair, value in results.gap.items()]
        return [table("All pairs at once: each requester's gap",
                      ["pair", "gap", "µs", "to one alone", "traced gap"], rows)]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """One bar for each pair, and the line of one alone."""
        from ...results.plots import INK, PALETTE, microseconds

        results = self.results(document)
        axes = figure.add_subplot()
        names = list(results.gap)
        axes.bar(names, list(results.gap.values()), width=0.55, color=PALETTE[0])
        axes.axhline(results.alone, color=INK, ls=(0, (5, 3)), lw=1.1)
        axes.annotate(f"one pair alone: {amount(results.alone)}", (0.01, results.alone),
                      xycoords=("axes fraction", "data"), xytext=(0, 4),
                      textcoords="offset points", fontsize=8.5)
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, max(results.alone, *results.gap.values()) * 1.15)
        axes.set_xlabel("pair")
        axes.set_ylabel("gap of the requester (cycles)")
        microseconds(axes, document["clock_mhz"])
        axes.set_title(f"All {len(names)} pairs at once")

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """The gap of one pair alone, and of the slowest of all at once."""
        results = self.results(document)
        return [Headline(FIGURES[0], results.alone),
                Headline(FIGURES[1], max(results.gap.values()))]
