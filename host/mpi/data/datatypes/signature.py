"""Basic elements, and which of them a type has, in order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Kind", "Signature"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A basic element.

    Attributes
    ----------
    dtype
        numpy's type of it.
    group
        What operations may be made on it: integer, floating, complex, logical, byte or pair; ""
        for none.
    external
        Its bytes in external32.
    """

    dtype: np.dtype[Any]
    group: str
    external: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.dtype.itemsize

    @property
    def count(self) -> int:
        """Of how many elements it is."""
        return 1


class Signature:
    """The basic elements of a type: runs of so many elements, or so many times a signature.

    Attributes
    ----------
    runs
    size
        Bytes of all.
    count
        Their number.
    external
        Bytes of all in external32.
    """

    __slots__ = ("runs", "size", "count", "external")

    def __init__(self, runs: Iterable[tuple[int, "Kind | Signature"]]) -> None:
        self.runs = tuple((times, of) for times, of in runs if times and of.count)
        self.size = sum(times * of.size for times, of in self.runs)
        self.count = sum(times * of.count for times, of in self.runs)
        self.external = sum(times * of.external for times, of in self.runs)

    def times(self, count: int) -> "Signature":
        """``count`` times the same."""
        if count == 1:
            return self
        if len(self.runs) == 1:
            [(times, of)] = self.runs
            return Signature([(count * times, of)])
        return Signature([(count, self)])

    def elements(self, length: int) -> int | None:
        """Elements in the first ``length`` bytes of as many of it as one likes; None if the last
        one is not whole."""
        if not self.size:
            return None if length else 0
        whole, length = divmod(length, self.size)
        found = whole * self.count
        for times, of in self.runs:
            whole = min(times, length // of.size)
            found += whole * of.count
            length -= whole * of.size
            if whole < times:
                if not length:
                    return found
                rest = None if isinstance(of, Kind) else of.elements(length)
                return None if rest is None else found + rest
        return found

    def bytes(self, elements: int) -> int:
        """Bytes of the first ``elements`` of as many of it as one likes."""
        if not self.count:
            return 0
        whole, elements = divmod(elements, self.count)
        found = whole * self.size
        for times, of in self.runs:
            whole = min(times, elements // of.count)
            found += whole * of.size
            elements -= whole * of.count
            if whole < times:
                return found + (0 if isinstance(of, Kind) else of.bytes(elements))
        return found

    def each(self) -> Iterable[tuple[int, Kind]]:
        """Its runs of basic elements, in order."""
        for times, of in self.runs:
            if isinstance(of, Kind):
                yield times, of
            elif len(of.runs) == 1 and isinstance(of.runs[0][1], Kind):
                yield times * of.runs[0][0], of.runs[0][1]
            else:
                for _ in range(times):
                    yield from of.each()
