"""Allocation of a node's host memory, and a host memory in plain Python."""

from collections.abc import Callable
from struct import Struct
from typing import Any

from .backend import Memory

__all__ = ["Allocator", "ArrayMemory"]

RESERVED = 64
"""Bytes at address 0 that are never allocated, because 0 means "nowhere" to the NIC."""


class Allocator:
    """Allocates memory from low addresses upward. Memory is never freed.

    Raises
    ------
    MemoryError
        The memory is full; the text gives the requested and the free bytes.
    """

    __slots__ = ("size", "_next")

    def __init__(self, size: int) -> None:
        self.size = size
        self._next = RESERVED

    @property
    def free(self) -> int:
        """Bytes left."""
        return self.size - self._next

    def allocate(self, length: int, align: int = 64) -> int:
        """Address of ``length`` bytes, a multiple of ``align`` (a power of two)."""
        if length < 0:
            raise ValueError(f"length must not be negative, not {length}")
        if align < 1 or align & (align - 1):
            raise ValueError(f"align must be a power of two, not {align}")
        address = -(-self._next // align) * align
        if address + length > self.size:
            raise MemoryError(f"host memory is full: {length} bytes asked, {self.free} of "
                              f"{self.size} left (memory.bytes)")
        self._next = address + length
        return address


class ArrayMemory(Memory):
    """A host memory of ``size`` bytes in a bytearray, for back ends without a memory of their
    own."""

    __slots__ = ("size", "data")

    def __init__(self, size: int) -> None:
        self.size = size
        self.data = bytearray(size)

    def read(self, address: int, length: int) -> bytes:
        self._check(address, length)
        return bytes(self.data[address:address + length])

    def write(self, address: int, data: bytes | memoryview) -> None:
        self._check(address, len(data))
        self.data[address:address + len(data)] = data

    def view(self, address: int, length: int) -> memoryview:
        self._check(address, length)
        return memoryview(self.data)[address:address + length]

    def reader(self, form: Struct) -> Callable[[int], tuple[Any, ...]]:
        return lambda address: form.unpack(self.read(address, form.size))

    def writer(self, form: Struct) -> Callable[..., None]:
        return lambda address, *values: self.write(address, form.pack(*values))

    def word(self, address: int) -> int:
        self._check(address, 8)
        return int.from_bytes(self.data[address:address + 8], "little")

    def clear(self) -> None:
        self.data[:] = bytes(self.size)

    def _check(self, address: int, length: int) -> None:
        if address < 0 or length < 0 or address + length > self.size:
            raise IndexError(f"{length} bytes at {address:#x}: memory has {self.size}")
