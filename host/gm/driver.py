"""The driver: firmware, ports, registered memory, the interrupt. The kernel's part, one a node."""

from ...layouts.gm import (
    EVENT_BYTES,
    EVENTS,
    NODES,
    PORTS,
    QUEUE_SLOTS,
    TABLE_ENTRY,
    KernelCommand,
)
from ...layouts.operations import CACHE_LINE
from ...layouts.processor import SLOT_BYTES, WINDOW_PAGE
from ..kernel.process import BASE, Process
from ..port.node import Node
from ..processor import CoherentQueue, FirmwareDriver, PioQueue, SendQueue
from .costs import Prices
from .handles import Port
from .status import GM_STATUS

__all__ = ["Driver"]


class Driver(FirmwareDriver):
    """The driver of ``node``: ``node.kernel(Driver)``.

    Attributes
    ----------
    ports
        Open ports by number.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node, "GM")
        description = self.description
        self.paths = node.service(Prices)
        self.ports: dict[int, Port] = {}
        self._coherent = description.nic.attachment == "memory_bus"
        self._table_pages = description.memory.bytes // description.via.page_bytes
        self._places: dict[int, tuple[int, int, int]] = {}
        """Event ring, report word, translation table of each port that was ever open."""
        self._queues = 0
        """Where coherent queues are."""

    async def start(self) -> None:
        """Start the firmware, once a run.

        Raises
        ------
        ProcessorError
            This NIC has no processor, or it does not start.
        """
        if self.processor is not None:
            return
        node, description = self.node, self.description
        gm = description.gm
        parameters: dict[str, int | list[int]] = {
            "nodes": node.nodes, "window": gm.window, "retry_timeout": gm.retry_timeout,
            "retries": gm.retries, "mtu": description.nic.mtu,
            "page_bytes": description.via.page_bytes,
            "doorbell_queue": description.processor.doorbell_queue,
        }
        if self._coherent:
            size = PORTS * QUEUE_SLOTS * SLOT_BYTES
            self._queues = node.allocate(size, SLOT_BYTES)
            parameters |= {"coherent_base": self._queues, "coherent_bytes": size}
        await self._load("gm", parameters, NODES, gm)
        await self._listen()

    async def open(self, process: Process, number: int, name: str) -> Port | None:
        """Give port ``number`` to ``process``; None if the node's memory is full."""
        processor = self.processor
        assert processor is not None
        try:
            events, report, table = self._place(number)
        except MemoryError:
            return None
        page = processor.symbol("port_pages") // WINDOW_PAGE + number - 1
        host_slots = self._queue_place(number) if self._coherent else 0
        await self._own_page(page, process.number)
        await self._own_doorbell(number, process.number)
        gm = self.description.gm
        status = await self._mailbox.call(
            KernelCommand.OPEN | number << 8, events, table, BASE, self._table_pages,
            report | host_slots << 32, gm.send_tokens | gm.receive_tokens << 8)
        assert status == GM_STATUS.GM_SUCCESS, GM_STATUS(status)
        queue: SendQueue
        if self._coherent:
            queue = CoherentQueue(processor, number, host_slots, QUEUE_SLOTS, report)
        else:
            queue = PioQueue(processor, number, "port_pages", QUEUE_SLOTS, report,
                             offset=(number - 1) * WINDOW_PAGE)
        port = Port(process, number, name, queue, events, table, gm.send_tokens,
                    gm.receive_tokens)
        self.ports[number] = port
        return port

    def _queue_place(self, number: int) -> int:
        return self._queues + number * QUEUE_SLOTS * SLOT_BYTES

    def _place(self, number: int) -> tuple[int, int, int]:
        """Memory of a port, cleared: setting up, nobody looks at it yet."""
        node = self.node
        ring, table = EVENTS * EVENT_BYTES, self._table_pages * TABLE_ENTRY
        if number not in self._places:
            self._places[number] = (node.allocate(ring, 64),
                                    node.allocate(CACHE_LINE, CACHE_LINE),
                                    node.allocate(table, 64))
        place = self._places[number]
        for at, size in zip(place, (ring, 8, table), strict=True):
            self.memory.write(at, bytes(size))
        if self._coherent:
            self.memory.write(self._queue_place(number), bytes(QUEUE_SLOTS * SLOT_BYTES))
        return place

    async def close(self, port: Port) -> None:
        """Take the port back. When this returns the NIC touches no memory of it any more."""
        processor = self.processor
        assert processor is not None
        page = processor.symbol("port_pages") // WINDOW_PAGE + port.number - 1
        await self._own_doorbell(port.number, 0)
        await self._own_page(page, 0)
        status = await self._mailbox.call(KernelCommand.CLOSE | port.number << 8)
        assert status == GM_STATUS.GM_SUCCESS, GM_STATUS(status)
        port.open = False
        del self.ports[port.number]

    async def register(self, port: Port, va: int, length: int) -> None:
        """Pin these bytes' pages, whole, for the port."""
        await self._pages(port, va, length, 1)

    async def deregister(self, port: Port, va: int, length: int) -> bool:
        """Unpin them; those that were not registered else are reached no more when this returns.
        False if they were not."""
        if not self.registered(port, va, length):
            return False
        if await self._pages(port, va, length, -1):
            await self._mailbox.call(KernelCommand.FORGET | port.number << 8)
        return True

    def registered(self, port: Port, va: int, length: int) -> bool:
        """Tells whether all of these bytes are."""
        return all(page in port.pages for page in self._span(va, length))

    def _span(self, va: int, length: int) -> range:
        size = self.description.via.page_bytes
        return range(va // size, (va + max(length, 1) - 1) // size + 1)

    async def _pages(self, port: Port, va: int, length: int, count: int) -> bool:
        """Count registrations of these pages up or down; whether the table has changed."""
        cpu, changed = self.port, []
        size = self.description.via.page_bytes
        for page in self._span(va, length):
            before = port.pages.get(page, 0)
            after = before + count
            port.pages[page] = after
            if not after:
                del port.pages[page]
            cpu.spend(self.paths.page if count > 0 else self.paths.unpin)
            if not before or not after:
                changed.append((page, bool(after)))
        if changed:
            first = port.table + (changed[0][0] - BASE // size) * TABLE_ENTRY
            await cpu.touch(first, len(changed) * TABLE_ENTRY, store=True)
        await cpu.flush()
        for page, there in changed:
            frame = port.process.physical(page * size) if there else 0
            self.memory.write(port.table + (page - BASE // size) * TABLE_ENTRY,
                              frame.to_bytes(TABLE_ENTRY, "little"))
        return bool(changed)

    async def interrupt(self) -> None:
        """The interrupt handler: who waits looks at his events again."""
        self.lock.news()
        self.port.spend(self.paths.interrupt)
        await self._clear()
        await self._serve_others()
