"""Spread arrays of processes that share a node's memory."""

from ..port.node import Node

__all__ = ["Heap"]


class Heap:
    """The spread arrays in a node's memory, which its processes allocate together: the service of
    the node (:meth:`.Node.shared_service`). Whoever is first claims the parts of all of them."""

    def __init__(self) -> None:
        self._claimed = 0

    def claim(self, node: Node, call: int, first: int, address: int, length: int, align: int
              ) -> None:
        """Claim ``length`` bytes at ``address`` of the node's memory, of which ``first`` was free,
        for the ``call``-th array."""
        if call > self._claimed:
            self._claimed = call
            node.allocate(address - first + length, align)
