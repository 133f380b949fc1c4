"""VipOpenNic, VipCloseNic, VipQueryNic, VipErrorCallback."""

from collections.abc import Callable
from typing import Any

from ...layouts.via import MAX_SEGMENTS
from .attributes import MAX_DISCRIMINATOR, NetAddress, NicAttributes
from .caller import Caller
from .handles import Nic
from .returns import VIP_RETURN

__all__ = ["Opening"]

NIC_NAME = "nic0"
MAX_TRANSFER = (1 << 24) - 1
MAX_CQ_ENTRIES = 1 << 14
LINGER = 64
"""Closing waits this many ``via.retry_timeout`` for a control message to be acknowledged."""


class Opening(Caller):
    """NICs."""

    async def VipOpenNic(self, name: str) -> tuple[VIP_RETURN, Nic | None]:
        """Open the NIC called ``name`` ("nic0"): another handle each time. ERROR_RESOURCE: the
        node's memory has no room for the kernel agent's tables."""
        if name != NIC_NAME:
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._enter()
        try:
            await self.kernel.start()
        except MemoryError:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE), None
        nic = Nic(self.process, name)
        self.kernel.nics.append(nic)
        return await self._leave(), nic

    async def VipCloseNic(self, nic: Nic) -> VIP_RETURN:
        """Close it. ERROR_RESOURCE while VIs, completion queues, regions or protection tags of this
        handle are left."""
        if not self._is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER
        kernel = self.kernel
        await self._enter()
        if (any(vi.nic is nic for vi in kernel.vis.values())
                or any(cq.nic is nic for cq in kernel.cqs.values())
                or any(region.ptag.nic is nic for region in kernel.regions.values())):
            return await self._leave(VIP_RETURN.ERROR_RESOURCE)
        nic.open = False
        kernel.nics.remove(nic)
        channel = kernel.connections.channel
        heard, end = -1, 0
        while not channel.idle and (heard != channel.delivered or self.port.cycle < end):
            if heard != channel.delivered:
                heard, end = channel.delivered, self.port.cycle + LINGER * channel.timeout
            await kernel.doze(end)
        return await self._leave()

    async def VipQueryNic(self, nic: Nic) -> tuple[VIP_RETURN, NicAttributes | None]:
        """What the NIC can do."""
        if not self._is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER, None
        self.port.spend(self.paths.query)
        via, provider = self.kernel.description.via, self.provider
        return VIP_RETURN.SUCCESS, NicAttributes(
            name=nic.name, address=NetAddress(self.node.number), hardware_version="nicbed",
            max_vis=self.kernel.max_vis, max_cqs=via.cqs, max_descriptors_per_queue=via.queue_depth,
            max_segments=MAX_SEGMENTS, max_cq_entries=MAX_CQ_ENTRIES,
            max_transfer_size=MAX_TRANSFER, max_register_bytes=via.translations * via.page_bytes,
            page_bytes=via.page_bytes, max_discriminator=MAX_DISCRIMINATOR,
            reliability=provider.levels, rdma_write=provider.rdma,
            rdma_read=provider.rdma and provider.rdma_read)

    async def VipErrorCallback(self, nic: Nic, context: Any,
                               handler: Callable[..., Any] | None) -> VIP_RETURN:
        """Have ``handler(context, ErrorDescriptor)`` called at asynchronous errors; it may be a
        coroutine function. None: they are logged again (logger "nicbed.via")."""
        if not self._is_nic(nic) or handler is not None and not callable(handler):
            return VIP_RETURN.INVALID_PARAMETER
        self.port.spend(self.paths.query)
        nic.error_handler, nic.error_context = handler, context
        return VIP_RETURN.SUCCESS
