"""Kernel-trap design point: checks queues, and enters the kernel when it has work."""

from collections.abc import Awaitable, Callable

from ....layouts.via import DONE_WORD
from ...nic.receive_ring import ReceiveRing
from ...port.port import Watch
from ...port.words import F_NOT_EQUAL, TIMEOUT
from ..agent.memory_queues import MemoryQueues
from ..handles import Cq, CqEntry, Ring, WorkQueue
from .entering import Entering
from .packets import Packets
from .trap_context import TrapContext

__all__ = ["TrapQueues"]



class TrapQueues:
    """See :class:`~nicbed.host.via.queues.Queues`. Completions are in the memory of ``queues``;
    ``call`` calls the waiting handlers."""

    def __init__(self, context: TrapContext, receive_ring: ReceiveRing, queues: MemoryQueues,
                 packets: Packets, entering: Entering, call: Callable[[], Awaitable[None]]) -> None:
        self._port = context.port
        self._ring = context.ring
        self._timers = context.timers
        self._receive_ring = receive_ring
        self._queues = queues
        self._packets = packets
        self._entering = entering
        self._call = call
        self._found: int | None = None
        self._cq_found: CqEntry | None = None

    async def check(self, queue: WorkQueue, cycles: int = 0) -> None:
        if cycles > 0:
            await self._spin(queue.entries[0].status, DONE_WORD, DONE_WORD, cycles)
        if queue.entries:
            await self._check(queue)
        else:
            self._found = None

    async def _check(self, queue: WorkQueue) -> None:
        await self._glance()
        await self._queues.check(queue)
        self._found = self._queues.found()
        if self._found is None:
            served = await self._entering.serve()
            await self._call()
            # A call may have checked another queue.
            self._found = None
            if served and queue.entries:
                await self._queues.check(queue)
                self._found = self._queues.found()

    def found(self) -> int | None:
        return self._found

    async def cq_check(self, cq: Cq, cycles: int = 0) -> None:
        if not cq.backlog and cycles > 0:
            await self._spin(*cq.ring.next(), 1, cycles)
        await self._glance()
        await self._queues.cq_check(cq)
        found = self._queues.cq_found(cq)
        if found is None:
            served = await self._entering.serve()
            await self._call()
            if served:
                await self._queues.cq_check(cq)
                found = self._queues.cq_found(cq)
        self._cq_found = found

    def cq_found(self, cq: Cq) -> CqEntry | None:
        return self._cq_found

    def cq_awaits(self, cq: Cq) -> tuple[list[Watch], int]:
        words, _ = self._queues.cq_awaits(cq)
        words.append(self._receive_ring.watch())
        if self._packets.starved and self._ring.reading:
            words.append(Watch(self._ring.report, self._ring.done & 0xFFFF, 0xFFFF, True))
        return words, self._timers.due

    async def _glance(self) -> None:
        """Check the receive ring's next completion word once."""
        port = self._port
        await port.room(3)
        port.put_touch(self._receive_ring.slots.slot, 8)
        port.work("poll_check")

    async def _spin(self, place: int, compare: int, mask: int, cycles: int) -> None:
        """Poll the word at ``place`` until it holds or ``cycles`` have passed; poll the receive
        ring, too, and handle its packets."""
        port, ring = self._port, self._receive_ring
        end = port.cycle + cycles
        while True:
            await port.room(4)
            watches = 1
            port.put_watch(ring.slots.slot, ring.slots.phase, 1)
            if self._packets.starved and self._ring.reading:
                watches = 2
                port.put_watch(self._ring.report, self._ring.done & 0xFFFF, 0xFFFF,
                               F_NOT_EQUAL)
            port.put_poll(place, compare, mask, max(1, min(end, self._timers.due) - port.cycle))
            await port.executed
            if not port.status & TIMEOUT and port.status >> 4 & 15 == watches:
                return
            if await self._entering.serve():
                await self._call()
            if port.cycle >= end:
                return

    def empty(self, cq: Cq, ring: Ring) -> None:
        self._queues.empty(cq, ring)
