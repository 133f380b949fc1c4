"""VipPostSend, VipPostRecv."""

from collections.abc import Awaitable

from ....layouts.trace import BEGIN, END
from ...port.suspension import NOTHING
from ..handles import WorkQueue
from ..returns import VIP_RETURN
from .caller import Caller

__all__ = ["Posting"]


class Posting:
    """Posts descriptors to the NIC."""

    def __init__(self, caller: Caller) -> None:
        self._numbers = caller.node.trace_numbers
        self._port = caller.port
        self._kernel = caller.kernel
        self._posts = caller.provider.posts

    def post(self, queue: WorkQueue, descriptor: int, handle: int) -> Awaitable[VIP_RETURN | None]:
        """Post ``descriptor`` to ``queue``. None: it is posted."""
        trace = next(self._numbers)
        port = self._port
        port.mark(queue.post, BEGIN, trace)
        posting = self._posts.post(queue, descriptor, handle, trace)
        if posting is not NOTHING:
            return self._post(posting, queue.post, trace)
        port.mark(queue.post, END, trace)
        return self._kernel.attend(posted=True)

    async def _post(self, posting: Awaitable[VIP_RETURN | None], activity: int, trace: int
                    ) -> VIP_RETURN | None:
        """The rest of a call that waits."""
        result = await posting
        self._port.mark(activity, END, trace)
        await self._kernel.attend(posted=True)
        return result
