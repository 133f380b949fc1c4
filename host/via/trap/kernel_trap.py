"""The provider for a NIC without doorbells and VI engine: the kernel agent moves the data.

Posting traps into the kernel. The kernel copies the descriptor, and for a send the data, from the
consumer's buffers into its own. It cuts the data into packets as the engine would, and puts them
into the NIC's send ring. It copies received data from the receive ring into the consumer's buffers,
and writes statuses and completion queue entries into the consumer's memory. So o_s of a send and
o_r of a receive grow with the message.

When the kernel runs
--------------------
- in a posting call, as long as the VI's window, the kernel's buffers (``via.send_slots``) and the
  send ring have room. It never waits there: the remaining packets are sent when the kernel is
  entered again.
- in a check of a queue (VipRecvDone and similar calls). The library looks at the head's status and,
  in a page that it may read, at the receive ring's next completion word, and enters the kernel only
  if the head is not done and there is a packet, a time-out is due, or something waits for room that
  the NIC has made. It handles up to 8 packets then.
- on the receive ring's interrupt and on its timer's, in blocking calls, during computation
  (Vipl.compute) and at the end of all other calls. In a call that posts or has found a completion
  it handles up to two packets. The others wait for the next call that posts or finds nothing. So
  the program gets its completions, and sends, however many packets arrive.

A node whose program computes in another way does not answer meanwhile, although nothing was lost.
So a time-out sends a PROBE, whose answer says what was lost, and only lost packets are sent again.
Time-outs follow the measured round trips and double each time (up to sixteen times
``via.retry_timeout``). ``via.retries`` time-outs in a row without a packet from the peer break the
connection.

Its parts, each of which knows only those before it: :mod:`.costs`, :mod:`.memory`
(protection, copies), :mod:`~nicbed.host.nic.send_ring`, :mod:`.ends` (what is kept of a VI),
:mod:`.completing`, :mod:`.timers`, :mod:`.packets`, :mod:`.messages`,
:mod:`.turns` (which VI sends next), :mod:`.retransmission`, :mod:`.receiving`.
"""

import struct
from collections import Counter
from collections.abc import Awaitable, Callable

from ....layouts.registers import Irq
from ....layouts.via import DESCRIPTOR_ALIGN, Event, Status, ViState
from ...kernel.lock import kernel_lock
from ...nic.receive_ring import ReceiveRing
from ...nic.send_ring import SendRing
from ...port.node import Node
from ...port.port import Watch
from ...port.words import F_NOT_EQUAL, TIMEOUT
from ..agent.memory_queues import MemoryQueues
from ..handles import Cq, CqEntry, Posted, Vi, WorkQueue
from ..records import Records
from ..regions import Region
from .completing import Completing
from .costs import TrapPrices
from .ends import CqState, End
from .memory import Refused, TrapMemory
from .messages import Messages
from .packets import Packets
from .receiving import Receiving
from .retransmission import Retransmission
from .timers import Timers
from .turns import Turns

__all__ = ["KernelTrap"]

NEXT = struct.Struct("<QI")
"""Offset of Next and NextHandle in a descriptor."""
STATUS_WORD = 24
"""Offset of the word with Length and Status."""
DONE = int(Status.DONE) << 32
A_LOOK = 8
"""Packets that a check handles if it has found nothing. Their messages are handed out before more
packets are handled."""
SILENT = 3
"""A peer that is waited for at the end alone is taken to have ended after this many time-outs in a
row without a packet."""
GLANCE = 500
"""Cycles between two checks of a sleeping kernel whether the NIC has read more of the send ring."""


