"""Turns mpi4py's descriptions of messages into the library's.

A description is a buffer, or a list of a buffer with a count, a displacement and a datatype, or
some of them. Datatypes may be given by their codes.
"""

import sys
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ..data.datatypes import BYTE
from ..data.memory import Memory
from .constants import BOTTOM
from .datatypes import Datatype, of_code
from .memory import has_view, view

__all__ = ["datatype_of", "simple", "typed", "vector"]

OTHER_ORDERS = ("!", "<" if sys.byteorder == "big" else ">")


def datatype_of(given: Any) -> Datatype:
    """A datatype, or that of a code."""
    if isinstance(given, Datatype):
        return given
    try:
        return of_code(given)
    except KeyError:
        raise KeyError(f"cannot map {given!r} to MPI datatype") from None


def _parts(message: Any, several: type | tuple[type, ...]) -> tuple[Any, Any, Any, Any]:
    """Buffer, count, displacement and datatype; None where they are not given. ``several``: what a
    pair of count and displacement may be."""
    if has_view(message):
        return message, None, None, None
    if not isinstance(message, list | tuple):
        raise TypeError("message: expecting buffer or list/tuple")
    if not 2 <= len(message) <= 4:
        raise ValueError("message: expecting 2 to 4 items")
    buf: Any = message[0]
    count: Any = None
    displacement: Any = None
    datatype: Any = None
    if len(message) == 2:
        if isinstance(message[1], Datatype | str):
            datatype = message[1]
        else:
            count = message[1]
    elif len(message) == 3:
        count, datatype = message[1:]
    else:
        count, displacement, datatype = message[1:]
    if isinstance(count, several) and len(message) < 4:
        count, displacement = count
    return buf, count, displacement, datatype


def _basic(buf: Any, datatype: Any, readonly: bool) -> tuple[Any, Datatype]:
    if buf is BOTTOM:
        return Memory(0), datatype_of(datatype)
    if buf is None:
        return np.empty(0, np.uint8), datatype_of(datatype)
    flat, code = view(buf, readonly)
    if datatype is None and code[:1] in OTHER_ORDERS:
        raise BufferError(f"message: elements {code!r} of another byte order")
    return flat, datatype_of(code if datatype is None else datatype)


def _extent(datatype: Datatype, what: str) -> int:
    if not datatype:
        raise ValueError(f"message: cannot {what}, datatype is null")
    if datatype.extent <= 0:
        raise ValueError(f"message: cannot {what}, datatype extent {datatype.extent} "
                         f"(lb:{datatype.lb}, ub:{datatype.ub})")
    return datatype.extent


def simple(message: Any, readonly: bool, blocks: int = 1) -> list[Any]:
    """An array, a count and a datatype, of ``message``; the count is that of one of ``blocks``
    equal parts.

    Raises
    ------
    TypeError, ValueError, KeyError
        It describes nothing that can be sent.
    """
    buf, count, displacement, given = _parts(message, (list, tuple))
    flat, datatype = _basic(buf, given, readonly)
    if displacement is not None:
        first = index(displacement)
        if first < 0:
            raise ValueError(f"message: negative displacement {first}")
        if first and isinstance(flat, Memory):
            flat = Memory(first * _extent(datatype, "handle displacement"))
        elif first:
            extent = _extent(datatype, "handle displacement")
            if first * extent > len(flat):
                raise ValueError(f"message: displacement {first} out of bounds, number of datatype "
                                 f"entries {len(flat) // extent}")
            flat = flat[first * extent:]
    if count is not None:
        number = index(count)
        if number < 0:
            raise ValueError(f"message: negative count {number}")
        if number and buf is None:
            raise ValueError(f"message: buffer is None but count is {number}")
    elif not isinstance(flat, Memory) and len(flat):
        number = _inferred(flat, datatype)
        if blocks > 1:
            whole, rest = divmod(number, blocks)
            if rest:
                raise ValueError(f"message: cannot infer count, number of entries {number} is not "
                                 f"a multiple of required number of blocks {blocks}")
            number = whole
    else:
        number = 0
    return [flat, number, datatype.inner if number or datatype else BYTE]


def _inferred(flat: Any, datatype: Any) -> int:
    """How many of ``datatype`` fill ``flat``."""
    extent = _extent(datatype, "infer count")
    number, rest = divmod(len(flat), extent)
    if rest:
        raise ValueError(f"message: cannot infer count, buffer length {len(flat)} is not a "
                         f"multiple of datatype extent {extent} (lb:{datatype.lb}, "
                         f"ub:{datatype.ub})")
    return number


def _numbers(given: Any, blocks: int) -> list[int]:
    found = [index(one) for one in given]
    if len(found) != blocks:
        raise ValueError(f"expecting {blocks} items, got {len(found)}")
    return found


def _is_number(given: Any) -> bool:
    try:
        index(given)
    except TypeError:
        return False
    return True


def vector(message: Any, readonly: bool, blocks: int) -> list[Any]:
    """An array, counts, displacements and a datatype, of ``message``, for ``blocks`` ranks."""
    buf, counts, displacements, given = _parts(message, tuple)
    flat, datatype = _basic(buf, given, readonly)
    if counts is None:
        number = 0 if isinstance(flat, Memory) or not len(flat) else _inferred(flat, datatype)
        counts = [number // blocks + (number % blocks > one) for one in range(blocks)]
    elif _is_number(counts):
        counts = [index(counts)] * blocks
    else:
        counts = _numbers(counts, blocks)
    if displacements is None:
        displacements = [sum(counts[:one]) for one in range(blocks)]
    elif _is_number(displacements):
        displacements = [index(displacements) * one for one in range(blocks)]
    else:
        displacements = _numbers(displacements, blocks)
    return [flat, counts, displacements, datatype.inner if any(counts) or datatype else BYTE]


def typed(message: Sequence[Any], readonly: bool, blocks: int) -> list[Any]:
    """An array, counts, displacements in bytes and datatypes, of ``message``, for ``blocks``
    ranks."""
    if not isinstance(message, list | tuple):
        raise TypeError("message: expecting a list or tuple")
    if len(message) == 2:
        (buf, types), counts, places = message, [1] * blocks, [0] * blocks
    elif len(message) == 3:
        buf, (counts, places), types = message
    elif len(message) == 4:
        buf, counts, places, types = message
    else:
        raise ValueError("message: expecting 2 to 4 items")
    if buf is BOTTOM:
        if counts is None or places is None:
            raise ValueError("message: BOTTOM needs counts and displacements")
    counts = [1] * blocks if counts is None else counts
    places = [0] * blocks if places is None else places
    if len(types) != blocks:
        raise ValueError(f"expecting {blocks} items, got {len(types)}")
    flat = Memory(0) if buf is BOTTOM else view(buf, readonly)[0]
    numbers = _numbers(counts, blocks)
    return [flat, numbers, _numbers(places, blocks),
            [datatype_of(one).inner if number else BYTE
             for one, number in zip(types, numbers, strict=True)]]
