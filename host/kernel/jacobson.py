"""The time-out that measured round trips ask for (Jacobson, SIGCOMM 1988)."""

__all__ = ["Jacobson"]


class Jacobson:
    """The mean of the round trips of a path and its mean deviation. A measurement moves them by an
    eighth and a quarter, by shifts. Costs no target time; when to measure, and what a time-out
    that has passed does to the next one, are a protocol's.

    Parameters
    ----------
    granularity
        The time-out is at least so many cycles longer than the mean (G of RFC 2988).

    Attributes
    ----------
    mean, deviation
        In eighths and quarters of a cycle. Without a measurement the mean is 0.
    """

    __slots__ = ("granularity", "mean", "deviation")

    def __init__(self, granularity: int = 0) -> None:
        self.granularity = granularity
        self.mean = self.deviation = 0

    def measured(self, cycles: int) -> int:
        """Take a round trip of ``cycles``; return the time-out, the mean plus four times the mean
        deviation, in cycles."""
        if self.mean:
            error = cycles - (self.mean >> 3)
            self.mean += error
            self.deviation += abs(error) - (self.deviation >> 2)
        else:
            self.mean, self.deviation = cycles << 3, cycles << 1
        return (self.mean >> 3) + max(self.granularity, self.deviation)

    def forget(self) -> None:
        """Begin anew with the next measurement."""
        self.mean = 0
