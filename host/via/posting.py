"""VipPostSend, VipPostRecv."""

from ...layouts.trace import Activity, Kind
from .caller import Caller
from .handles import Vi, WorkQueue
from .returns import VIP_RETURN

__all__ = ["Posting"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
POST_SEND, POST_RECEIVE = int(Activity.POST_SEND), int(Activity.POST_RECEIVE)


class Posting(Caller):
    """Descriptors to the NIC. Neither call waits for anything but room for the doorbell.

    What is wrong with a descriptor, its completion says. One that the NIC cannot read at all (bad
    address or handle, misaligned) is the asynchronous error POST_DESC."""

    async def VipPostSend(self, vi: Vi, descriptor: int, handle: int) -> VIP_RETURN:
        """Post the send, RDMA write or RDMA read descriptor at address ``descriptor``, in memory
        registered as ``handle``."""
        if not self._is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        return await self._post(vi.send, descriptor, handle, POST_SEND)

    async def VipPostRecv(self, vi: Vi, descriptor: int, handle: int) -> VIP_RETURN:
        """Post a receive descriptor."""
        if not self._is_vi(vi):
            return VIP_RETURN.INVALID_PARAMETER
        return await self._post(vi.receive, descriptor, handle, POST_RECEIVE)

    async def _post(self, queue: WorkQueue, descriptor: int, handle: int,
                    activity: int) -> VIP_RETURN:
        if (descriptor.__class__ is not int or handle.__class__ is not int
                or descriptor >> 64 or handle >> 32):
            return VIP_RETURN.INVALID_PARAMETER
        trace = self.node.trace_number()
        port = self.port
        port.mark(activity, BEGIN, trace)
        result: VIP_RETURN = await self.provider.post(queue, descriptor, handle, trace)
        port.mark(activity, END, trace)
        await self.kernel.attend()
        return result
