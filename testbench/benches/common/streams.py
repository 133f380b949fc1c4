"""Streams of requests between many nodes at once: the gap of each, and its truth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....host.port.node import Node
from ....layouts.doors import NicDesign
from ....layouts.trace import TICKS, Activity
from ...estimate.compare import check
from ...estimate.fairness import Fairness, fairness
from ...estimate.logp import Curve, gap, regimes
from ...results.document import cycles, number
from ...truth.bound import bound, shares
from ...truth.budget import sends
from ...truth.service import Service, service_times
from ...truth.spans import Span, moves, spans
from ...truth.steady import leaving, mean_own, true_gap, window
from .gap_bound import GapBound, bound_of
from .programs import close_to, on, open_to, programs, requests_to, server, stream_of

__all__ = ["StreamTruth", "common", "gap_of", "measure_counts", "measure_streams", "plain_shares",
           "services_of", "starving", "stream_truth"]


@dataclass(frozen=True)
class StreamTruth:
    """The truth of a stream, in cycles.

    Attributes
    ----------
    gap
        Between its requests, in steady state.
    o_r, o_s
        What a request, and a reply, cost at the receiver.
    bound
        What bounds the gap.
    """

    gap: float
    o_r: float
    o_s: float
    bound: GapBound


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
    run = await lab.run(programs(lab, chosen), trace=True)
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
    return leaving(raw["events"], sender, mine)


def stream_truth(raw: Mapping[str, Any], sender: int, receiver: int, design: NicDesign
                 ) -> StreamTruth:
    """Traced gap of ``sender``'s stream, the cost of a request at ``receiver``, and the bound."""
    marks = spans(raw["marks"])
    times = _departures(raw, marks, sender)
    between = window(times)
    return StreamTruth(
        gap=cycles(true_gap(times)),
        o_r=cycles(mean_own(marks, Activity.REQUEST_HANDLE, receiver, between)),
        o_s=cycles(mean_own(marks, Activity.REPLY_SEND, receiver, between)),
        bound=bound_of(bound(shares(raw["events"], marks, *between, sender, receiver, design,
                                    moves(raw["marks"])))))


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


def plain_shares(found: Fairness) -> dict[str, Any]:
    """Shares in the form of a result file."""
    return {"each": {str(one): number(share) for one, share in found.shares.items()},
            "least": number(found.least), "most": number(found.most),
            "jain": number(found.jain)}


def starving(found: Fairness, who: str) -> dict[str, Any]:
    """Check that no share is below the limit of starvation."""
    return check(f"{who} none starves", not found.starves,
                 f"the least has {float(found.least):.3f} of a fair share")
