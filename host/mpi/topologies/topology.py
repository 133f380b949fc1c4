"""The base of all topologies."""

from collections.abc import Sequence
from typing import ClassVar

__all__ = ["Topology"]


class Topology:
    """The arrangement of a communicator's processes.

    Attributes
    ----------
    kind
        MPI's number of its kind.
    name
        Its kind in words.
    """

    __slots__ = ()
    kind: ClassVar[int]
    name: ClassVar[str]

    def sources(self, rank: int) -> list[int]:
        """The neighbours from which ``rank`` receives, in MPI's order; PROC_NULL where there is
        none."""
        raise NotImplementedError

    def destinations(self, rank: int) -> list[int]:
        """The neighbours to which ``rank`` sends, in MPI's order."""
        raise NotImplementedError

    def order(self, count: int) -> Sequence[int]:
        """The places of the ``count`` sources, in the order in which messages of one process come
        to several of them."""
        return range(count)
