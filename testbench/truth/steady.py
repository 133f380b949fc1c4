"""Means over many messages in steady state, from events and marks."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ...layouts.trace import TICKS, Activity, Block, Event, Kind
from .spans import Span

__all__ = ["mean_own", "departures", "leaving", "true_gap", "window"]


def mean_own(found: Iterable[Span], activity: Activity, node: int,
             between: tuple[int, int] | None = None) -> Fraction:
    """Mean ticks of ``activity`` on ``node``, nested spans excluded; 0 if it never happened."""
    own = [span.own for span in found
           if span.activity == activity and span.node == node
           and (between is None or between[0] <= span.begin < between[1])]
    return Fraction(sum(own), len(own)) if own else Fraction(0)


def departures(events: Iterable[Event], node: int, numbers: Iterable[int]) -> list[int]:
    """Ticks at which the packets ``numbers`` of ``node`` began to leave on its link."""
    wanted = set(numbers)
    return [event.cycle * TICKS for event in events
            if event.block == Block.SEND_LINK and event.kind == Kind.BEGIN
            and event.node == node and event.number in wanted]


def leaving(events: Iterable[Event], node: int, sends: Sequence[Span]) -> list[int]:
    """Ticks at which the messages of ``sends``, of ``node``, began to leave. Messages between CPUs
    of a node, of which nothing leaves on a link, leave with the last store of their sends."""
    return departures(events, node, [span.number for span in sends]) or [
        span.end for span in sends]


def true_gap(times: Sequence[int]) -> Fraction:
    """Mean spacing over the second half of ``times``.

    Raises
    ------
    ValueError
        There are fewer than four.
    """
    if len(times) < 4:
        raise ValueError(f"a gap needs four messages, not {len(times)}")
    half = len(times) // 2
    return Fraction(times[-1] - times[half], len(times) - 1 - half)


def window(times: Sequence[int]) -> tuple[int, int]:
    """The second half of ``times`` as an interval: the steady state in the trace."""
    return times[len(times) // 2], times[-1]
