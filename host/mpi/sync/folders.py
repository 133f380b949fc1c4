"""Gives each rank a current directory of its own, although the process has only one."""

import os

__all__ = ["Folders"]

_PATH = getattr(os, "O_PATH", os.O_RDONLY)


class Folders:
    """The current folder of each rank. One for a run; see :meth:`Node.run_service`. The process is
    where the run began until a rank moves.

    A face of MPI calls :meth:`moved` after its program has changed the directory, before another
    rank runs; :class:`.stack.Stack` does the rest.

    Attributes
    ----------
    places
        A descriptor of the directory of each rank that has moved. Empty: there is nothing to do.
    """

    def __init__(self) -> None:
        self.places: dict[int, int] = {}
        self._ranks = 0
        self._home = -1
        self._here = -1

    def begin(self) -> None:
        """A rank begins."""
        if self._ranks == 0:
            self._home = _current()
        self._ranks += 1

    def end(self) -> None:
        """A rank has ended. With the last one the process is where it was, and knows none."""
        self._ranks -= 1
        if self._ranks:
            return
        if self.places:
            self._go(self._home)
        for place in (*self.places.values(), self._home):
            if place >= 0:
                os.close(place)
        self.places.clear()

    def moved(self, rank: int) -> None:
        """``rank``, whose program runs, has changed the current directory."""
        before = self.places.pop(rank, -1)
        if before >= 0:
            os.close(before)
        self.places[rank] = _current()
        self._here = rank

    def give(self, rank: int) -> None:
        """The program of ``rank`` goes on."""
        if self._here != rank:
            self._go(self.places.get(rank, self._home))
            self._here = rank

    @staticmethod
    def _go(place: int) -> None:
        if place >= 0:
            os.fchdir(place)


def _current() -> int:
    """A descriptor of the current directory; -1 where it cannot be entered again."""
    try:
        return os.open(".", _PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1
