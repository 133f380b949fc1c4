"""Data in MPI's own representation, external32: the basic elements one behind the other, of such
sizes as MPI says, the high byte first."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .signature import Kind, Signature

__all__ = ["from_external", "to_external"]

FRACTION = np.uint64((1 << 63) - 1)
HIGH = np.uint64((1 << 48) - 1)


def to_external(signature: Signature, data: Any) -> Any:
    """The bytes of ``data``, which are those of ``signature`` as this machine has them."""
    return _each(signature, data, lambda kind: kind.size, _swapped)


def from_external(signature: Signature, data: Any) -> Any:
    """The other way round."""
    return _each(signature, data, lambda kind: kind.external, _native)


def _each(signature: Signature, data: Any, size_of: Callable[[Kind], int],
          convert: Callable[[Kind, Any], Any]) -> Any:
    found, begin = [np.empty(0, np.uint8)], 0
    for times, kind in signature.each():
        length = times * size_of(kind)
        found.append(convert(kind, data[begin:begin + length]))
        begin += length
    return np.concatenate(found)


def _parts(kind: Kind) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The numbers of which it is made, here and in external32; a complex number is two of them."""
    dtype = kind.dtype
    if dtype.kind == "c":
        return _parts(Kind(np.dtype(f"f{dtype.itemsize // 2}"), "", kind.external // 2))
    code = "u" if dtype.kind in "bS" else dtype.kind
    if dtype.itemsize == 16:
        return dtype, np.dtype(">u8")
    return (np.dtype(f"{code}{dtype.itemsize}"),
            np.dtype(f">{code}{kind.external}"))


def _swapped(kind: Kind, data: Any) -> Any:
    here, there = _parts(kind)
    if here.itemsize != 16:
        return data.view(here).astype(there).view(np.uint8)
    words = data.view(np.uint64).reshape(-1, 2)
    fraction, top = words[:, 0] & FRACTION, words[:, 1] & np.uint64(0xFFFF)
    quad = np.stack((top << np.uint64(48) | fraction >> np.uint64(15), fraction << np.uint64(49)),
                    1)
    return quad.astype(there).reshape(-1).view(np.uint8)


def _native(kind: Kind, data: Any) -> Any:
    here, there = _parts(kind)
    if here.itemsize != 16:
        return data.view(there).astype(here).view(np.uint8)
    quad = data.view(there).astype(np.uint64).reshape(-1, 2)
    top = quad[:, 0] >> np.uint64(48)
    fraction = (quad[:, 0] & HIGH) << np.uint64(15) | quad[:, 1] >> np.uint64(49)
    normal = ((top & np.uint64(0x7FFF)) != 0).astype(np.uint64) << np.uint64(63)
    return np.stack((fraction | normal, top), 1).reshape(-1).view(np.uint8)
