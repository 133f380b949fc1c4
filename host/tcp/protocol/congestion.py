"""The congestion window: slow start, avoidance, fast recovery (RFC 2581, RFC 2582)."""

__all__ = ["Congestion"]

DUPLICATES = 3
"""Duplicate acknowledgements that tell of a lost segment."""


class Congestion:
    """Bytes that may be under way as far as the network is concerned.

    Attributes
    ----------
    window
        Bytes.
    recovering
        After a fast retransmission, until all has been acknowledged that was sent before it.
    """

    __slots__ = ("window", "recovering", "_mss", "_threshold", "_duplicates")

    def __init__(self, mss: int) -> None:
        self._mss = mss
        self._threshold = 1 << 30
        self._duplicates = 0
        self.window = 2 * mss
        self.recovering = False

    def acknowledged(self, count: int) -> None:
        """``count`` new bytes, outside of a recovery."""
        self._duplicates = 0
        if self.window < self._threshold:
            self.window += min(count, self._mss)
        else:
            self.window += max(1, self._mss * self._mss // self.window)

    def duplicate(self, under_way: int) -> bool:
        """A duplicate acknowledgement with ``under_way`` bytes unacknowledged; whether the first
        segment is to be sent again."""
        self._duplicates += 1
        if self.recovering:
            self.window += self._mss
        elif self._duplicates == DUPLICATES:
            self._threshold = max(under_way // 2, 2 * self._mss)
            self.window = self._threshold + DUPLICATES * self._mss
            self.recovering = True
            return True
        return False

    def partly(self, count: int) -> None:
        """In a recovery, ``count`` bytes have been acknowledged, but not all."""
        self.window = max(self._mss, self.window - count + self._mss)

    def recovered(self) -> None:
        """All has been acknowledged that was sent before the recovery."""
        self.window = self._threshold
        self.recovering = False
        self._duplicates = 0

    def timed_out(self, under_way: int) -> None:
        """A time-out: begin anew with one segment."""
        self._threshold = max(under_way // 2, 2 * self._mss)
        self.window = self._mss
        self.recovering = False
        self._duplicates = 0
