"""One completion out of a queue, and the handlers that asked to be called with one."""

from typing import TYPE_CHECKING

from ...layouts.via import RemoteOperation, Status, ViState
from .handles import Cq, Posted, Vi, WorkQueue
from .provider import Completed

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["Notifier", "look", "take"]

OPERATION = 16
"""Lowest bit of Status' operation field."""


async def look(kernel: "Kernel", queue: WorkQueue, spin: int = 0) -> Completed | None:
    """What the head of ``queue`` completed with, if it has: one check, or ``spin`` cycles of them.
    A descriptor that the NIC lost counts as flushed, once there is nothing under way any more."""
    provider = kernel.provider
    if spin:
        end = kernel.port.cycle + spin
        completed = await provider.spin(queue, kernel.until(end))
        while completed is None and kernel.port.cycle < end:
            await kernel.attend()
            if not queue.entries:
                return None
            completed = await provider.spin(queue, kernel.until(end))
    else:
        completed = await provider.done(queue)
    vi = queue.vi
    if completed is None and vi.lost and vi.state is not ViState.CONNECTED:
        kernel.port.spend(kernel.paths.kernel)
        if await provider.drained(vi):
            completed = await provider.done(queue) or flush(kernel, queue, queue.entries[0])
    return completed


def flush(kernel: "Kernel", queue: WorkQueue, posted: Posted) -> Completed:
    """Complete a descriptor of ``queue`` as the NIC could not."""
    operation = RemoteOperation.RECEIVE if queue.receive else RemoteOperation.SEND
    status = Status.DONE | Status.FLUSHED | operation << OPERATION
    kernel.memory.write(posted.status, (status << 32).to_bytes(8, "little"))
    return Completed(status, 0)


async def take(kernel: "Kernel", queue: WorkQueue) -> Posted:
    """The head of ``queue``, which is done, out of it."""
    await kernel.provider.take(queue)
    kernel.port.spend(kernel.paths.take)
    posted = queue.entries.popleft()
    queue.seen += posted.counted
    return posted


class Notifier:
    """Calls the handlers of notifies, oldest first, each with one completion."""

    def __init__(self, kernel: "Kernel") -> None:
        self.kernel = kernel

    async def queue(self, queue: WorkQueue) -> None:
        """Serve the handlers of a work queue as far as there are completions; arm it for more."""
        kernel, vi = self.kernel, queue.vi
        while queue.handlers and vi.open:
            completed = await look(kernel, queue) if queue.entries else None
            if completed is None:
                await kernel.provider.arm(queue)
                return
            posted = await take(kernel, queue)
            handler, context = queue.handlers.popleft()
            kernel.port.spend(kernel.paths.handler)
            result = handler(context, vi.nic, vi, posted.va)
            if hasattr(result, "__await__"):
                await result

    async def flush_lost(self, vi: Vi) -> None:
        """The NIC has completed all that it will of ``vi``: what is not done is flushed."""
        await self.kernel.port.flush()
        for queue in (vi.send, vi.receive):
            for posted in queue.entries:
                status = self.kernel.memory.word(posted.status) >> 32
                if not status & Status.DONE:
                    flush(self.kernel, queue, posted)

    async def cq(self, cq: Cq) -> None:
        """The same for a completion queue's."""
        kernel = self.kernel
        while cq.handlers and cq.open:
            found = await entry(kernel, cq)
            if found is None:
                await kernel.provider.cq_arm(cq)
                return
            vi, receive = found
            handler, context = cq.handlers.popleft()
            kernel.port.spend(kernel.paths.handler)
            result = handler(context, cq.nic, vi, receive)
            if hasattr(result, "__await__"):
                await result


async def entry(kernel: "Kernel", cq: Cq, spin: int = 0) -> tuple[Vi, bool] | None:
    """The oldest entry of ``cq`` out of it, if there is one: the VI, and whether it is its receive
    queue. Entries of VIs that are no more are dropped."""
    provider = kernel.provider
    if spin:
        end = kernel.port.cycle + spin
        found = await provider.cq_spin(cq, kernel.until(end))
        while found is None and kernel.port.cycle < end:
            await kernel.attend()
            found = await provider.cq_spin(cq, kernel.until(end))
    else:
        found = await provider.cq_done(cq)
    while found is not None:
        vi = kernel.vis.get(found.vi)
        if vi is not None and (vi.receive if found.receive else vi.send).cq is cq:
            return vi, found.receive
        found = await provider.cq_done(cq)
    return None
