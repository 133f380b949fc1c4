"""A datatype, and the types that are made of it."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np

from ...errors import ErrorClass, MpiError
from .blocks import Block, Blocks, irregular, joined, regular
from .origin import Origin
from .signature import Kind, Signature

__all__ = ["Datatype"]

NOT_MARKED = (False, False)
MARKED = (True, True)


class Datatype:
    """A datatype: ``blocks`` of bytes of an element, its lower bound and ``extent`` in bytes.

    Attributes
    ----------
    size
        Bytes of data of an element.
    dtype
        numpy's type of its basic elements; None if they differ.
    signature
        Its basic elements, in order.
    align
        Bytes of which C has an element at a multiple.
    marks
        Whether its lower and its upper bound were given: they then are those of every type made of
        it, too (MPI 1.1, 3.12.3).
    kind
        What it is if MPI defines it.
    origin
        How it was made; None if MPI defines it.
    name
        For messages about it.
    label
        What the program has named it.
    freed
        Whether the program has freed it.
    """

    __slots__ = ("extent", "size", "dtype", "name", "lower", "signature", "align", "marks", "kind",
                 "origin", "label", "freed", "_blocks", "_contiguous")

    def __init__(self, blocks: Blocks, lower: int, extent: int, signature: Signature,
                 dtype: np.dtype[Any] | None, name: str, *, align: int = 1,
                 marks: tuple[bool, bool] = NOT_MARKED, kind: Kind | None = None,
                 origin: Origin | None = None) -> None:
        self.extent = extent
        self.lower = lower
        self.size = signature.size
        self.dtype = dtype
        self.signature = signature
        self.align = align
        self.marks = marks
        self.kind = kind
        self.origin = origin
        self.name = name
        self.label = ""
        self.freed = False
        self._blocks = blocks
        self._contiguous: bool | None = None

    @property
    def blocks(self) -> list[Block]:
        """Its blocks of bytes, (displacement, bytes), in the order in which their data are sent.
        Blocks that follow each other are one."""
        return self._blocks.list()

    @property
    def basic(self) -> int:
        """Basic elements of one element."""
        return self.signature.count

    @property
    def contiguous(self) -> bool:
        """Tells whether elements in a row are bytes in a row."""
        if self._contiguous is None:
            self._contiguous = (self.size == self.extent
                                and self._blocks.high - self._blocks.low == self.size
                                and len(self.blocks) <= 1)
        return self._contiguous

    @property
    def _row(self) -> int:
        """Bytes of an element, if elements in a row are bytes in a row; else 0."""
        return self.size if self.contiguous else 0

    def pieces(self, count: int) -> list[Block]:
        """The blocks of ``count`` elements."""
        if not count or not self.size:
            return []
        if self.contiguous:
            return [(self._blocks.low, count * self.size)]
        return joined((place * self.extent + at, length) for place in range(count)
                      for at, length in self.blocks)

    @property
    def true(self) -> tuple[int, int]:
        """The first byte of data, and the distance from it to the end of the last one."""
        return self._blocks.low, self._blocks.high - self._blocks.low

    def span(self, count: int) -> tuple[int, int]:
        """The first byte of ``count`` elements' data, and the end of the last one."""
        if not count or not self.size:
            return 0, 0
        last = (count - 1) * self.extent
        return min(0, last) + self._blocks.low, max(0, last) + self._blocks.high

    # Under MPI's names

    def Get_size(self) -> int:
        """Bytes of data of an element."""
        return self.size

    def Get_extent(self) -> tuple[int, int]:
        """Lower bound and extent, in bytes."""
        return self.lower, self.extent

    def Create_contiguous(self, count: int) -> "Datatype":
        """``count`` elements in a row."""
        return self._regular("CONTIGUOUS", _count(count), 1, self.extent, count=count)

    def Create_vector(self, count: int, blocklength: int, stride: int) -> "Datatype":
        """``count`` blocks of ``blocklength`` elements, which begin ``stride`` elements apart."""
        return self._regular("VECTOR", count, blocklength, index(stride) * self.extent,
                             count=count, blocklength=blocklength, stride=stride)

    def Create_hvector(self, count: int, blocklength: int, stride: int) -> "Datatype":
        """The same, with ``stride`` in bytes."""
        return self._regular("HVECTOR", count, blocklength, index(stride),
                             count=count, blocklength=blocklength, stride=stride)

    def Create_indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]
                       ) -> "Datatype":
        """Blocks of so many elements at such displacements, in elements."""
        _alike("an indexed type", blocklengths, displacements)
        return self._irregular("INDEXED", [index(at) * self.extent for at in displacements],
                               blocklengths, blocklengths=blocklengths,
                               displacements=displacements)

    def Create_indexed_block(self, blocklength: int, displacements: Sequence[int]) -> "Datatype":
        """Blocks of ``blocklength`` elements at such displacements."""
        return self._irregular("INDEXED_BLOCK", [index(at) * self.extent for at in displacements],
                               [blocklength] * len(displacements), blocklength=blocklength,
                               displacements=displacements)

    def Create_hindexed(self, blocklengths: Sequence[int], displacements: Sequence[int]
                        ) -> "Datatype":
        """As Create_indexed, with displacements in bytes."""
        _alike("an indexed type", blocklengths, displacements)
        return self._irregular("HINDEXED", displacements, blocklengths,
                               blocklengths=blocklengths, displacements=displacements)

    def Create_hindexed_block(self, blocklength: int, displacements: Sequence[int]) -> "Datatype":
        """As Create_indexed_block, with displacements in bytes."""
        return self._irregular("HINDEXED_BLOCK", displacements, [blocklength] * len(displacements),
                               blocklength=blocklength, displacements=displacements)

    @classmethod
    def Create_struct(cls, blocklengths: Sequence[int], displacements: Sequence[int],
                      datatypes: Sequence["Datatype"]) -> "Datatype":
        """Blocks of elements of different types, at displacements in bytes. The extent is rounded
        up as C does for a struct, unless the upper bound of a type was given. Blocks of no elements
        do not count."""
        _alike("a struct", blocklengths, displacements, datatypes)
        lengths = [_count(length) for length in blocklengths]
        parts = [one._irregular("", [at], [length]) for length, at, one
                 in zip(lengths, displacements, datatypes, strict=True) if length]
        marks = any(one.marks[0] for one in parts), any(one.marks[1] for one in parts)
        # A mark of one bound says nothing about the other one.
        low = min((one.lower for one in parts if one.marks[0] or not marks[0]
                   and one.marks != (False, True)), default=0)
        high = max((one.lower + one.extent for one in parts if one.marks[1] or not marks[1]
                    and one.marks != (True, False)), default=0)
        align = max((one.align for one in parts), default=1)
        extent = high - low if marks[1] else -(-(high - low) // align) * align
        held = [one for one in parts if one.size]
        dtypes = {one.dtype for one in held}
        return cls(Blocks(lambda: (block for one in held for block in one.blocks),
                          min((one._blocks.low for one in held), default=0),
                          max((one._blocks.high for one in held), default=0)),
                   low, extent, Signature((1, one.signature) for one in held),
                   dtypes.pop() if len(dtypes) == 1 else None, "struct", align=align, marks=marks,
                   origin=Origin("STRUCT", tuple(datatypes), _plain(
                       blocklengths=blocklengths, displacements=displacements)))

    def Create_resized(self, lb: int, extent: int) -> "Datatype":
        """The same bytes with another extent."""
        return Datatype(self._blocks, index(lb), index(extent), self.signature, self.dtype,
                        f"{self.name}.resized", align=self.align, marks=MARKED,
                        origin=Origin("RESIZED", (self,), _plain(lb=lb, extent=extent)))

    def Dup(self) -> "Datatype":
        """The same type again."""
        made = self.again()
        made.origin = Origin("DUP", (self,), {})
        return made

    def again(self) -> "Datatype":
        """The same type, made as it was: one that may be freed and named by itself."""
        return Datatype(self._blocks, self.lower, self.extent, self.signature, self.dtype,
                        self.name, align=self.align, marks=self.marks, kind=self.kind,
                        origin=self.origin)

    def named(self, name: str) -> "Datatype":
        """The same type under another name."""
        made = self.again()
        made.name = name
        return made

    def made(self, how: str, **arguments: Any) -> "Datatype":
        """It, of which ``how`` and ``arguments`` say how a program has made it."""
        self.origin = Origin(how, arguments.pop("types"), _plain(**arguments))
        return self

    def Commit(self) -> "Datatype":
        """Nothing is left to be done; returns the type."""
        return self

    def Free(self) -> None:
        """The program does not use it any more. What has begun with it goes on."""
        self.freed = True

    def _regular(self, how: str, times: int, run: int, step: int, **arguments: Any
                 ) -> "Datatype":
        times, run = _count(times), _count(run)
        places = [0, (times - 1) * step] if times else []
        return self._derived(how, regular(self._blocks, self.extent, self._row, times, run, step),
                             places, [run] * len(places), times * run, arguments)

    def _irregular(self, how: str, places: Sequence[int], lengths: Sequence[int],
                   **arguments: Any) -> "Datatype":
        lengths, places = [_count(one) for one in lengths], [index(one) for one in places]
        return self._derived(how, irregular(self._blocks, self.extent, self._row, places, lengths),
                             places, lengths, sum(lengths), arguments)

    def _derived(self, how: str, blocks: Blocks, places: Sequence[int], lengths: Sequence[int],
                 count: int, arguments: dict[str, Any]) -> "Datatype":
        firsts = [place + along for place, length in zip(places, lengths, strict=True) if length
                  for along in (0, (length - 1) * self.extent)]
        low = min(firsts, default=0) + (self.lower if firsts else 0)
        high = max(firsts, default=0) + (self.lower + self.extent if firsts else 0)
        return Datatype(blocks, low, high - low, self.signature.times(count), self.dtype,
                        f"{self.name}.{how.lower()}", align=self.align,
                        marks=self.marks if firsts else NOT_MARKED,
                        origin=Origin(how, (self,), _plain(**arguments)))

    def __repr__(self) -> str:
        return f"Datatype({self.name}, size={self.size}, extent={self.extent})"


def _plain(**arguments: Any) -> dict[str, Any]:
    """Arguments as integers and lists of integers, whatever the program has them in."""
    return {name: [index(each) for each in one] if isinstance(one, Iterable) else index(one)
            for name, one in arguments.items()}


def _count(count: int) -> int:
    count = index(count)
    if count < 0:
        raise MpiError(ErrorClass.ERR_COUNT, f"count {count}: must not be negative")
    return count


def _alike(what: str, *lists: Sequence[Any]) -> None:
    if len({len(one) for one in lists}) > 1:
        names = ("lengths", "displacements", "types")
        told = [f"{len(one)} {name}" for one, name in zip(lists, names, strict=False)]
        raise MpiError(ErrorClass.ERR_ARG, f"{what} of {', '.join(told[:-1])} and {told[-1]}")
