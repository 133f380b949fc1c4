"""Finds the next packet of Active Messages in a ring of the NIC's or a message processor's
queue."""

from collections.abc import Callable

from ..nic.receive_slots import ReceiveSlots
from ..port.node import Node
from . import wire

__all__ = ["ReceiveQueue", "ReceiveRing"]


class ReceiveRing(ReceiveSlots):
    """The slots in host memory in which the NIC stores packets.

    Attributes
    ----------
    near
        Whether slots are in host memory, where :attr:`read` finds them.
    looked
        Cycle at which the program last looked at the slot.
    waits
        Whether it will wait for the slot to be filled as soon as it has done all other work.
    read
        Returns the beginning of the slot at an address, in the fields of :data:`.wire.SLOT`.
    """

    __slots__ = ("read", "near", "looked", "waits", "_turn")

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.near = True
        self.read: Callable[[int], tuple[int, ...]] = node.memory.reader(wire.SLOT)
        self.looked = 0
        self.waits = False
        self._turn = min(self.entries, self.quarter)
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
        """Lay the slots out; return the address of the first."""
        self.lay_out()
        # The NIC does not use the ring yet, so this is only setting up. Fresh memory is zero to
        # the CPU too.
        self._node.memory.write(self.first, bytes(self.entries * self.stride))
        return self.first

    def advance(self) -> bool:
        """As there; a number that is to be told then counts as told. It compares once where a
        packet passes."""
        self.taken = taken = self.taken + 1
        self.slot += self.stride
        if taken < self._turn:
            return False
        if taken % self.entries == 0:
            self.slot = self.first
            self.phase ^= 1
        report = taken - self.told >= self.quarter
        self.reported(taken if report else self.told)
        return report

    def reported(self, told: int) -> None:
        """``told`` is the number of taken slots that the NIC knows."""
        taken, entries = self.taken, self.entries
        self.told = told
        self._turn = min(taken - taken % entries + entries, told + self.quarter)


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
