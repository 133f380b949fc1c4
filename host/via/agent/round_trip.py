"""How long an answer may take: a time-out that follows round trips."""

__all__ = ["RoundTrip"]


class RoundTrip:
    """The time-out of one path. Costs no target time.

    The first is ``least`` cycles, or twice the longest round trip there was of late if that is
    more; each that passes doubles the next, until a round trip has been measured again. None is
    longer than ``most`` cycles.
    """

    __slots__ = ("least", "most", "wait", "_longest")

    def __init__(self, least: int, most: int) -> None:
        self.least = least
        self.most = most
        self.wait = least
        """The time-out, in cycles."""
        self._longest = 0

    def measured(self, cycles: int) -> None:
        """Something was answered that was sent once. What was longest fades by an eighth."""
        self._longest = max(cycles, self._longest - (self._longest >> 3))
        self.wait = min(max(self.least, 2 * self._longest), self.most)

    def late(self) -> None:
        """A time-out has passed."""
        self.wait = min(2 * self.wait, self.most)
