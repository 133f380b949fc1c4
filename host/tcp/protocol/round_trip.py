"""The retransmission time-out, from measured round trips (RFC 2988)."""

from ...kernel.jacobson import Jacobson

__all__ = ["RoundTrip"]

BACK_OFF = 6
"""Time-outs are at most 1 << this many times the least one, if round trips are not longer."""


class RoundTrip:
    """The time-out of a connection, at least ``least`` cycles.

    Attributes
    ----------
    estimate
        What the round trips so far ask for.
    wait
        The time-out, in cycles.
    """

    __slots__ = ("least", "estimate", "wait")

    def __init__(self, least: int) -> None:
        self.least = least
        self.estimate = Jacobson(granularity=1)
        self.wait = 3 * least

    def measured(self, cycles: int) -> None:
        """A segment that was sent once has been acknowledged after ``cycles``."""
        self.wait = max(self.least, self.estimate.measured(cycles))

    def late(self) -> None:
        """A time-out has passed: the next one is twice as long, until a round trip has been
        measured."""
        self.wait = min(2 * self.wait, max(self.least << BACK_OFF, self.wait))
