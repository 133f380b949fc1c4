"""VipCreateCQ, VipDestroyCQ, VipResizeCQ, VipCQDone, VipCQWait, VipCQNotify."""

from collections.abc import Callable
from typing import Any

from ...layouts.trace import Activity, Kind
from .attributes import MemAttributes
from .caller import Caller
from .handles import Cq, Nic, Ptag, Ring, Vi
from .notifies import entry
from .opening import MAX_CQ_ENTRIES
from .regions import NoRoom
from .returns import VIP_RETURN

__all__ = ["CompletionQueues"]

BEGIN, END = int(Kind.BEGIN), int(Kind.END)
EMPTY_CHECK, SEND_COMPLETE = int(Activity.EMPTY_CHECK), int(Activity.SEND_COMPLETE)
RECEIVE_COMPLETE = int(Activity.RECEIVE_COMPLETE)

Found = tuple[VIP_RETURN, Vi | None, bool | None]
"""The VI, and whether it is its receive queue that has a completion."""


class CompletionQueues(Caller):
    """Completions of many work queues in one.

    The ring has more entries than were asked for, so the NIC need not be told of each that was
    taken: only a consumer that leaves more than it asked for untaken makes it full (VI_OVERRUN).
    """

    async def VipCreateCQ(self, nic: Nic, entries: int) -> tuple[VIP_RETURN, Cq | None]:
        """A completion queue for ``entries`` completions. ERROR_RESOURCE: there are ``via.cqs``
        already, or no room for it."""
        if not self._is_nic(nic) or not self._is_size(entries):
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._enter()
        kernel = self.kernel
        if not kernel.free_cqs:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE), None
        tag = kernel.tag(nic)
        ring = await self._ring(nic, entries, tag) if tag is not None else None
        if ring is None:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE), None
        cq = Cq(nic, kernel.free_cqs.popleft(), entries, ring)
        kernel.cqs[cq.number] = cq
        await self.provider.create_cq(cq)
        return await self._leave(), cq

    async def VipDestroyCQ(self, cq: Cq) -> VIP_RETURN:
        """ERROR_RESOURCE while work queues are bound to it."""
        if not self._is_cq(cq):
            return VIP_RETURN.INVALID_PARAMETER
        await self._enter()
        if cq.users:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE)
        await self.provider.destroy_cq(cq)
        cq.open = False
        for ring in (cq.ring, cq.old):
            if ring is not None:
                await self.kernel.deregister(ring.region)
        del self.kernel.cqs[cq.number]
        self.kernel.free_cqs.append(cq.number)
        return await self._leave()

    async def VipResizeCQ(self, cq: Cq, entries: int) -> VIP_RETURN:
        """Change the queue's size to ``entries`` completions. Those in it are kept."""
        if not self._is_cq(cq) or not self._is_size(entries):
            return VIP_RETURN.INVALID_PARAMETER
        await self._enter()
        ring = await self._ring(cq.nic, entries, cq.ring.region.ptag)
        if ring is None:
            return await self._leave(VIP_RETURN.ERROR_RESOURCE)
        if cq.old is not None:
            self.provider.empty(cq, cq.old)
        old, cq.old, cq.ring, cq.entries = cq.old, cq.ring, ring, entries
        await self.provider.create_cq(cq)
        self.provider.empty(cq, cq.old)
        if old is not None:
            await self.kernel.deregister(old.region)
        if cq.handlers:
            self.kernel.later(self.kernel.notifier.cq, cq)
        return await self._leave()

    async def VipCQDone(self, cq: Cq) -> Found:
        """The oldest completion, if there is one, else NOT_DONE. VipSendDone or VipRecvDone then
        gives its descriptor."""
        if not self._is_cq(cq):
            return VIP_RETURN.INVALID_PARAMETER, None, None
        port = self.port
        begin = port.mark(EMPTY_CHECK, BEGIN, 0)
        port.spend(self.paths.cq_check)
        result = self._found(await entry(self.kernel, cq), begin)
        await self.kernel.attend()
        return result

    async def VipCQWait(self, cq: Cq, timeout: float | None) -> Found:
        """The oldest completion when there is one; TIMEOUT after ``timeout`` milliseconds. Spins,
        then gives up the CPU, as VipRecvWait does."""
        if not self._is_cq(cq) or not self._is_time(timeout):
            return VIP_RETURN.INVALID_PARAMETER, None, None
        kernel, port = self.kernel, self.port
        deadline = self._deadline(timeout)
        begin = port.mark(EMPTY_CHECK, BEGIN, 0)
        port.spend(self.paths.wait)
        spin = self._spin
        if spin and deadline is not None:
            spin = min(spin, deadline - port.cycle)
        found = await entry(kernel, cq, spin)
        if spin and found is not None:
            begin = port.mark_check(EMPTY_CHECK, RECEIVE_COMPLETE if found[1] else SEND_COMPLETE)
        while found is None:
            if deadline is not None and port.cycle >= deadline:
                port.mark(EMPTY_CHECK, END, 0)
                await kernel.attend()
                return VIP_RETURN.TIMEOUT, None, None
            await self.provider.cq_arm(cq)
            port.mark(EMPTY_CHECK, END, 0)
            await kernel.doze(deadline)
            begin = port.mark(EMPTY_CHECK, BEGIN, 0)
            found = await entry(kernel, cq)
        result = self._found(found, begin)
        await kernel.attend()
        return result

    async def VipCQNotify(self, cq: Cq, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        """Have ``handler(context, nic, vi, receive)`` called, once, with an entry: one that is
        there, else the next. Handlers queue in order."""
        if not self._is_cq(cq) or not callable(handler):
            return VIP_RETURN.INVALID_PARAMETER
        self.port.spend(self.paths.notify)
        cq.handlers.append((handler, context))
        self.kernel.later(self.kernel.notifier.cq, cq)
        await self.kernel.attend()
        return VIP_RETURN.SUCCESS

    def _found(self, found: tuple[Vi, bool] | None, begin: list[int]) -> Found:
        if found is None:
            self.port.mark(EMPTY_CHECK, END, 0)
            return VIP_RETURN.NOT_DONE, None, None
        vi, receive = found
        queue = vi.receive if receive else vi.send
        begin[1] = RECEIVE_COMPLETE if receive else SEND_COMPLETE
        begin[3] = queue.entries[0].trace if queue.entries else 0
        self.port.mark(begin[1], END, begin[3])
        return VIP_RETURN.SUCCESS, vi, receive

    def _is_size(self, entries: Any) -> bool:
        return entries.__class__ is int and 1 <= entries <= MAX_CQ_ENTRIES

    async def _ring(self, nic: Nic, entries: int, tag: Ptag) -> Ring | None:
        """Registered memory for a ring; None if there is no room."""
        size = 1 << entries.bit_length()
        process = self.process
        try:
            va = process.allocate(8 * size, 64, fresh=True)
            region = await self.kernel.register(process, va, 8 * size, MemAttributes(tag))
        except (MemoryError, NoRoom):
            return None
        places = [process.physical(va + at) for at in range(0, 8 * size, process.page_bytes)]
        return Ring(region, places, size, min(size - entries, size // 4))
