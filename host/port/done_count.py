"""A count in host memory by which the NIC says how much of what was posted to it is done."""

from ...layouts.operations import BLOCK
from .costs import Path
from .node import Node
from .port import F_NOT_EQUAL

__all__ = ["Report"]


class Report:
    """What was posted to the NIC, of ``entries`` at the most, and how much of it is done.

    Parameters
    ----------
    mask
        Bits of the count.
    price
        Cost of a look, beside the line it touches.
    place
        Address of the count, already zero; else :meth:`open` allocates it.

    Attributes
    ----------
    posted, done
        How many so far; ``done`` as it was when last looked at.
    """

    def __init__(self, node: Node, entries: int, mask: int, price: Path, place: int = 0) -> None:
        self.node = node
        self.port, self.memory = node.port, node.memory
        self.entries = entries
        self.mask = mask
        self.place = place
        self.posted = 0
        self.done = 0
        self._look = node.port.path(price)

    async def open(self) -> None:
        """Allocate the count and set it to zero, before the NIC is told of it."""
        self.place = self.node.allocate(8)
        await self.port.touch(self.place, 8, store=True)
        await self.port.flush()
        # Fresh memory is zero to the CPU too.
        self.memory.write(self.place, bytes(8))

    @property
    def free(self) -> int:
        """Entries that are free, as far as known. Costs nothing."""
        return self.entries - self.posted + self.done

    async def look(self) -> None:
        """Look at the count."""
        port = self.port
        port.spend(self._look)
        if port.count == BLOCK:
            await port.executed
        port.put_touch(self.place, 8)
        await port.executed
        self.done += self.memory.word(self.place) - self.done & self.mask

    def put_poll(self, timeout: int) -> None:
        """Spin until there is more done than known."""
        self.port.put_poll(self.place, self.done & self.mask, self.mask, timeout, F_NOT_EQUAL)
