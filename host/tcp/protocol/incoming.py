"""Received bytes: in order for the reader, beyond a gap kept."""

from collections import deque

from .sequence import HALF, MASK, distance, plus

__all__ = ["Incoming"]


class Incoming:
    """A socket's receive buffer of ``size`` bytes.

    Attributes
    ----------
    expected
        Sequence number of the first byte that has not arrived.
    readable
        Bytes in order that the process has not read.
    finished
        The peer's FIN has arrived in order: nothing follows.
    """

    __slots__ = ("size", "expected", "readable", "finished", "_blocks", "_kept", "_fin", "_edge",
                 "_step")

    def __init__(self, size: int, expected: int, mss: int) -> None:
        self.size = size
        self.expected = expected
        self.readable = 0
        self.finished = False
        self._blocks: deque[bytes | memoryview] = deque()
        self._kept: list[tuple[int, bytes | memoryview]] = []
        """Beyond a gap: by distance from ``expected`` when it is looked at; overlaps remain."""
        self._fin: int | None = None
        self._edge = plus(expected, size)
        """The end of the window that the peer knows."""
        self._step = min(mss, size // 2)

    @property
    def gaps(self) -> bool:
        """Tells whether something is kept beyond a gap."""
        return bool(self._kept)

    @property
    def window(self) -> int:
        """Bytes that the peer may send from ``expected`` on. It never takes back what it has
        promised, and opens by a segment or half of the buffer (RFC 1122, 4.2.3.3)."""
        # A FIN may come right behind a full window.
        promised = self._edge - self.expected & MASK
        if promised >= HALF:
            promised = 0
        free = self.size - self.readable
        return free if free - promised >= self._step else promised

    def told(self, window: int) -> None:
        """The peer is told of ``window``."""
        self._edge = self.expected + window & MASK

    @property
    def news(self) -> bool:
        """Tells whether the window has opened so far that the peer should be told at once."""
        opened = self.size - self.readable - distance(self.expected, self._edge)
        return opened >= min(2 * self._step, self.size // 2)

    def put(self, sequence: int, data: bytes | memoryview, fin: bool) -> int:
        """Take a segment within the window; bytes, and the FIN, that are in order with it."""
        if fin:
            self._fin = plus(sequence, len(data))
        begin = self.expected
        if sequence == begin and data and not self._kept:
            self._append(data)
        elif data and distance(self.expected, plus(sequence, len(data))) > 0:
            if distance(self.expected, sequence) > 0:
                if (sequence, data) not in self._kept:
                    self._kept.append((sequence, data))
            else:
                self._take(sequence, data)
                self._fill()
        if self._fin == self.expected and not self.finished:
            self.finished = True
            self.expected = plus(self.expected, 1)
        return self.expected - begin & MASK

    def _append(self, data: bytes | memoryview) -> None:
        """Bytes from ``expected`` on."""
        self._blocks.append(data)
        self.readable += len(data)
        self.expected = self.expected + len(data) & MASK

    def _take(self, sequence: int, data: bytes | memoryview) -> None:
        """What is new of bytes that end beyond ``expected``."""
        self._append(data[distance(sequence, self.expected):])

    def _fill(self) -> None:
        """What was kept is in order now, as far as it is."""
        self._kept.sort(key=lambda one: distance(self.expected, one[0]))
        while self._kept and distance(self.expected, self._kept[0][0]) <= 0:
            sequence, data = self._kept.pop(0)
            if distance(self.expected, plus(sequence, len(data))) > 0:
                self._take(sequence, data)

    def read(self, count: int) -> list[bytes | memoryview]:
        """Up to ``count`` bytes, which leave the buffer, in the blocks in which they came."""
        found, blocks = [], self._blocks
        while count and blocks:
            block = blocks.popleft()
            length = len(block)
            if length > count:
                blocks.appendleft(block[count:])
                block, length = block[:count], count
            found.append(block)
            count -= length
            self.readable -= length
        return found
