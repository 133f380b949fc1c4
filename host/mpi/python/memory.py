"""Memory under the buffer interface."""

import ctypes
from typing import Any

import numpy as np

from .tensors import is_tensor, of_tensor

__all__ = ["buffer", "has_view", "view"]


class buffer(np.ndarray):
    """Bytes of somebody's memory, or of its own. An array of numpy, because a class of Python has
    no buffer of its own before Python 3.12."""

    _obj: Any = None
    _released = False

    def __new__(cls, buf: Any = b"", readonly: bool = False) -> "buffer":
        if not has_view(buf):
            raise TypeError(f"{type(buf).__name__} has no buffer")
        flat, _ = view(buf, True)
        made = np.asarray(flat).view(cls)
        made._obj = buf if len(flat) else None
        given = getattr(buf, "flags", None)
        mine = not readonly and not (len(flat) and memoryview(flat).readonly)
        made.flags.writeable = mine and (given is None or getattr(given, "writeable", True))
        return made

    def __array_finalize__(self, parent: Any) -> None:
        self._obj = getattr(parent, "_obj", None)

    @staticmethod
    def allocate(nbytes: int, clear: bool = False) -> "buffer":
        if nbytes < 0:
            raise ValueError("expecting non-negative size")
        made = buffer(bytearray(nbytes))
        made._obj = bytearray(nbytes) if not nbytes else made._obj
        return made

    @staticmethod
    def frombuffer(obj: Any, readonly: bool = False) -> "buffer":
        return buffer(obj, readonly)

    @staticmethod
    def fromaddress(address: int, nbytes: int, readonly: bool = False) -> "buffer":
        if nbytes < 0:
            raise ValueError("expecting non-negative buffer length")
        if nbytes and not address:
            raise ValueError("expecting non-NULL address")
        return buffer((ctypes.c_ubyte * nbytes).from_address(address) if nbytes else b"", readonly)

    def cast(self, format: str, *shape: Any) -> memoryview:
        found: Any = memoryview(self)  # type: ignore[arg-type]
        return found.cast(format, *shape)

    def toreadonly(self) -> "buffer":
        made = buffer(self, True)
        made._obj = self._obj
        return made

    def tobytes(self, order: str | None = None) -> bytes:
        found: Any = memoryview(self)  # type: ignore[arg-type]
        return found.tobytes()

    def release(self) -> None:
        """It has no memory any more."""
        self._obj, self._released = None, True

    def __getitem__(self, item: Any) -> Any:
        return super().__getitem__(_checked(item))

    def __setitem__(self, item: Any, value: Any) -> None:
        if not self.flags.writeable:
            raise TypeError("memory buffer is read-only")
        if isinstance(_checked(item), slice) and not isinstance(value, int):
            value, _ = view(value, True)
            if len(value) != len(self[item]):
                raise ValueError("slice length does not match buffer")
        super().__setitem__(item, value)

    def __delitem__(self, item: Any) -> None:
        raise NotImplementedError("memory cannot be deleted")

    def __bool__(self) -> bool:
        return len(self) > 0

    @property
    def address(self) -> int:
        return 0 if self._released or self._obj is None else int(self.ctypes.data)

    @property
    def nbytes(self) -> int:
        return 0 if self._released else self.size

    @property
    def readonly(self) -> bool:
        return not self._released and not self.flags.writeable

    @property
    def format(self) -> str:
        return "B"

    @property
    def obj(self) -> Any:
        return self._obj


def _checked(item: Any) -> Any:
    """An index of a buffer: a number, or a slice in one piece."""
    if isinstance(item, slice):
        if item.step not in (None, 1):
            raise IndexError("slice with step not supported")
    elif not isinstance(item, int | np.integer):
        raise TypeError("indices must be integers or slices")
    return item


def has_view(thing: Any) -> bool:
    """Tells whether ``thing`` has bytes that others may see."""
    try:
        memoryview(thing)
    except TypeError:
        return is_tensor(thing)
    except BufferError:
        return True
    return True


def view(thing: Any, readonly: bool) -> tuple[Any, str]:
    """The bytes of ``thing`` as numpy sees them, and its format, or bytes where it has none.

    Raises
    ------
    TypeError
        It has no buffer.
    BufferError
        It is not in one piece, or is to be written and may not be, or not in this process's memory.
    """
    try:
        found = memoryview(thing)
    except TypeError:
        if not is_tensor(thing):
            raise
        thing = of_tensor(thing)
        found = memoryview(thing)
    if not found.contiguous:
        raise BufferError("message: the buffer is not in one piece")
    if found.readonly and not readonly:
        raise BufferError("message: the buffer is read-only")
    code = "B" if found.format.endswith("x") else found.format
    if not found.nbytes:
        return np.empty(0, np.uint8), code
    if isinstance(thing, np.ndarray):
        flat = thing if thing.flags.c_contiguous else thing.T
        return flat.reshape(-1).view(np.uint8), code
    return np.frombuffer(found if found.c_contiguous else found.tobytes("A"), np.uint8), code
