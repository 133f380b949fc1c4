"""The provider for VIA's firmware on the NIC processor (firmware/via).

Posting is as with the engine: a token is written to the VI's page. But the token's low six bits
count the queue's posts. The firmware may miss a token, because a later one has overwritten it
(doorbells as words in NIC memory) or because the doorbell queue was full. The count then says how
many tokens it missed. The last 64 tokens of each queue stay in host memory, where the firmware
reads the first that it missed; Next links lead to the others. Before more tokens than that could be
unread, the library asks the firmware how many it has read.

The kernel agent's side has commands in a mailbox, table entries in host memory as for the engine,
and events in a ring of words in host memory, with the interrupt of the processor.
"""

from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Any

from ....layouts.registers import Irq, address
from ....layouts.via import ADDRESS, EVENT, Event, Reliability, ViCommand, ViState
from ...kernel.lock import kernel_lock
from ...port.node import Node
from ...port.words import F_ONCE, TIMEOUT
from ...processor.loader import NicProcessor
from ...processor.mailbox import Mailbox
from ..agent.memory_queues import MemoryQueues
from ..agent.tables import HostTable
from ..handles import Cq, Vi, WorkQueue
from ..records import Records
from .doorbell_nic import SETTLE, DoorbellNic
from .doorbells import Doorbells
from .nic_words import attributes_word, cq_word, keep_count
from .token_posts import TOKENS, TokenPosts, Tokens

__all__ = ["Command", "FirmwareNic"]

IRQ_STATUS = address("irq_status")
CQ_PAGE = 1
"""Doorbell page of completion queue 0. The pages of VIs follow those of all completion queues."""
PAGES = 1024
LOW = 0xFFFF_FFFF
CACHED = 512
"""Bytes of NIC memory for each entry of the translation cache, at least."""
DOORBELLS_LOST = 1
"""Number of an event CATASTROPHIC that reports lost doorbells."""


class Command(IntEnum):
    """Word 0 of a command; firmware/via/via_fw.h has the same values."""

    VI = 1
    """VI, ViCommand, ATTRIBUTES, PEER, addresses of its queues' tokens."""
    CQ = 2
    """Completion queue, ADDRESS, CQ_CONFIG."""
    INVALIDATE = 3
    """First index, count."""
    QUERY = 4
    """VI. Answer: ViState; completed and posted of the send and the receive queue."""
    TOKENS = 5
    """VI, and the last tokens of its queues, after tokens were lost."""
    ARM = 6
    """VI, whether its receive queue is meant, and the completions seen."""


class FirmwareTable(HostTable):
    """The table in host memory. ``invalidate`` commands the NIC to drop its copies of so many
    entries from the first on; they are in use no more when it returns."""

    def __init__(self, node: Node, invalidate: Callable[[int, int], Awaitable[Any]]) -> None:
        super().__init__(node)
        self._drop = invalidate

    async def start(self) -> None:
        """The firmware got the table's address when it was started."""

    async def _invalidate(self, indices: range | list[int]) -> None:
        self.port.spend(self.paths.unpin)
        await self._drop(indices[0], len(indices))


