"""VipSendDone, VipRecvDone, VipSendWait, VipRecvWait, VipSendNotify, VipRecvNotify."""

from collections.abc import Awaitable, Callable
from typing import Any

from ....layouts.trace import BEGIN, END, Activity
from ....layouts.via import Status
from ..handles import WorkQueue
from ..returns import VIP_RETURN
from .caller import Caller

__all__ = ["Completing"]

EMPTY_CHECK = int(Activity.EMPTY_CHECK)
ERRORS = int(Status.ERRORS)
SUCCESS, NOT_DONE = VIP_RETURN.SUCCESS, VIP_RETURN.NOT_DONE
DESCRIPTOR_ERROR, TIMEOUT = VIP_RETURN.DESCRIPTOR_ERROR, VIP_RETURN.TIMEOUT
INVALID_PARAMETER = VIP_RETURN.INVALID_PARAMETER

Done = tuple[VIP_RETURN, int | None]


class Completing:
    """Takes completed descriptors out of a work queue."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._port = caller.port
        self._paths = caller.paths
        self._kernel = caller.kernel
        self._completions = caller.kernel.completions
        self._provider = caller.provider
        self._posts = caller.provider.posts
        self._queues = caller.provider.queues

    async def done(self, queue: WorkQueue) -> Done:
        """The oldest descriptor of ``queue``, if it is done."""
        begin = self._port.begin(EMPTY_CHECK, 0, self._paths.check)
        await self.check(queue)
        found = self.checked(queue, begin) or await self.check_on(queue, begin)
        await self._kernel.attend(found[1] is not None)
        return found

    # The parts of done() behind the mark of an EMPTY_CHECK, for :meth:`.Vipl.next`.

    def check(self, queue: WorkQueue) -> Awaitable[None]:
        """Check ``queue``: must be awaited at once."""
        return self._queues.check(queue) if queue.entries else self._caller.spend()

    def checked(self, queue: WorkQueue, begin: list[int]) -> Done | None:
        """Returns what the check has found; None if that takes more (:meth:`check_on`). The call
        ends with :meth:`.Kernel.attend`."""
        entries = queue.entries
        if not entries:
            self._port.mark(EMPTY_CHECK, END, 0)
            return DESCRIPTOR_ERROR, None
        completed = self._queues.found()
        if completed is None:
            if queue.vi.lost:
                return None
            self._port.mark(EMPTY_CHECK, END, 0)
            return NOT_DONE, None
        return self._taken(queue, completed, begin) if entries[0].shadow is None else None

    async def check_on(self, queue: WorkQueue, begin: list[int]) -> Done:
        """The rest of a check that takes more: of a descriptor that may be lost, or that has a
        shadow."""
        completed = self._queues.found()
        if completed is None:
            completed = await self._completions.or_lost(queue, None)
        if completed is None:
            self._port.mark(EMPTY_CHECK, END, 0)
            return NOT_DONE if queue.entries else DESCRIPTOR_ERROR, None
        if queue.entries[0].shadow is not None:
            await self._posts.take(queue)
        return self._taken(queue, completed, begin)

    def _taken(self, queue: WorkQueue, completed: int, begin: list[int]) -> Done:
        posted = self._completions.taken(queue)
        self._port.finish(begin, queue.complete, posted.trace)
        return (DESCRIPTOR_ERROR if completed & ERRORS else SUCCESS), posted.va

    async def wait(self, queue: WorkQueue, timeout: float | None) -> Done:
        """Wait until the oldest descriptor of ``queue`` is done."""
        if not (timeout is None or self._caller.is_time(timeout)) or queue.cq is not None:
            return INVALID_PARAMETER, None
        kernel, port, queues = self._kernel, self._port, self._queues
        if not queue.entries:
            port.spend(self._paths.wait)
            await self._caller.spend()
            await kernel.attend()
            return DESCRIPTOR_ERROR, None
        deadline = None if timeout is None else self._caller.deadline(timeout)
        begin = self._port.begin(EMPTY_CHECK, 0, self._paths.wait)
        spin = self._caller.spin
        if spin and deadline is not None:
            spin = min(spin, deadline - port.cycle)
        if spin:
            end = port.cycle + spin
            await queues.check(queue, kernel.until(end))
            completed = queues.found()
            while completed is None and port.cycle < end:
                await kernel.attend()
                if not queue.entries:
                    break
                await queues.check(queue, kernel.until(end))
                completed = queues.found()
            else:
                if completed is None:
                    completed = await self._completions.or_lost(queue, None)
            if completed is not None:
                begin = port.mark_check(EMPTY_CHECK, queue.complete)
        else:
            completed = await self._completions.look(queue)
        while completed is None and queue.entries:
            if deadline is not None and port.cycle >= deadline:
                port.mark(EMPTY_CHECK, END, 0)
                await kernel.attend()
                return TIMEOUT, None
            async with kernel.lock.held():
                await self._provider.arm(queue)
                port.mark(EMPTY_CHECK, END, 0)
                await kernel.doze(deadline)
            begin = port.mark(EMPTY_CHECK, BEGIN, 0)
            completed = await self._completions.look(queue) if queue.entries else None
        if completed is None:
            # A handler has taken the completion that this call waited for.
            port.mark(EMPTY_CHECK, END, 0)
            result: Done = DESCRIPTOR_ERROR, None
        else:
            if queue.entries[0].shadow is not None:
                await self._posts.take(queue)
            result = self._taken(queue, completed, begin)
        await kernel.attend(completed is not None)
        return result

    async def notify(self, queue: WorkQueue, context: Any,
                     handler: Callable[..., Any]) -> VIP_RETURN:
        """Call ``handler`` with the next descriptor that is done."""
        if not callable(handler) or queue.cq is not None:
            return INVALID_PARAMETER
        self._port.spend(self._paths.notify)
        queue.handlers.append((handler, context))
        self._kernel.later(self._kernel.notifier.queue, queue)
        await self._kernel.attend()
        return SUCCESS
