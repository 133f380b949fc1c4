"""VipCreatePtag, VipDestroyPtag; VipRegisterMem, VipDeregisterMem, VipQueryMem,
VipSetMemAttributes."""

from ..attributes import MemAttributes
from ..handles import Nic, Ptag
from ..regions import NoRoom, Region
from ..returns import VIP_RETURN
from .caller import Caller, kernel_call

__all__ = ["Registering"]


class Registering:
    """Protection tags and registered memory. Bounds are exact to the byte."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._process = caller.process
        self._port = caller.port
        self._paths = caller.paths
        self._kernel = caller.kernel
        self._provider = caller.provider

    @kernel_call
    async def create_tag(self, nic: Nic) -> tuple[VIP_RETURN, Ptag | None]:
        if not self._caller.is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._caller.enter()
        tag = self._kernel.tag(nic)
        await self._caller.leave()
        return (VIP_RETURN.ERROR_RESOURCE if tag is None else VIP_RETURN.SUCCESS), tag

    @kernel_call
    async def destroy_tag(self, nic: Nic, tag: Ptag) -> VIP_RETURN:
        if not self._caller.is_nic(nic) or tag.__class__ is not Ptag:
            return VIP_RETURN.INVALID_PARAMETER
        if not self._caller.is_tag(tag, nic):
            return VIP_RETURN.INVALID_PTAG
        await self._caller.enter()
        if tag.users:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE)
        tag.valid = False
        return await self._caller.leave()

    @kernel_call
    async def register(self, nic: Nic, va: int, length: int,
                       attributes: MemAttributes) -> tuple[VIP_RETURN, int | None]:
        if (not self._caller.is_nic(nic) or not isinstance(va, int) or not isinstance(length, int)
                or length < 1 or not self._caller.is_memory(attributes)
                or not self._process.mapped(va, length)):
            return VIP_RETURN.INVALID_PARAMETER, None
        refused = self._check(nic, attributes)
        if refused is not None:
            return refused, None
        await self._caller.enter()
        try:
            region = await self._kernel.register(self._process, va, length, attributes)
        except NoRoom:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE), None
        return await self._caller.leave(), region.handle

    @kernel_call
    async def deregister(self, nic: Nic, va: int, handle: int) -> VIP_RETURN:
        region = self._region(nic, va, handle)
        if region is None:
            return VIP_RETURN.INVALID_PARAMETER
        await self._caller.enter()
        await self._kernel.deregister(region)
        return await self._caller.leave()

    async def query(self, nic: Nic, va: int,
                    handle: int) -> tuple[VIP_RETURN, MemAttributes | None]:
        region = self._region(nic, va, handle)
        if region is None:
            return VIP_RETURN.INVALID_PARAMETER, None
        self._port.spend(self._paths.query)
        return VIP_RETURN.SUCCESS, MemAttributes(region.ptag, region.rdma_write, region.rdma_read)

    @kernel_call
    async def set_attributes(self, nic: Nic, va: int, handle: int,
                             attributes: MemAttributes) -> VIP_RETURN:
        region = self._region(nic, va, handle)
        if region is None or not self._caller.is_memory(attributes):
            return VIP_RETURN.INVALID_PARAMETER
        refused = self._check(nic, attributes)
        if refused is not None:
            return refused
        await self._caller.enter()
        before = region.ptag, region.rdma_write, region.rdma_read
        region.ptag, region.rdma_write, region.rdma_read = (
            attributes.ptag, attributes.rdma_write, attributes.rdma_read)
        try:
            await self._provider.change(region)
        except NoRoom:
            region.ptag, region.rdma_write, region.rdma_read = before
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE)
        before[0].users -= 1
        region.ptag.users += 1
        return await self._caller.leave()

    def _check(self, nic: Nic, attributes: MemAttributes) -> VIP_RETURN | None:
        if not self._caller.is_tag(attributes.ptag, nic):
            return VIP_RETURN.INVALID_PTAG
        if (attributes.rdma_write or attributes.rdma_read) and not self._provider.rdma:
            return VIP_RETURN.ERROR_NOT_SUPPORTED
        return None

    def _region(self, nic: Nic, va: int, handle: int) -> Region | None:
        if not self._caller.is_nic(nic) or not isinstance(handle, int):
            return None
        region = self._kernel.regions.get(handle)
        if region is None or region.ptag.nic is not nic or region.va != va:
            return None
        return region
