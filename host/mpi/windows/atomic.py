"""Updates of elements: operators and basic elements, by their numbers in packets."""

from typing import Any

import numpy as np

from ..data import datatypes, operators
from ..data.datatypes import Datatype
from ..data.operators import NO_OP, REPLACE, Op
from ..errors import ErrorClass, MpiError

__all__ = ["apply", "dtype_of", "number_of", "operator_number"]

_OPS = (operators.SUM, operators.PROD, operators.MIN, operators.MAX, operators.LAND, operators.LOR,
        operators.BAND, operators.LXOR, operators.BOR, operators.BXOR, operators.MAXLOC,
        operators.MINLOC, REPLACE, NO_OP)
_TYPES = (
    datatypes.UINT8, datatypes.INT8, datatypes.CHAR, datatypes.INT16, datatypes.UINT16,
    datatypes.INT, datatypes.UINT, datatypes.LONG, datatypes.ULONG, datatypes.FLOAT,
    datatypes.DOUBLE, datatypes.LONG_DOUBLE, datatypes.FLOAT_COMPLEX, datatypes.COMPLEX,
    datatypes.LONG_DOUBLE_COMPLEX, datatypes.BOOL, datatypes.FLOAT_INT, datatypes.DOUBLE_INT,
    datatypes.INT_INT, datatypes.LONG_INT, datatypes.SHORT_INT, datatypes.LONG_DOUBLE_INT,
    datatypes.FLOAT_FLOAT, datatypes.DOUBLE_DOUBLE)


def _moved(datatype: Datatype) -> np.dtype[Any]:
    """What numpy calls an element of ``datatype`` as its data move: of a pair without what C leaves
    between and behind, if that is no data."""
    dtype = datatype.dtype
    assert dtype is not None
    if dtype.names is None or dtype.itemsize == datatype.size:
        return dtype
    return np.dtype([(name, dtype[name]) for name in dtype.names])


_NUMBERS = {one.dtype: number for number, one in enumerate(_TYPES)}
_MOVED = tuple(_moved(one) for one in _TYPES)
_LOGICAL = {operators.LAND, operators.LOR, operators.LXOR}
_BITS = {operators.BAND, operators.BOR, operators.BXOR}
_LOCATING = {operators.MAXLOC, operators.MINLOC}
_ORDERED = {operators.MIN, operators.MAX}


def operator_number(op: Op, dtype: np.dtype[Any], call: str) -> int:
    """The number of ``op``, which is to update elements of ``dtype``.

    Raises
    ------
    MpiError
        It is an operation of the program's own, or does not go with them.
    """
    if op not in _OPS:
        raise MpiError(ErrorClass.ERR_OP, f"{call}: {op.name} is an operation of the program's own")
    kind = dtype.kind
    wrong = ((op in _LOCATING) is not (kind == "V") if op not in (REPLACE, NO_OP) else False)
    if wrong or op in _BITS and kind not in "iub" or op in _ORDERED and kind == "c" \
            or op in _LOGICAL and kind == "c":
        raise MpiError(ErrorClass.ERR_OP, f"{call}: {op.name} of {dtype}")
    return _OPS.index(op)


def number_of(datatype: Datatype, op: Op, call: str) -> int:
    """The number of what ``datatype`` is made of. What is only replaced, or read, may be of several
    kinds: those are bytes.

    Raises
    ------
    MpiError
        ``op`` needs elements of one kind.
    """
    dtype = datatype.dtype
    if dtype in _NUMBERS:
        return _NUMBERS[dtype]
    if op in (REPLACE, NO_OP):
        return 0
    raise MpiError(ErrorClass.ERR_TYPE, f"{call}: {datatype.name} is not made of elements of one "
                   "predefined type")


def dtype_of(number: int) -> np.dtype[Any]:
    """The element of ``number``, as its data move."""
    return _MOVED[number]


def apply(number: int, dtype: np.dtype[Any], old: bytes | memoryview, new: bytes | memoryview
          ) -> bytes:
    """``old`` updated by ``new`` with operator ``number``, element by element of ``dtype``."""
    op = _OPS[number]
    if op is NO_OP:
        return bytes(old)
    if op is REPLACE:
        return bytes(new)
    there, here = np.frombuffer(old, dtype), np.frombuffer(new, dtype)
    if dtype.kind == "S":
        there, here = there.view(np.int8), here.view(np.int8)
    with np.errstate(all="ignore"):
        found = op.function(there, here)
    return np.asarray(found).astype(there.dtype).tobytes()
