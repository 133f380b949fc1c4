"""gm_init, gm_open, gm_close: the control program and its ports."""

from ...layouts.gm import NODES
from .caller import Caller
from .handles import Port
from .status import GM_STATUS

__all__ = ["GM_API_VERSION", "Opening"]

GM_API_VERSION = 0x200


class Opening:
    """Ports of the ``caller``."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def init(self) -> GM_STATUS:
        """Start the control program."""
        caller = self._caller
        if caller.node.nodes > NODES:
            return GM_STATUS.GM_FAILURE
        async with caller.in_kernel():
            await caller.driver.start()
        return GM_STATUS.GM_SUCCESS

    async def open(self, number: int, name: str, version: int) -> tuple[GM_STATUS, Port | None]:
        """Open port ``number``."""
        if version != GM_API_VERSION:
            return GM_STATUS.GM_FAILURE, None
        status = await self.init()
        if status:
            return status, None
        driver = self._caller.driver
        if number in driver.ports:
            return GM_STATUS.GM_BUSY, None
        async with driver.lock.held():
            port = await driver.open(self._caller.process, number, name)
        if port is None:
            return GM_STATUS.GM_OUT_OF_MEMORY, None
        return GM_STATUS.GM_SUCCESS, port

    async def close(self, port: Port) -> GM_STATUS:
        """Close it."""
        async with self._caller.in_kernel():
            await self._caller.driver.close(port)
        return GM_STATUS.GM_SUCCESS