class FirmwareNic(DoorbellNic):
    """See :class:`~nicbed.host.via.provider.Provider`."""

    rdma = True
    rdma_read = False
    levels: tuple[Reliability, ...] = (
        Reliability.UNRELIABLE_DELIVERY, Reliability.RELIABLE_DELIVERY)
    causes: int = Irq.PROCESSOR

    def __init__(self, node: Node, records: Records) -> None:
        doorbells = Doorbells(node, numbered=True)
        queues = MemoryQueues(node, doorbells.consumed)
        self._host_table = table = FirmwareTable(node, self._invalidate)
        super().__init__(node, TokenPosts(node, queues, doorbells.ring, self._counts), queues,
                         doorbells, table)
        self._records = records
        self._lock = kernel_lock(node)
        self._as_words = node.description.processor.doorbells == "words"
        self._events = 0
        self._taken = 0
        self._places: dict[int, int] = {}

    async def start(self) -> None:
        self.queues.start()
        node = self._node
        description = node.description
        via = description.via
        self._events = node.allocate(8 * via.events, 64)
        self._host_table.allocate()
        self._processor = processor = node.service(NicProcessor)
        parameters = {
            "via_vis": min(via.vis, PAGES - CQ_PAGE - via.cqs), "via_cqs": via.cqs,
            "via_slots": via.send_slots, "via_window": via.window, "via_depth": via.queue_depth,
            "via_events": via.events, "via_event_ring": self._events,
            "via_table": self._host_table.base, "via_translations": via.translations,
            "via_page_bytes": via.page_bytes, "via_cache": min(via.cache_sets * via.cache_ways,
                             description.processor.memory // CACHED),
            "via_mtu": description.nic.mtu, "via_retry_timeout": via.retry_timeout,
            "via_retries": via.retries,
            "via_doorbells": description.processor.doorbell_queue}
        variant = []
        for pad, cycles in (("work_send", via.work_send), ("work_receive", via.work_receive)):
            if cycles:
                parameters[f"via_{pad}"] = cycles * description.processor.clock_divider
                variant.append(f"VIA_{pad.upper()}")
        await processor.start("via", parameters, defines=variant)
        self._mailbox = Mailbox(processor)
        self._taken_at = processor.address("events_taken")
        self._records.limit_vis(await self._port.pio_read(processor.address("vis_open")))

    async def _invalidate(self, first: int, count: int) -> None:
        await self._mailbox.call(Command.INVALIDATE, first, count)

    # VIs

    async def create_vi(self, vi: Vi) -> None:
        place = self._places.get(vi.number)
        if place is None:
            place = self._places[vi.number] = self._node.allocate(2 * 8 * TOKENS, 64)
        vi.private = Tokens(place), Tokens(place + 8 * TOKENS)
        page = self._processor.doorbell(CQ_PAGE + self._node.description.via.cqs + vi.number)
        for queue in (vi.send, vi.receive):
            queue.arming += page - vi.send.doorbell
        vi.receive.doorbell += page - vi.send.doorbell
        vi.send.doorbell = page
        await super().create_vi(vi)

    async def idle(self, vi: Vi) -> None:
        while (counts := await self._counts(vi)) & LOW != counts >> 32:
            await self._port.delay(SETTLE)
        keep_count(vi, counts & LOW)
        await self.command(vi, ViCommand.IDLE)

    async def state(self, vi: Vi) -> ViState:
        await self._mailbox.call(Command.QUERY, vi.number)
        return ViState(await self._mailbox.answer(0))

    async def drained(self, vi: Vi) -> bool:
        counts = await self._counts(vi)
        return counts & LOW == counts >> 32

    async def completed(self, vi: Vi) -> int:
        """The same counts as the engine's."""
        return await self._counts(vi) & LOW

    async def _counts(self, vi: Vi) -> int:
        """Completed and posted descriptors of both queues of ``vi``, counted by the firmware, which
        has then read all posted tokens."""
        tokens = vi.send.posted, vi.receive.posted
        await self._mailbox.call(Command.QUERY, vi.number)
        for place, posted in enumerate(tokens):
            vi.private[place].told = posted
        return await self._mailbox.answer(1)

    async def command(self, vi: Vi, command: ViCommand, peer: int = 0) -> None:
        self._port.spend(self._paths.command)
        send, receive = vi.private
        await self._mailbox.call(Command.VI, vi.number, command, attributes_word(vi), peer,
                                 receive.ring << 32 | send.ring)

    # Completion queues

    async def create_cq(self, cq: Cq) -> None:
        cq.page = self._processor.doorbell(CQ_PAGE + cq.number)
        va, handle = await self._table.place(cq.ring)
        self._port.spend(self._paths.command)
        await self._mailbox.call(Command.CQ, cq.number, ADDRESS.pack(va=va, handle=handle),
                                 cq_word(cq))

    async def destroy_cq(self, cq: Cq) -> None:
        self._port.spend(self._paths.command)
        await self._mailbox.call(Command.CQ, cq.number, 0, 0)

    # Arming

    async def arm(self, queue: WorkQueue) -> None:
        if not self._as_words:
            await self._doorbells.arm(queue)
            return
        self._port.spend(self._paths.arm)
        self._port.spend(self._paths.kernel)
        await self._mailbox.call(Command.ARM, queue.vi.number, queue.receive, queue.seen & 0xFFFF)

    # Interrupts

    async def events(self) -> list[tuple[Event, int]]:
        port, size = self._port, self._node.description.via.events
        found = []
        lost = False
        # Not posted: an event that came before the clear arrived is found by the checks after it.
        await port.pio_write(self._nic + IRQ_STATUS, Irq.PROCESSOR, posted=False)
        before = self._taken
        while True:
            port.put_poll(self._events + 8 * (self._taken % size),
                          1 - (self._taken // size & 1), 1, 0, F_ONCE)
            await port.executed
            if port.status & TIMEOUT:
                break
            self._taken += 1
            event, number = Event(EVENT.get(port.data, "code")), EVENT.get(port.data, "number")
            lost |= event is Event.CATASTROPHIC
            if event is not Event.CATASTROPHIC or number != DOORBELLS_LOST:
                found.append((event, number))
        if self._taken != before:
            await port.pio_write(self._taken_at, self._taken)
            self._lock.wrote()
        if lost:
            await self._ring_again()
        return found

    async def _ring_again(self) -> None:
        """Doorbells were lost: give the firmware the last token of each queue. The firmware takes a
        token once, however often it comes."""
        for vi in list(self._records.vis.values()):
            send, receive = vi.private
            await self._mailbox.call(Command.TOKENS, vi.number, send.last, receive.last)
