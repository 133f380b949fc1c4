"""Streams of requests between many nodes at once: the gap of each, and its presentation."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ....host.port.node import Node
from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS, Activity
from ...estimate.compare import check
from ...estimate.fairness import Fairness, fairness
from ...estimate.logp import Curve, gap, regimes
from ...results.document import cycles, number
from ...results.tables import amount, micro, table
from ...truth.bound import bound, shares
from ...truth.budget import sends
from ...truth.service import Prediction, Service, plain_services, service_times
from ...truth.spans import Span, moves, spans
from ...truth.steady import departures, mean_own, true_gap, window
from .headline import Headline, Series
from .logp_evaluation import bound_of
from .programs import close_to, on, open_to, programs, requests_to, server, stream_of

__all__ = ["common", "draw_gaps", "gap_headlines", "gap_of", "gap_results", "gap_rows",
           "gap_series", "gap_truth", "measure_counts", "measure_streams", "plain_shares",
           "services_of", "shares_table", "starving", "stream_truth"]


async def measure_streams(lab: Any, layer: str, ways: Mapping[int, Sequence[int]], count: int,
                          delay: int = 0) -> dict[str, Any]:
    """Sender s sends ``count`` requests to the nodes ``ways[s]`` in turn, all senders at once, from
    reset."""
    make = on(layer)

    def requester(receivers: Sequence[int]) -> Any:
        async def program(node: Node) -> Any:
            side = make(node)
            await open_to(side, receivers)
            found = await stream_of(side, requests_to(side, receivers), count, delay)
            await close_to(side, receivers)
            return found
        return program

    chosen: dict[int, Any] = {sender: requester(receivers) for sender, receivers in ways.items()}
    for receiver in {one for receivers in ways.values() for one in receivers}:
        chosen[receiver] = server(make, sum(receiver in receivers for receivers in ways.values()))
    run = await lab.run(programs(lab.description.fabric.nodes, chosen), trace=True)
    return {"streams": {sender: run.results[sender].plain() for sender in ways},
            "marks": run.marks, "events": run.events}


async def measure_counts(lab: Any, layer: str, who: str, counts: Sequence[int],
                         ways: Callable[[int], Mapping[int, Sequence[int]]], issues: int, tell: Any
                         ) -> dict[Any, Any]:
    """One run for each of ``counts``, how many of ``who`` there are, over its ``ways``."""
    found = {}
    for index, count in enumerate(counts):
        tell(f"{count} {who}", index, len(counts))
        found[count] = await measure_streams(lab, layer, ways(count), issues)
    return found


def gap_of(stream: Mapping[str, Any]) -> Any:
    """The estimated gap of one stream, a line."""
    curve = Curve(stream["delay"] * TICKS, tuple(stream["issued"]), tuple(stream["handled"]))
    return gap(curve, regimes(curve))


def _departures(raw: Mapping[str, Any], marks: Sequence[Span], sender: int) -> list[int]:
    """When the requests of ``sender``'s stream left."""
    stream = raw["streams"][sender]
    mine = [span for span in sends(marks, sender) if span.begin >= stream["begin"]]
    mine = mine[:len(stream["issued"])]
    return departures(raw["events"], sender, [span.number for span in mine])


def stream_truth(raw: Mapping[str, Any], sender: int, receiver: int, design: NicDesign
                 ) -> dict[str, Any]:
    """Traced gap of ``sender``'s stream, the cost of a request at ``receiver``, and the bound."""
    marks = spans(raw["marks"])
    times = _departures(raw, marks, sender)
    between = window(times)
    return {"gap": cycles(true_gap(times)),
            "o_r": cycles(mean_own(marks, Activity.REQUEST_HANDLE, receiver, between)),
            "o_s": cycles(mean_own(marks, Activity.REPLY_SEND, receiver, between)),
            "bound": bound_of(bound(shares(raw["events"], marks, *between, sender, receiver,
                                           design, moves(raw["marks"]))))}


def common(raw: Mapping[str, Any]) -> Fairness:
    """Returns what each of the streams got while all of them ran."""
    streams = raw["streams"]
    return fairness({sender: one["begin"] for sender, one in streams.items()},
                    {sender: [one["begin"] + ticks for ticks in one["issued"]]
                     for sender, one in streams.items()})


