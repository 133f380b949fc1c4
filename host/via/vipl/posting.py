"""VipPostSend, VipPostRecv."""

from ....layouts.trace import Kind
from ..handles import WorkQueue
from ..returns import VIP_RETURN
from .caller import Caller

__all__ = ["Posting"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)


class Posting:
    """Posts descriptors to the NIC."""

    def __init__(self, caller: Caller) -> None:
        self._node = caller.node
        self._port = caller.port
        self._kernel = caller.kernel
        self._provider = caller.provider

    async def post(self, queue: WorkQueue, descriptor: int, handle: int,
                   activity: int) -> VIP_RETURN:
        """Post ``descriptor`` to ``queue``, marked as ``activity``."""
        if (descriptor.__class__ is not int or handle.__class__ is not int
                or descriptor >> 64 or handle >> 32):
            return VIP_RETURN.INVALID_PARAMETER
        trace = self._node.trace_number()
        port = self._port
        port.mark(activity, BEGIN, trace)
        result: VIP_RETURN = await self._provider.post(queue, descriptor, handle, trace)
        port.mark(activity, END, trace)
        await self._kernel.attend(posted=True)
        return result
