"""VipCreatePtag, VipDestroyPtag; VipRegisterMem, VipDeregisterMem, VipQueryMem,
VipSetMemAttributes."""

from .attributes import MemAttributes
from .caller import Caller
from .handles import Nic, Ptag
from .regions import NoRoom, Region
from .returns import VIP_RETURN

__all__ = ["Registering"]


class Registering(Caller):
    """Protection tags and registered memory. Bounds are of bytes, not of pages."""

    async def VipCreatePtag(self, nic: Nic) -> tuple[VIP_RETURN, Ptag | None]:
        """A protection tag like no other."""
        if not self._is_nic(nic):
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._enter()
        tag = self.kernel.tag(nic)
        await self._leave()
        return (VIP_RETURN.ERROR_RESOURCE if tag is None else VIP_RETURN.SUCCESS), tag

    async def VipDestroyPtag(self, nic: Nic, tag: Ptag) -> VIP_RETURN:
        """ERROR_RESOURCE while VIs or regions have it."""
        if not self._is_nic(nic) or tag.__class__ is not Ptag:
            return VIP_RETURN.INVALID_PARAMETER
        if not self._is_tag(tag, nic):
            return VIP_RETURN.INVALID_PTAG
        await self._enter()
        if tag.users:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE)
        tag.valid = False
        return await self._leave()

    async def VipRegisterMem(self, nic: Nic, va: int, length: int,
                             attributes: MemAttributes) -> tuple[VIP_RETURN, int | None]:
        """Pin ``length`` bytes from ``va`` and let the NIC at them: a memory handle, never one that
        was there before. ERROR_RESOURCE: no room in the translation table, or (host-supplied
        physical addresses) a page would get a second tag."""
        if (not self._is_nic(nic) or not isinstance(va, int) or not isinstance(length, int)
                or length < 1 or not self._is_memory(attributes)
                or not self.process.mapped(va, length)):
            return VIP_RETURN.INVALID_PARAMETER, None
        refused = self._check(nic, attributes)
        if refused is not None:
            return refused, None
        await self._enter()
        try:
            region = await self.kernel.register(self.process, va, length, attributes)
        except NoRoom:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE), None
        return await self._leave(), region.handle

    async def VipDeregisterMem(self, nic: Nic, va: int, handle: int) -> VIP_RETURN:
        """Unpin the region that began at ``va``. When this returns, nothing reaches it by
        ``handle`` any more, and nothing ever will."""
        region = self._region(nic, va, handle)
        if region is None:
            return VIP_RETURN.INVALID_PARAMETER
        await self._enter()
        await self.kernel.deregister(region)
        return await self._leave()

    async def VipQueryMem(self, nic: Nic, va: int,
                          handle: int) -> tuple[VIP_RETURN, MemAttributes | None]:
        """The region's attributes."""
        region = self._region(nic, va, handle)
        if region is None:
            return VIP_RETURN.INVALID_PARAMETER, None
        self.port.spend(self.paths.query)
        return VIP_RETURN.SUCCESS, MemAttributes(region.ptag, region.rdma_write, region.rdma_read)

    async def VipSetMemAttributes(self, nic: Nic, va: int, handle: int,
                                  attributes: MemAttributes) -> VIP_RETURN:
        """Give the region other attributes; they hold when this returns."""
        region = self._region(nic, va, handle)
        if region is None or not self._is_memory(attributes):
            return VIP_RETURN.INVALID_PARAMETER
        refused = self._check(nic, attributes)
        if refused is not None:
            return refused
        await self._enter()
        before = region.ptag, region.rdma_write, region.rdma_read
        region.ptag, region.rdma_write, region.rdma_read = (
            attributes.ptag, attributes.rdma_write, attributes.rdma_read)
        try:
            await self.provider.change(region)
        except NoRoom:
            region.ptag, region.rdma_write, region.rdma_read = before
            return await self._leave(VIP_RETURN.ERROR_RESOURCE)
        before[0].users -= 1
        region.ptag.users += 1
        return await self._leave()

    def _check(self, nic: Nic, attributes: MemAttributes) -> VIP_RETURN | None:
        if not self._is_tag(attributes.ptag, nic):
            return VIP_RETURN.INVALID_PTAG
        if (attributes.rdma_write or attributes.rdma_read) and not self.provider.rdma:
            return VIP_RETURN.ERROR_NOT_SUPPORTED
        return None

    def _region(self, nic: Nic, va: int, handle: int) -> Region | None:
        if not self._is_nic(nic) or not isinstance(handle, int):
            return None
        region = self.kernel.regions.get(handle)
        if region is None or region.ptag.nic is not nic or region.va != va:
            return None
        return region
