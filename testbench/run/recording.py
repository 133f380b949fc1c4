"""Records Python's inputs to a target in a run, in order, for replay by the bare loop."""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...host.port.backend import Memory
from ...layouts.operations import ENTRY

__all__ = ["Recording"]

_HEAD = struct.Struct("<4I")
_END, _GIVE, _WRITE = 0, 1, 2


class _Mailbox:
    """A mailbox that records the blocks it is given."""

    def __init__(self, mailbox: Any, notes: bytearray) -> None:
        self._mailbox = mailbox
        self._notes = notes
        self.ports = mailbox.ports
        self.cycle = mailbox.cycle
        self.look = mailbox.look
        self.crash = mailbox.crash
        self.answers = mailbox.answers
        self.block = mailbox.block

    def give(self, port: int, count: int) -> None:
        self._notes += _HEAD.pack(_GIVE, port, count, count * ENTRY.size)
        self._notes += self.block(port)[:count * ENTRY.size]
        self._mailbox.give(port, count)


class _Memory(Memory):
    """A memory that records writes to it, page by page."""

    def __init__(self, memory: Any, node: int, notes: bytearray) -> None:
        self._memory = memory
        self._node = node
        self._notes = notes
        self.size = memory.size
        self.read = memory.read
        self.view = memory.view
        self.read_pages = memory.read_pages
        self.reader = memory.reader
        self.word = memory.word
        self.clear = memory.clear

    def write(self, address: int, data: bytes | memoryview) -> None:
        self._notes += _HEAD.pack(_WRITE, self._node, address, len(data))
        self._notes += bytes(data) + bytes(-len(data) % 4)
        self._memory.write(address, data)

    def writer(self, form: struct.Struct) -> Callable[..., None]:
        return lambda address, *values: self.write(address, form.pack(*values))


class Recording:
    """Wraps a back end's mailbox and memories.

    The file has records of four 32-bit words (kind, port or node, count or address, bytes) and
    their bytes, padded to a multiple of 4. Kind 1 is a block, 2 a memory write, 0 the end of the
    inputs of one attention.
    """

    def __init__(self, mailbox: Any, memories: Sequence[Any]) -> None:
        self._notes = bytearray()
        self.mailbox = _Mailbox(mailbox, self._notes)
        self.memories = [_Memory(memory, node, self._notes)
                         for node, memory in enumerate(memories)]

    def end_attention(self) -> None:
        """Note that all ports that needed a block have been served."""
        self._notes += _HEAD.pack(_END, 0, 0, 0)

    def save(self, file: Path) -> None:
        """Write the records."""
        file.write_bytes(self._notes)
