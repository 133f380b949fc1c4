"""An endpoint: its segment, its queues, and all that a process does with them. No call of it enters
the kernel, but those that wait for an interrupt."""

from collections.abc import Callable
from typing import Any

from ...layouts.unet import INLINE, Status
from ..kernel.process import BASE, Process
from ..kernel.sleeping import sleep
from .channel import Channel
from .copying import copy
from .costs import Prices
from .driver import Driver, Opened
from .receive_queue import ReceiveQueue
from .received import Received
from .send_queue import SendQueue

__all__ = ["CommunicationEndpoint"]

LOOK = 500
"""Cycles of spinning between two looks whether the NIC asks for a translation."""


class CommunicationEndpoint:
    """CommunicationEndpoint ``number`` of a node's NIC, of ``process``.

    Offsets are of its communication segment, and places too with ``unet.buffers`` = segment; else a
    place stands for any address of the process (:meth:`place`). Nothing is reliable here: what the
    network loses is lost, and a message that finds no buffer or no room is dropped and counted.

    Attributes
    ----------
    segment, size
        Virtual address of the segment, and its bytes.
    send_queue, receive_queue
        Its queues, for whoever posts without these calls.
    channels
        Its open channels, by number.
    asks
        Whether the NIC asks for translations (``unet.buffers`` = tlb).
    registers
        Whether its buffers may be in any registered memory (``unet.buffers`` = direct).
    upcall
        A function, or coroutine function, of an endpoint, that :meth:`.unet.Unet.compute` calls
        when the receive queue becomes non-empty; None.
    """

    def __init__(self, process: Process, driver: Driver, opened: Opened, segment: int, size: int,
                 sends: int, receives: int, frees: int) -> None:
        self.process = process
        self.number = opened.number
        self.segment, self.size = segment, size
        self.open = True
        self.upcall: Callable[[CommunicationEndpoint], Any] | None = None
        self.channels: dict[int, Channel] = {}
        self._driver = driver
        self._port = process.port
        processor = driver.processor
        assert processor is not None
        doorbell = processor.doorbell(self.number + 1)
        self.send_queue = SendQueue(process, processor, doorbell, opened.page, opened.slots,
                                opened.statuses, sends)
        self.receive_queue = ReceiveQueue(process, opened.page, doorbell, opened.receives, receives,
                                      frees)
        self._block = process.node.service(Prices).block
        self._base = segment - BASE if driver.anywhere else 0
        self.asks = driver.asks
        self.registers = driver.anywhere and not driver.asks

    # Places

    def place(self, address: int) -> int:
        """The place of virtual address ``address``: for descriptors, and for senders to it."""
        return address - (BASE if self._driver.anywhere else self.segment)

    def address(self, place: int) -> int:
        """The virtual address of a place."""
        return place + (BASE if self._driver.anywhere else self.segment)

    # Sends

    async def post_send(self, channel: Channel, offset: int, length: int) -> int:
        """Send the ``length`` bytes at ``offset`` of the segment. The number of the descriptor,
        from 1 on; 0: the queue is full, and nothing was posted. The buffer must not change until
        the descriptor is over (:meth:`over`)."""
        return await self.send_queue.buffer(channel.number, self._base + offset, length, None)

    async def post_inline(self, channel: Channel, data: bytes) -> int:
        """Send up to INLINE bytes, which go with the descriptor."""
        return await self.send_queue.inline(channel.number, data)

    async def post_from(self, channel: Channel, address: int, length: int,
                        there: int | None = None) -> int:
        """Send the bytes at virtual address ``address``, which are registered or, with
        ``unet.buffers`` = tlb, any of the process's; to ``there``, a place of the receiver's, if
        that is given."""
        return await self.send_queue.buffer(channel.number, self.place(address) & 0xFFFF_FFFF,
                                            length, there)

    async def over(self, number: int = 0) -> bool:
        """Tells whether the send with this number is over; 0: all are."""
        wanted = number or self.send_queue.posted
        if self.send_queue.done < wanted:
            await self.send_queue.look()
            await self._attend()
        return self.send_queue.done >= wanted

    async def drain(self) -> None:
        """Wait until all sends are over."""
        while not await self.over():
            await self._port.delay(50)

    @property
    def sends(self) -> int:
        """Descriptors that the send queue has room for."""
        return self.send_queue.count

    @property
    def under_way(self) -> int:
        """Sends that are not known to be over."""
        return self.send_queue.posted - self.send_queue.done

    @property
    def failed(self) -> dict[int, Status]:
        """The sends that the NIC refused, by number, with the reason, as far as seen."""
        return self.send_queue.failed

    # Receives

    async def post_free(self, offset: int, length: int) -> bool:
        """Give ``length`` bytes at ``offset`` of the segment to the free queue; False: that is
        full."""
        return await self.receive_queue.free(self._base + offset, length)

    async def post_free_at(self, address: int, length: int) -> bool:
        """The same of memory outside the segment."""
        return await self.receive_queue.free(self.place(address) & 0xFFFF_FFFF, length)

    @property
    def buffers_out(self) -> int:
        """Buffers that the NIC has."""
        return self.receive_queue.out

    async def poll(self) -> Received | None:
        """The next message, if one has come."""
        await self._attend()
        return await self.receive_queue.poll()

    async def receive(self) -> Received:
        """Spin until the next message comes."""
        port = self._port
        port.waiting_for(f"a message at endpoint {self.number}")
        while True:
            await self._attend()
            found = await self.receive_queue.poll(LOOK if self.asks else 1 << 30)
            if found is not None:
                port.waiting_for("")
                return found

    async def wait(self) -> None:
        """Give up the CPU until the receive queue is not empty."""
        driver, port = self._driver, self._port
        port.waiting_for(f"a message at endpoint {self.number}")
        async with driver.lock.held():
            await self.receive_queue.arm()
            while not await self.pending():
                port.spend(self._block)
                if await sleep(port, driver.lock):
                    await driver.interrupt()
                    await self.receive_queue.arm()
        port.waiting_for("")

    async def arm(self) -> None:
        """Have the NIC interrupt at the next message."""
        await self.receive_queue.arm()

    async def pending(self) -> bool:
        """Tells whether a message has come."""
        return not (await self._port.poll(self.receive_queue.watch, once=True)).timed_out

    async def dropped(self) -> tuple[int, int]:
        """Messages dropped here so far: for want of a free buffer, and of room in the receive
        queue."""
        return await self.receive_queue.dropped()

    # Copies

    async def send(self, channel: Channel, address: int, length: int, offset: int) -> int:
        """Send the bytes at virtual address ``address``: up to INLINE with the descriptor; more,
        with ``unet.buffers`` = segment, by a copy at ``offset`` of the segment, else from where
        they are. As :meth:`post_send`."""
        if length <= INLINE:
            if length:
                await self.process.touch(address, length)
            return await self.post_inline(channel, self.process.read(address, length))
        if self._driver.anywhere:
            return await self.post_from(channel, address, length)
        await copy(self.process, address, self.segment + offset, length)
        return await self.post_send(channel, offset, length)

    async def take(self, message: Received, address: int) -> None:
        """Copy a message that lies in buffers to virtual address ``address``."""
        for place, length in message.buffers:
            await copy(self.process, self.address(place), address, length)
            address += length

    async def _attend(self) -> None:
        """The NIC's interrupt, if it asks for a translation."""
        if self.asks and self._port.interrupted:
            await self._driver.interrupt()
