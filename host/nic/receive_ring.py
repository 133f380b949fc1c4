"""The NIC's receive ring, as a kernel drives it: by interrupts."""

from collections.abc import Awaitable, Callable

from ...layouts.packet import HEADER, Protocol
from ...layouts.registers import RECHECK, Irq, address
from ...layouts.rings import COMPLETION
from ..kernel.lock import kernel_lock
from ..port.node import Node
from ..port.port import Watch
from ..port.words import F_ONCE, TIMEOUT
from .costs import Prices
from .receive_slots import ReceiveSlots

__all__ = ["ReceiveRing"]

PROTOCOL, PROTOCOLS = HEADER.offset("protocol"), HEADER.mask("protocol")
TRACE, TRACES = COMPLETION.offset("trace"), COMPLETION.mask("trace")

RECEIVE_BASE, RECEIVE_TAKEN = address("receive_base"), address("receive_taken")
IRQ_STATUS = address("irq_status")
RECEIVE = int(Irq.RECEIVE)

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
        self._lock = kernel_lock(node)
        self._nic = node.nic_offset
        self.slots = ReceiveSlots(node)
        self.receivers: dict[int, Receiver] = {}
        self._posted = node.description.bus.posted
        self.left = False

    async def start(self) -> None:
        """Give the NIC the slots. The kernel agent turns the ring on."""
        self.slots.lay_out()
        await self.port.pio_write(self._nic + RECEIVE_BASE, self.slots.first)

    def watch(self) -> Watch:
        """The word that tells that the next packet has arrived."""
        return Watch(self.slots.slot, self.slots.phase, 1)

    def arrived(self) -> bool:
        """Tells whether the next packet has arrived. This takes no target time."""
        return self.slots.arrived()

    async def drain(self, most: int) -> None:
        """Hand out the packets that have arrived, up to ``most``; called in the interrupt handler,
        or in a call that checks. A packet that arrives too late for this raises the interrupt
        again. So does one that comes before a posted clear arrives: behind the clear the NIC is
        told what was taken, and checks the ring once more (RECHECK). Not if packets are left, which
        must not interrupt: then the clear arrives before another CPU may take them."""
        port, memory, slots = self.port, self.memory, self.slots
        handled, begun = 0, False
        while True:
            slot = slots.slot
            port.put_poll(slot, slots.phase, 1, 0, F_ONCE)
            await port.executed
            there = not port.status & TIMEOUT
            if not begun:
                if not there and not port.interrupted:
                    self.left = False
                    return
                begun = True
                port.put_write(self._nic + IRQ_STATUS, 1, RECEIVE if there else RECEIVE | RECHECK)
                continue
            self.left = there
            if not there or handled >= most:
                break
            completion, header = memory.word(slot), memory.word(slot + 8)
            port.spend(self.paths.packet)
            receiver = self.receivers.get((header & PROTOCOLS) >> PROTOCOL)
            if receiver is not None:
                await receiver(header, slot, (completion & TRACES) >> TRACE)
            handled += 1
            if slots.advance():
                await self._tell()
        if self.left:
            self._lock.wrote()
        if slots.told != slots.taken or handled and self._posted and not self.left:
            await self._tell(0 if self.left else RECHECK)

    async def _tell(self, recheck: int = 0) -> None:
        port, slots = self.port, self.slots
        await port.room(1)
        port.put_write(self._nic + RECEIVE_TAKEN, 1, slots.taken & 0xFFFF | recheck)
        slots.told = slots.taken


if COMPLETION.offset("phase") != 0 or Protocol.VIA == Protocol.VIA_CONTROL:
    raise AssertionError("the receive ring does not match the declared layouts")
