"""A time-out that follows the longest round trip."""

__all__ = ["RoundTrip"]


class RoundTrip:
    """The time-out of one path. It costs no target time.

    The first time-out is ``least`` cycles, or twice the longest recent round trip if that is more.
    Each time-out doubles the next one, until a round trip has been measured again. None is longer
    than ``most`` cycles. It follows the longest round trip, and no mean: it is no
    :class:`~nicbed.host.kernel.jacobson.Jacobson`.
    """

    __slots__ = ("least", "most", "wait", "_longest")

    def __init__(self, least: int, most: int) -> None:
        self.least = least
        self.most = most
        self.wait = least
        """The time-out, in cycles."""
        self._longest = 0

    def measured(self, cycles: int) -> None:
        """A message that was sent once has been answered. The longest round trip decays by an
        eighth."""
        self._longest = max(cycles, self._longest - (self._longest >> 3))
        self.wait = min(max(self.least, 2 * self._longest), self.most)

    def late(self) -> None:
        """A time-out has passed."""
        self.wait = min(2 * self.wait, self.most)
