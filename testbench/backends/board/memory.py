"""A node's host memory: a complete copy here, and pages of it resident on the board."""

from ....host.port.memory import ArrayMemory
from ....layouts.board import PAGE_BYTES
from . import commands

__all__ = ["PagedMemory"]

_WORDS = PAGE_BYTES // 8
_AT_ONCE = 1 << 15
"""Most pages of one FORGET."""


class PagedMemory(ArrayMemory):
    """The memory of node ``node``: ``size`` bytes, of which ``frames`` pages fit on the board.

    The board reports all writes of the target (:meth:`take`), so this copy always equals the
    memory, and reads cost nothing. A write to this copy is recorded if its page is resident, and
    goes to the board with :meth:`changes`. The page that became resident first is replaced first.
    """

    __slots__ = ("node", "frames", "_resident", "_changed")

    def __init__(self, node: int, size: int, frames: int) -> None:
        super().__init__(size)
        self.node = node
        self.frames = frames
        self._resident: dict[int, int] = {}
        self._changed: set[int] = set()

    def write(self, address: int, data: bytes | memoryview) -> None:
        super().write(address, data)
        if not data or not self._resident:
            return
        last = address + len(data) - 1 >> 3
        first = address >> 3
        if last - first < _WORDS:
            pages = {first // _WORDS, last // _WORDS} & self._resident.keys()
        else:
            pages = {page for page in self._resident
                     if first // _WORDS <= page <= last // _WORDS}
        for page in pages:
            self._changed.update(range(max(first, page * _WORDS),
                                       min(last, page * _WORDS + _WORDS - 1) + 1))

    def clear(self) -> None:
        super().clear()
        self._changed.update(word for page in self._resident
                             for word in range(page * _WORDS, (page + 1) * _WORDS))

    def take(self, place: int, strobe: int, word: int) -> None:
        """Take over a write of the target: the bytes of 8-byte word ``place`` that ``strobe``
        selects."""
        data = word.to_bytes(8, "little")
        address = 8 * place
        if strobe == 0xFF:
            self.data[address:address + 8] = data
            return
        for byte in range(8):
            if strobe >> byte & 1:
                self.data[address + byte] = data[byte]

    def begin(self) -> list[tuple[int, ...]]:
        """Commands that remove all pages that were resident on the board before this session."""
        pages = self.size // PAGE_BYTES
        return [commands.forget(self.node, first, min(_AT_ONCE, pages - first))
                for first in range(0, pages, _AT_ONCE)]

    def changes(self) -> list[tuple[int, ...]]:
        """Commands that update the resident pages from this copy."""
        found: list[tuple[int, ...]] = []
        words = sorted(self._changed)
        self._changed.clear()
        begin = 0
        for end in range(1, len(words) + 1):
            # A run of words ends at a gap and at the end of a page, because the next page is
            # elsewhere.
            if end == len(words) or words[end] != words[end - 1] + 1 or not words[end] % _WORDS:
                found += self._copy(words[begin], words[end - 1] + 1)
                begin = end
        return found

    def load(self, page: int) -> list[tuple[int, ...]]:
        """Commands that make ``page`` resident, in place of another page if necessary."""
        found: list[tuple[int, ...]] = []
        if len(self._resident) == self.frames:
            victim = next(iter(self._resident))
            frame = self._resident.pop(victim)
            self._changed.difference_update(range(victim * _WORDS, (victim + 1) * _WORDS))
            found.append(commands.forget(self.node, victim, 1))
        else:
            frame = len(self._resident)
        self._resident[page] = frame
        found += self._copy(page * _WORDS, (page + 1) * _WORDS)
        found.append(commands.map_page(self.node, page, frame))
        return found

    def _copy(self, first: int, end: int) -> list[tuple[int, ...]]:
        """Commands that copy 8-byte words ``first`` to ``end`` of one resident page."""
        page, offset = divmod(first, _WORDS)
        words = memoryview(self.data).cast("Q")[first:end].tolist()
        return list(commands.write(self.node, self._resident[page] * _WORDS + offset, words))
