"""The provider for a NIC without doorbells and VI engine: the kernel agent does it all.

Posting traps into the kernel. It copies the descriptor in, and of a send the data, out of the
consumer's buffers into its own; it cuts them into packets as the engine would, and puts those into
the NIC's send ring. What comes in it copies from the receive ring into the consumer's buffers, and
writes statuses and completion queue entries into the consumer's memory. So a send's o_s, and a
receive's o_r, grow with the message.

When the kernel runs
--------------------
- in a posting call, up to where the VI's window, the kernel's buffers (``via.send_slots``) and the
  send ring have room. It never waits there: what is left goes out in a later entry.
- in a check of a queue (VipRecvDone and the like). The library looks at the head's status and, in a
  page that it may read, at the receive ring's next completion word, and enters the kernel only if
  there is a packet, a time-out is due, or something waits for room that the NIC has made.
- on the receive ring's interrupt and on its timer's, in blocking calls and at the end of all
  others.

A node whose program does not call VIPL answers nothing meanwhile, and has lost nothing. So a
time-out sends a PROBE, whose answer says what was lost; only that goes again. Time-outs follow the
round trips measured, and double (up to sixteen times ``via.retry_timeout``) before ``via.retries``
of them in a row, without a word from the peer, break a connection.

Files: :mod:`.trap_state` (VIs, completing), :mod:`.trap_sending`, :mod:`.trap_receiving`,
:mod:`.trap_memory` (protection, copies), :mod:`.trap_ring` (the send ring), :mod:`.trap_paths`.
"""

import struct
from typing import TYPE_CHECKING

from ...layouts.registers import Irq
from ...layouts.via import DESCRIPTOR_ALIGN, Event, Status, ViState
from ..port import F_NOT_EQUAL, TIMEOUT
from .handles import Cq, CqEntry, Posted, Vi, WorkQueue
from .memory_queues import MemoryQueues
from .provider import Completed
from .regions import Region
from .returns import VIP_RETURN
from .trap_memory import Refused
from .trap_receiving import Receiving
from .trap_state import CqState, End

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["KernelTrap"]

NEXT = struct.Struct("<QI")
"""Next and NextHandle, where a descriptor begins."""
STATUS_WORD = 24
"""Where Length and Status are in it."""
DONE = int(Status.DONE) << 32
GLANCE = 500
"""Cycles between two looks of a sleeping kernel whether the NIC has read on in the send ring."""