def services_of(raw: Mapping[str, Any], sender: int, receiver: int, design: NicDesign
                ) -> list[Service]:
    """The service of each stage for a request of ``sender`` and its reply."""
    marks = spans(raw["marks"])
    times = _departures(raw, marks, sender)
    return service_times(raw["events"], marks, *window(times),
                         Fraction(len(times) - 1 - len(times) // 2), (sender, receiver), design)


def shares_table(document: Mapping[str, Any], who: str) -> Any:
    """Predictions, and the shares of ``who``: one row for each number of nodes."""
    results = document["results"]
    rows = [(count, amount(gap), amount(results["predicted_gap"][count]),
             *(f"{results['share'][count][name]:.3f}" for name in ("least", "most", "jain")),
             results["predicted_stage"][count]) for count, gap in results["gap"].items()]
    return table(f"The prediction, and shares of {who}",
                 [who, "gap", "predicted", "least share", "most", "Jain", "predicted by"], rows)


def gap_results(gaps: Mapping[int, Fraction], predicted: Mapping[int, Prediction],
                found: Mapping[int, Fairness], truth: Mapping[int, Mapping[str, Any]]
                ) -> dict[str, Any]:
    """Results by number of nodes: the gap, over that of the fewest; the prediction; what each node
    got; what bounds it."""
    one = gaps[min(gaps)]
    return {"gap": {str(count): cycles(value) for count, value in gaps.items()},
            "ratio": {str(count): number(value / one) for count, value in gaps.items()},
            "predicted_gap": {str(count): cycles(value.gap) for count, value in predicted.items()},
            "predicted_stage": {str(count): value.stage for count, value in predicted.items()},
            "share": {str(count): plain_shares(fair) for count, fair in found.items()},
            "bound": {str(count): told["bound"] for count, told in truth.items()}}


def gap_truth(truth: Mapping[int, Mapping[str, Any]], services: Sequence[Service]
              ) -> dict[str, Any]:
    """The truth by number of nodes, and the services that the predictions are from."""
    return {**{str(count): {key: found[key] for key in ("gap", "o_r", "o_s")}
               for count, found in truth.items()},
            "services": plain_services(services)}


def gap_headlines(document: Mapping[str, Any], way: str) -> list[Headline]:
    """The gap by number of nodes, which are ``way``: to or from."""
    return [Headline(f"g, {way} {count}", value)
            for count, value in document["results"]["gap"].items()]


def gap_series(document: Mapping[str, Any], who: str, whose: str) -> Series:
    """The gap ``whose`` it is over the number of ``who``."""
    return Series(who, f"gap of {whose} (cycles)",
                  [(int(count), value) for count, value in document["results"]["gap"].items()])


def plain_shares(found: Fairness) -> dict[str, Any]:
    """Shares in the form of a result file."""
    return {"each": {str(one): number(share) for one, share in found.shares.items()},
            "least": number(found.least), "most": number(found.most),
            "jain": number(found.jain)}


def starving(found: Fairness, who: str) -> dict[str, Any]:
    """Check that no share is below the limit of starvation."""
    return check(f"{who} none starves", not found.starves,
                 f"the least has {float(found.least):.3f} of a fair share")


def gap_rows(document: Mapping[str, Any], others: Callable[[str], Sequence[str]]
             ) -> list[Sequence[str]]:
    """Rows of a table, one for each number of nodes: the gap, its value in ``others``, the
    bound."""
    results, clock = document["results"], document["clock_mhz"]
    return [(count, amount(gap), micro(gap, clock), f"{results['ratio'][count]:.3f}",
             *others(count),
             f"{results['bound'][count]['block']} {100 * results['bound'][count]['busy']:.0f} %")
            for count, gap in results["gap"].items()]


def draw_gaps(document: Mapping[str, Any], axes: Any, text: Callable[[str], str], top: float
              ) -> None:
    """The measured gap over the number of nodes, with ``text`` beside each point; ``top`` is the
    upper end of the axis."""
    from ...results.plots import PALETTE, microseconds

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
