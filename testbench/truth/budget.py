"""A CPU's time in steady state: mean ticks for each request, by activity."""

from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...layouts.trace import TICKS, Activity, Event
from .spans import Span, polls_in

__all__ = ["Budget", "budget", "ending_check", "put_off", "sends", "usual"]


@dataclass(frozen=True)
class Budget:
    """Ticks for each request: ``interval`` from one beginning to the next, divided by activity.
    ``rest`` is the time that no mark covers."""

    interval: Fraction
    spent: dict[Activity, Fraction]
    rest: Fraction

    def of(self, activity: Activity) -> Fraction:
        return self.spent.get(activity, Fraction(0))


def sends(found: Sequence[Span], node: int) -> list[Span]:
    """The requests that ``node`` issued."""
    return [span for span in found
            if span.activity == Activity.REQUEST_SEND and span.node == node]


def put_off(found: Sequence[Span], events: Sequence[Event], node: int) -> set[int]:
    """Numbers of the packets that the layer of ``node`` sent later than in their own call, with no
    earlier event of theirs. (A packet with an earlier event is sent again.)"""
    first: dict[int, int] = {}
    for event in events:
        first[event.number] = min(event.cycle, first.get(event.number, event.cycle))
    later: dict[int, int] = {}
    for span in found:
        if span.node == node and span.activity == Activity.CONTROL and span.number:
            later.setdefault(span.number, span.begin)
    return {number for number, begin in later.items()
            if number in first and first[number] * TICKS >= begin}


def budget(found: Sequence[Span], node: int, first: int, last: int) -> Budget:
    """From the beginning of request ``first`` to that of request ``last`` of ``node``.

    Raises
    ------
    ValueError
        There are not that many requests.
    """
    requests = sends(found, node)
    if not 0 <= first < last < len(requests):
        raise ValueError(f"no requests {first} to {last}: node {node} issued {len(requests)}")
    start, stop = requests[first].begin, requests[last].begin
    sums: dict[Activity, int] = {}
    for span in found:
        if span.node == node and start <= span.begin < stop:
            activity = Activity(span.activity)
            sums[activity] = sums.get(activity, 0) + span.own
    count = last - first
    rest = stop - start - sum(sums.values())
    return Budget(Fraction(stop - start, count),
                  {activity: Fraction(value, count) for activity, value in sums.items()},
                  Fraction(rest, count))


def ending_check(found: Sequence[Span], node: int, numbers: Container[int] | None = None
                 ) -> Fraction:
    """Ticks of the check that ends each of the requests ``numbers`` (default: all) of ``node``: an
    empty poll with the request's own number, or one in its course. The result is the median, which
    is the check of a slot in the cache while no reply is back. A request that finds a message also
    ends with such a check, but of the next slot and without a number. If none of ``numbers`` has
    one, the result is the cheapest check of the node."""
    every = [(span.number, span.own) for span in found if span.activity == Activity.EMPTY_POLL
             and span.node == node and span.number]
    every += [(request.number, poll.own) for request, poll in polls_in(found, node)]
    own = sorted(ticks for number, ticks in every if numbers is None or number in numbers)
    if not own:
        return Fraction(min((ticks for _, ticks in every), default=0))
    return Fraction(own[len(own) // 2])


def usual(found: Sequence[Span], node: int, first: int, last: int, activity: Activity) -> Fraction:
    """Ticks of ``activity`` in each issue, request ``first`` to ``last`` of ``node``: the
    median."""
    begins = [span.begin for span in sends(found, node)[first:last + 1]]
    spent = [0] * (len(begins) - 1)
    for span in found:
        if (span.node == node and span.activity == activity
                and begins[0] <= span.begin < begins[-1]):
            spent[bisect_right(begins, span.begin) - 1] += span.own
    return Fraction(sorted(spent)[len(spent) // 2])
