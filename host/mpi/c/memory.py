"""A program's memory. It is read and written while the program's own stack is in place: buffers may
lie on it."""

import ctypes
from typing import Any

import numpy as np

from ..constants import UNDEFINED
from ..errors import ErrorClass, MpiError

__all__ = ["Pointer", "array", "integers", "longs", "put_count", "put_int", "put_long", "put_text",
           "text"]

Pointer = int
MOST = 2 ** 31 - 1
"""The largest int."""


def array(address: Pointer, length: int) -> Any:
    """``length`` bytes, as numpy sees them."""
    if not length:
        return np.empty(0, np.uint8)
    place: Any = (ctypes.c_ubyte * length).from_address(address)
    return np.frombuffer(place, np.uint8)


def integers(address: Pointer, count: int) -> list[int]:
    """An array of int."""
    return _array(address, ctypes.c_int, count)


def longs(address: Pointer, count: int) -> list[int]:
    """An array of MPI_Aint."""
    return _array(address, ctypes.c_long, count)


def _array(address: Pointer, kind: Any, count: int) -> list[int]:
    if count < 0:
        raise MpiError(ErrorClass.ERR_COUNT, f"count {count}: must not be negative")
    return list((kind * count).from_address(_real(address))) if count else []


def _real(address: Pointer) -> Pointer:
    """``address``, which is not NULL."""
    if not address:
        raise MpiError(ErrorClass.ERR_ARG, "an argument is NULL")
    return address


def put_int(address: Pointer, *values: int) -> None:
    """Write one int, or several."""
    (ctypes.c_int * len(values)).from_address(_real(address))[:] = values


def put_count(address: Pointer, value: int) -> None:
    """Write a number as an int; UNDEFINED if it is too large for one."""
    put_int(address, value if value <= MOST else UNDEFINED)


def put_long(address: Pointer, value: int) -> None:
    """Write an MPI_Aint, or a pointer."""
    ctypes.c_long.from_address(_real(address)).value = value


def text(address: Pointer) -> str:
    """A C string."""
    return ctypes.string_at(_real(address)).decode(errors="replace")


def put_text(address: Pointer, value: str, most: int) -> int:
    """Write a C string of at most ``most`` bytes with its end; its length."""
    data = value.encode()[:most - 1]
    ctypes.memmove(_real(address), data + b"\0", len(data) + 1)
    return len(data)
