"""The retransmission time-out, from measured round trips (Jacobson, SIGCOMM 1988; RFC 2988)."""

__all__ = ["RoundTrip"]

BACK_OFF = 6
"""Time-outs are at most 1 << this many times the least one, if round trips are not longer."""


class RoundTrip:
    """Smoothed round trip and its mean deviation, in cycles.

    Attributes
    ----------
    smoothed, deviation
        In eighths and quarters of a cycle; 0 before the first measurement.
    wait
        The time-out, in cycles.
    """

    __slots__ = ("least", "smoothed", "deviation", "wait")

    def __init__(self, least: int) -> None:
        self.least = least
        self.smoothed = 0
        self.deviation = 0
        self.wait = 3 * least

    def measured(self, cycles: int) -> None:
        """A segment that was sent once has been acknowledged after ``cycles``."""
        if not self.smoothed:
            self.smoothed, self.deviation = cycles << 3, cycles << 1
        else:
            error = cycles - (self.smoothed >> 3)
            self.smoothed += error
            self.deviation += abs(error) - (self.deviation >> 2)
        self.wait = max(self.least, (self.smoothed >> 3) + max(1, self.deviation))

    def late(self) -> None:
        """A time-out has passed: the next one is twice as long, until a round trip has been
        measured."""
        self.wait = min(2 * self.wait, max(self.least << BACK_OFF, self.wait))
