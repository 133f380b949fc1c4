"""Tells the ranks of a run when others have begun and ended, so that none waits for a rank that
will never come. It is no part of the target."""

from .errors import RankError

__all__ = ["Ranks"]


class Ranks:
    """All ranks of a run, by what they have done.

    Attributes
    ----------
    misuse
        How the run must end, as something else than a rank has made a call of MPI.
    """

    def __init__(self) -> None:
        self.misuse: RankError | None = None
        self._begun: set[int] = set()
        self._never: set[int] = set()

    def begins(self, rank: int) -> None:
        """``rank`` calls Init.

        Raises
        ------
        RankError
            A rank has ended without it.
        """
        self._begun.add(rank)
        self._check()

    def never_begins(self, rank: int) -> None:
        """``rank`` has ended without Init; raises as :meth:`begins` does."""
        self._never.add(rank)
        self._check()

    def _check(self) -> None:
        if self._begun and self._never:
            raise RankError(f"rank {min(self._never)} ended without MPI_Init, which rank "
                            f"{min(self._begun)} has called")
