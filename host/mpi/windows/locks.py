"""The lock of a window at its target: shared or exclusive, granted in the order of the requests."""

from collections import deque

__all__ = ["EXCLUSIVE", "Lock", "SHARED"]

EXCLUSIVE, SHARED = 1, 2


class Lock:
    """A window's lock: its owners, and those that wait for it.

    Attributes
    ----------
    holders
        By rank in the window, how it has the lock.
    """

    def __init__(self) -> None:
        self.holders: dict[int, int] = {}
        self._waiting: deque[tuple[int, int]] = deque()

    def ask(self, rank: int, how: int) -> list[int]:
        """``rank`` wants it; the ranks to which it is granted now."""
        self._waiting.append((rank, how))
        return self._grant()

    def give_back(self, rank: int) -> list[int]:
        """``rank`` has it no longer; the ranks to which it is granted now."""
        del self.holders[rank]
        return self._grant()

    def _grant(self) -> list[int]:
        found = []
        while self._waiting:
            rank, how = self._waiting[0]
            if self.holders and (how == EXCLUSIVE or EXCLUSIVE in self.holders.values()):
                break
            self._waiting.popleft()
            self.holders[rank] = how
            found.append(rank)
        return found
