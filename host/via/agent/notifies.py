"""One completion out of a queue, and the handlers that asked to be called with one."""

from ....layouts.via import RemoteOperation, Status, ViState
from ...port.node import Node
from ..handles import Cq, CqEntry, Posted, Vi, WorkQueue
from ..process import Prices
from ..provider import Completed, Provider
from ..records import Records

__all__ = ["Completions", "Notifier"]

OPERATION = 16
"""Lowest bit of Status' operation field."""


class Completions:
    """Completions out of the queues that ``provider`` fills."""

    def __init__(self, node: Node, provider: Provider, records: Records) -> None:
        self._port = node.port
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._provider = provider
        self._vis = records.vis

    async def look(self, queue: WorkQueue) -> Completed | None:
        """What the head of ``queue`` completed with, if it has: one check."""
        completed = await self._provider.done(queue)
        if completed is None and queue.vi.lost:
            return await self.or_lost(queue, None)
        return completed

    async def or_lost(self, queue: WorkQueue, completed: Completed | None) -> Completed | None:
        """What a check of ``queue`` found. A descriptor that the NIC lost counts as flushed, once
        there is nothing under way any more."""
        vi = queue.vi
        if completed is None and vi.lost and vi.state is not ViState.CONNECTED:
            self._port.spend(self._paths.kernel)
            if await self._provider.drained(vi):
                completed = (await self._provider.done(queue)
                             or self._flush(queue, queue.entries[0]))
        return completed

    def _flush(self, queue: WorkQueue, posted: Posted) -> Completed:
        """Complete a descriptor of ``queue`` as the NIC could not."""
        operation = RemoteOperation.RECEIVE if queue.receive else RemoteOperation.SEND
        status = Status.DONE | Status.FLUSHED | operation << OPERATION
        self._memory.write(posted.status, (status << 32).to_bytes(8, "little"))
        return Completed(status, 0)

    async def flush_lost(self, vi: Vi) -> None:
        """The NIC has completed all that it will of ``vi``: what is not done is flushed."""
        await self._port.flush()
        for queue in (vi.send, vi.receive):
            for posted in queue.entries:
                status = self._memory.word(posted.status) >> 32
                if not status & Status.DONE:
                    self._flush(queue, posted)

    async def take(self, queue: WorkQueue) -> Posted:
        """The head of ``queue``, which is done, out of it."""
        await self._provider.take(queue)
        self._port.spend(self._paths.take)
        posted = queue.entries.popleft()
        queue.seen += posted.counted
        return posted

    async def entry(self, cq: Cq) -> tuple[Vi, bool] | None:
        """The oldest entry of ``cq`` out of it, if there is one: the VI, and whether it is its
        receive queue."""
        found = await self._provider.cq_done(cq)
        return None if found is None else await self.of_a_vi(cq, found)

    async def of_a_vi(self, cq: Cq, found: CqEntry | None) -> tuple[Vi, bool] | None:
        """The entry that a check of ``cq`` found, or the next: those of VIs that are no more are
        dropped."""
        while found is not None:
            vi = self._vis.get(found.vi)
            if vi is not None and (vi.receive if found.receive else vi.send).cq is cq:
                return vi, found.receive
            found = await self._provider.cq_done(cq)
        return None


class Notifier:
    """Calls the handlers of notifies, oldest first, each with one of ``completions``."""

    def __init__(self, node: Node, provider: Provider, completions: Completions) -> None:
        self._port = node.port
        self._paths = node.service(Prices)
        self._provider = provider
        self._completions = completions

    async def queue(self, queue: WorkQueue) -> None:
        """Serve the handlers of a work queue as far as there are completions; arm it for more."""
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
        """The same for a completion queue's."""
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
