"""Pages that the NIC may access: those of segments, registered ones, or those that it asks for."""

from collections.abc import Mapping

from ...layouts.unet import SEGMENT_PAGES, TABLE_ENTRY, Buffers
from ..kernel.process import BASE, Process
from ..port.node import Node
from ..processor import NicProcessor
from .costs import Prices

__all__ = ["Pinning"]


class Pinning:
    """The pages that the kernel of ``node`` has pinned for the NIC.

    Attributes
    ----------
    pages
        Pages pinned for each endpoint: how often each was registered. With ``unet.buffers`` = tlb
        those whose translations the NIC holds.
    misses
        Questions of the NIC so far.
    """

    def __init__(self, node: Node, processor: NicProcessor, kind: Buffers) -> None:
        description = node.description
        self._node, self._port, self._memory = node, node.port, node.memory
        self._processor = processor
        self._kind = kind
        self._paths = node.service(Prices)
        self._page_bytes = description.via.page_bytes
        self._table_pages = description.memory.bytes // self._page_bytes
        self._tables: dict[int, int] = {}
        self._processes: dict[int, Process] = {}
        self.pages: dict[int, dict[int, int]] = {}
        self.misses = 0

    async def open(self, number: int, process: Process, segment: int, size: int
                   ) -> tuple[int, int]:
        """Pin the segment of endpoint ``number``. The bytes, or pages, of the endpoint, and its
        table in host memory."""
        self._processes[number] = process
        self.pages[number] = {}
        if self._kind is Buffers.SEGMENT:
            await self._segment(number, process, segment, size)
            return size, 0
        if self._kind is Buffers.TLB:
            return self._table_pages, 0
        length = self._table_pages * TABLE_ENTRY
        if number not in self._tables:
            self._tables[number] = self._node.allocate(length, 64)
        self._memory.write(self._tables[number], bytes(length))
        await self.register(number, segment, size)
        return self._table_pages, self._tables[number]

    async def _segment(self, number: int, process: Process, segment: int, size: int) -> None:
        """Pin the segment, and write where its pages are into the NIC."""
        port, step = self._port, self._page_bytes
        frames = [process.physical(segment + at) for at in range(0, size, step)]
        at = self._processor.address("segments", number * SEGMENT_PAGES * 4)
        with port.in_kernel():
            for index in range(0, len(frames), 2):
                pair = frames[index:index + 2]
                port.spend(self._paths.page)
                await port.pio_write(at + 4 * index, pair[0] | (pair[1] << 32 if pair[1:] else 0))

    async def close(self, number: int) -> None:
        """Unpin all that the endpoint had."""
        for _ in self.pages.pop(number):
            self._port.spend(self._paths.unpin)
        await self._port.flush()

    def _span(self, va: int, length: int) -> range:
        size = self._page_bytes
        return range((va - BASE) // size, (va - BASE + max(length, 1) - 1) // size + 1)

    async def register(self, number: int, va: int, length: int) -> None:
        """Pin these bytes' pages, whole."""
        await self._count(number, va, length, 1)

    async def deregister(self, number: int, va: int, length: int) -> bool | None:
        """Unpin them: whether one is reached no more; None: they were not registered."""
        if any(page not in self.pages[number] for page in self._span(va, length)):
            return None
        return await self._count(number, va, length, -1)

    async def _count(self, number: int, va: int, length: int, count: int) -> bool:
        """Count registrations of these pages up or down; whether the table has changed."""
        port, pages, changed = self._port, self.pages[number], []
        for page in self._span(va, length):
            before = pages.get(page, 0)
            pages[page] = after = before + count
            if not after:
                del pages[page]
            port.spend(self._paths.page if count > 0 else self._paths.unpin)
            if not before or not after:
                changed.append((page, bool(after)))
        table, process = self._tables[number], self._processes[number]
        if changed:
            await port.touch(table + changed[0][0] * TABLE_ENTRY, len(changed) * TABLE_ENTRY,
                             store=True)
        await port.flush()
        for page, there in changed:
            frame = process.physical(BASE + page * self._page_bytes) if there else 0
            self._memory.write(table + page * TABLE_ENTRY, frame.to_bytes(TABLE_ENTRY, "little"))
        return bool(changed)

    async def asked(self, processes: Mapping[int, Process]) -> int | None:
        """Answer the NIC's question, if there is one that has no answer yet: unpin the page that
        leaves its TLB, pin the one that it wants. The frame of that, 0 if there is none."""
        port = self._port
        at = self._processor.address("question")
        with port.in_kernel():
            word = await port.pio_read(at)
            if word & 0xFFFF_FFFF == self.misses:
                return None
            page = await port.pio_read(at + 8)
            victim = await port.pio_read(at + 16)
        self.misses += 1
        port.spend(self._paths.miss)
        number = word >> 32
        if page >> 32:
            gone = self.pages.get(victim & 0xFFFF_FFFF)
            if gone is not None and gone.pop(victim >> 32, 0):
                port.spend(self._paths.unpin)
        process = processes.get(number)
        wanted = page & 0xFFFF_FFFF
        frame = process.place(BASE + wanted * self._page_bytes) if process else 0
        if frame:
            port.spend(self._paths.page)
            self.pages[number][wanted] = 1
        return frame
