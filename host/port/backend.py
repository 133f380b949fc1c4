"""The interface of a back end to the runtime: a mailbox of blocks and answers, and a memory for
each node.

Everything here is plain and synchronous: it is called while target time stands still.
"""

from typing import Protocol

__all__ = ["Mailbox", "Memory"]


class Mailbox(Protocol):
    """Blocks to the host ports, answers from them."""

    ports: int
    """Host ports of the target, ``node.cpus`` for each node: those of node 0 first."""

    def cycle(self) -> int:
        """The target's cycle counter, all 64 bits."""
        ...

    def needs(self) -> int:
        """Bit p is set when port p waits for a block and has not been given one."""
        ...

    def expired(self) -> bool:
        """The cycle limit was reached, or a NIC processor crashed: time has stopped for good."""
        ...

    def crash(self) -> tuple[int, ...]:
        """The first crash of a NIC processor, ``layouts.processor.CRASH_WORDS`` words."""
        ...

    def answers(self, port: int) -> memoryview | bytes | bytearray:
        """The port's answers, ``BLOCK * ANSWER_WORDS`` 32-bit words, little-endian."""
        ...

    def give(self, port: int, entries: bytes | bytearray, count: int) -> None:
        """Give the port ``count`` entries; the rest of ``entries`` is stale and is ignored."""
        ...


class Memory(Protocol):
    """Zero-time access to a node's host memory."""

    size: int
    """Bytes."""

    def read(self, address: int, length: int) -> bytes: ...

    def write(self, address: int, data: bytes) -> None: ...

    def word(self, address: int) -> int:
        """The 8-byte little-endian word at ``address``, a multiple of 8."""
        ...

    def clear(self) -> None:
        """Zero all of the memory."""
        ...
