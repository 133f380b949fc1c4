"""What all GM calls stand on: whose library it is, and the checks of their arguments."""

from typing import Any

from ..via.process import Process
from .driver import Driver
from .handles import Port

__all__ = ["Caller", "GM_HIGH_PRIORITY", "GM_LOW_PRIORITY"]

GM_LOW_PRIORITY, GM_HIGH_PRIORITY = 0, 1


class Caller:
    """The library of ``process``.

    Ports of other processes, closed ones, and what is no port at all are GM_INVALID_PARAMETER to
    every call that returns a status.
    """

    def __init__(self, process: Process) -> None:
        self.process = process
        self.node = process.node
        self.port = process.port
        self.memory = process.memory
        self.driver = process.node.service(Driver)
        self.paths = self.driver.paths

    def _is_port(self, port: Any) -> bool:
        return port.__class__ is Port and port.open and port.process is self.process

    async def _enter(self) -> None:
        """Enter the kernel: what follows is its work."""
        self.port.spend(self.paths.kernel)
        await self._pass()

    async def _pass(self) -> None:
        """Spend the time that the call has taken; a cycle at least."""
        port = self.port
        before = port.cycle
        if await port.flush() == before:
            await port.delay(1)
            await port.flush()
