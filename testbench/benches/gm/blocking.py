"""Blocking over GM: latency of receives that wait for an interrupt at once, and the difference to
receives that spin."""

from ..common.latencies import Latencies
from .two_ways import TwoWays

__all__ = ["GmBlocking"]


class GmBlocking(TwoWays):
    """Receives that wait for an interrupt."""

    report = Latencies("Blocking: latency of receives that sleep at once or spin", "n",
                       sizes=True, base="spinning")
    plans = {"spinning": {}, "blocking": {"block": True}}
