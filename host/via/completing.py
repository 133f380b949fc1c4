"""VipSendDone, VipRecvDone, VipSendWait, VipRecvWait, VipSendNotify, VipRecvNotify."""

from collections.abc import Callable
from typing import Any

from ...layouts.trace import Activity, Kind
from ...layouts.via import Status
from .caller import Caller
from .handles import Vi, WorkQueue
from .notifies import look, take
from .provider import Completed
from .returns import VIP_RETURN

__all__ = ["Completing"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
EMPTY_CHECK, SEND_COMPLETE = int(Activity.EMPTY_CHECK), int(Activity.SEND_COMPLETE)
RECEIVE_COMPLETE = int(Activity.RECEIVE_COMPLETE)
ERRORS = int(Status.ERRORS)
SUCCESS, NOT_DONE = VIP_RETURN.SUCCESS, VIP_RETURN.NOT_DONE
DESCRIPTOR_ERROR, TIMEOUT = VIP_RETURN.DESCRIPTOR_ERROR, VIP_RETURN.TIMEOUT
INVALID_PARAMETER = VIP_RETURN.INVALID_PARAMETER

Done = tuple[VIP_RETURN, int | None]


class Completing(Caller):
    """Descriptors back from the NIC: the address of the oldest that is done.

    DESCRIPTOR_ERROR comes with a descriptor that completed with an error, and with None if nothing
    is posted. A queue bound to a completion queue can neither be waited for nor give notice:
    INVALID_PARAMETER.
    """

    async def VipSendDone(self, vi: Vi) -> Done:
        """The oldest send, if it is done, else NOT_DONE."""
        if not self._is_vi(vi):
            return INVALID_PARAMETER, None
        return await self._done(vi.send, SEND_COMPLETE)

    async def VipRecvDone(self, vi: Vi) -> Done:
        """The oldest receive, if it is done, else NOT_DONE."""
        if not self._is_vi(vi):
            return INVALID_PARAMETER, None
        return await self._done(vi.receive, RECEIVE_COMPLETE)

    async def VipSendWait(self, vi: Vi, timeout: float | None) -> Done:
        """The oldest send when it is done; TIMEOUT after ``timeout`` milliseconds."""
        if not self._is_vi(vi):
            return INVALID_PARAMETER, None
        return await self._wait(vi.send, timeout, SEND_COMPLETE)

    async def VipRecvWait(self, vi: Vi, timeout: float | None) -> Done:
        """The oldest receive when it is done. Spins for ``via.spin`` cycles, then arms the queue
        and gives up the CPU until the interrupt."""
        if not self._is_vi(vi):
            return INVALID_PARAMETER, None
        return await self._wait(vi.receive, timeout, RECEIVE_COMPLETE)

    async def VipSendNotify(self, vi: Vi, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        """Have ``handler(context, nic, vi, descriptor)`` called, once, with the next send that is
        done and not handed out: at once, if there is one. Handlers queue."""
        if not self._is_vi(vi):
            return INVALID_PARAMETER
        return await self._notify(vi.send, context, handler)

    async def VipRecvNotify(self, vi: Vi, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        """The same for receives."""
        if not self._is_vi(vi):
            return INVALID_PARAMETER
        return await self._notify(vi.receive, context, handler)

    async def _done(self, queue: WorkQueue, activity: int) -> Done:
        port = self.port
        begin = port.mark(EMPTY_CHECK, BEGIN, 0)
        port.spend(self.paths.check)
        completed = None
        if queue.entries:
            completed = await look(self.kernel, queue)
        else:
            await self._pass()
        if completed is None:
            result = (NOT_DONE if queue.entries else DESCRIPTOR_ERROR), None
            port.mark(EMPTY_CHECK, END, 0)
        else:
            result = await self._take(queue, completed, activity, begin)
        await self.kernel.attend()
        return result

    async def _take(self, queue: WorkQueue, completed: Completed, activity: int,
                    begin: list[int]) -> Done:
        posted = await take(self.kernel, queue)
        begin[1], begin[3] = activity, posted.trace
        self.port.mark(activity, END, posted.trace)
        return (DESCRIPTOR_ERROR if completed.status & ERRORS else SUCCESS), posted.va

    async def _wait(self, queue: WorkQueue, timeout: float | None, activity: int) -> Done:
        if not self._is_time(timeout) or queue.cq is not None:
            return INVALID_PARAMETER, None
        kernel, port = self.kernel, self.port
        if not queue.entries:
            port.spend(self.paths.wait)
            await self._pass()
            await kernel.attend()
            return DESCRIPTOR_ERROR, None
        deadline = self._deadline(timeout)
        begin = port.mark(EMPTY_CHECK, BEGIN, 0)
        port.spend(self.paths.wait)
        spin = self._spin
        if spin and deadline is not None:
            spin = min(spin, deadline - port.cycle)
        completed = await look(kernel, queue, spin)
        if spin and completed is not None:
            begin = port.mark_check(EMPTY_CHECK, activity)
        while completed is None and queue.entries:
            if deadline is not None and port.cycle >= deadline:
                port.mark(EMPTY_CHECK, END, 0)
                await kernel.attend()
                return TIMEOUT, None
            await self.provider.arm(queue)
            port.mark(EMPTY_CHECK, END, 0)
            await kernel.doze(deadline)
            begin = port.mark(EMPTY_CHECK, BEGIN, 0)
            completed = await look(kernel, queue) if queue.entries else None
        if completed is None:
            # A handler has taken what was waited for.
            port.mark(EMPTY_CHECK, END, 0)
            result: Done = DESCRIPTOR_ERROR, None
        else:
            result = await self._take(queue, completed, activity, begin)
        await kernel.attend()
        return result

    async def _notify(self, queue: WorkQueue, context: Any,
                      handler: Callable[..., Any]) -> VIP_RETURN:
        if not callable(handler) or queue.cq is not None:
            return INVALID_PARAMETER
        self.port.spend(self.paths.notify)
        queue.handlers.append((handler, context))
        self.kernel.later(self.kernel.notifier.queue, queue)
        await self.kernel.attend()
        return SUCCESS
