"""Finds the next packet of Active Messages in a ring of the NIC's or a message processor's
queue."""

from collections.abc import Callable

from ..port.node import Node
from . import wire

__all__ = ["ReceiveQueue", "ReceiveRing"]


class ReceiveRing:
    """The slots in host memory in which the NIC stores packets.

    Attributes
    ----------
    near
        Whether slots are in host memory, where :attr:`read` finds them.
    slot
        Address of the next slot.
    phase
        What its completion word's lowest bit will be.
    taken
        Slots taken since the start.
    entries
        How many slots there are.
    looked
        Cycle at which the program last looked at the slot.
    waits
        Whether it will wait for the slot to be filled as soon as it has done all other work.
    read
        Returns the beginning of the slot at an address, in the fields of :data:`.wire.SLOT`.
    """

    __slots__ = ("_node", "read", "entries", "_first", "_quarter", "_slot_bytes", "_told", "slot",
                 "phase", "taken", "near", "looked", "waits", "_turn")

    def __init__(self, node: Node) -> None:
        self._node = node
        self.near = True
        self.read: Callable[[int], tuple[int, ...]] = node.memory.reader(wire.SLOT)
        self.entries = node.description.nic.receive_ring
        self._quarter = max(1, self.entries // 4)
        self._slot_bytes = node.description.slot_bytes
        self._first = 0
        self._told = 0
        self.slot = 0
        self.phase = 1
        self.taken = 0
        self.looked = 0
        self.waits = False
        self._turn = min(self.entries, self._quarter)
        """The number of taken slots at which the ring ends or is to be reported."""

    async def load(self) -> tuple[int, ...]:
        """Load the slot's words by PIO, and return what :attr:`read` would. For slots that are not
        ``near``; the last entry of the last block was the poll that found the slot filled."""
        raise NotImplementedError

    @property
    def payload(self) -> int:
        """Address of the data of the bulk packet in the slot."""
        return self.slot + wire.BULK_DATA

    def allocate(self) -> int:
        """Allocate the ring's memory; return its address."""
        length = self.entries * self._slot_bytes
        self._first = self.slot = self._node.allocate(length)
        # The NIC does not use the ring yet, so this is only setting up. Fresh memory is zero to
        # the CPU too.
        self._node.memory.write(self._first, bytes(length))
        return self._first

    def advance(self) -> bool:
        """Free the slot and go on to the next one. Return whether to report the number of taken
        slots to the NIC; the number then counts as reported."""
        self.taken = taken = self.taken + 1
        self.slot += self._slot_bytes
        if taken < self._turn:
            return False
        if taken % self.entries == 0:
            self.slot = self._first
            self.phase ^= 1
        report = taken - self._told >= self._quarter
        self.reported(taken if report else self._told)
        return report

    def reported(self, told: int) -> None:
        """``told`` is the number of taken slots that the NIC knows."""
        taken, entries = self.taken, self.entries
        self._told = told
        self._turn = min(taken - taken % entries + entries, told + self._quarter)


class ReceiveQueue(ReceiveRing):
    """The slots in which a message processor stores packets. A slot's flag is the lowest bit of its
    completion word: the message processor sets it, and the CPU clears it.

    Attributes
    ----------
    freed
        Address of the slot that was freed last.
    """

    __slots__ = ("freed",)

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.freed = 0

    def advance(self) -> bool:
        self.freed = self.slot
        super().advance()
        self.phase = 1
        return True
