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
        await caller.enter()
        await caller.driver.start()
        await caller.leave()
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
        await driver.lock.enter()
        port = await driver.open(self._caller.process, number, name)
        await driver.lock.leave()
        if port is None:
            return GM_STATUS.GM_OUT_OF_MEMORY, None
        return GM_STATUS.GM_SUCCESS, port

    async def close(self, port: Port) -> GM_STATUS:
        """Close it."""
        await self._caller.enter()
        await self._caller.driver.close(port)
        await self._caller.leave()
        return GM_STATUS.GM_SUCCESS
