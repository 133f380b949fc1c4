"""Kernel-trap design point: posts descriptors, and sends as much as may be sent at once."""

from collections.abc import Awaitable

from ....layouts.via import DESCRIPTOR_ALIGN, NEXT, STATUS_WORD, Event, ViState
from ...kernel.lock import kernel_lock
from ...port.suspension import NOTHING
from ..agent.memory_queues import MemoryQueues
from ..costs import Prices
from ..handles import Posted, WorkQueue
from .completing import Completing
from .ends import End
from .entering import Entering
from .memory import Refused
from .trap_context import TrapContext
from .turns import Turns

__all__ = ["TrapPosts"]


class TrapPosts:
    """See :class:`~nicbed.host.via.posts.Posts`."""

    entries = 0

    def __init__(self, context: TrapContext, queues: MemoryQueues, completing: Completing,
                 turns: Turns, entering: Entering) -> None:
        node = context.node
        self._port = context.port
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._prices = context.prices
        self._lock = kernel_lock(node)
        self._depth = node.description.via.queue_depth
        self._space = context.space
        self._queues = queues
        self._completing = completing
        self._turns = turns
        self._entering = entering

    async def post(self, queue: WorkQueue, va: int, handle: int, trace: int) -> None:
        port, entries = self._port, queue.entries
        port.spend(self._prices.post)
        async with self._lock.held():
            if entries:
                port.spend(self._paths.link)
                tail = entries[-1].status
                if tail not in self._queues.flushed:
                    self._memory.write(tail - STATUS_WORD, NEXT.pack(va, handle))
                    await port.touch(tail - STATUS_WORD, NEXT.size, store=True)
            status = self._status(queue, va)
            if status not in self._queues.flushed:
                self._memory.write(status + 4, bytes(4))
                await port.touch(status, 8, store=True)
            posted = Posted(va, handle, status, trace)
            entries.append(posted)
            queue.posted += 1
            end: End = queue.vi.private
            waiting = (end.receive if queue.receive else end.send).waiting
            if not self._readable(end, posted):
                await self._completing.lose(end, queue.receive, Event.POST_DESC)
            elif len(waiting) >= self._depth:
                await self._completing.lose(end, queue.receive, Event.VI_OVERRUN)
            else:
                waiting.append(posted)
                if end.state is ViState.ERROR or end.state is ViState.IDLE and not queue.receive:
                    await self._completing.flush(end, queue.receive)
                elif not queue.receive:
                    await self._turns.turn(end)
            await self._entering.tell()

    def _status(self, queue: WorkQueue, va: int) -> int:
        """Address of the status that the CPU reads for the descriptor at ``va``."""
        if va % DESCRIPTOR_ALIGN:
            return self._queues.flushed[queue.receive]
        try:
            return queue.vi.nic.process.physical(va) + STATUS_WORD
        except ValueError:
            return self._queues.flushed[queue.receive]

    def _readable(self, end: End, posted: Posted) -> bool:
        """Whether there can be a descriptor at this address."""
        try:
            return (not posted.va % DESCRIPTOR_ALIGN
                    and self._space.piece(posted.va, posted.handle, end.tag)[1] > STATUS_WORD + 7)
        except Refused:
            return False

    def take(self, queue: WorkQueue) -> Awaitable[None]:
        """The kernel has written the whole status."""
        return NOTHING
