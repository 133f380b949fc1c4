"""Where a CPU's time goes in steady state: mean ticks a request, activity by activity."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...layouts.trace import Activity
from .spans import Span

__all__ = ["Budget", "budget", "ending_check", "sends"]


@dataclass(frozen=True)
class Budget:
    """Ticks a request: ``interval`` between the beginnings of two, and what it was spent on.
    ``rest`` is what no mark covers."""

    interval: Fraction
    spent: dict[Activity, Fraction]
    rest: Fraction

    def of(self, activity: Activity) -> Fraction:
        return self.spent.get(activity, Fraction(0))


def sends(found: Sequence[Span], node: int) -> list[Span]:
    """The requests that ``node`` issued."""
    return [span for span in found
            if span.activity == Activity.REQUEST_SEND and span.node == node]


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


def ending_check(found: Sequence[Span], node: int) -> Fraction:
    """Ticks of the check that ends each request of ``node``, an empty poll with the request's own
    number: the median, which is that of a slot in the cache. A request that finds a message ends
    with such a check too, but of the next slot, and without a number."""
    own = sorted(span.own for span in found
                 if span.activity == Activity.EMPTY_POLL and span.node == node and span.number)
    return Fraction(own[len(own) // 2]) if own else Fraction(0)
