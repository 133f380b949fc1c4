"""gm_register_memory, gm_deregister_memory, gm_dma_malloc: memory that the NIC may access."""

from .caller import Caller
from .handles import Port
from .status import GM_STATUS

__all__ = ["Registering"]


class Registering:
    """Registered memory of the ``caller``."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def register(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Give the port these bytes' pages."""
        caller = self._caller
        async with caller.in_kernel():
            there = caller.process.mapped(ptr, length)
            if there:
                await caller.driver.register(port, ptr, length)
        return GM_STATUS.GM_SUCCESS if there else GM_STATUS.GM_PERMISSION_DENIED

    async def deregister(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Take them back."""
        caller = self._caller
        async with caller.in_kernel():
            found = await caller.driver.deregister(port, ptr, length)
        return GM_STATUS.GM_SUCCESS if found else GM_STATUS.GM_INVALID_PARAMETER

    async def allocate(self, port: Port, length: int) -> int | None:
        """Registered memory in pages of its own."""
        caller = self._caller
        process = caller.process
        async with caller.in_kernel():
            try:
                ptr = process.allocate(length, fresh=True)
                process.allocate(-length % process.page_bytes, 1)
            except MemoryError:
                return None
            await caller.driver.register(port, ptr, length)
        return ptr
