"""Knows the windows of all ranks, outside the target, so that a wrong call can report its fault at
once, and a rank knows which of its bytes the others write. No cycle depends on it."""

from typing import Any

__all__ = ["Everywhere"]


class Everywhere:
    """Windows of a run by their number and the rank, among all, to which they belong. One for a
    run; see :meth:`Node.run_service`.

    Attributes
    ----------
    shared
        Memory of windows that processes of a node share, by node, number and size.
    """

    def __init__(self) -> None:
        self._windows: dict[tuple[int, int], Any] = {}
        self.shared: dict[tuple[int, int, tuple[int, ...]], Any] = {}

    def add(self, window: Any, rank: int) -> None:
        """``rank``, among all, has made ``window``."""
        self._windows[window.number, rank] = window

    def remove(self, window: Any, rank: int) -> None:
        """``rank`` has freed it."""
        self._windows.pop((window.number, rank), None)

    def find(self, number: int, rank: int) -> Any:
        """Window ``number`` of ``rank``; None if it has none yet."""
        return self._windows.get((number, rank))
