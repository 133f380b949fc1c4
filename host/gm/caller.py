"""The base of GM's parts: it knows their owner and checks the calls' arguments."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ...layouts.gm import PORTS
from ..kernel.process import Process
from .costs import Prices
from .driver import Driver
from .handles import Port

__all__ = ["Caller", "GM_HIGH_PRIORITY", "GM_LOW_PRIORITY", "is_address"]

GM_LOW_PRIORITY, GM_HIGH_PRIORITY = 0, 1


class Caller:
    """The caller's ``process``, node and driver.

    Ports of other processes, closed ones, and what is no port at all are GM_INVALID_PARAMETER to
    every call that returns a status.
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.node = process.node
        self.port = process.port
        self.memory = process.memory
        self.driver = process.node.kernel(Driver)
        self.paths = process.node.service(Prices)

    def is_port(self, port: Any) -> bool:
        """Tells whether it is an open port of this process."""
        return port.__class__ is Port and port.open and port.process is self.process

    def is_target(self, priority: int, node: int, port: int) -> bool:
        """Tells whether a send may name this target."""
        return (isinstance(node, int) and isinstance(port, int) and priority in (0, 1)
                and 0 <= node < self.node.nodes and 0 <= port < PORTS)

    @asynccontextmanager
    async def in_kernel(self) -> AsyncIterator[None]:
        """Charges what is inside as the kernel's work."""
        self.port.spend(self.paths.kernel)
        await self.take_time()
        async with self.driver.lock.held():
            yield

    async def take_time(self) -> None:
        """Spend the time that the call has taken; a cycle at least."""
        port = self.port
        before = port.cycle
        if await port.flush() == before:
            await port.delay(1)
            await port.flush()


def is_address(ptr: Any) -> bool:
    """Tells whether it is one of 64 bits."""
    return isinstance(ptr, int) and 0 <= ptr < 1 << 64
