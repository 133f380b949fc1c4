"""A pinned region of host memory, to which bulk data are copied before the NIC gets them
(``am.bulk`` = pinned)."""

from ...layouts.processor import ENGINE_QUEUE
from ..port.node import Node
from .costs import Prices

__all__ = ["PinnedRegion"]


class PinnedRegion:
    """Places for packets, used in turn.

    Parameters
    ----------
    packets
        How many the NIC may have been given and not given back. There are some places more: of a
        packet that was given back the NIC may still get the data.
    """

    def __init__(self, node: Node, packets: int) -> None:
        self._node, self._port, self._memory = node, node.port, node.memory
        self._bytes = -(-node.description.nic.mtu // 32) * 32
        self._places = packets + ENGINE_QUEUE
        self._first = -1
        self._used = 0
        self._c_pinned = node.service(Prices).pinned

    def copy(self, payload: int, length: int) -> int:
        """Copy the ``length`` bytes at ``payload`` to the next place; return its address. Takes two
        entries of the block, none without data."""
        port = self._port
        port.spend(self._c_pinned)
        if self._first < 0:
            self._first = self._node.allocate(self._places * self._bytes)
        place = self._first + self._used % self._places * self._bytes
        self._used += 1
        if length:
            self._memory.write(place, self._memory.read(payload, length))
            port.put_touch(payload, length)
            port.work("copy_word", -(-length // 8))
            port.put_touch(place, length, store=True)
        return place
