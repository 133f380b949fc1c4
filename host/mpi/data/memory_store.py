"""Memory of a process that is used again: by powers of two, the latest first, so that the same
program always gets the same addresses."""

from ...kernel.process import Process

__all__ = ["MemoryStore"]

LEAST = 64


class MemoryStore:
    """Pieces of ``process``'s memory."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._free: dict[int, list[int]] = {}

    def take(self, length: int, *, exact: bool = False) -> int:
        """Address of at least ``length`` bytes, a multiple of 64; of a page, from a page on.
        ``exact``: of no more bytes, for what is long and given back seldom.

        Raises
        ------
        MemoryError
            The node's memory is full.
        """
        size = length if exact else self._size(length)
        free = self._free.get(size)
        if free:
            return free.pop()
        page = self.process.page_bytes
        return self.process.allocate(size, LEAST, fresh=size >= page)

    def give(self, address: int, length: int, *, exact: bool = False) -> None:
        """Return what :meth:`take` gave for ``length`` bytes."""
        self._free.setdefault(length if exact else self._size(length), []).append(address)

    @staticmethod
    def _size(length: int) -> int:
        return max(LEAST, 1 << (length - 1).bit_length()) if length else LEAST
