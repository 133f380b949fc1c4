"""Generalised requests: those that a program completes."""

from collections.abc import Callable
from typing import Any

from .requests import Request
from .status import Status

__all__ = ["GeneralisedRequest"]


class GeneralisedRequest(Request):
    """A request of the program's own. ``query`` fills in its status when the program asks for it,
    ``free`` is called when nobody can ask any more, and ``cancel`` when it is to be cancelled, with
    whether it has ended."""

    def __init__(self, library: Any, query: Callable[[Status], None], free: Callable[[], object],
                 cancel: Callable[[bool], object]) -> None:
        self._query, self._free, self._cancel = query, free, cancel
        self._taken = self._left = False
        super().__init__(library)

    @property
    def status(self) -> Status:  # type: ignore[override]
        """Returns what the program says when it is asked; empty before the end."""
        found = Status()
        if self.done:
            self._query(found)
        return found

    @property
    def taken(self) -> bool:  # type: ignore[override]
        """Tells whether a call has completed it."""
        return self._taken

    @taken.setter
    def taken(self, taken: bool) -> None:
        if taken and not self._taken:
            self._taken = True
            self._free()

    def complete(self) -> None:
        """It has ended."""
        self.done = True
        if self._left:
            self.taken = True

    def leave(self) -> None:
        """The program will not ask for it."""
        self._left = True
        if self.done:
            self.taken = True

    def cancel(self) -> None:
        """Ask the program to cancel it."""
        self._cancel(self.done)

    def describe(self) -> str:
        return "a generalised request, which nobody has completed"