class KernelTrap(MemoryQueues):
    """See :class:`~nicbed.host.via.provider.Provider`. ``event`` is called with each event;
    ``call`` calls the waiting handlers.

    Attributes
    ----------
    ends
        The kernel's state of each VI, by its number.
    window
        Packets of a VI that may be without acknowledgement.
    counters
        unmatched, duplicates, gaps, dropped, malformed, sent, resent, timeouts, probes.
    again
        The packets ``resent``, by peer and cause.
    """

    rdma = True
    causes: int = Irq(0)
    timers = True

    def __init__(self, node: Node, records: Records, ring: ReceiveRing,
                 event: Callable[[Event, int], Awaitable[None]],
                 call: Callable[[], Awaitable[None]]) -> None:
        super().__init__(node, records)
        port, via = node.port, node.description.via
        self._lock = kernel_lock(node)
        self._ring = ring
        self._event = event
        self._call = call
        self.ends: dict[int, End] = {}
        self.window = via.window
        self.counters: Counter[str] = Counter()
        self._depth = via.queue_depth
        self._found: int | None = None
        self._cq_found: CqEntry | None = None
        self._timeout = via.retry_timeout
        self._prices = prices = node.service(TrapPrices)
        self._space = space = TrapMemory(node, records.regions)
        self._send_ring = send_ring = SendRing(
            node, node.description.via.send_slots, prices.report)
        self._completing = completing = Completing(port, prices, space)
        self._timers = timers = Timers(port, self.ends)
        self._packets = packets = Packets(node, prices, send_ring, timers,
                                          self.counters)
        messages = Messages(node.description.nic.mtu, space, send_ring, completing, packets)
        self._turns = turns = Turns(via.window, send_ring, packets, messages)
        self._retransmission = retransmission = Retransmission(
            port, prices, via.retries, self.ends, send_ring, timers, packets, messages,
            completing, self.counters)
        self._receiving = Receiving(port, prices, self.ends, space, timers, completing, packets,
                                    messages, turns, retransmission, self.counters)
        completing.end_connection = self._receiving.end_connection
        self.again = retransmission.again

    async def start(self) -> None:
        await super().start()
        await self._send_ring.start()

    # Memory: the kernel looks it up in its own records

    async def register(self, region: Region) -> None:
        """No entries to write."""

    async def change(self, region: Region) -> None:
        """No old entries to revoke."""

    async def deregister(self, region: Region) -> None:
        """No entries to revoke."""

    # VIs

    async def create_vi(self, vi: Vi) -> None:
        self.port.spend(self.paths.command)
        vi.private = self.ends[vi.number] = End(vi, self._timeout)

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
        await self._receiving.end_connection(vi.private, True)
        await self._tell()

    async def idle(self, vi: Vi) -> None:
        """No packet of the old connection may reach the next one."""
        self.port.spend(self.paths.command)
        await self._send_ring.settle()
        vi.private.state = ViState.IDLE

    async def state(self, vi: Vi) -> ViState:
        state: ViState = vi.private.state
        return state

    def quiet(self, vi: Vi) -> bool:
        end: End = vi.private
        return end.state is not ViState.CONNECTED or not end.slots or end.silent >= SILENT

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
        self.port.spend(self._prices.consumed)
        cq.ring.told = cq.ring.seen

    # Posting

    async def post(self, queue: WorkQueue, va: int, handle: int, trace: int) -> None:
        port, entries = self.port, queue.entries
        port.spend(self._prices.post)
        async with self._lock.held():
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
                await self._completing.lose(end, queue.receive, Event.POST_DESC)
            elif len(waiting) >= self._depth:
                await self._completing.lose(end, queue.receive, Event.VI_OVERRUN)
            else:
                waiting.append(posted)
                if end.state is ViState.ERROR or end.state is ViState.IDLE and not queue.receive:
                    await self._completing.flush(end, queue.receive)
                elif not queue.receive:
                    await self._turns.turn(end)
            await self._tell()

    def _status(self, queue: WorkQueue, va: int) -> int:
        """Address of the status that the CPU reads for the descriptor at ``va``."""
        if va % DESCRIPTOR_ALIGN:
            return self.flushed[queue.receive]
        try:
            return queue.vi.nic.process.physical(va) + STATUS_WORD
        except ValueError:
            return self.flushed[queue.receive]

    def _readable(self, end: End, posted: Posted) -> bool:
        """Whether there can be a descriptor at this address."""
        try:
            return (not posted.va % DESCRIPTOR_ALIGN
                    and self._space.piece(posted.va, posted.handle, end.tag)[1] > STATUS_WORD + 7)
        except Refused:
            return False

    # Checking

    async def check(self, queue: WorkQueue, cycles: int = 0) -> None:
        if cycles > 0:
            await self._spin(queue.entries[0].status, DONE, DONE, cycles)
        if queue.entries:
            await self._check(queue)
        else:
            self._found = None

    async def _check(self, queue: WorkQueue) -> None:
        await self._glance()
        await super().check(queue)
        self._found = super().found()
        if self._found is None:
            served = await self._serve()
            await self._call()
            # A call may have checked another queue.
            self._found = None
            if served and queue.entries:
                await super().check(queue)
                self._found = super().found()

    def found(self) -> int | None:
        return self._found

    async def cq_check(self, cq: Cq, cycles: int = 0) -> None:
        if not cq.backlog and cycles > 0:
            await self._spin(*cq.ring.next(), 1, cycles)
        await self._glance()
        await super().cq_check(cq)
        found = super().cq_found(cq)
        if found is None:
            served = await self._serve()
            await self._call()
            if served:
                await super().cq_check(cq)
                found = super().cq_found(cq)
        self._cq_found = found

    def cq_found(self, cq: Cq) -> CqEntry | None:
        return self._cq_found

    def cq_awaits(self, cq: Cq) -> tuple[list[Watch], int]:
        words, _ = super().cq_awaits(cq)
        words.append(self._ring.watch())
        if self._packets.starved and self._send_ring.reading:
            words.append(Watch(self._send_ring.report, self._send_ring.done & 0xFFFF, 0xFFFF, True))
        return words, self._timers.due

    async def _glance(self) -> None:
        """Check the receive ring's next completion word once."""
        port = self.port
        await port.room(3)
        port.put_touch(self._ring.slots.slot, 8)
        port.work("poll_check")

    async def _spin(self, place: int, compare: int, mask: int, cycles: int) -> None:
        """Poll the word at ``place`` until it holds or ``cycles`` have passed; poll the receive
        ring, too, and handle its packets."""
        port, ring = self.port, self._ring
        end = port.cycle + cycles
        while True:
            await port.room(4)
            watches = 1
            port.put_watch(ring.slots.slot, ring.slots.phase, 1)
            if self._packets.starved and self._send_ring.reading:
                watches = 2
                port.put_watch(self._send_ring.report, self._send_ring.done & 0xFFFF, 0xFFFF,
                               F_NOT_EQUAL)
            port.put_poll(place, compare, mask, max(1, min(end, self._timers.due) - port.cycle))
            await port.executed
            if not port.status & TIMEOUT and port.status >> 4 & 15 == watches:
                return
            if await self._serve():
                await self._call()
            if port.cycle >= end:
                return

    async def _serve(self) -> bool:
        """Enter the kernel if it has work; return whether it had."""
        port, ring = self.port, self._ring
        if not ring.arrived() and not (self._packets.starved and self._send_ring.moved()):
            late = self._timers.late()
            if late:
                async with self._lock.held():
                    await self.tick()
            return late
        port.spend(self._prices.enter)
        async with self._lock.held():
            if ring.arrived():
                await ring.drain(A_LOOK)
                self._lock.news()
            if self._packets.starved:
                await self._send_ring.look()
                await self._turns.feed()
            if self._completing.happened:
                await self._tell()
            await self.tick()
        return True

    def deadline(self) -> int:
        self._timers.late()
        # Room in the send ring raises no interrupt, so a sleeping kernel checks for it.
        if self._completing.happened or self._packets.starved and self._send_ring.moved():
            return self.port.cycle
        if self._packets.starved and self._send_ring.reading:
            return min(self._timers.due, self.port.cycle + GLANCE)
        return self._timers.due

    async def tick(self) -> None:
        """Handle time-outs, and packets that wait for room."""
        if self._packets.starved and self._send_ring.moved():
            self.port.spend(self.paths.interrupt)
            await self._send_ring.look()
            await self._turns.feed()
        elif self._timers.late():
            self.port.spend(self.paths.interrupt)
        if self._timers.late():
            await self._retransmission.late()
        if self._completing.happened:
            await self._tell()

    # Interrupts

    async def arm(self, queue: WorkQueue) -> None:
        self.port.spend(self.paths.arm)
        end: End = queue.vi.private
        if queue.entries and self.memory.word(queue.entries[0].status) & DONE:
            self._completing.happened.append(
                (Event.RECEIVE_DONE if queue.receive else Event.SEND_DONE, queue.vi.number))
        else:
            (end.receive if queue.receive else end.send).armed = True

    async def cq_arm(self, cq: Cq) -> None:
        self.port.spend(self.paths.arm)
        if cq.private.tail > cq.ring.seen:
            self._completing.happened.append((Event.CQ_READY, cq.number))
        else:
            cq.private.armed = True

    async def events(self) -> list[tuple[Event, int]]:
        return self._completing.events()

    async def packet(self, header: int, slot: int, trace: int) -> None:
        await self._receiving.arrive(header, slot, trace)
        if self._packets.starved:
            await self._turns.feed()
        if self._completing.happened:
            await self._tell()

    async def _tell(self) -> None:
        """Report the events to the kernel agent."""
        while self._completing.happened:
            event, number = self._completing.happened.pop(0)
            self.port.spend(self.paths.event)
            await self._event(event, number)
