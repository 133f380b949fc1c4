"""The gap by number of nodes: its results, tables, plot, headlines."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...estimate.fairness import Fairness
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ...truth.service import Prediction, Service, plain_services
from ..fields import figure
from .gap_bound import GapBound
from .headline import Headline, Series
from .streams import StreamTruth, plain_shares

__all__ = ["GapResults", "GapShares", "draw_gaps", "gap_figures", "gap_headlines", "gap_rows",
           "gap_series", "gap_truth", "share_table"]


@dataclass(frozen=True)
class GapShares:
    """The shares of the nodes, of the mean."""

    each: Mapping[str, float] = figure("", "the share of each node")
    least: float = figure("", "the least of them")
    most: float = figure("", "the most of them")
    jain: float = figure("", "Jain's index")


@dataclass(frozen=True)
class GapResults:
    """The gap by number of nodes."""

    gap: Mapping[str, float] = figure("cycles", "gap by number of nodes")
    ratio: Mapping[str, float] = figure("", "the gap over that of the fewest nodes")
    predicted_gap: Mapping[str, float] = figure(
        "cycles", "gap that the stages' services predict")
    predicted_stage: Mapping[str, str] = figure("", "the stage that it is predicted by")
    share: Mapping[str, GapShares] = figure("", "shares of the nodes")
    bound: Mapping[str, GapBound] = figure("", "what bounds the gap")


def gap_figures(gaps: Mapping[int, Fraction], predicted: Mapping[int, Prediction],
                found: Mapping[int, Fairness], truth: Mapping[int, StreamTruth]
                ) -> dict[str, Any]:
    """The fields of :class:`GapResults`."""
    one = gaps[min(gaps)]
    return {"gap": {str(count): cycles(value) for count, value in gaps.items()},
            "ratio": {str(count): number(value / one) for count, value in gaps.items()},
            "predicted_gap": {str(count): cycles(value.gap) for count, value in predicted.items()},
            "predicted_stage": {str(count): value.stage for count, value in predicted.items()},
            "share": {str(count): GapShares(**plain_shares(fair))
                      for count, fair in found.items()},
            "bound": {str(count): told.bound for count, told in truth.items()}}


def gap_truth(truth: Mapping[int, StreamTruth], services: Sequence[Service]) -> dict[str, Any]:
    """The truth by number of nodes, and the services that the predictions are from."""
    return {**{str(count): {"gap": found.gap, "o_r": found.o_r, "o_s": found.o_s}
               for count, found in truth.items()},
            "services": plain_services(services)}


def gap_headlines(results: GapResults, way: str) -> list[Headline]:
    """The gap by number of nodes, which are ``way``: to or from."""
    return [Headline(f"g, {way} {count}", value) for count, value in results.gap.items()]


def gap_series(results: GapResults, who: str, whose: str) -> Series:
    """The gap ``whose`` it is over the number of ``who``."""
    return Series(who, f"gap of {whose} (cycles)",
                  [(int(count), value) for count, value in results.gap.items()])


def gap_rows(results: GapResults, clock_mhz: float, others: Callable[[str], Sequence[str]]
             ) -> list[Sequence[str]]:
    """Rows of a table, one for each number of nodes: the gap, its value in ``others``, the
    bound."""
    return [(count, amount(gap), micro(gap, clock_mhz), f"{results.ratio[count]:.3f}",
             *others(count),
             f"{results.bound[count].block} {100 * results.bound[count].busy:.0f} %")
            for count, gap in results.gap.items()]


def share_table(results: GapResults, who: str) -> Any:
    """Predictions, and the shares of ``who``: one row for each number of nodes."""
    rows = [(count, amount(gap), amount(results.predicted_gap[count]),
             *(f"{value:.3f}" for value in (share.least, share.most, share.jain)),
             results.predicted_stage[count]) for count, gap in results.gap.items()
            for share in (results.share[count],)]
    return table(f"The prediction, and shares of {who}",
                 [who, "gap", "predicted", "least share", "most", "Jain", "predicted by"], rows)


def draw_gaps(results: GapResults, axes: Any, text: Callable[[str], str], top: float,
              clock_mhz: float) -> None:
    """The measured gap over the number of nodes, with ``text`` beside each point; ``top`` is the
    upper end of the axis."""
    from ...results.plots import PALETTE, microseconds

    nodes = [int(count) for count in results.gap]
    axes.plot(nodes, list(results.gap.values()), color=PALETTE[0], marker="o", ms=6,
              label="measured")
    for count, value in results.gap.items():
        axes.annotate(text(count), (int(count), value), xytext=(0, 9), textcoords="offset points",
                      ha="center", fontsize=8.5, color=PALETTE[0])
    axes.set_xticks(nodes)
    axes.set_xlim(min(nodes) - 0.3, max(nodes) + 0.3)
    axes.set_ylim(0, top)
    microseconds(axes, clock_mhz)
