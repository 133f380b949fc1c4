"""Copies of bulk data by the CPU."""

from ...layouts.trace import END, Activity
from ..port.node import Node
from .costs import Prices

__all__ = ["Copying"]

COPY = int(Activity.COPY)
PART = 256
"""Bytes that are loaded before they are stored; a line if that is longer."""


class Copying:
    """Copies in the memory of a node: by block stores past the cache where the CPU has them
    (cpu.copy_by), else a word at a time. ``node.service(Copying)``."""

    __slots__ = ("_port", "_memory", "_line", "_part", "_call")

    def __init__(self, node: Node) -> None:
        self._port = node.port
        self._memory = node.memory
        self._line = node.port.costs.block_bytes
        self._part = max(PART, node.description.cpu.line_bytes)
        self._call = node.service(Prices).bulk

    async def copy(self, source: int, destination: int, length: int, number: int = 0) -> None:
        """Copy ``length`` bytes, of message ``number``; they are there when this ends."""
        port = self._port
        port.begin(COPY, number, self._call)
        if self._line:
            first = min(-destination % self._line, length)
            end = first + (length - first) // self._line * self._line
            self._by_words(source, destination, first)
            for at in range(first, end, self._part):
                part = min(self._part, end - at)
                port.work("copy_line", part // self._line)
                await port.touch(source + at, part)
                await port.store_blocks(destination + at, part)
            self._by_words(source + end, destination + end, length - end)
        else:
            for at in range(0, length, self._part):
                self._by_words(source + at, destination + at, min(self._part, length - at))
        await port.flush()
        self._memory.write(destination, self._memory.read(source, length))
        port.mark(COPY, END, number)

    def _by_words(self, source: int, destination: int, length: int) -> None:
        if length:
            self._port.work("copy_word", -(-length // 8))
            self._port.put_two_touches(source, length, False, destination, length)
