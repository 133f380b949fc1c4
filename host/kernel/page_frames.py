"""The physical pages of a node, which its kernel gives to processes."""

import random

from ..port.node import Node

__all__ = ["PageFrames"]

CHUNK = 16
"""Pages taken from the node at a time and then used in another order."""


class PageFrames:
    """The physical pages of a node, handed out one by one in a scattered, deterministic order."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.page_bytes = node.description.via.page_bytes
        self._pool: list[int] = []
        self._random = random.Random(node.number)

    def take(self) -> int:
        """Number of a free page.

        Raises
        ------
        MemoryError
            The node's memory is full.
        """
        pool = self._pool
        if not pool:
            size = self.page_bytes
            try:
                for _ in range(CHUNK):
                    pool.append(self.node.allocate(size, size) // size)
            except MemoryError:
                if not pool:
                    raise
        return pool.pop(self._random.randrange(len(pool)))

    def give(self, number: int) -> None:
        """The page is free again; nobody has written to it."""
        self._pool.append(number)
