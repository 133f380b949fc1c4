"""A count in host memory by which the NIC reports how many posted items are done."""

from ..port.node import Node
from ..port.words import F_NOT_EQUAL
from ..port.work import Charge

__all__ = ["Report"]


class Report:
    """Counts items posted to the NIC, at most ``entries`` at a time, and how many of them are done.

    Parameters
    ----------
    mask
        Bits of the count.
    price
        Cost of reading the count, besides the line it touches.
    place
        Address of the count, which must be zero; 0: :meth:`open` allocates it.

    Attributes
    ----------
    posted, done
        Counts since the start; ``done`` is the value last read.
    """

    def __init__(self, node: Node, entries: int, mask: int, price: Charge, place: int = 0) -> None:
        self.node = node
        self.port, self.memory = node.port, node.memory
        self.entries = entries
        self.mask = mask
        self.place = place
        self.posted = 0
        self.done = 0
        self._look = price

    async def open(self) -> None:
        """Allocate the count and set it to zero, before the NIC gets its address."""
        self.place = self.node.allocate(8)
        await self.port.touch(self.place, 8, store=True)
        await self.port.flush_lines(self.place, 8)
        await self.port.flush()
        # Fresh memory is zero to the CPU too.
        self.memory.write(self.place, bytes(8))

    @property
    def free(self) -> int:
        """Free entries by the last count read. Costs nothing."""
        return self.entries - self.posted + self.done

    async def look(self) -> None:
        """Read the count."""
        port = self.port
        port.spend(self._look)
        self._put_look()
        await port.executed
        self.done += self._count() - self.done & self.mask

    def _put_look(self) -> None:
        """Issue the read of the count."""
        if self.port.costs.flush_bytes:
            self.port.put_flush(self.place, 8)
        self.port.put_touch(self.place, 8)

    def _count(self) -> int:
        """The count that was read."""
        return self.memory.word(self.place)

    def put_poll(self, timeout: int) -> None:
        """Spin until the count exceeds the last one read."""
        self.port.put_poll(self.place, self.done & self.mask, self.mask, timeout, F_NOT_EQUAL)
