"""Knows the place of each rank: which ranks share a node, and how the ranks of a node are told
apart."""

__all__ = ["Places"]


class Places:
    """The node and CPU of each rank, as ``rank`` sees them.

    Attributes
    ----------
    rank, size
        This process, and the number of all.
    beside, elsewhere
        The other ranks on this node, and those on others.
    shared
        Whether a node has several ranks.
    """

    def __init__(self, rank: int, places: list[tuple[int, int]]) -> None:
        self.rank = rank
        self.size = len(places)
        self._nodes = [node for node, _ in places]
        self._indices = [self._nodes[:one].count(node) for one, node in enumerate(self._nodes)]
        here = self._nodes[rank]
        others = [one for one in range(self.size) if one != rank]
        self.beside = [one for one in others if self._nodes[one] == here]
        self.elsewhere = [one for one in others if self._nodes[one] != here]
        self.shared = len(set(self._nodes)) < self.size

    def node(self, rank: int) -> int:
        """The node of ``rank``."""
        return self._nodes[rank]

    def index(self, rank: int) -> int:
        """Tells which of its node's ranks it is, from 0 on."""
        return self._indices[rank]
