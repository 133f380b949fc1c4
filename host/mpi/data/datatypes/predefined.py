"""The datatypes that MPI defines."""

from typing import Any

import numpy as np

from ...errors import ErrorClass, MpiError
from .blocks import Blocks
from .datatype import Datatype
from .signature import Kind, Signature

__all__ = ["BOOL", "BYTE", "CHAR", "COMPLEX", "DOUBLE", "DOUBLE_DOUBLE", "DOUBLE_INT", "FLOAT",
           "FLOAT_COMPLEX", "FLOAT_FLOAT", "FLOAT_INT", "INT", "INT16", "INT8", "INTEGER16",
           "INT_INT", "LB", "LOGICAL", "LONG", "LONG_DOUBLE", "LONG_DOUBLE_COMPLEX",
           "LONG_DOUBLE_INT", "LONG_INT", "LONG_LONG", "PACKED", "SHORT_INT", "UB", "UINT",
           "UINT16", "UINT8", "ULONG", "ULONG_LONG", "WCHAR", "element_name", "element_of",
           "element_size", "of_dtype", "predefined"]


def predefined(name: str, of: Any, group: str, external: int = 0) -> Datatype:
    """A basic type, of numpy's type ``of`` (:class:`~.signature.Kind`)."""
    dtype = np.dtype(of)
    kind = Kind(dtype, group, external or dtype.itemsize)
    return Datatype(Blocks(lambda: [(0, kind.size)], 0, kind.size), 0, kind.size,
                    Signature([(1, kind)]), dtype, name, align=dtype.alignment, kind=kind)


BYTE = predefined("BYTE", np.uint8, "byte")
CHAR = predefined("CHAR", "S1", "integer")
INT8 = predefined("INT8_T", np.int8, "integer")
UINT8 = predefined("UINT8_T", np.uint8, "integer")
INT16 = predefined("INT16_T", np.int16, "integer")
UINT16 = predefined("UINT16_T", np.uint16, "integer")
INT, UINT = predefined("INT", np.int32, "integer"), predefined("UNSIGNED", np.uint32, "integer")
LONG = predefined("LONG", np.int64, "integer", 4)
ULONG = predefined("UNSIGNED_LONG", np.uint64, "integer", 4)
LONG_LONG = predefined("LONG_LONG_INT", np.int64, "integer")
ULONG_LONG = predefined("UNSIGNED_LONG_LONG", np.uint64, "integer")
WCHAR = predefined("WCHAR", np.int32, "integer", 2)
FLOAT = predefined("FLOAT", np.float32, "floating")
DOUBLE = predefined("DOUBLE", np.float64, "floating")
FLOAT_COMPLEX = predefined("C_FLOAT_COMPLEX", np.complex64, "complex")
COMPLEX = predefined("C_DOUBLE_COMPLEX", np.complex128, "complex")
LONG_DOUBLE = predefined("LONG_DOUBLE", np.longdouble, "floating")
LONG_DOUBLE_COMPLEX = predefined("C_LONG_DOUBLE_COMPLEX", np.clongdouble, "complex")
BOOL = predefined("C_BOOL", np.bool_, "logical")
LOGICAL = predefined("LOGICAL", np.int32, "logical")
PACKED = predefined("PACKED", np.uint8, "")
INTEGER16 = predefined("INTEGER16", "V16", "")
"""Without operations: numpy has no such numbers."""


def _pair(name: str, first: Datatype, second: Datatype = INT) -> Datatype:
    """A value and an index, for MAXLOC and MINLOC, as C has them in a struct. What lies between and
    behind them are no data."""
    dtype = np.dtype([("value", first.dtype), ("index", second.dtype)], align=True)
    assert dtype.fields is not None
    at = dtype.fields["index"][1]
    signature = Signature([(1, first.signature), (1, second.signature)])
    return Datatype(Blocks(lambda: [(0, first.size), (at, second.size)], 0, at + second.size), 0,
                    dtype.itemsize, signature, dtype, name, align=dtype.alignment,
                    kind=Kind(dtype, "pair", signature.external))


FLOAT_INT, DOUBLE_INT = _pair("FLOAT_INT", FLOAT), _pair("DOUBLE_INT", DOUBLE)
INT_INT, LONG_INT = _pair("2INT", INT), _pair("LONG_INT", LONG)
SHORT_INT, LONG_DOUBLE_INT = _pair("SHORT_INT", INT16), _pair("LONG_DOUBLE_INT", LONG_DOUBLE)
FLOAT_FLOAT = _pair("2REAL", FLOAT, FLOAT)
DOUBLE_DOUBLE = _pair("2DOUBLE_PRECISION", DOUBLE, DOUBLE)
LB, UB = (Datatype(Blocks(tuple, 0, 0), 0, 0, Signature(()), None, name, marks=marks)
          for name, marks in (("LB", (True, False)), ("UB", (False, True))))
"""Marks of bounds, as MPI 1 has them."""
_OF = {one.dtype: one for one in (UINT8, CHAR, INT8, INT16, UINT16, INT, UINT, LONG, ULONG, FLOAT,
                                  DOUBLE, LONG_DOUBLE, FLOAT_COMPLEX, COMPLEX,
                                  LONG_DOUBLE_COMPLEX, FLOAT_INT, DOUBLE_INT, INT_INT, LONG_INT,
                                  SHORT_INT, LONG_DOUBLE_INT)}
_ELEMENTS = {one.dtype: code for code, one in enumerate(
    (INT16, UINT16, INT, UINT, LONG, ULONG, FLOAT, DOUBLE, FLOAT_COMPLEX, COMPLEX), 1)}
_SIZES = {code: dtype.itemsize for dtype, code in _ELEMENTS.items() if dtype is not None}
_NAMES = {code: _OF[dtype].name for dtype, code in _ELEMENTS.items() if dtype is not None}


def element_of(dtype: np.dtype[Any] | None) -> int:
    """A number for numpy's ``dtype``, by which the two ends of a message are compared. 0: bytes,
    characters and mixed types, which go with any."""
    return _ELEMENTS.get(dtype, 0)


def element_name(element: int) -> str:
    """MPI's name of an element."""
    return _NAMES[element]


def element_size(element: int) -> int:
    """Bytes of an element."""
    return _SIZES[element]


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
