"""The kernel agent of a node: state shared by processes, the interrupt, sleeping, and the tables.

The agent is code that runs on the program's CPU, after entering the kernel (``cpu.trap``) or on an
interrupt (``cpu.interrupt``), and is charged like any other. The interrupt line and the timers are
checked at the end of every VIPL call that has the port execute operations, and continuously in
blocking calls.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ...layouts.packet import Protocol
from ...layouts.registers import Irq, address
from ...layouts.trace import BEGIN, END, Activity
from ...layouts.via import Event, ViState
from ..kernel.interrupts import Handler
from ..kernel.lock import kernel_lock
from ..kernel.process import Process
from ..kernel.sleeping import sleep
from ..kernel.timers import FAR, compute
from ..nic.receive_ring import ReceiveRing
from ..nic.registers import RECEIVE_RING
from ..port.node import Node
from ..port.suspension import NOTHING
from ..port.words import IRQ
from .agent.channel import Channel
from .agent.connections import Connections
from .agent.notifies import Completions, Notifier
from .attributes import MemAttributes
from .costs import Prices
from .engine.engine import Engine
from .engine.firmware import FirmwareNic
from .handles import ErrorDescriptor, Nic, Ptag, Vi, WorkQueue
from .provider import Provider
from .records import Records
from .regions import HandleTable, NoRoom, Region
from .returns import ErrorCode
from .trap.kernel_trap import KernelTrap

__all__ = ["Kernel"]

CONTROL, IRQ_ENABLE = address("control"), address("irq_enable")
CONTROL_WORK = int(Activity.CONTROL)
UNREADABLE = (Event.POST_DESC, Event.VI_OVERRUN, Event.COMP_PROT)
"""After these events, descriptors were posted that never complete in memory."""
BREAKS = (*UNREADABLE, Event.CONN_LOST)
"""Events that end a connection."""

log = logging.getLogger("nicbed.via")


AT_ONCE = 2
"""Packets that an interrupt handles if the program posts or takes messages: a peer sends two for
each message of ours, one of its own and an acknowledgement. If the interrupt handled all packets,
peers that send as fast as this node handles would keep the program from its own work for ever
(receive livelock: Mogul and Ramakrishnan, USENIX 1996). Otherwise it handles as many as the ring
holds."""


class Kernel:
    """One for each node: ``node.kernel(Kernel)``.

    Attributes
    ----------
    lock
        What keeps CPUs that share the NIC out of each other's way.
    provider
        The design point, which moves the data.
    records
        The node's records: ``regions``, ``vis``, ``cqs`` and ``nics``.
    completions
        Completions out of queues.
    interrupts
        Interrupts taken so far.
    """

    def __init__(self, node: Node) -> None:
        node.drive_nic("VIA", interrupts=True)
        self.node = node
        self.lock = kernel_lock(node)
        self._nic = node.nic_offset
        self.port = node.port
        self.memory = node.memory
        self.description = node.description
        self.paths = node.service(Prices)
        self.page_bytes = node.description.via.page_bytes
        via = node.description.via
        self.records = records = Records(node)
        self.regions, self.vis, self.cqs, self.nics = (
            records.regions, records.vis, records.cqs, records.nics)
        self.interrupts = 0
        self._handler = Handler(self._shared, self.deadline, self._tick)
        self._handles = HandleTable(via.translations)
        self._tags = 0
        self._calls: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque()
        self._calling = False
        self._started = False
        self.ring = ReceiveRing(node)
        self._channel = channel = Channel(node)
        self.provider = self._make_provider()
        self._timers = self.provider.timers
        self.completions = Completions(node, self.provider, records)
        self.notifier = Notifier(node, self.provider, self.completions)
        self.connections = Connections(node, channel, self.vis, self.provider, self.completions,
                                       self.report)
        self.ring.receivers = {Protocol.VIA_CONTROL: channel.receive,
                               Protocol.VIA: self.provider.packet}

    def _make_provider(self) -> Provider:
        """The provider of the description's design point (via.design)."""
        via = self.description.via
        if via.design == "kernel":
            return KernelTrap(self.node, self.records, self.ring, self.event, self.call)
        if via.design == "firmware":
            return FirmwareNic(self.node, self.records)
        return Engine(self.node, self.records)

    async def start(self) -> None:
        """Set the NIC up when it is first used."""
        if self._started:
            return
        await self.ring.start()
        await self.port.pio_write(self._nic + CONTROL, RECEIVE_RING)
        await self.provider.start()
        await self.port.pio_write(self._nic + IRQ_ENABLE,
                                  Irq.RECEIVE | self.provider.causes)
        self.lock.wrote()
        self.node.interrupts.add(self._handler)
        self._started = True

    # Interrupts

    async def interrupt(self, most: int = 0) -> None:
        """The interrupt handler, and what it calls. It handles up to ``most`` packets; 0: as many
        as the receive ring holds."""
        self.interrupts += 1
        self.lock.news()
        port = self.port
        port.mark(CONTROL_WORK, BEGIN, 0)
        port.spend(self.paths.interrupt)
        await self._serve(most or self.ring.slots.entries)
        for other in self.node.interrupts.others(self._handler):
            await other.serve()
        port.mark(CONTROL_WORK, END, 0)

    async def _serve(self, most: int) -> None:
        port = self.port
        for event, number in await self.provider.events():
            port.spend(self.paths.event)
            await self.event(event, number)
        await self.ring.drain(most)
        await self.call()

    async def _shared(self) -> None:
        """Another layer of this CPU has seen the interrupt."""
        await self._serve(self.ring.slots.entries)

    def attend(self, found: bool = False, posted: bool = False) -> Awaitable[None]:
        """Take the interrupt if the CPU has seen one, and the timer's if a deadline has passed. If
        the call has ``found`` a completion, packets that the last interrupt left keep waiting, so
        that the program gets its completions before more packets are handled. A call that has
        ``posted`` handles no more than AT_ONCE, either. Each call of the library ends with this,
        and mostly there is nothing to do."""
        port = self.port
        if (port.status & IRQ or self.ring.left or self._calls
                or self._channel.deadline <= port.cycle
                or self._timers is not None and self._timers.deadline() <= port.cycle):
            return self._attend(found, posted)
        return NOTHING

    async def _attend(self, found: bool, posted: bool) -> None:
        async with self.lock.held():
            if self.ring.left and not found or self.port.interrupted and not self.ring.left:
                await self.interrupt(AT_ONCE if found or posted else 0)
            if self.deadline() <= self.port.cycle:
                await self._tick()
            if self._calls:
                await self.call()

    def deadline(self) -> int:
        """The cycle of the next timer interrupt; FAR if there will be none."""
        deadline, timers = self._channel.deadline, self._timers
        return deadline if timers is None else min(deadline, timers.deadline())

    def until(self, end: int) -> int:
        """Cycles for which a call that spins until cycle ``end`` may spin before it has to
        attend."""
        now, deadline = self.port.cycle, self._channel.deadline
        return (end if deadline >= end else min(end, max(deadline, now + 1))) - now

    async def compute(self, cycles: int) -> None:
        """The program computes for ``cycles`` target cycles. Packets and timers interrupt it, and
        what they take comes on top."""
        await compute(self.port, cycles, self.deadline, self.attend)

    async def _tick(self) -> None:
        await self._channel.tick()
        if self._timers is not None:
            await self._timers.tick()

    async def doze(self, deadline: int | None) -> bool:
        """Inside a call, give up the CPU until an interrupt, at most until cycle ``deadline``.
        False if the deadline has come."""
        port = self.port
        end = FAR if deadline is None else deadline
        if self.ring.left:
            await self.interrupt()
            await self._tick()
            return port.cycle < end
        others = self.node.interrupts.others(self._handler)
        until = min(end, self.deadline(), *(other.deadline() for other in others))
        if until >= port.cycle:
            port.spend(self.paths.block)
            if await sleep(port, self.lock, until):
                await self.interrupt()
        await self._tick()
        for other in others:
            await other.tick()
        await self.call()
        return port.cycle < end

    # Events

    async def event(self, event: Event, number: int) -> None:
        """Handle an event, or call the consumer's handler for it."""
        if event is Event.CQ_READY:
            cq = self.cqs.get(number)
            if cq is not None and cq.handlers:
                self.later(self.notifier.cq, cq)
            return
        vi = self.vis.get(number)
        if event is Event.CATASTROPHIC:
            await self._look_at_everything()
        elif vi is None:
            return
        elif event in (Event.SEND_DONE, Event.RECEIVE_DONE):
            self._notice(vi.receive if event is Event.RECEIVE_DONE else vi.send)
        else:
            self.report(event, vi)

    def report(self, event: Event, vi: Vi) -> None:
        """An asynchronous error of ``vi``."""
        if event in UNREADABLE:
            vi.lost = True
        if event in BREAKS:
            if vi.state is ViState.CONNECTED:
                vi.state = ViState.ERROR
            elif event is Event.CONN_LOST:
                return
        if vi.lost:
            self._notice(vi.send)
            self._notice(vi.receive)
        self._tell(vi.nic, ErrorDescriptor(ErrorCode(event), vi))

    def _notice(self, queue: WorkQueue) -> None:
        if queue.handlers:
            self.later(self.notifier.queue, queue)

    async def _look_at_everything(self) -> None:
        """Check all queues and connections after events were lost."""
        for vi in list(self.vis.values()):
            if (vi.state is ViState.CONNECTED
                    and await self.provider.state(vi) is not ViState.CONNECTED):
                self.report(Event.CONN_LOST, vi)
            vi.lost = True
            self._notice(vi.send)
            self._notice(vi.receive)
        for cq in self.cqs.values():
            if cq.handlers:
                self.later(self.notifier.cq, cq)
        for nic in self.nics:
            self._tell(nic, ErrorDescriptor(ErrorCode.CATASTROPHIC, None))

    def _tell(self, nic: Nic, error: ErrorDescriptor) -> None:
        if nic.error_handler is None:
            where = f"VI {error.vi.number} of " if error.vi else ""
            log.warning("%sprocess %d on node %d: %s", where, nic.process.number,
                        self.node.number, error.code.name)
        else:
            self.later(nic.error_handler, nic.error_context, error)

    def later(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call ``function`` before the current VIPL call returns, or before it continues to
        wait."""
        self._calls.append((function, arguments))

    async def call(self) -> None:
        """Call the queued functions, one after the other; not from within one of them."""
        if self._calling:
            return
        self._calling = True
        try:
            while self._calls:
                function, arguments = self._calls.popleft()
                self.port.spend(self.paths.handler)
                result = function(*arguments)
                if result is not None and hasattr(result, "__await__"):
                    await result
        finally:
            self._calling = False

    # Memory

    def tag(self, nic: Nic) -> Ptag | None:
        """A new protection tag; None if no more are left."""
        if self._tags == 0xFFFF:
            return None
        self._tags += 1
        return Ptag(nic, self._tags)

    async def register(self, process: Process, va: int, length: int,
                       attributes: MemAttributes) -> Region:
        """Pin these bytes and register them with the NIC. Raises NoRoom."""
        port = self.port
        first = va // self.page_bytes
        pages = (va + length - 1) // self.page_bytes - first + 1
        if pages > self.description.via.translations:
            raise NoRoom(f"{pages} pages are more than the table has entries (via.translations)")
        port.spend(self.paths.region)
        handle, index = self._handles.take(first, pages)
        frames = [process.physical(page * self.page_bytes) // self.page_bytes
                  for page in range(first, first + pages)]
        region = Region(process, va, length, attributes.ptag, attributes.rdma_write,
                        attributes.rdma_read, handle, first, frames, index)
        for _ in frames:
            port.spend(self.paths.page)
        try:
            await self.provider.register(region)
        except NoRoom:
            self._handles.give(index, pages)
            raise
        attributes.ptag.users += 1
        self.regions[handle] = region
        return region

    async def deregister(self, region: Region) -> None:
        """Unpin the region. Its handle never works again."""
        self.port.spend(self.paths.region)
        await self.provider.deregister(region)
        del self.regions[region.handle]
        region.ptag.users -= 1
        self._handles.give(region.index, region.pages)
