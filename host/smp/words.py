"""Words in a node's shared memory, each in a cache line of its own."""

from ..port.node import Node
from ..port.words import F_NOT_EQUAL, WORD

__all__ = ["lines", "spin", "store"]


def lines(cpu: Node, name: str, count: int = 1) -> tuple[int, int]:
    """Address of ``count`` cache lines that all CPUs of the node know as ``name``, and their size.
    Fresh memory is zero."""
    size = cpu.description.cpu.line_bytes
    return cpu.shared(name, count * size, size), size


async def store(cpu: Node, address: int, *words: int) -> None:
    """Store ``words`` at ``address``. The other CPUs see them when this ends."""
    await cpu.store(address, b"".join(word.to_bytes(8, "little") for word in words))


async def spin(cpu: Node, address: int, value: int, *, while_equal: bool = False) -> int:
    """Read the word at ``address`` until it is ``value`` (or no longer); return it."""
    await cpu.port.room(1)
    cpu.port.put_poll(address, value, WORD, 0, F_NOT_EQUAL if while_equal else 0)
    await cpu.port.executed
    return cpu.port.data
