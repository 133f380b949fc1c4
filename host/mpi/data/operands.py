"""Operands of reductions: elements of a datatype in memory of the library's own, laid out as in a
buffer of the program."""

from typing import Any

import numpy as np

from ..errors import ErrorClass, MpiError
from .datatypes import Datatype, of_dtype

__all__ = ["Operand"]

ALIGN = 16
"""The elements of an operand lie at such addresses as malloc gives."""
MOST = 1 << 31
"""Bytes that an operand may span."""
GROUPS = {"b": "logical", "i": "integer", "u": "integer", "f": "floating", "c": "complex"}


class Operand:
    """``count`` elements of ``datatype``; its memory has all of their extents.

    Attributes
    ----------
    array
        Their memory; it is given a place in the process's.
    values
        The same as an array of numbers to compute with; None if there is none.
    bytes
        The same as bytes.
    origin
        The byte from which the datatype counts: 0, or another one if it has data elsewhere.
    places
        Of its data in the bytes; None: all.
    elements
        Basic elements.
    """

    __slots__ = ("array", "values", "bytes", "origin", "count", "datatype", "places", "elements")

    def __init__(self, array: Any, count: int, datatype: Datatype | None, origin: int = 0,
                 places: list[tuple[int, int]] | None = None) -> None:
        self.array = array
        self.values = array if places is None else None
        if self.values is not None and array.dtype.kind == "S":
            self.values = array.view(np.int8)
        self.bytes = array.view(np.uint8)
        self.origin = origin
        self.count = count
        self.datatype = datatype
        self.places = places
        self.elements = array.size if places is None or datatype is None \
            else count * datatype.basic

    @classmethod
    def of_array(cls, array: Any) -> "Operand":
        """A copy of a flat array."""
        return cls(array.copy(), array.size, None)

    @classmethod
    def of_elements(cls, view: Any, count: int, datatype: Datatype, call: str) -> "Operand":
        """A copy of what lies in a buffer: ``view(first, length)`` are bytes of it."""
        dtype, kind = datatype.dtype, datatype.kind
        low, high = datatype.span(count)
        if kind is not None and dtype is not None:
            return cls(view(0, count * datatype.extent).view(dtype).copy(), count, datatype)
        if dtype is not None and low == 0 and datatype.contiguous:
            return cls(view(0, high).view(dtype).copy(), count, datatype)
        low, high = min(low, 0), max(high, count * datatype.extent)
        if high - low > MOST:
            raise MpiError(ErrorClass.ERR_TYPE, f"{call}: the data of {datatype.name} are too far "
                           "from each other for a reduction")
        low -= low % ALIGN
        places = [(at - low, length) for at, length in datatype.pieces(count)]
        array = np.zeros(high - low, np.uint8)
        for at, length in places:
            array[at:at + length] = view(at + low, length)
        return cls(array, count, datatype, -low, places)

    def empty_like(self) -> "Operand":
        """Another one of the same elements."""
        array = np.empty_like(self.array)
        return Operand(array, self.count, self.datatype, self.origin, self.places)

    def packed(self) -> Any:
        """The bytes of its data, one behind the other."""
        if self.places is None:
            return self.bytes
        return np.concatenate([self.bytes[at:at + length] for at, length in self.places]
                              or [self.bytes[:0]])

    @property
    def nbytes(self) -> int:
        """Bytes of its data."""
        if self.places is None:
            return int(self.array.nbytes)
        return sum(length for _, length in self.places)

    @property
    def type(self) -> Datatype:
        """Of what its elements are.

        Raises
        ------
        MpiError
            numpy's type is none of MPI.
        """
        return of_dtype(self.array.dtype) if self.datatype is None else self.datatype

    @property
    def group(self) -> str:
        """Returns what operations may be made on its elements (:class:`~.datatypes.Kind`)."""
        if self.datatype is None:
            dtype = self.array.dtype
            return GROUPS.get(dtype.kind, "pair" if dtype.names and len(dtype.names) == 2 else "")
        return "" if self.datatype.kind is None else self.datatype.kind.group

    @property
    def name(self) -> str:
        """Of its elements."""
        return str(self.array.dtype) if self.datatype is None else self.datatype.name
