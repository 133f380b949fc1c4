"""Datatypes: which bytes of a buffer a message has, in which order.

A type is a list of *blocks*, (displacement, bytes), in the order in which their data are sent, and
an extent, the distance between one element and the next. Blocks that follow each other are one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .errors import ErrorClass, MpiError

__all__ = ["BOOL", "BYTE", "CHAR", "COMPLEX", "DOUBLE", "DOUBLE_DOUBLE", "DOUBLE_INT", "Datatype",
           "FLOAT", "FLOAT_COMPLEX", "FLOAT_FLOAT", "FLOAT_INT", "INT", "INT16", "INT8", "INT_INT",
           "LB", "LONG", "LONG_DOUBLE", "LONG_DOUBLE_COMPLEX", "LONG_DOUBLE_INT", "LONG_INT",
           "PACKED", "SHORT_INT", "UB", "UINT", "UINT16", "UINT8", "ULONG", "element_name",
           "element_of", "of_dtype"]

Block = tuple[int, int]


class Datatype:
    """A datatype: ``blocks`` of bytes of an element, its lower bound and ``extent`` in bytes.

    Attributes
    ----------
    size
        Bytes of data of an element.
    dtype
        numpy's type of its basic elements; None if they differ.
    name
    """

    __slots__ = ("blocks", "extent", "size", "dtype", "name", "lower", "basic", "align", "origin",
                 "_gone")

    def __init__(self, blocks: Iterable[Block], extent: int, dtype: np.dtype[Any] | None,
                 name: str, lower: int = 0, basic: int = 1, align: int = 0) -> None:
        self.blocks = _joined(blocks)
        self.extent = extent
        self.lower = lower
        self.size = sum(length for _, length in self.blocks)
        self.dtype = dtype
        self.basic = basic
        """Basic elements of one element."""
        self.align = align
        """Bytes of which C has an element at a multiple; 0 if its bounds were given."""
        self.name = name
        self.origin: Any = None
        """How it was made, kept for a face of the layer that tells it."""
        self._gone = False

    @property
    def contiguous(self) -> bool:
        """Whether elements in a row are bytes in a row."""
        return len(self.blocks) <= 1 and self.size == self.extent

    def pieces(self, count: int) -> list[Block]:
        """The blocks of ``count`` elements."""
        if self._gone:
            raise MpiError(ErrorClass.ERR_TYPE, f"{self.name} was freed")
        if not count or not self.size:
            return []
        if self.contiguous:
            return [(self.blocks[0][0], count * self.size)]
        return _joined((place * self.extent + at, length) for place in range(count)
                       for at, length in self.blocks)

    # Under MPI's names

    def Get_size(self) -> int:
        """Bytes of data of an element."""
        return self.size

    def Get_extent(self) -> tuple[int, int]:
        """Lower bound and extent, in bytes."""
        return self.lower, self.extent

    def Create_contiguous(self, count: int) -> "Datatype":
        """``count`` elements in a row."""
        if self.contiguous and self.blocks and _count(count):
            return Datatype([(self.blocks[0][0], count * self.size)], count * self.extent,
                            self.dtype, f"{self.name}.contiguous", self.lower, self.basic * count,
                            self.align)
        return self._made("contiguous", [place * self.extent for place in range(_count(count))],
                          [1] * count)

    def Create_vector(self, count: int, blocklength: int, stride: int) -> "Datatype":
        """``count`` blocks of ``blocklength`` elements, which begin ``stride`` elements apart."""
        return self._made("vector", [place * stride * self.extent for place in
                                     range(_count(count))], [blocklength] * count)

    def Create_hvector(self, count: int, blocklength: int, stride: int) -> "Datatype":
        """The same, with ``stride`` in bytes."""
        return self._made("hvector", [place * stride for place in range(_count(count))],
                          [blocklength] * count)

    def Create_indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]
                       ) -> "Datatype":
        """Blocks of so many elements at such displacements, in elements."""
        if len(blocklengths) != len(displacements):
            raise MpiError(ErrorClass.ERR_ARG, f"an indexed type of {len(blocklengths)} lengths "
                           f"and {len(displacements)} displacements")
        return self._made("indexed", [at * self.extent for at in displacements], blocklengths)

    def Create_indexed_block(self, blocklength: int, displacements: Sequence[int]) -> "Datatype":
        """Blocks of ``blocklength`` elements at such displacements."""
        return self.Create_indexed([blocklength] * len(displacements), displacements)

    def Create_hindexed(self, blocklengths: Sequence[int], displacements: Sequence[int]
                        ) -> "Datatype":
        """As Create_indexed, with displacements in bytes."""
        return self._made("hindexed", list(displacements), blocklengths)

    @classmethod
    def Create_struct(cls, blocklengths: Sequence[int], displacements: Sequence[int],
                      datatypes: Sequence["Datatype"]) -> "Datatype":
        """Blocks of elements of different types, at displacements in bytes. The extent is rounded
        up as C does for a struct, unless the bounds of a type were given (MPI 1.1, 3.12.3)."""
        if not len(blocklengths) == len(displacements) == len(datatypes):
            raise MpiError(ErrorClass.ERR_ARG, f"a struct of {len(blocklengths)} lengths, "
                           f"{len(displacements)} displacements and {len(datatypes)} types")
        parts = [one._made("", [at], [length]) for length, at, one
                 in zip(blocklengths, displacements, datatypes, strict=True)]
        low = min((one.lower for one in parts), default=0)
        high = max((one.lower + one.extent for one in parts), default=0)
        kinds = {one.dtype for one in parts}
        aligns = [one.align for one in parts]
        align = max(aligns) if all(aligns) and aligns else 0
        extent = -(-(high - low) // align) * align if align else high - low
        return cls([block for one in parts for block in one.blocks], extent,
                   kinds.pop() if len(kinds) == 1 else None, "struct", low,
                   sum(one.basic for one in parts), align)

    @property
    def true(self) -> tuple[int, int]:
        """The first byte of data, and the distance from it to the end of the last one."""
        low = min((at for at, _ in self.blocks), default=0)
        return low, max((at + length for at, length in self.blocks), default=0) - low

    def Create_resized(self, lb: int, extent: int) -> "Datatype":
        """The same bytes with another extent."""
        return Datatype(self.blocks, extent, self.dtype, f"{self.name}.resized", lb, self.basic)

    def Dup(self) -> "Datatype":
        """The same type again."""
        return Datatype(self.blocks, self.extent, self.dtype, self.name, self.lower, self.basic,
                        self.align)

    def named(self, name: str) -> "Datatype":
        """The same type under another name."""
        made = self.Dup()
        made.name = name
        return made

    def Commit(self) -> "Datatype":
        """Nothing is left to be done; returns the type."""
        return self

    def Free(self) -> None:
        """The type may not be used any more."""
        self._gone = True

    def _made(self, how: str, places: Sequence[int], lengths: Sequence[int]) -> "Datatype":
        for length in lengths:
            _count(length)
        blocks, low, high = [], 0, 0
        for index, (place, length) in enumerate(zip(places, lengths, strict=True)):
            first, last = place + self.lower, place + self.lower + length * self.extent
            low = first if not index else min(low, first)
            high = last if not index else max(high, last)
            if self.contiguous and length:
                blocks.append((place + self.blocks[0][0], length * self.size))
            else:
                blocks += [(place + one * self.extent + at, size) for one in range(length)
                           for at, size in self.blocks]
        return Datatype(blocks, high - low, self.dtype, f"{self.name}.{how}", low,
                        self.basic * sum(lengths), self.align)

    def __repr__(self) -> str:
        return f"Datatype({self.name}, size={self.size}, extent={self.extent})"


def _count(count: int) -> int:
    if count < 0:
        raise MpiError(ErrorClass.ERR_COUNT, f"count {count}: must not be negative")
    return count


def _joined(blocks: Iterable[Block]) -> list[Block]:
    found: list[Block] = []
    for at, length in blocks:
        if not length:
            continue
        if found and found[-1][0] + found[-1][1] == at:
            found[-1] = found[-1][0], found[-1][1] + length
        else:
            found.append((at, length))
    return found


def _basic(name: str, kind: Any) -> Datatype:
    dtype = np.dtype(kind)
    return Datatype([(0, dtype.itemsize)], dtype.itemsize, dtype, name, align=dtype.alignment)


BYTE = _basic("BYTE", np.uint8)
CHAR = _basic("CHAR", "S1")
INT8, UINT8 = _basic("INT8_T", np.int8), _basic("UINT8_T", np.uint8)
INT16, UINT16 = _basic("INT16_T", np.int16), _basic("UINT16_T", np.uint16)
INT, UINT = _basic("INT", np.int32), _basic("UNSIGNED", np.uint32)
LONG, ULONG = _basic("LONG", np.int64), _basic("UNSIGNED_LONG", np.uint64)
FLOAT, DOUBLE = _basic("FLOAT", np.float32), _basic("DOUBLE", np.float64)
FLOAT_COMPLEX, COMPLEX = _basic("C_FLOAT_COMPLEX", np.complex64), _basic("C_DOUBLE_COMPLEX",
                                                                        np.complex128)
LONG_DOUBLE = _basic("LONG_DOUBLE", np.longdouble)
LONG_DOUBLE_COMPLEX = _basic("C_LONG_DOUBLE_COMPLEX", np.clongdouble)
BOOL = _basic("C_BOOL", np.bool_)
PACKED = _basic("PACKED", np.uint8)


def _pair(name: str, kind: Any, index: Any = np.int32) -> Datatype:
    """A value and an index, for MAXLOC and MINLOC. What C leaves between and behind them counts as
    data."""
    dtype = np.dtype([("value", kind), ("index", index)], align=True)
    return Datatype([(0, dtype.itemsize)], dtype.itemsize, dtype, name, basic=2,
                    align=dtype.alignment)


FLOAT_INT, DOUBLE_INT = _pair("FLOAT_INT", np.float32), _pair("DOUBLE_INT", np.float64)
INT_INT, LONG_INT = _pair("2INT", np.int32), _pair("LONG_INT", np.int64)
SHORT_INT, LONG_DOUBLE_INT = _pair("SHORT_INT", np.int16), _pair("LONG_DOUBLE_INT", np.longdouble)
FLOAT_FLOAT = _pair("2REAL", np.float32, np.float32)
DOUBLE_DOUBLE = _pair("2DOUBLE_PRECISION", np.float64, np.float64)
LB, UB = (Datatype([], 0, None, name, basic=0) for name in ("LB", "UB"))
"""Marks of bounds, as MPI 1 has them."""
_OF = {one.dtype: one for one in (UINT8, CHAR, INT8, INT16, UINT16, INT, UINT, LONG, ULONG, FLOAT,
                                  DOUBLE, LONG_DOUBLE, FLOAT_COMPLEX, COMPLEX,
                                  LONG_DOUBLE_COMPLEX, FLOAT_INT, DOUBLE_INT, INT_INT, LONG_INT,
                                  SHORT_INT)}
_ELEMENTS = {one.dtype: code for code, one in enumerate(
    (INT16, UINT16, INT, UINT, LONG, ULONG, FLOAT, DOUBLE, FLOAT_COMPLEX, COMPLEX), 1)}
_NAMES = {code: _OF[dtype].name for dtype, code in _ELEMENTS.items() if dtype is not None}


def element_of(dtype: np.dtype[Any] | None) -> int:
    """A number for numpy's ``dtype``, by which the two ends of a message are compared. 0: bytes,
    characters and mixed types, which go with any."""
    return _ELEMENTS.get(dtype, 0)


def element_name(element: int) -> str:
    """MPI's name of an element."""
    return _NAMES[element]


def of_dtype(dtype: np.dtype[Any]) -> Datatype:
    """The basic datatype of numpy's ``dtype``.

    Raises
    ------
    MpiError
        There is none.
    """
    if dtype.kind == "b":
        return UINT8
    found = _OF.get(dtype)
    if found is None:
        raise MpiError(ErrorClass.ERR_TYPE, f"numpy's {dtype} is no datatype of MPI")
    return found
