"""Credits between two processes: a packet is sent only where a buffer waits for it.

A sender has as many credits as its peer has buffers for it. A buffer that waits again is a credit,
which goes back with whatever packet comes next. If none comes, a packet of its own tells of them,
for which the peer has further buffers.
"""

__all__ = ["Credits"]


class Credits:
    """The credits of this process at one peer, and the peer's here.

    Attributes
    ----------
    left
        Packets that may be sent.
    owed
        Buffers that wait again, of which the peer has not been told.
    """

    __slots__ = ("left", "owed", "_limit")

    def __init__(self, buffers: int, limit: int) -> None:
        """``buffers``: those that wait at each end. ``limit``: most owed without telling."""
        self.left = buffers
        self.owed = 0
        self._limit = limit

    @staticmethod
    def further(buffers: int, limit: int) -> int:
        """Buffers that are needed besides, for the packets that tell of credits: each tells of more
        than ``limit``, which the peer has used before."""
        return max(1, buffers // (limit + 1))

    @property
    def due(self) -> bool:
        """Tells whether the peer should be told by a packet of its own."""
        return self.owed > self._limit

    def owe(self) -> bool:
        """A buffer waits again; :attr:`due`, without a call of it for each packet."""
        self.owed += 1
        return self.owed > self._limit

    def tell(self) -> int:
        """The credits to tell of with the next packet, at most 255."""
        told = min(self.owed, 255)
        self.owed -= told
        return told
