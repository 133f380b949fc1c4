"""Memory under the buffer interface."""

from typing import Any

import numpy as np

__all__ = ["buffer", "has_view", "view"]


class buffer(np.ndarray):
    """Bytes of somebody's memory, or of its own. An array of numpy, because a class of Python has
    no buffer of its own before Python 3.12."""

    def __new__(cls, buf: Any = b"", readonly: bool = False) -> "buffer":
        found = memoryview(buf)
        if not found.contiguous:
            raise BufferError("the buffer is not in one piece")
        made = np.frombuffer(found, np.uint8) if found.nbytes else np.empty(0, np.uint8)
        made = made.view(cls)
        if readonly:
            made.flags.writeable = False
        return made

    @staticmethod
    def allocate(nbytes: int, clear: bool = False) -> "buffer":
        if nbytes < 0:
            raise ValueError("expecting non-negative size")
        return buffer(bytearray(nbytes))

    @staticmethod
    def frombuffer(obj: Any, readonly: bool = False) -> "buffer":
        return buffer(obj, readonly)

    @staticmethod
    def fromaddress(address: int, nbytes: int, readonly: bool = False) -> "buffer":
        import ctypes

        return buffer((ctypes.c_ubyte * nbytes).from_address(address) if nbytes else b"", readonly)

    def cast(self, format: str, *shape: Any) -> memoryview:
        return memoryview(self).cast(format, *shape)  # type: ignore[call-overload]

    def toreadonly(self) -> "buffer":
        return buffer(self, True)

    def __setitem__(self, item: Any, value: Any) -> None:
        if isinstance(item, slice) and not isinstance(value, int):
            value, _ = view(value, True)
            if len(value) != len(self[item]):
                raise ValueError("slice length does not match buffer")
        super().__setitem__(item, value)

    def __bool__(self) -> bool:
        return len(self) > 0

    @property
    def address(self) -> int:
        return int(self.ctypes.data)

    @property
    def readonly(self) -> bool:
        return not self.flags.writeable

    @property
    def format(self) -> str:
        return "B"

    @property
    def obj(self) -> Any:
        return self.base


def has_view(thing: Any) -> bool:
    """Whether ``thing`` has bytes that others may see."""
    try:
        memoryview(thing)
    except TypeError:
        return False
    except BufferError:
        return True
    return True


def view(thing: Any, readonly: bool) -> tuple[Any, str]:
    """The bytes of ``thing`` as numpy sees them, and its format.

    Raises
    ------
    TypeError
        It has no buffer.
    BufferError
        It is not in one piece, or is to be written and may not be.
    """
    found = memoryview(thing)
    if not found.contiguous:
        raise BufferError("message: the buffer is not in one piece")
    if found.readonly and not readonly:
        raise BufferError("message: the buffer is read-only")
    if not found.nbytes:
        return np.empty(0, np.uint8), found.format
    if isinstance(thing, np.ndarray):
        flat = thing if thing.flags.c_contiguous else thing.T
        return flat.reshape(-1).view(np.uint8), found.format
    return np.frombuffer(found if found.c_contiguous else found.tobytes("A"), np.uint8), \
        found.format
