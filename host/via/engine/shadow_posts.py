"""Posting with host-supplied physical addresses (via.translation = physical).

The NIC does not translate addresses. It only checks whether a physical page may be accessed. So
when the library posts, it writes a *shadow* of the descriptor for the NIC, in which every segment
is cut at page borders and every address is physical. When the descriptor is done, its status is
copied back. RDMA would need the other end's translation, which is not available:
ERROR_NOT_SUPPORTED.
"""

from collections.abc import Callable

from ....layouts.via import (
    CONTROL_BYTES,
    CONTROL_SEGMENT,
    DATA_SEGMENT,
    DESCRIPTOR_ALIGN,
    MAX_SEGMENTS,
    NEXT,
    SEGMENT_BYTES,
    STATUS_WORD,
    Operation,
)
from ...kernel.lock import kernel_lock
from ...port.node import Node
from ..agent.memory_queues import MemoryQueues
from ..agent.tables import PhysicalTable
from ..costs import Prices
from ..handles import Posted, WorkQueue
from ..records import Records
from ..regions import Region
from ..returns import VIP_RETURN
from .nic_words import BAD_TOKEN, token

__all__ = ["ShadowPosts"]


class Shadows:
    """Descriptors for the NIC, in pages that belong to the library, one pool for each protection
    tag."""

    def __init__(self, node: Node, table: PhysicalTable) -> None:
        self.node = node
        self._lock = kernel_lock(node)
        self.table = table
        self._free: dict[tuple[int, int], list[int]] = {}

    async def take(self, tag: int, length: int) -> tuple[int, int]:
        """Physical address of a contiguous shadow of at least ``length`` bytes, and its size."""
        size = max(64, 1 << (length - 1).bit_length())
        pool = self._free.setdefault((tag, size), [])
        if not pool:
            page = self.table.page_bytes
            chunk = max(page, size)
            base = self.node.allocate(chunk, chunk)
            async with self._lock.held():
                for frame in range(base // page, (base + chunk) // page):
                    await self.table.open_frame(frame, tag)
            pool.extend(range(base, base + chunk, size))
        return pool.pop(), size

    def give(self, tag: int, at: int, size: int) -> None:
        self._free[tag, size].append(at)


class ShadowPosts:
    """See :class:`~nicbed.host.via.posts.Posts`. A descriptor may have MAX_SEGMENTS segments; one
    that is cut into more at page borders is refused (ERROR_RESOURCE). ``ring(queue, word, trace)``
    rings the doorbell of ``queue``."""

    entries = 0

    def __init__(self, node: Node, records: Records, table: PhysicalTable, queues: MemoryQueues,
                 ring: Callable[[WorkQueue, int, int], None]) -> None:
        self._port = node.port
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._records = records
        self._queues = queues
        self._ring = ring
        self._shadows = Shadows(node, table)

    async def post(self, queue: WorkQueue, va: int, handle: int, trace: int
                   ) -> VIP_RETURN | None:
        port, paths, memory = self._port, self._paths, self._memory
        port.spend(paths.post)
        tag = queue.vi.attributes.ptag.number
        process = queue.vi.nic.process
        region = self._region(queue, handle)
        if region is None or va % DESCRIPTOR_ALIGN or not region.covers(va, CONTROL_BYTES):
            await self._post_bad(queue, va, handle, trace)
            return None
        _, _, count, control, _, immediate, length, _ = CONTROL_SEGMENT.unpack(
            process.read(va, CONTROL_BYTES))
        if control & 3 in (Operation.RDMA_WRITE, Operation.RDMA_READ):
            return VIP_RETURN.ERROR_NOT_SUPPORTED
        body: list[tuple[int, int, int]] = []
        if count <= MAX_SEGMENTS:
            await process.touch(va, CONTROL_BYTES + SEGMENT_BYTES * count)
            for place in range(count):
                self._split(queue, region, va + CONTROL_BYTES + SEGMENT_BYTES * place, body)
            if len(body) > MAX_SEGMENTS:
                return VIP_RETURN.ERROR_RESOURCE
            count = len(body)
        at, size = await self._shadows.take(tag, CONTROL_BYTES + SEGMENT_BYTES * len(body))
        port.spend(paths.shadow)
        memory.write(at, CONTROL_SEGMENT.pack(0, 0, count, control, trace, immediate, length, 0)
                     + b"".join(DATA_SEGMENT.pack(*segment) for segment in body))
        process.write(va + STATUS_WORD + 4, bytes(4))
        await port.touch(at, CONTROL_BYTES + SEGMENT_BYTES * len(body), store=True)
        self._link(queue, at, tag)
        await port.room(1)
        self._ring(queue, token(at, tag), trace)
        queue.entries.append(Posted(va, handle, at + STATUS_WORD, trace, True, (tag, at, size)))
        queue.posted += 1
        return None

    async def take(self, queue: WorkQueue) -> None:
        """Copy the NIC's results from the shadow: immediate data, Length, Status."""
        posted = queue.entries[0]
        if posted.shadow is None:
            return
        tag, at, size = posted.shadow
        process, port = queue.vi.nic.process, self._port
        port.spend(self._paths.unshadow)
        await port.room(2)
        physical = process.physical(posted.va)
        port.put_touch(at + 16, 16)
        port.put_touch(physical + 16, 16, True)
        self._memory.write(physical + 16, self._memory.read(at + 16, 16))
        self._shadows.give(tag, at, size)

    def _region(self, queue: WorkQueue, handle: int) -> Region | None:
        """The region of a handle given by the consumer, if the consumer may use it here."""
        region = self._records.regions.get(handle)
        if (region is None or region.process is not queue.vi.nic.process
                or region.ptag is not queue.vi.attributes.ptag):
            return None
        return region

    def _split(self, queue: WorkQueue, region: Region, at: int,
               body: list[tuple[int, int, int]]) -> None:
        """Cut the segment at ``at`` at page borders. A segment that must not be used becomes one
        that the NIC refuses."""
        process, paths = queue.vi.nic.process, self._paths
        self._port.spend(paths.split)
        if not region.covers(at, SEGMENT_BYTES):
            body.append((0, 0, 1))
            return
        va, handle, length = DATA_SEGMENT.unpack(process.read(at, SEGMENT_BYTES))
        found = self._region(queue, handle)
        if found is None and length or found is not None and not found.covers(va, length):
            body.append((0, 0, length))
            return
        tag = queue.vi.attributes.ptag.number
        pieces = process.pieces(va, length)
        body.extend((physical, tag, part) for physical, part in pieces)
        for _ in pieces[1:]:
            self._port.spend(paths.split)

    def _link(self, queue: WorkQueue, at: int, tag: int) -> None:
        entries = queue.entries
        if entries and entries[-1].shadow is not None:
            self._port.spend(self._paths.link)
            self._memory.write(entries[-1].shadow[1], NEXT.pack(at, tag))

    async def _post_bad(self, queue: WorkQueue, va: int, handle: int, trace: int) -> None:
        """Post an address that holds no descriptor of the consumer: give the NIC one that it
        refuses and reports."""
        await self._port.room(1)
        self._ring(queue, BAD_TOKEN, trace)
        queue.entries.append(Posted(va, handle, self._queues.flushed[queue.receive], trace, False))
        queue.posted += 1
