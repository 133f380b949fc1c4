"""gm_init, gm_finalize, gm_open, gm_close, gm_get_node_id; registered memory."""

from ...layouts.gm import NODES, PORTS
from .caller import Caller
from .handles import Port
from .status import GM_STATUS

__all__ = ["GM_API_VERSION", "Opening"]

GM_API_VERSION = 0x200


class Opening(Caller):
    """Ports and their memory."""

    async def gm_init(self) -> GM_STATUS:
        """Start the NIC's control program if it is not running. gm_open does this, too. GM_FAILURE
        with more nodes than GM knows."""
        if self.node.nodes > NODES:
            return GM_STATUS.GM_FAILURE
        await self._enter()
        await self.driver.start()
        return GM_STATUS.GM_SUCCESS

    async def gm_open(self, unit: int, port_id: int, port_name: str = "",
                      version: int = GM_API_VERSION) -> tuple[GM_STATUS, Port | None]:
        """Open port ``port_id`` (1 to 7; port 0 is the driver's) of NIC ``unit`` (0). GM_BUSY: it
        is open. GM_OUT_OF_MEMORY: the node's memory is full."""
        if unit != 0 or not isinstance(port_id, int) or not 1 <= port_id < PORTS:
            return GM_STATUS.GM_INVALID_PARAMETER, None
        if version != GM_API_VERSION:
            return GM_STATUS.GM_FAILURE, None
        status = await self.gm_init()
        if status:
            return status, None
        if port_id in self.driver.ports:
            return GM_STATUS.GM_BUSY, None
        port = await self.driver.open(self.process, port_id, port_name)
        if port is None:
            return GM_STATUS.GM_OUT_OF_MEMORY, None
        return GM_STATUS.GM_SUCCESS, port

    async def gm_close(self, port: Port) -> GM_STATUS:
        """Close the port. Sends under way are abandoned, buffers return to the program, and its
        memory is deregistered."""
        if not self._is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER
        await self._enter()
        await self.driver.close(port)
        return GM_STATUS.GM_SUCCESS

    async def gm_get_node_id(self, port: Port) -> tuple[GM_STATUS, int]:
        """This node's number."""
        if not self._is_port(port):
            return GM_STATUS.GM_INVALID_PARAMETER, 0
        self.port.spend(self.paths.query)
        return GM_STATUS.GM_SUCCESS, self.node.number

    async def gm_register_memory(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Give the NIC access to the pages of these bytes, for this port. Each registration needs a
        deregistration of its own. GM_PERMISSION_DENIED: they are not the process's."""
        if not self._is_port(port) or not _bytes(ptr, length):
            return GM_STATUS.GM_INVALID_PARAMETER
        await self._enter()
        if not self.process.mapped(ptr, length):
            return GM_STATUS.GM_PERMISSION_DENIED
        await self.driver.register(port, ptr, length)
        return GM_STATUS.GM_SUCCESS

    async def gm_deregister_memory(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """When this returns, the NIC can no longer access the pages, except those that another
        registration covers."""
        if not self._is_port(port) or not _bytes(ptr, length):
            return GM_STATUS.GM_INVALID_PARAMETER
        await self._enter()
        if not await self.driver.deregister(port, ptr, length):
            return GM_STATUS.GM_INVALID_PARAMETER
        return GM_STATUS.GM_SUCCESS

    async def gm_dma_malloc(self, port: Port, length: int) -> int | None:
        """Address of ``length`` bytes of registered memory in pages of their own; None if there are
        none."""
        if not self._is_port(port) or not isinstance(length, int) or length < 1:
            return None
        await self._enter()
        try:
            ptr = self.process.allocate(length, fresh=True)
            self.process.allocate(-length % self.process.page_bytes, 1)
        except MemoryError:
            return None
        await self.driver.register(port, ptr, length)
        return ptr

    async def gm_dma_free(self, port: Port, ptr: int, length: int) -> GM_STATUS:
        """Deregister the memory. (It is not allocated again.)"""
        return await self.gm_deregister_memory(port, ptr, length)


def _bytes(ptr: int, length: int) -> bool:
    return isinstance(ptr, int) and isinstance(length, int) and ptr >= 0 and length >= 1
