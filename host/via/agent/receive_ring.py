"""The node's receive ring, which belongs to the kernel agent."""

from collections.abc import Awaitable, Callable

from ....layouts.operations import BLOCK
from ....layouts.packet import HEADER, Protocol
from ....layouts.registers import Irq, address
from ....layouts.rings import COMPLETION
from ...port.node import Node
from ...port.port import F_ONCE, TIMEOUT
from ..process import Prices

__all__ = ["ReceiveRing"]

RECEIVE_BASE, RECEIVE_TAKEN = address("receive_base"), address("receive_taken")
IRQ_STATUS = address("irq_status")

Receiver = Callable[[int, int, int], Awaitable[None]]
"""A function that is called with a packet's wire header, its slot's physical address and its trace
number."""


class ReceiveRing:
    """Slots in host memory, read in order.

    Attributes
    ----------
    receivers
        The receiver of each protocol; packets of other protocols are dropped.
    left
        Whether packets may wait that raise no further interrupt.
    """

    def __init__(self, node: Node) -> None:
        self.port = node.port
        self.memory = node.memory
        self.paths = node.service(Prices)
        self.node = node
        self._nic = node.nic_offset
        self.size = node.description.nic.receive_ring
        self.slot_bytes = node.description.slot_bytes
        self.receivers: dict[int, Receiver] = {}
        self.base = 0
        self.left = False
        self._taken = 0
        self._told = 0

    async def start(self) -> None:
        """Give the NIC the slots. The kernel agent turns the ring on."""
        self.base = self.node.allocate(self.slot_bytes * self.size, 64)
        await self.port.pio_write(self._nic + RECEIVE_BASE, self.base)

    def slot(self) -> int:
        """Physical address of the slot of the next packet: its completion word."""
        return self.base + self._taken % self.size * self.slot_bytes

    def phase(self) -> int:
        """The phase bit of that word when the packet has arrived."""
        return 1 - (self._taken // self.size & 1)

    async def drain(self, most: int) -> None:
        """Hand out the packets that have arrived, up to ``most``; called in the interrupt handler,
        or in a call that checks. A packet that arrives too late for this raises the interrupt
        again."""
        port = self.port
        if not await self._check() and not port.interrupted:
            self.left = False
            return
        await port.room(1)
        port.put_write(self._nic + IRQ_STATUS, 1, Irq.RECEIVE)
        handled, self.left = 0, await self._check()
        while self.left and handled < most:
            slot = self.slot()
            completion, header = self.memory.word(slot), self.memory.word(slot + 8)
            port.spend(self.paths.packet)
            receiver = self.receivers.get(HEADER.get(header, "protocol"))
            if receiver is not None:
                await receiver(header, slot, COMPLETION.get(completion, "trace"))
            self._taken += 1
            handled += 1
            if self._taken - self._told >= max(1, self.size // 4):
                await self._tell()
            self.left = await self._check()
        if self._told != self._taken:
            await self._tell()

    async def _check(self) -> bool:
        port = self.port
        if port.count > BLOCK - 2:
            await port.executed
        port.put_poll(self.slot(), self.phase(), 1, 0, F_ONCE)
        await port.executed
        return not port.status & TIMEOUT

    async def _tell(self) -> None:
        await self.port.room(1)
        self.port.put_write(self._nic + RECEIVE_TAKEN, 1, self._taken & 0xFFFF)
        self._told = self._taken


if COMPLETION.offset("phase") != 0 or Protocol.VIA == Protocol.VIA_CONTROL:
    raise AssertionError("the receive ring does not match the declared layouts")
