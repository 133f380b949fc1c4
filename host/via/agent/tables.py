"""The NIC's translation table, which the kernel agent writes: three kinds, by where it lies."""

from ....layouts.registers import address
from ....layouts.via import TRANSLATION_BYTES, TRANSLATION_FLAGS, TRANSLATION_PLACE
from ...kernel.lock import kernel_lock
from ...port.node import Node
from ...port.port import Watch
from ..costs import Prices
from ..handles import Ring
from ..regions import NoRoom, Region, entry

__all__ = ["HostTable", "NicTable", "PhysicalTable", "Table"]

TABLE_BASE, TABLE_INDEX = address("table_base"), address("table_index")
TABLE_FLAGS, TABLE_PLACE = address("table_flags"), address("table_place")
INVALIDATE, INVALIDATED = address("invalidate"), address("invalidated")


class Table:
    """The common part of the three kinds: an entry for each page, and invalidation.

    To revoke an entry, its valid bit is cleared first, then the NIC drops its copies. The
    revocation is complete when the NIC reports that no access under the old entry is under way."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._nic = node.nic_offset
        self.port = node.port
        self.memory = node.memory
        self.paths = node.service(Prices)
        self.size = node.description.via.translations
        self.page_bytes = node.description.via.page_bytes
        self._invalidated = 0

    async def start(self) -> None:
        """Make the table known to the NIC, with all entries invalid."""

    async def install(self, region: Region) -> None:
        """Enter all pages of ``region``."""
        for place in range(region.pages):
            await self._write(region.index + place, *entry(region, region.first + place))

    async def change(self, region: Region) -> None:
        """Write the region's entries again. Waits until the old entries are no longer in use."""
        await self.remove(region)
        await self.install(region)

    async def remove(self, region: Region) -> None:
        """Waits until no access by the region's entries can happen any more."""
        await self._revoke(range(region.index, region.index + region.pages))

    async def place(self, ring: Ring) -> tuple[int, int]:
        """The address and the handle by which the NIC finds ``ring``."""
        return ring.region.va, ring.region.handle

    async def _write(self, index: int, flags: int, place: int) -> None:
        raise NotImplementedError

    async def _revoke(self, indices: range | list[int]) -> None:
        port = self.port
        await port.flush()
        for index in indices:
            await self._write(index, 0, 0)
        await self._invalidate(indices)

    async def _invalidate(self, indices: range | list[int]) -> None:
        """Have the NIC drop its copies of these entries. Waits until none is in use."""
        port = self.port
        for index in indices:
            port.spend(self.paths.unpin)
            await port.room(2)
            port.put_write(self._nic + INVALIDATE, 1, index)
            self._invalidated = self._invalidated + 1 & 0xFFFF
            await port.poll(Watch(self._nic + INVALIDATED, self._invalidated, 0xFFFF))


class HostTable(Table):
    """In host memory, behind the NIC's cache (via.translation = cache)."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.base = 0

    def allocate(self) -> None:
        self.base = self.node.allocate(self.size * TRANSLATION_BYTES, 64)

    async def start(self) -> None:
        self.allocate()
        await self.port.pio_write(self._nic + TABLE_BASE, self.base)

    async def _write(self, index: int, flags: int, place: int) -> None:
        at = self.base + index * TRANSLATION_BYTES
        await self.port.touch(at, TRANSLATION_BYTES, store=True)
        self.memory.write(at, flags.to_bytes(8, "little") + place.to_bytes(8, "little"))


class NicTable(Table):
    """In the NIC (via.translation = table). The registers that an entry is written by are one for
    all CPUs."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._lock = kernel_lock(node)

    async def _write(self, index: int, flags: int, place: int) -> None:
        port = self.port
        await port.room(3)
        port.put_write(self._nic + TABLE_INDEX, 1, index)
        port.put_write(self._nic + TABLE_FLAGS, 1, flags)
        port.put_write(self._nic + TABLE_PLACE, 1, place)
        self._lock.wrote()


class PhysicalTable(NicTable):
    """In the NIC, one entry for each physical page (via.translation = physical).

    The handle in a page's entry is the number of its protection tag, so a page cannot belong to
    regions of two tags. The accessible bytes are those from the first to the last byte of any
    region in the page. The library makes the exact check by region when it posts.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._regions: dict[int, list[Region]] = {}

    def check(self, region: Region) -> None:
        """Raises NoRoom if the pages of ``region`` cannot have its tag."""
        for frame in region.frames:
            if frame >= self.size:
                raise NoRoom(f"physical page {frame} has no entry: the table has {self.size} "
                             "(via.translations)")
            if any(other.ptag is not region.ptag and other is not region
                   for other in self._regions.get(frame, ())):
                raise NoRoom("host-supplied physical addresses: a page cannot have two protection "
                             "tags")

    async def install(self, region: Region) -> None:
        self.check(region)
        for frame in region.frames:
            self._regions.setdefault(frame, []).append(region)
            await self._enter(frame)

    async def change(self, region: Region) -> None:
        self.check(region)
        await super().change(region)

    async def remove(self, region: Region) -> None:
        for frame in region.frames:
            self._regions[frame].remove(region)
        await self._revoke(region.frames)
        for frame in region.frames:
            if self._regions[frame]:
                await self._enter(frame)

    async def place(self, ring: Ring) -> tuple[int, int]:
        """A physical address. A ring of more than a page must be contiguous, so it moves to the
        library's own pages."""
        tag = ring.region.ptag.number
        if len(ring.places) > 1:
            page, length = self.page_bytes, 8 * ring.size
            base = self.node.allocate(length, page)
            for frame in range(base // page, (base + length) // page):
                await self.open_frame(frame, tag)
            ring.places = list(range(base, base + length, page))
        return ring.places[0], tag

    async def open_frame(self, frame: int, tag: int) -> None:
        """Give the NIC access to all of a page that belongs to the library."""
        await self._write(frame, *self._words(frame, tag, 0, self.page_bytes - 1))

    async def _enter(self, frame: int) -> None:
        size = self.page_bytes
        first, last = size, -1
        for region in self._regions[frame]:
            start = (region.first + region.frames.index(frame)) * size
            first = min(first, max(0, region.va - start))
            last = max(last, min(size, region.va + region.length - start) - 1)
        tag = self._regions[frame][0].ptag.number
        await self._write(frame, *self._words(frame, tag, first, last))

    def _words(self, frame: int, tag: int, first: int, last: int) -> tuple[int, int]:
        return (TRANSLATION_FLAGS.pack(valid=1, tag=tag, first=first, last=last),
                TRANSLATION_PLACE.pack(frame=frame, handle=tag, page=frame >> 6))
