"""Memory traffic of a computation whose data do not fit into the CPU's cache."""

from typing import Any

from ..port.node import Node

__all__ = ["Streaming"]


class Streaming:
    """A working set of twice the CPU's largest cache, over which a computation goes from one end to
    the other, again and again: each of its lines is a miss, as in a problem of the study's size.
    The data of a smaller problem would stay in the cache, and CPUs that share a memory would not
    slow each other down."""

    def __init__(self, node: Node) -> None:
        self._port = node.port
        self._size = self.room(node.description)
        self._first = node.allocate(self._size)
        self._at = 0

    @staticmethod
    def room(description: Any) -> int:
        """Bytes that it takes of a node's memory."""
        cpu = description.cpu
        return int(2 * max(cpu.cache_lines, cpu.l2_lines) * cpu.line_bytes)

    async def change(self, length: int) -> None:
        """Read and write back ``length`` bytes, from where the last call ended."""
        while length:
            part = min(length, self._size - self._at)
            await self._port.touch(self._first + self._at, part, store=True)
            self._at = (self._at + part) % self._size
            length -= part