class KernelTrap(Receiving, MemoryQueues):
    """See :class:`~nicbed.host.via.provider.Provider`."""

    rdma = True
    causes = Irq(0)

    def __init__(self, kernel: "Kernel") -> None:
        MemoryQueues.__init__(self, kernel)
        Receiving.__init__(self, kernel)

    async def start(self) -> None:
        await MemoryQueues.start(self)
        await self.ring.start()

    # Memory: the kernel looks it up in its own records

    async def register(self, region: Region) -> None:
        """Nothing to lay down."""

    async def change(self, region: Region) -> None:
        """Nothing is kept from before."""

    async def deregister(self, region: Region) -> None:
        """Nothing is kept from before."""

    # VIs

    async def create_vi(self, vi: Vi) -> None:
        self.port.spend(self.paths.command)
        vi.private = self.ends[vi.number] = End(vi, self.timeout)

    async def destroy_vi(self, vi: Vi) -> None:
        self.port.spend(self.paths.command)
        del self.ends[vi.number]

    async def change_vi(self, vi: Vi) -> None:
        self.port.spend(self.paths.command)

    async def connect(self, vi: Vi, route: int, max_transfer: int) -> None:
        self.port.spend(self.paths.command)
        end: End = vi.private
        end.reset()
        end.route, end.max_transfer = route, max_transfer
        end.state = ViState.CONNECTED

    async def disconnect(self, vi: Vi) -> None:
        self.port.spend(self.paths.command)
        await self.error(vi.private, True)
        await self._tell()

    async def idle(self, vi: Vi) -> None:
        """A packet of the old connection must not come to the next one."""
        self.port.spend(self.paths.command)
        await self.ring.settle()
        vi.private.state = ViState.IDLE

    async def state(self, vi: Vi) -> ViState:
        state: ViState = vi.private.state
        return state

    async def drained(self, vi: Vi) -> bool:
        end: End = vi.private
        return (end.send.completed == vi.send.posted
                and end.receive.completed == vi.receive.posted)

    # Completion queues

    async def create_cq(self, cq: Cq) -> None:
        self.port.spend(self.paths.command)
        armed = cq.private is not None and cq.private.armed
        cq.private = CqState(cq.ring, armed)

    async def destroy_cq(self, cq: Cq) -> None:
        self.port.spend(self.paths.command)
        cq.private = None

    def consumed(self, cq: Cq) -> None:
        self.port.spend(self.prices.consumed)
        cq.ring.told = cq.ring.seen

    # Posting

    async def post(self, queue: WorkQueue, va: int, handle: int, trace: int) -> VIP_RETURN:
        port, entries = self.port, queue.entries
        port.spend(self.prices.post)
        if entries:
            port.spend(self.paths.link)
            tail = entries[-1].status
            if tail not in self.flushed:
                self.memory.write(tail - STATUS_WORD, NEXT.pack(va, handle))
                await port.touch(tail - STATUS_WORD, NEXT.size, store=True)
        status = self._status(queue, va)
        if status not in self.flushed:
            self.memory.write(status + 4, bytes(4))
            await port.touch(status, 8, store=True)
        posted = Posted(va, handle, status, trace)
        entries.append(posted)
        queue.posted += 1
        end: End = queue.vi.private
        waiting = (end.receive if queue.receive else end.send).waiting
        if not self._readable(end, posted):
            await self.lose(end, queue.receive, Event.POST_DESC)
        elif len(waiting) >= self.depth:
            await self.lose(end, queue.receive, Event.VI_OVERRUN)
        else:
            waiting.append(posted)
            if end.state is ViState.ERROR or end.state is ViState.IDLE and not queue.receive:
                await self.flush(end, queue.receive)
            elif not queue.receive:
                await self.turn(end)
        await self._tell()
        return VIP_RETURN.SUCCESS

    def _status(self, queue: WorkQueue, va: int) -> int:
        """Where the CPU sees the status of the descriptor at ``va``."""
        if va % DESCRIPTOR_ALIGN:
            return self.flushed[queue.receive]
        try:
            return queue.vi.nic.process.physical(va) + STATUS_WORD
        except ValueError:
            return self.flushed[queue.receive]

    def _readable(self, end: End, posted: Posted) -> bool:
        """Whether there can be a descriptor at all."""
        try:
            return (not posted.va % DESCRIPTOR_ALIGN
                    and self.space.piece(posted.va, posted.handle, end.tag)[1] > STATUS_WORD + 7)
        except Refused:
            return False

    # Checking

    async def done(self, queue: WorkQueue) -> Completed | None:
        await self._glance()
        found = await super().done(queue)
        served = await self._serve()
        if found is None:
            await self.kernel.call()
            if served and queue.entries:
                found = await super().done(queue)
        return found

    async def spin(self, queue: WorkQueue, cycles: int) -> Completed | None:
        if cycles > 0:
            await self._spin(queue.entries[0].status, DONE, DONE, cycles)
        return await self.done(queue) if queue.entries else None

    async def cq_done(self, cq: Cq) -> CqEntry | None:
        await self._glance()
        found = await super().cq_done(cq)
        served = await self._serve()
        if found is None:
            await self.kernel.call()
            if served:
                found = await super().cq_done(cq)
        return found

    async def cq_spin(self, cq: Cq, cycles: int) -> CqEntry | None:
        if not cq.backlog and cycles > 0:
            await self._spin(cq.ring.place(), cq.ring.phase(), 1, cycles)
        return await self.cq_done(cq)

    async def _glance(self) -> None:
        """One look at the receive ring's next completion word."""
        port = self.port
        await port.room(3)
        port.put_touch(self.kernel.ring.slot(), 8)
        port.work("poll_check")

    async def _spin(self, place: int, compare: int, mask: int, cycles: int) -> None:
        """Watch the word at ``place`` until it holds or ``cycles`` are over, and the receive ring,
        and serve what comes there."""
        port, ring = self.port, self.kernel.ring
        end = port.cycle + cycles
        while True:
            await port.room(4)
            watches = 1
            port.put_watch(ring.slot(), ring.phase(), 1)
            if self.starved and self.ring.reading:
                watches = 2
                port.put_watch(self.ring.report, self.ring.done & 0xFFFF, 0xFFFF, F_NOT_EQUAL)
            port.put_poll(place, compare, mask, max(1, min(end, self.due) - port.cycle))
            await port.executed
            if not port.status & TIMEOUT and port.status >> 4 & 15 == watches:
                return
            if await self._serve():
                await self.kernel.call()
            if port.cycle >= end:
                return

    async def _serve(self) -> bool:
        """Enter the kernel if there is something for it to do; whether there was."""
        port, ring = self.port, self.kernel.ring
        arrived = self.memory.word(ring.slot()) & 1 == ring.phase()
        if not arrived and not (self.starved and self.ring.moved()):
            late = port.cycle >= self.due
            if late:
                await self.tick()
            return late
        port.spend(self.prices.enter)
        if arrived:
            await ring.drain()
        if self.starved:
            await self.ring.look()
            await self.feed()
        await self._tell()
        await self.tick()
        return True

    def deadline(self) -> int:
        # No interrupt tells of room in the send ring, so a sleeping kernel looks for it.
        if self.happened or self.starved and self.ring.moved():
            return self.port.cycle
        if self.starved and self.ring.reading:
            return min(self.due, self.port.cycle + GLANCE)
        return self.due

    async def tick(self) -> None:
        """What is late, and what waits for room."""
        if self.starved and self.ring.moved():
            self.port.spend(self.paths.interrupt)
            await self.ring.look()
            await self.feed()
        elif self.port.cycle >= self.due:
            self.port.spend(self.paths.interrupt)
        if self.port.cycle >= self.due:
            await self.timers()
        await self._tell()

    # Interrupts

    async def arm(self, queue: WorkQueue) -> None:
        self.port.spend(self.paths.arm)
        end: End = queue.vi.private
        if queue.entries and self.memory.word(queue.entries[0].status) & DONE:
            self.happened.append((Event.RECEIVE_DONE if queue.receive else Event.SEND_DONE,
                                  queue.vi.number))
        else:
            (end.receive if queue.receive else end.send).armed = True

    async def cq_arm(self, cq: Cq) -> None:
        self.port.spend(self.paths.arm)
        if cq.private.tail > cq.ring.seen:
            self.happened.append((Event.CQ_READY, cq.number))
        else:
            cq.private.armed = True

    async def events(self) -> list[tuple[Event, int]]:
        found = self.happened
        self.happened = []
        return found

    async def packet(self, header: int, slot: int, trace: int) -> None:
        await self.arrive(header, slot, trace)
        if self.starved:
            await self.feed()
        await self._tell()

    async def _tell(self) -> None:
        """Tell the kernel agent what happened."""
        while self.happened:
            event, number = self.happened.pop(0)
            self.port.spend(self.paths.event)
            await self.kernel.event(event, number)
