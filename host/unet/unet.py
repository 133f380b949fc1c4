"""U-Net of one process: what the kernel does for it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from inspect import isawaitable

from ...layouts.errors import UserError
from ...layouts.unet import (
    ENDPOINTS,
    FREE_SLOTS,
    MAX_MESSAGE,
    NODES,
    RECEIVE_SLOTS,
    SEGMENT_PAGES,
    SEND_SLOTS,
)
from ...layouts.unet import Status as STATUS
from ..kernel.process import Process
from ..kernel.sleeping import sleep
from ..kernel.timers import FAR
from .channel import Channel
from .communication_endpoint import CommunicationEndpoint
from .costs import Prices
from .driver import Driver

__all__ = ["STATUS", "Unet", "UnetError"]

IDLE = 2_000
"""Cycles that a select sleeps at a time while the NIC may ask for translations."""


class UnetError(UserError):
    """The kernel refuses what a process asks for: one line."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=1)


class Unet:
    """U-Net for ``process``: ``unet = Unet(process)``. All calls enter the kernel.

    Raises
    ------
    RuntimeError
        Another layer drives the NIC.
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.node = process.node
        self.driver = process.node.kernel(Driver)
        self._port = process.port
        self._paths = process.node.service(Prices)
        self._endpoints: list[CommunicationEndpoint] = []

    async def create_endpoint(self, size: int = 65536, sends: int = SEND_SLOTS,
                              receives: int = 64, frees: int = FREE_SLOTS) -> CommunicationEndpoint:
        """An endpoint with a segment of ``size`` bytes, which is pinned, and queues of so many
        slots, powers of two.

        Raises
        ------
        UnetError
            All endpoints of the NIC are in use; a size is out of range.
        """
        page = self.process.page_bytes
        if not 0 < size <= SEGMENT_PAGES * page:
            raise UnetError(f"a segment has 1 to {SEGMENT_PAGES * page} bytes, not {size}")
        for name, count, most in (("send", sends, SEND_SLOTS), ("receive", receives, RECEIVE_SLOTS),
                                  ("free", frees, FREE_SLOTS)):
            if not 4 <= count <= most or count & count - 1:
                raise UnetError(f"a {name} queue has 4 to {most} slots, a power of two, not "
                                f"{count}")
        if self.node.nodes > NODES:
            raise UnetError(f"U-Net knows {NODES} nodes, not {self.node.nodes}")
        async with self._in_kernel():
            await self.driver.start()
            segment = self.process.allocate(size, fresh=True)
            self.process.allocate(-size % page, 1)
            opened = await self.driver.open(self.process, segment, size, sends, receives, frees)
        if opened is None:
            raise UnetError(f"the NIC has {ENDPOINTS} endpoints, all in use")
        endpoint = CommunicationEndpoint(self.process, self.driver, opened, segment, size, sends,
                                         receives, frees)
        self._endpoints.append(endpoint)
        return endpoint

    async def destroy_endpoint(self, endpoint: CommunicationEndpoint) -> None:
        """Close it and its channels; sends under way are abandoned. When this returns the NIC
        touches no memory of it any more."""
        self._own(endpoint)
        async with self._in_kernel():
            await self.driver.close(endpoint.number)
        endpoint.open = False
        self._endpoints.remove(endpoint)

    async def create_channel(self, endpoint: CommunicationEndpoint, node: int, out: int, tag: int
                             ) -> Channel:
        """A channel: what is sent on it goes to wire address ``node`` with tag ``out``; what comes
        from there with tag ``tag`` is the endpoint's.

        Raises
        ------
        UnetError
            Either tag is another channel's already; the NIC has no more channels.
        """
        self._own(endpoint)
        async with self._in_kernel():
            found = await self.driver.open_channel(endpoint.number, node, out, tag)
        if isinstance(found, str):
            raise UnetError(f"no channel of endpoint {endpoint.number}: {found}")
        endpoint.channels[found.number] = found
        return found

    async def destroy_channel(self, endpoint: CommunicationEndpoint, channel: Channel) -> None:
        """Close it: what comes with its tag is nobody's."""
        self._own(endpoint)
        if endpoint.channels.get(channel.number) is not channel:
            raise UnetError(f"channel {channel.number} is none of endpoint {endpoint.number}")
        async with self._in_kernel():
            await self.driver.close_channel(channel)
        del endpoint.channels[channel.number]

    async def register(self, endpoint: CommunicationEndpoint, address: int, length: int) -> None:
        """With ``unet.buffers`` = direct: the pages of these bytes may be named by descriptors, and
        by senders to the endpoint.

        Raises
        ------
        UnetError
            They are not all the process's; ``unet.buffers`` is something else.
        """
        self._own(endpoint)
        if not self.driver.anywhere or self.driver.asks:
            raise UnetError("memory is registered with unet.buffers = direct alone")
        if not self.process.mapped(address, length):
            raise UnetError(f"the process has no {length} bytes at {address:#x}")
        async with self._in_kernel():
            await self.driver.register(endpoint.number, address, length)

    async def deregister(self, endpoint: CommunicationEndpoint, address: int, length: int) -> None:
        """Undo it: the bytes are reached no more when this returns.

        Raises
        ------
        UnetError
            They are not registered.
        """
        self._own(endpoint)
        async with self._in_kernel():
            found = await self.driver.deregister(endpoint.number, address, length)
        if not found:
            raise UnetError(f"{length} bytes at {address:#x} are not registered")

    async def select(self, endpoints: Sequence[CommunicationEndpoint], timeout: int = 0
                     ) -> list[CommunicationEndpoint]:
        """Give up the CPU until one of these endpoints has a message, for at most ``timeout``
        cycles (0: no limit); those that have one."""
        driver, port = self.driver, self._port
        for endpoint in endpoints:
            self._own(endpoint)
        end = await port.flush() + timeout if timeout else FAR
        async with self._in_kernel():
            while True:
                for endpoint in endpoints:
                    await endpoint.arm()
                found = [endpoint for endpoint in endpoints if await endpoint.pending()]
                if found or port.cycle >= end:
                    return found
                port.spend(self._paths.block)
                wake = min(end, port.cycle + IDLE) if driver.asks else end
                if await sleep(port, driver.lock, wake):
                    await driver.interrupt()

    async def compute(self, cycles: int) -> None:
        """Compute for ``cycles``; a message for an endpoint with an
        :attr:`~.CommunicationEndpoint.upcall` interrupts, and the function runs, which takes what
        has come. What runs meanwhile takes time of its own."""
        port, driver = self._port, self.driver
        watched = [endpoint for endpoint in self._endpoints if endpoint.upcall is not None]
        left = cycles
        while True:
            for endpoint in watched:
                await self._call_up(endpoint)
            if left <= 0:
                return
            start = await port.flush()
            came = await port.wait_irq(left)
            left -= max(1, port.cycle - start)
            if came:
                await driver.interrupt()

    async def _call_up(self, endpoint: CommunicationEndpoint) -> None:
        """Run the endpoint's function as long as there are messages, then arm it again."""
        while True:
            await endpoint.arm()
            if not await endpoint.pending():
                return
            self._port.spend(self._paths.upcall)
            result = endpoint.upcall(endpoint) if endpoint.upcall else None
            if isawaitable(result):
                await result
            elif await endpoint.pending():
                return  # it took none: it runs at the next interrupt

    def _own(self, endpoint: CommunicationEndpoint) -> None:
        if not endpoint.open or endpoint.process is not self.process:
            raise UnetError(f"endpoint {endpoint.number} is none of process {self.process.number}")

    @asynccontextmanager
    async def _in_kernel(self) -> AsyncIterator[None]:
        """Charges what is inside as the kernel's work."""
        self._port.spend(self._paths.kernel)
        await self._port.flush()
        async with self.driver.lock.held():
            yield


if MAX_MESSAGE >= 1 << 17:
    raise AssertionError("a descriptor's length does not hold the longest message")
