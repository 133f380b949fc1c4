"""The interface of a back end to the runtime: a mailbox of blocks and answers, and a memory for
each node.

Everything here is plain and synchronous: it is called while target time stands still.
"""

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, Protocol

__all__ = ["Mailbox", "Memory"]


class Mailbox(Protocol):
    """Blocks to the host ports, answers from them."""

    ports: int
    """Host ports of the target, ``node.cpus`` for each node: those of node 0 first."""

    def look(self) -> tuple[int, int, int]:
        """Returns what an attention is about: the target's cycle counter, all 64 bits; a number
        whose bit p is set when port p waits for a block; whether the cycle limit was reached or a
        NIC processor crashed, and time has stopped for good."""
        ...

    def cycle(self) -> int:
        """The target's cycle counter."""
        ...

    def crash(self) -> tuple[int, ...]:
        """The first crash of a NIC processor, ``layouts.processor.CRASH_WORDS`` words."""
        ...

    def answers(self, port: int) -> memoryview | bytes | bytearray:
        """Memory of the port's answers, ``BLOCK * ANSWER_WORDS`` 32-bit words, little-endian. They
        are there when it waits for a block."""
        ...

    def block(self, port: int) -> bytearray | memoryview:
        """Memory of BLOCK entries from which the port takes its blocks. It is written while the
        port waits for a block."""
        ...

    def give(self, port: int, count: int) -> None:
        """Give the port the first ``count`` entries of its :meth:`block`; the rest is stale."""
        ...


class Memory(Protocol):
    """Zero-time access to a node's host memory. What copies much at a time is written here by
    :meth:`read` and :meth:`write`, for memories that are no array of this process."""

    size: int
    """Bytes."""

    def read(self, address: int, length: int) -> bytes: ...

    def write(self, address: int, data: bytes | memoryview) -> None: ...

    def view(self, address: int, length: int) -> memoryview | bytes:
        """The bytes, for whoever copies them at once: where the memory is an array, a view that
        changes with it."""
        return self.read(address, length)

    def read_pages(self, pages: Sequence[int], size: int, into: memoryview) -> None:
        """Copy ``pages``, numbers of pages of ``size`` bytes, one behind the other to ``into``,
        which they fill."""
        for index, page in enumerate(pages):
            into[index * size:(index + 1) * size] = self.view(page * size, size)

    def write_pages(self, pages: Sequence[int], size: int, data: memoryview) -> None:
        """Copy ``data`` to ``pages``, the other way."""
        for index, page in enumerate(pages):
            self.write(page * size, data[index * size:(index + 1) * size])

    def reader(self, form: Struct) -> Callable[[int], tuple[Any, ...]]:
        """A function that unpacks ``form`` at an address. It need not check the address."""
        ...

    def writer(self, form: Struct) -> Callable[..., None]:
        """A function of an address and values that packs them there by ``form``. It need not check
        the address."""
        ...

    def word(self, address: int) -> int:
        """The 8-byte little-endian word at ``address``, a multiple of 8."""
        ...

    def clear(self) -> None:
        """Zero all of the memory."""
        ...
