"""A block: what a port gives to the target at a time."""

from ...layouts.operations import BLOCK, ENTRY

__all__ = ["Block"]


class Block:
    """Up to BLOCK entries of a port's operations. Private to the port, and to what serves it.

    Attributes
    ----------
    words
        The entries: memory from which the target takes them, if the block goes there as it is.
    count
        How many there are.
    marks
        Marks that wait for answers of the block: each, after how many entries, and the work behind
        them in ticks.
    """

    __slots__ = ("words", "count", "marks")

    def __init__(self, words: bytearray | memoryview | None = None) -> None:
        self.words = bytearray(BLOCK * ENTRY.size) if words is None else words
        self.count = 0
        self.marks: list[tuple[list[int], int, int]] = []
