"""What the ranks of a run know of each other beside the target, to say why none of them goes on.

A run in which every rank waits, and in which no packet is under way, has come to its end: nothing
will ever wake a rank. This cannot become untrue again, so it does not matter in which order the
ranks are served, and no cycle depends on it.
"""

from collections.abc import Callable

from .errors import ErrorClass, MpiError

__all__ = ["World"]


class World:
    """All ranks of a run.

    Attributes
    ----------
    under_way
        Packets, writes and reads that have been sent and not handled.
    """

    def __init__(self) -> None:
        self.size = 0
        self.under_way = 0
        self._waiting: dict[int, Callable[[], str]] = {}

    def wait(self, rank: int, what: Callable[[], str]) -> None:
        """``rank`` waits for what ``what`` says.

        Raises
        ------
        MpiError
            And so do all others, for ever.
        """
        self._waiting[rank] = what
        if len(self._waiting) == self.size and not self.under_way:
            raise MpiError(ErrorClass.ERR_PENDING, "deadlock, no rank can go on: "
                           + "; ".join(self._waiting[rank]() for rank in sorted(self._waiting)))

    def go(self, rank: int) -> None:
        """``rank`` has been woken."""
        self._waiting.pop(rank, None)
