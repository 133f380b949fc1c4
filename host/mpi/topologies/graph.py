"""Graphs that every process knows as a whole."""

from collections.abc import Sequence

from ..constants import GRAPH
from ..errors import ErrorClass, MpiError
from .topology import Topology

__all__ = ["Graph"]


class Graph(Topology):
    """A graph in MPI's form: the neighbours of each node, one after the other, in ``edges``, and in
    ``index`` where each node's end.

    Raises
    ------
    MpiError
        ``index`` falls, or a neighbour is none of the nodes.
    """

    __slots__ = ("index", "edges", "size")
    kind = GRAPH
    name = "graph"

    def __init__(self, index: Sequence[int], edges: Sequence[int]) -> None:
        self.index = [int(one) for one in index]
        self.size = len(self.index)
        last = self.index[-1] if self.index else 0
        if any(later < one for one, later in zip([0, *self.index], self.index, strict=False)) \
                or last > len(edges):
            raise MpiError(ErrorClass.ERR_ARG, f"a graph whose index is {self.index}, with "
                           f"{len(edges)} edges")
        self.edges = [int(one) for one in edges[:last]]
        wrong = [one for one in self.edges if not 0 <= one < self.size]
        if wrong:
            raise MpiError(ErrorClass.ERR_ARG, f"a graph of {self.size} nodes with an edge to node "
                           f"{wrong[0]}")

    def sources(self, rank: int) -> list[int]:
        if not 0 <= rank < self.size:
            raise MpiError(ErrorClass.ERR_RANK, f"rank {rank} in a graph of {self.size} nodes")
        return self.edges[self.index[rank - 1] if rank else 0:self.index[rank]]

    destinations = sources
