"""Receive buffers of the channel over GM: their size classes, numbers and owners.

GM puts a message into a buffer of its own size class, and one for which none waits it sends again
later. So either all packets are of one class, and each peer has its share of the buffers, counted
by credits (:class:`Shares`); or there are buffers of each class for whoever sends, and nobody
counts (:class:`Classes`).
"""

from typing import Protocol

from ...gm import gm_min_size_for_length
from ..progress.packets import HEADER_BYTES
from .credits import Credits

__all__ = ["Buffers", "Classes", "Shares"]

UNCOUNTED = 1 << 40
"""Credits of a peer that never runs out of them."""


class Buffers(Protocol):
    """The buffers of a process.

    Attributes
    ----------
    sizes
        The size class of each.
    """

    sizes: list[int]

    def size_of(self, length: int) -> int:
        """The size class in which a packet of ``length`` bytes goes."""
        ...

    def credits(self) -> Credits:
        """Those of a peer."""
        ...


class Shares:
    """Divides ``tokens`` buffers for packets of up to ``longest`` bytes equally among ``others``.

    Raises
    ------
    ValueError
        They are too few.
    """

    def __init__(self, tokens: int, longest: int, others: int) -> None:
        each = tokens // max(1, others)
        if each < 2:
            raise ValueError(f"too few for {others + 1} ranks, each needs 2 for each other")
        self._size = gm_min_size_for_length(longest)
        self._credits, self._limit = each - 1, (each - 1) // 2
        further = Credits.further(self._credits, self._limit)
        self.sizes = [self._size] * (others * (self._credits + further))

    def size_of(self, length: int) -> int:
        return self._size

    def credits(self) -> Credits:
        return Credits(self._credits, self._limit)


class Classes:
    """Divides ``tokens`` buffers for packets of up to ``longest`` bytes equally among the size
    classes; the rest goes to the smallest class.

    Raises
    ------
    ValueError
        They are fewer than the classes.
    """

    def __init__(self, tokens: int, longest: int) -> None:
        classes = list(range(self.size_of(HEADER_BYTES), self.size_of(longest) + 1))
        if tokens < len(classes):
            raise ValueError(f"fewer than the size classes of packets, {len(classes)}")
        each, rest = divmod(tokens, len(classes))
        self.sizes = [size for place, size in enumerate(classes)
                      for _ in range(each + (place < rest))]

    def size_of(self, length: int) -> int:
        return gm_min_size_for_length(length)

    def credits(self) -> Credits:
        return Credits(UNCOUNTED, UNCOUNTED)
