"""VipOpenNic, VipCloseNic, VipQueryNic, VipErrorCallback."""

from collections.abc import Callable
from typing import Any

from ....layouts.via import MAX_SEGMENTS
from ..attributes import MAX_DISCRIMINATOR, NetAddress, NicAttributes
from ..handles import Nic
from ..returns import VIP_RETURN
from .caller import Caller, kernel_call

__all__ = ["Opening"]

NIC_NAME = "nic0"
MAX_TRANSFER = (1 << 24) - 1
MAX_CQ_ENTRIES = 1 << 14
LINGER = 64
"""Closing waits for the acknowledgement of control messages for this many ``via.retry_timeout``."""


class Opening:
    """NICs of a process."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._process = caller.process
        self._node = caller.node
        self._port = caller.port
        self._paths = caller.paths
        self._kernel = caller.kernel
        self._provider = caller.provider

    @kernel_call
    async def open(self, name: str) -> tuple[VIP_RETURN, Nic | None]:
        if name != NIC_NAME:
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._caller.enter()
        try:
            await self._kernel.start()
        except MemoryError:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE), None
        nic = Nic(self._process, name)
        self._kernel.nics.append(nic)
        return await self._caller.leave(), nic

    @kernel_call
    async def close(self, nic: Nic) -> VIP_RETURN:
        if not self._caller.is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER
        kernel = self._kernel
        await self._caller.enter()
        if (any(vi.nic is nic for vi in kernel.vis.values())
                or any(cq.nic is nic for cq in kernel.cqs.values())
                or any(region.ptag.nic is nic for region in kernel.regions.values())):
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE)
        nic.open = False
        kernel.nics.remove(nic)
        channel = kernel.connections.channel
        heard, end = -1, 0
        while not channel.idle and (heard != channel.delivered or self._port.cycle < end):
            if heard != channel.delivered:
                heard, end = channel.delivered, self._port.cycle + LINGER * channel.timeout
            await kernel.doze(end)
        return await self._caller.leave()

    @kernel_call
    async def settle(self, nic: Nic) -> None:
        """See :meth:`.vipl.Vipl.settle`."""
        kernel = self._kernel

        def quiet() -> bool:
            return all(self._provider.quiet(vi) for vi in kernel.vis.values() if vi.nic is nic)

        if not quiet():
            await self._caller.enter()
            while not quiet():
                await kernel.doze(None)
            await self._caller.leave()

    async def query(self, nic: Nic) -> tuple[VIP_RETURN, NicAttributes | None]:
        if not self._caller.is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER, None
        self._port.spend(self._paths.query)
        via, provider = self._kernel.description.via, self._provider
        return VIP_RETURN.SUCCESS, NicAttributes(
            name=nic.name, address=NetAddress(self._node.number), hardware_version="nicbed",
            max_vis=self._kernel.records.max_vis, max_cqs=via.cqs,
            max_descriptors_per_queue=via.queue_depth,
            max_segments=MAX_SEGMENTS, max_cq_entries=MAX_CQ_ENTRIES,
            max_transfer_size=MAX_TRANSFER, max_register_bytes=via.translations * via.page_bytes,
            page_bytes=via.page_bytes, max_discriminator=MAX_DISCRIMINATOR,
            reliability=provider.levels, rdma_write=provider.rdma,
            rdma_read=provider.rdma and provider.rdma_read)

    async def error_callback(self, nic: Nic, context: Any,
                             handler: Callable[..., Any] | None) -> VIP_RETURN:
        if not self._caller.is_nic(nic) or handler is not None and not callable(handler):
            return VIP_RETURN.INVALID_PARAMETER
        self._port.spend(self._paths.query)
        nic.error_handler, nic.error_context = handler, context
        return VIP_RETURN.SUCCESS
