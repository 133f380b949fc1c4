"""VipCreateCQ, VipDestroyCQ, VipResizeCQ, VipCQDone, VipCQWait, VipCQNotify."""

from collections.abc import Callable
from typing import Any

from ....layouts.trace import BEGIN, END, Activity
from ...port.port import Watch
from ..attributes import MemAttributes
from ..handles import Cq, Nic, Ptag, Ring, Vi
from ..regions import NoRoom
from ..returns import VIP_RETURN
from .caller import Caller, kernel_call
from .opening import MAX_CQ_ENTRIES

__all__ = ["CompletionQueues"]

EMPTY_CHECK = int(Activity.EMPTY_CHECK)

SUCCESS, NOT_DONE = VIP_RETURN.SUCCESS, VIP_RETURN.NOT_DONE

LONGEST = 1 << 31
"""Most cycles of one wait."""

Found = tuple[VIP_RETURN, Vi | None, bool | None]
"""The VI, and whether its receive queue has the completion."""


class CompletionQueues:
    """Completions of many work queues in one.

    The ring has more entries than requested, so that not every taken entry must be reported to the
    NIC. The ring is full (VI_OVERRUN) only if the consumer leaves more entries untaken than it has
    requested.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._process = caller.process
        self._port = caller.port
        self._paths = caller.paths
        self._kernel = caller.kernel
        self._completions = caller.kernel.completions
        self._provider = caller.provider
        self._queues = caller.provider.queues
        self._gone = False
        """Whether the entry that :meth:`spun` saw last is of a VI that has been destroyed."""

    @kernel_call
    async def create(self, nic: Nic, entries: int) -> tuple[VIP_RETURN, Cq | None]:
        if not self._caller.is_nic(nic) or not self._is_size(entries):
            return VIP_RETURN.INVALID_PARAMETER, None
        await self._caller.enter()
        kernel = self._kernel
        if not kernel.records.free_cqs:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE), None
        tag = kernel.tag(nic)
        ring = await self._ring(nic, entries, tag) if tag is not None else None
        if ring is None:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE), None
        cq = Cq(nic, kernel.records.free_cqs.popleft(), entries, ring)
        kernel.cqs[cq.number] = cq
        await self._provider.create_cq(cq)
        return await self._caller.leave(), cq

    @kernel_call
    async def destroy(self, cq: Cq) -> VIP_RETURN:
        if not self._caller.is_cq(cq):
            return VIP_RETURN.INVALID_PARAMETER
        await self._caller.enter()
        if cq.users:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE)
        await self._provider.destroy_cq(cq)
        cq.open = False
        for ring in (cq.ring, cq.old):
            if ring is not None:
                await self._kernel.deregister(ring.region)
        del self._kernel.cqs[cq.number]
        self._kernel.records.free_cqs.append(cq.number)
        return await self._caller.leave()

    @kernel_call
    async def resize(self, cq: Cq, entries: int) -> VIP_RETURN:
        if not self._caller.is_cq(cq) or not self._is_size(entries):
            return VIP_RETURN.INVALID_PARAMETER
        await self._caller.enter()
        ring = await self._ring(cq.nic, entries, cq.ring.region.ptag)
        if ring is None:
            return await self._caller.leave(VIP_RETURN.ERROR_RESOURCE)
        if cq.old is not None:
            self._queues.empty(cq, cq.old)
        old, cq.old, cq.ring, cq.entries = cq.old, cq.ring, ring, entries
        await self._provider.create_cq(cq)
        self._queues.empty(cq, cq.old)
        if old is not None:
            await self._kernel.deregister(old.region)
        if cq.handlers:
            self._kernel.later(self._kernel.notifier.cq, cq)
        return await self._caller.leave()

    async def done(self, cq: Cq) -> Found:
        """The oldest entry of ``cq``, if there is one."""
        begin = self._port.begin(EMPTY_CHECK, 0, self._paths.cq_check)
        await self._queues.cq_check(cq)
        found = self.checked(cq, begin) or await self.check_on(cq, begin)
        await self._kernel.attend(found[0] is SUCCESS)
        return found

    async def wait(self, cq: Cq, timeout: float | None) -> Found:
        """Wait for the oldest entry of ``cq``."""
        if not (timeout is None or self._caller.is_time(timeout)):
            return VIP_RETURN.INVALID_PARAMETER, None, None
        port = self._port
        deadline = None if timeout is None else self._caller.deadline(timeout)
        begin = self._port.begin(EMPTY_CHECK, 0, self._paths.wait)
        spin = self._caller.spin
        if spin and deadline is not None:
            spin = min(spin, deadline - port.cycle)
        if spin:
            end = port.cycle + spin
            await self._queues.cq_check(cq, self._kernel.until(end))
            found = self.spun(cq) or await self.spin_on(cq, end, deadline)
        else:
            entry = await self._completions.entry(cq)
            found = self._found(entry, begin) if entry else await self._doze(cq, deadline)
        await self._kernel.attend(found[0] is SUCCESS)
        return found

    # The parts of done() and wait() behind the mark of an EMPTY_CHECK and the provider's check, for
    # :meth:`.Vipl.next`.

    def checked(self, cq: Cq, begin: list[int]) -> Found | None:
        """Returns what the provider has found; None if that takes more (:meth:`check_on`). The call
        ends with :meth:`.Kernel.attend`."""
        entry = self._queues.cq_found(cq)
        if entry is None:
            return self._found(None, begin)
        found = self._completions.of_a_vi(cq, entry)
        return None if found is None else self._found(found, begin)

    async def check_on(self, cq: Cq, begin: list[int]) -> Found:
        """The rest of a check that takes more: there was an entry of a VI that has been
        destroyed."""
        return self._found(await self._completions.entry(cq), begin)

    def spun(self, cq: Cq) -> Found | None:
        """Returns what a provider's check that spins has found; None if that takes more:
        :meth:`spin_on`, which must be awaited at once. The call ends with
        :meth:`.Kernel.attend`."""
        entry = self._queues.cq_found(cq)
        self._gone = entry is not None
        found = None if entry is None else self._completions.of_a_vi(cq, entry)
        return None if found is None else self._found_by_spinning(found)

    async def spin_on(self, cq: Cq, end: int, deadline: int | None) -> Found:
        """The rest of a wait that takes more, behind :meth:`spun`. It spins until cycle
        ``end``."""
        kernel, port = self._kernel, self._port
        gone = self._gone
        while not gone and port.cycle < end:
            await kernel.attend()
            await self._queues.cq_check(cq, kernel.until(end))
            found = self.spun(cq)
            if found is not None:
                return found
            gone = self._gone
        if gone:
            entry = await self._completions.entry(cq)
            if entry is not None:
                return self._found_by_spinning(entry)
        return await self._doze(cq, deadline)

    def _found_by_spinning(self, found: tuple[Vi, bool]) -> Found:
        return self._found(found, self._port.mark_check(EMPTY_CHECK, EMPTY_CHECK))

    async def _doze(self, cq: Cq, deadline: int | None) -> Found:
        """Sleep until there is an entry."""
        kernel, port = self._kernel, self._port
        while True:
            if deadline is not None and port.cycle >= deadline:
                port.mark(EMPTY_CHECK, END, 0)
                return VIP_RETURN.TIMEOUT, None, None
            async with kernel.lock.held():
                await self._provider.cq_arm(cq)
                port.mark(EMPTY_CHECK, END, 0)
                await kernel.doze(deadline)
            begin = port.mark(EMPTY_CHECK, BEGIN, 0)
            found = await self._completions.entry(cq)
            if found is not None:
                return self._found(found, begin)

    def awaits(self, cq: Cq) -> tuple[list[Watch], int] | None:
        """See :meth:`.vipl.Vipl.awaits`."""
        if cq.backlog:
            return None
        now = self._port.cycle
        words, end = self._queues.cq_awaits(cq)
        return words, self._kernel.until(max(now + 1, min(end, now + LONGEST)))

    async def notify(self, cq: Cq, context: Any, handler: Callable[..., Any]) -> VIP_RETURN:
        if not self._caller.is_cq(cq) or not callable(handler):
            return VIP_RETURN.INVALID_PARAMETER
        self._port.spend(self._paths.notify)
        cq.handlers.append((handler, context))
        self._kernel.later(self._kernel.notifier.cq, cq)
        await self._kernel.attend()
        return VIP_RETURN.SUCCESS

    def _found(self, found: tuple[Vi, bool] | None, begin: list[int]) -> Found:
        port = self._port
        if found is None:
            port.mark(EMPTY_CHECK, END, 0)
            return NOT_DONE, None, None
        vi, receive = found
        queue = vi.receive if receive else vi.send
        port.finish(begin, queue.complete, queue.entries[0].trace if queue.entries else 0)
        return SUCCESS, vi, receive

    def _is_size(self, entries: Any) -> bool:
        return entries.__class__ is int and 1 <= entries <= MAX_CQ_ENTRIES

    async def _ring(self, nic: Nic, entries: int, tag: Ptag) -> Ring | None:
        """Registered memory for a ring; None if there is no room."""
        size = 1 << entries.bit_length()
        process = self._process
        try:
            va = process.allocate(8 * size, 64, fresh=True)
            region = await self._kernel.register(process, va, 8 * size, MemAttributes(tag))
        except (MemoryError, NoRoom):
            return None
        places = [process.physical(va + at) for at in range(0, 8 * size, process.page_bytes)]
        return Ring(region, places, size, min(size - entries, size // 4))
