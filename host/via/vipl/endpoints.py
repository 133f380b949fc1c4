"""VipCreateVi, VipDestroyVi, VipQueryVi, VipSetViAttributes."""

from typing import NamedTuple

from ....layouts.via import Reliability, ViState
from ..attributes import STATES, ViAttributes, VipState
from ..handles import Cq, Nic, Vi
from ..returns import VIP_RETURN
from .caller import Caller, kernel_call
from .opening import MAX_TRANSFER

__all__ = ["Endpoints", "ViStatus"]


class ViStatus(NamedTuple):
    """Result of VipQueryVi. A queue is empty when every posted descriptor has been handed back."""

    state: VipState
    attributes: ViAttributes
    send_empty: bool
    receive_empty: bool


class Endpoints:
    """VIs of a process."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._kernel = caller.kernel
        self._provider = caller.provider

    @kernel_call
    async def create(self, nic: Nic, attributes: ViAttributes, send_cq: Cq | None = None,
                     receive_cq: Cq | None = None) -> tuple[VIP_RETURN, Vi | None]:
        if (not self._caller.is_nic(nic) or not self._caller.is_attributes(attributes)
                or not all(cq is None or self._caller.is_cq(cq, nic)
                           for cq in (send_cq, receive_cq))):
            return VIP_RETURN.INVALID_PARAMETER, None
        refused = self._refused(nic, attributes)
        if refused is not None:
            return refused, None
        await self._caller.enter()
        kernel = self._kernel
        if not kernel.records.free_vis:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE), None
        vi = Vi(nic, kernel.records.free_vis.popleft(), attributes, send_cq, receive_cq)
        kernel.vis[vi.number] = vi
        attributes.ptag.users += 1
        for cq in (send_cq, receive_cq):
            if cq is not None:
                cq.users += 1
        await self._provider.create_vi(vi)
        return await self._caller.leave(), vi

    @kernel_call
    async def destroy(self, vi: Vi) -> VIP_RETURN:
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        await self._caller.enter()
        if vi.state is not ViState.IDLE or vi.pending:
            return await self._caller.leave(VIP_RETURN.INVALID_STATE)
        if vi.send.entries or vi.receive.entries:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE)
        await self._provider.destroy_vi(vi)
        vi.open = False
        vi.attributes.ptag.users -= 1
        for cq in (vi.send.cq, vi.receive.cq):
            if cq is not None:
                cq.users -= 1
        del self._kernel.vis[vi.number]
        self._kernel.records.free_vis.append(vi.number)
        return await self._caller.leave()

    @kernel_call
    async def query(self, vi: Vi) -> tuple[VIP_RETURN, ViStatus | None]:
        if not self._caller.is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._caller.enter()
        await self._caller.leave()
        state = VipState.CONNECT_PENDING if vi.pending else STATES[vi.state]
        return VIP_RETURN.SUCCESS, ViStatus(state, vi.attributes, not vi.send.entries,
                                            not vi.receive.entries)

    @kernel_call
    async def set_attributes(self, vi: Vi, attributes: ViAttributes) -> VIP_RETURN:
        if not self._caller.is_vi(vi) or not self._caller.is_attributes(attributes):
            return VIP_RETURN.INVALID_PARAMETER
        refused = self._refused(vi.nic, attributes)
        if refused is not None:
            return refused
        await self._caller.enter()
        if vi.state is not ViState.IDLE or vi.pending:
            return await self._caller.leave(VIP_RETURN.INVALID_STATE)
        vi.attributes.ptag.users -= 1
        attributes.ptag.users += 1
        vi.attributes = attributes
        await self._provider.change_vi(vi)
        return await self._caller.leave()

    def _refused(self, nic: Nic, attributes: ViAttributes) -> VIP_RETURN | None:
        """Why a VI cannot have these attributes, as a VIP_RETURN; None if it can."""
        if not self._caller.is_tag(attributes.ptag, nic):
            return VIP_RETURN.INVALID_PTAG
        if not isinstance(attributes.reliability, Reliability):
            return VIP_RETURN.INVALID_RELIABILITY_LEVEL
        if not isinstance(attributes.max_transfer, int) or not (
                0 < attributes.max_transfer <= MAX_TRANSFER):
            return VIP_RETURN.INVALID_MTU
        if not isinstance(attributes.qos, int) or not 0 <= attributes.qos < 256:
            return VIP_RETURN.INVALID_QOS
        if attributes.rdma_read and attributes.reliability is Reliability.UNRELIABLE_DELIVERY:
            return VIP_RETURN.INVALID_RDMAREAD
        provider = self._provider
        if (attributes.reliability not in provider.levels
                or (attributes.rdma_read or attributes.rdma_write) and not provider.rdma
                or attributes.rdma_read and not provider.rdma_read):
            return VIP_RETURN.ERROR_NOT_SUPPORTED
        return None
