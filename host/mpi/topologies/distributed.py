"""Graphs of which each process knows its own edges."""

from collections.abc import Sequence

from ..constants import DIST_GRAPH
from .topology import Topology

__all__ = ["Distributed"]


class Distributed(Topology):
    """The edges of one process: ``froms`` and ``tos`` are the processes at their other ends,
    ``weights`` those of the one and of the other; None in a graph without weights."""

    __slots__ = ("froms", "tos", "weights")
    kind = DIST_GRAPH
    name = "distributed graph"

    def __init__(self, froms: Sequence[int], tos: Sequence[int],
                 weights: tuple[Sequence[int], Sequence[int]] | None) -> None:
        self.froms = [int(one) for one in froms]
        self.tos = [int(one) for one in tos]
        self.weights = (None if weights is None else
                        ([int(one) for one in weights[0]], [int(one) for one in weights[1]]))

    def sources(self, rank: int) -> list[int]:
        """``rank`` is the process itself."""
        return self.froms

    def destinations(self, rank: int) -> list[int]:
        return self.tos
