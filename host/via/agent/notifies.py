"""Takes completions out of queues, and calls the handlers of notifies with them."""

from ....layouts.via import RemoteOperation, Status, ViState
from ...kernel.lock import kernel_lock
from ...port.node import Node
from ..costs import Prices
from ..handles import Cq, CqEntry, Posted, Vi, WorkQueue
from ..provider import Provider
from ..records import Records

__all__ = ["Completions", "Notifier"]

OPERATION = 16
"""Lowest bit of Status' operation field."""


class Completions:
    """Takes completions out of the queues that ``provider`` fills."""

    def __init__(self, node: Node, provider: Provider, records: Records) -> None:
        self._port = node.port
        self._lock = kernel_lock(node)
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._provider = provider
        self._posts = provider.posts
        self._queues = provider.queues
        self._vis = records.vis

    async def look(self, queue: WorkQueue) -> int | None:
        """The Status of the head of ``queue`` if it has completed, or None: one check."""
        await self._queues.check(queue)
        completed = self._queues.found()
        if completed is None and queue.vi.lost:
            return await self.or_lost(queue, None)
        return completed

    async def or_lost(self, queue: WorkQueue, completed: int | None) -> int | None:
        """The result of a check of ``queue``. A descriptor that the NIC lost counts as flushed when
        no other one is under way."""
        vi = queue.vi
        if completed is None and vi.lost and vi.state is not ViState.CONNECTED:
            self._port.spend(self._paths.kernel)
            async with self._lock.held():
                if await self._provider.drained(vi):
                    await self._queues.check(queue)
                    completed = self._queues.found() or self._flush(queue, queue.entries[0])
        return completed

    def _flush(self, queue: WorkQueue, posted: Posted) -> int:
        """Complete a descriptor of ``queue`` for which the NIC could not do it."""
        operation = RemoteOperation.RECEIVE if queue.receive else RemoteOperation.SEND
        status = Status.DONE | Status.FLUSHED | operation << OPERATION
        self._memory.write(posted.status, (status << 32).to_bytes(8, "little"))
        return status

    async def flush_lost(self, vi: Vi) -> None:
        """The NIC will complete no more descriptors of ``vi``: flush those that are not done."""
        await self._port.flush()
        for queue in (vi.send, vi.receive):
            for posted in queue.entries:
                status = self._memory.word(posted.status) >> 32
                if not status & Status.DONE:
                    self._flush(queue, posted)

    async def take(self, queue: WorkQueue) -> Posted:
        """Take the head of ``queue``, which is done, out of the queue."""
        await self._posts.take(queue)
        return self.taken(queue)

    def taken(self, queue: WorkQueue) -> Posted:
        """The head of ``queue``, which the provider has taken, out of the queue."""
        self._port.spend(self._paths.take)
        posted = queue.entries.popleft()
        queue.seen += posted.counted
        return posted

    async def entry(self, cq: Cq) -> tuple[Vi, bool] | None:
        """Take the oldest entry of ``cq``, if there is one: the VI, and whether the entry is of its
        receive queue."""
        await self._queues.cq_check(cq)
        found = self._queues.cq_found(cq)
        while found is not None:
            one = self.of_a_vi(cq, found)
            if one is not None:
                return one
            await self._queues.cq_check(cq)
            found = self._queues.cq_found(cq)
        return None

    def of_a_vi(self, cq: Cq, found: CqEntry) -> tuple[Vi, bool] | None:
        """The VI of an entry that a check of ``cq`` found, and whether it is of its receive queue;
        None if the VI has been destroyed."""
        number, receive = found
        vi = self._vis.get(number)
        if vi is not None and (vi.receive if receive else vi.send).cq is cq:
            return vi, receive
        return None


class Notifier:
    """Calls the handlers of notifies, oldest first, each with one completion of ``completions``."""

    def __init__(self, node: Node, provider: Provider, completions: Completions) -> None:
        self._port = node.port
        self._paths = node.service(Prices)
        self._provider = provider
        self._completions = completions

    async def queue(self, queue: WorkQueue) -> None:
        """Call the handlers of a work queue for the completions that it has; arm it for the
        others."""
        completions, vi = self._completions, queue.vi
        while queue.handlers and vi.open:
            completed = await completions.look(queue) if queue.entries else None
            if completed is None:
                await self._provider.arm(queue)
                return
            posted = await completions.take(queue)
            handler, context = queue.handlers.popleft()
            self._port.spend(self._paths.handler)
            result = handler(context, vi.nic, vi, posted.va)
            if hasattr(result, "__await__"):
                await result

    async def cq(self, cq: Cq) -> None:
        """The same for the handlers of a completion queue."""
        while cq.handlers and cq.open:
            found = await self._completions.entry(cq)
            if found is None:
                await self._provider.cq_arm(cq)
                return
            vi, receive = found
            handler, context = cq.handlers.popleft()
            self._port.spend(self._paths.handler)
            result = handler(context, cq.nic, vi, receive)
            if hasattr(result, "__await__"):
                await result
