"""The slots of host memory that the NIC fills with packets, one after the other."""

from ..port.node import Node

__all__ = ["ReceiveSlots"]


class ReceiveSlots:
    """Counts the slots of a receive ring: the next one, and those reported free to the NIC.

    A slot begins with its completion word (layouts.rings.COMPLETION), whose lowest bit tells that
    it is filled; then come the wire header and the packet's bytes.

    Attributes
    ----------
    entries, stride
        How many slots there are, and bytes from one to the next.
    first
        Address of the first; 0 before :meth:`lay_out`.
    slot
        Address of the next one.
    phase
        The lowest bit of its completion word once it is filled.
    taken, told
        Slots taken since the start, and how many of them the NIC knows of.
    quarter
        Slots after which the NIC is to be told.
    """

    __slots__ = ("entries", "stride", "first", "slot", "phase", "taken", "told", "quarter",
                 "_node", "_behind")

    def __init__(self, node: Node) -> None:
        self._node = node
        self.entries = node.description.nic.receive_ring
        self.stride = node.description.slot_bytes
        self.quarter = max(1, self.entries // 4)
        self.first = self.slot = self._behind = 0
        self.phase = 1
        self.taken = self.told = 0

    def lay_out(self) -> None:
        """Allocate the slots, empty."""
        size = self.entries * self.stride
        self.first = self.slot = self._node.allocate(size, 64)
        self._behind = self.first + size

    def arrived(self) -> bool:
        """Tells whether the next slot is filled, looked at beside the target: it takes no time."""
        return self._node.memory.word(self.slot) & 1 == self.phase

    def advance(self) -> bool:
        """Go on to the next slot; whether the NIC is to be told of those taken."""
        self.taken += 1
        self.slot += self.stride
        if self.slot == self._behind:
            self.slot = self.first
            self.phase ^= 1
        return self.taken - self.told >= self.quarter
