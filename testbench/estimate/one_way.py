"""Latency, and the LogP parameters of a one-way layer, from a program's own clock.

Times in ticks, exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .fits import Line, fit

__all__ = ["HalfTrip", "counting_loop", "few_sends", "flight", "growth", "half_trip",
           "receive_overhead"]


@dataclass(frozen=True)
class HalfTrip:
    """Half of the round trips: the latency in a ping-pong."""

    mean: Fraction
    low: Fraction
    median: Fraction
    high: Fraction


def half_trip(trips: Sequence[int]) -> HalfTrip:
    """Half of ``trips``.

    Raises
    ------
    ValueError
        ``trips`` is empty.
    """
    if not trips:
        raise ValueError("no round trips")
    ordered = sorted(trips)
    return HalfTrip(Fraction(sum(ordered), 2 * len(ordered)), Fraction(ordered[0], 2),
                    Fraction(ordered[len(ordered) // 2], 2), Fraction(ordered[-1], 2))


def receive_overhead(trips: Sequence[int], delay: int, o_s: Fraction) -> Fraction:
    """o_r from a ping-pong with ``delay`` ticks, longer than the round trip, between send and
    receive. An exchange then takes o_s + delay + o_r."""
    return Fraction(sum(trips), len(trips)) - delay - o_s


def few_sends(issued: Sequence[int], delay: int, count: int) -> Fraction:
    """o_s: the average cost of the first ``count`` sends of a stream, without the ``delay`` ticks
    after each."""
    return Fraction(issued[count - 1], count) - delay


def flight(half: Fraction, o_s: Fraction, o_r: Fraction) -> Fraction:
    """L = RTT/2 - o_s - o_r."""
    return half - o_s - o_r


def counting_loop(alone: int, disturbed: int, messages: int, time: int) -> Fraction:
    """o_r if messages interrupt: a loop counts to ``alone`` in ``time`` ticks, and to ``disturbed``
    while ``messages`` arrive. o_r is the lost counts for each message, times the time of a count.

    Raises
    ------
    ValueError
        Nothing was counted, or nothing arrived.
    """
    if alone < 1 or messages < 1:
        raise ValueError(f"a counting loop needs counts and messages, not {alone} and {messages}")
    return Fraction(alone - disturbed, messages) * Fraction(time, alone)


def growth(x: Sequence[int], y: Sequence[Fraction]) -> Line:
    """``y`` over ``x`` as a line. Its slope says whether it grows, its residual how straight it
    is."""
    return fit(x, y)
