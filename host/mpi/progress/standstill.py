"""Observes all ranks of a run from outside the target, to report why none of them can go on.

A run in which every rank waits or has ended, and in which no packet is under way to one that could
take it, has come to its end: nothing will ever wake a rank. This cannot become untrue again, so it
does not matter in which order the ranks are served, and no cycle depends on it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from ..errors import ErrorClass, MpiError

__all__ = ["Standstill"]


class Standstill:
    """All ranks of a run.

    Attributes
    ----------
    under_way
        By rank that will handle their end: packets, writes and reads that have been sent and not
        handled.
    waiting
        What each rank waits for that does, put here by :meth:`wait` and taken out by it.
    """

    def __init__(self) -> None:
        self.under_way: Counter[int] = Counter()
        self._places: list[tuple[int, int]] = []
        self.waiting: dict[int, Callable[[], str]] = {}
        self._opening: set[int] = set()
        self._open: set[int] = set()
        self._ended: dict[int, str] = {}
        self._running = 0

    def consists_of(self, places: Sequence[tuple[int, int]]) -> None:
        """The ranks are the programs of these ``places``: node and CPU of each."""
        self._places = [*places]
        self._running = len(places) - len(self._ended)

    # Beginning and end of a rank

    def opens(self, rank: int) -> None:
        """``rank`` begins Init, which waits for all others.

        Raises
        ------
        MpiError
            A program has ended without.
        """
        self._opening.add(rank)
        self._look_for_absent()

    def opened(self, rank: int) -> None:
        """``rank`` has all its channels."""
        self._opening.discard(rank)
        self._open.add(rank)

    def closed(self, rank: int) -> None:
        """``rank`` has been through Finalize."""
        self._open.discard(rank)

    def program_ended(self, place: tuple[int, int]) -> None:
        """The program of ``place`` has ended.

        Raises
        ------
        MpiError
            Others wait for it for ever.
        """
        if place not in self._places:
            return
        rank = self._places.index(place)
        self._running -= rank not in self._ended
        if rank in self._open:
            self._ended[rank] = f"rank {rank} has ended without Finalize"
            self._look()
        elif rank not in self._ended:
            self._ended[rank] = f"rank {rank} has ended"
            self._look_for_absent()

    def has_ended(self, ranks: Collection[int]) -> bool:
        """Tells whether the programs of all these ranks have."""
        return all(rank in self._ended for rank in ranks)

    # Waiting

    def wait(self, rank: int, what: Callable[[], str]) -> None:
        """``rank`` waits for what ``what`` says.

        Raises
        ------
        MpiError
            And so do all others, for ever.
        """
        self.waiting[rank] = what
        self._look()

    def _look(self) -> None:
        """Look whether any rank will ever go on."""
        if len(self.waiting) < self._running or not self.waiting:
            return
        for rank in self.waiting:
            if self.under_way[rank]:
                return
        waiting = {rank: text() for rank, text in self.waiting.items()}
        why = "no rank can go on" if self._ended else "deadlock, no rank can go on"
        raise MpiError(ErrorClass.ERR_PENDING, f"{why}: " + "; ".join(
            text for _, text in sorted((self._ended | waiting).items())))

    def _look_for_absent(self) -> None:
        """Look whether a rank waits in Init for one that will never come there."""
        absent = sorted(set(self._ended) - self._open)
        if self._opening and absent:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {absent[0]} has ended without Init, in "
                           f"which rank {min(self._opening)} waits for it")
