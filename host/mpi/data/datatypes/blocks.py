"""Blocks of bytes, made when they are first asked for: a large type may have more of them than
memory holds, and many a program asks only for its size."""

from collections.abc import Callable, Iterable, Sequence

__all__ = ["Block", "Blocks", "irregular", "joined", "regular"]

Block = tuple[int, int]
"""Displacement and bytes."""


class Blocks:
    """Blocks in the order in which their data are sent; ``low`` and ``high``: where the first byte
    is, and the end of the last one."""

    __slots__ = ("low", "high", "_found", "_make")

    def __init__(self, make: Callable[[], Iterable[Block]], low: int, high: int) -> None:
        self.low = low
        self.high = high
        self._make: Callable[[], Iterable[Block]] | None = make
        self._found: list[Block] = []

    def list(self) -> list[Block]:
        """They; what follows each other is one."""
        if self._make is not None:
            self._found, self._make = joined(self._make()), None
        return self._found


def joined(blocks: Iterable[Block]) -> list[Block]:
    """``blocks`` that are not empty; what follows each other is one."""
    found: list[Block] = []
    for at, length in blocks:
        if not length:
            continue
        if found and found[-1][0] + found[-1][1] == at:
            found[-1] = found[-1][0], found[-1][1] + length
        else:
            found.append((at, length))
    return found


def regular(inner: Blocks, extent: int, row: int, count: int, length: int, stride: int) -> Blocks:
    """``count`` times ``length`` elements of ``inner``, at a distance of ``stride`` bytes. ``row``:
    the bytes of an element if elements in a row are bytes in a row, else 0."""
    if not count * length or inner.low == inner.high:
        return Blocks(tuple, 0, 0)
    if row and (count == 1 or stride == length * row):
        at, all_ = inner.low, count * length * row
        return Blocks(lambda: [(at, all_)], at, at + all_)
    ends = [outer + along for outer in (0, (count - 1) * stride)
            for along in (0, (length - 1) * extent)]
    return Blocks(lambda: _spread(inner, extent, row, range(0, count * stride, stride)
                                  if stride else [0] * count, [length] * count),
                  min(ends) + inner.low, max(ends) + inner.high)


def irregular(inner: Blocks, extent: int, row: int, places: Sequence[int], lengths: Sequence[int]
              ) -> Blocks:
    """``lengths`` elements of ``inner`` at ``places``, in bytes."""
    ends = [place + along for place, length in zip(places, lengths, strict=True) if length
            for along in (0, (length - 1) * extent)]
    if not ends or inner.low == inner.high:
        return Blocks(tuple, 0, 0)
    return Blocks(lambda: _spread(inner, extent, row, places, lengths),
                  min(ends) + inner.low, max(ends) + inner.high)


def _spread(inner: Blocks, extent: int, row: int, places: Iterable[int], lengths: Iterable[int]
            ) -> Iterable[Block]:
    for place, length in zip(places, lengths, strict=True):
        if row:
            yield place + inner.low, length * row
        else:
            for one in range(length):
                for at, size in inner.list():
                    yield place + one * extent + at, size
