"""The receive ring of Active Messages: where the next packet will be."""

from ..port.node import Node
from . import wire

__all__ = ["ReceiveRing"]


class ReceiveRing:
    """The slots that the NIC stores packets in.

    Attributes
    ----------
    slot
        Address of the next slot.
    phase
        What its completion word's lowest bit will be.
    taken
        Slots taken since the begin.
    entries
        How many slots there are.
    """

    __slots__ = ("_node", "entries", "_first", "_quarter", "_slot_bytes", "_told", "slot",
                 "phase", "taken")

    def __init__(self, node: Node) -> None:
        self._node = node
        self.entries = node.description.nic.receive_ring
        self._quarter = max(1, self.entries // 4)
        self._slot_bytes = node.description.slot_bytes
        self._first = 0
        self._told = 0
        self.slot = 0
        self.phase = 1
        self.taken = 0

    def allocate(self) -> int:
        """Get its memory; the address."""
        length = self.entries * self._slot_bytes
        self._first = self.slot = self._node.allocate(length)
        # The NIC has not been told of the ring: setting up. Fresh memory is zero to the CPU too.
        self._node.memory.write(self._first, bytes(length))
        return self._first

    def read(self) -> tuple[int, ...]:
        """What the next slot begins with, as :data:`.wire.SLOT` has it."""
        return wire.SLOT.unpack(self._node.memory.read(self.slot, wire.SLOT_BYTES))

    def advance(self) -> bool:
        """The slot is free again, the next one is looked at; whether to tell the NIC how many were
        taken, which then counts as done."""
        self.taken = taken = self.taken + 1
        if taken % self.entries == 0:
            self.slot = self._first
            self.phase ^= 1
        else:
            self.slot += self._slot_bytes
        if taken - self._told >= self._quarter:
            self._told = taken
            return True
        return False
