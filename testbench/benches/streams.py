"""Streams of requests between many nodes at once, and the gap of each; how it is shown."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...host.node import Node
from ...layouts.trace import TICKS, Activity
from ..bound import bound, shares
from ..estimate.logp import Curve, gap, regimes
from ..report.document import cycles
from ..report.tables import amount, micro
from ..truth.budget import sends
from ..truth.spans import spans
from ..truth.steady import departures, mean_own, true_gap, window
from .common import Party, programs, server
from .logp_evaluation import bound_of

__all__ = ["common_gap", "draw_gaps", "gap_of", "gap_rows", "measure_streams", "stream_truth"]


async def measure_streams(lab: Any, ways: Mapping[int, Sequence[int]], count: int, delay: int = 0,
                          ) -> dict[str, Any]:
    """Node s sends ``count`` requests to ``ways[s]`` in turn, all s at once, from reset."""

    def requester(receivers: Sequence[int]) -> Any:
        async def program(node: Node) -> Any:
            party = Party(node)
            await party.start(receivers)
            stream = await party.stream(party.requests_to(receivers), count, delay)
            await party.finish(receivers)
            return stream
        return program

    chosen: dict[int, Any] = {sender: requester(receivers) for sender, receivers in ways.items()}
    for receiver in {one for receivers in ways.values() for one in receivers}:
        chosen[receiver] = server(sum(receiver in receivers for receivers in ways.values()))
    run = await lab.run(programs(lab.description.fabric.nodes, chosen), trace=True)
    return {"streams": {sender: run.results[sender].plain() for sender in ways},
            "marks": run.marks, "events": run.events}


def gap_of(stream: Mapping[str, Any]) -> Any:
    """The estimated gap of one stream, a line."""
    curve = Curve(stream["delay"] * TICKS, tuple(stream["issued"]), tuple(stream["handled"]))
    return gap(curve, regimes(curve))


def stream_truth(raw: Mapping[str, Any], sender: int, receiver: int) -> dict[str, Any]:
    """Traced gap of ``sender``'s stream, what a request costs at ``receiver``, and the bound."""
    marks = spans(raw["marks"])
    stream = raw["streams"][sender]
    mine = [span for span in sends(marks, sender) if span.begin >= stream["begin"]]
    mine = mine[:len(stream["issued"])]
    times = departures(raw["events"], sender, [span.number for span in mine])
    between = window(times)
    return {"gap": cycles(true_gap(times)),
            "o_r": cycles(mean_own(marks, Activity.REQUEST_HANDLE, receiver, between)),
            "o_s": cycles(mean_own(marks, Activity.REPLY_SEND, receiver, between)),
            "bound": bound_of(bound(shares(raw["events"], marks, *between, sender, receiver)))}


def common_gap(raw: Mapping[str, Any]) -> Fraction:
    """The mean gap of all streams while all of them run, in ticks: from the latest beginning to the
    earliest end, an issue of each."""
    streams = raw["streams"].values()
    start = max(one["begin"] for one in streams)
    stop = min(one["begin"] + one["issued"][-1] for one in streams)
    start += (stop - start) // 3  # clear of the transition
    gaps = []
    for one in streams:
        ends = [one["begin"] + ticks for ticks in one["issued"]]
        inside = [ticks for ticks in ends if start <= ticks <= stop]
        if len(inside) > 1:
            gaps.append(Fraction(inside[-1] - inside[0], len(inside) - 1))
    return sum(gaps, Fraction(0)) / len(gaps)


def gap_rows(document: Mapping[str, Any], others: Callable[[str], Sequence[str]]
             ) -> list[Sequence[str]]:
    """A table's row for each number of nodes: the gap, what ``others`` has for it, the bound."""
    results, clock = document["results"], document["clock_mhz"]
    return [(count, amount(gap), micro(gap, clock), f"{results['ratio'][count]:.3f}",
             *others(count),
             f"{results['bound'][count]['block']} {100 * results['bound'][count]['busy']:.0f} %")
            for count, gap in results["gap"].items()]


def draw_gaps(document: Mapping[str, Any], axes: Any, text: Callable[[str], str], top: float
              ) -> None:
    """The measured gap over the number of nodes, ``text`` beside each; ``top`` is the axis's."""
    from ..report.plots import PALETTE, microseconds

    gaps = document["results"]["gap"]
    nodes = [int(count) for count in gaps]
    axes.plot(nodes, list(gaps.values()), color=PALETTE[0], marker="o", ms=6, label="measured")
    for count, value in gaps.items():
        axes.annotate(text(count), (int(count), value), xytext=(0, 9), textcoords="offset points",
                      ha="center", fontsize=8.5, color=PALETTE[0])
    axes.set_xticks(nodes)
    axes.set_xlim(min(nodes) - 0.3, max(nodes) + 0.3)
    axes.set_ylim(0, top)
    microseconds(axes, document["clock_mhz"])
