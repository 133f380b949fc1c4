"""A process: its virtual memory, scattered over a node's physical pages."""

from collections.abc import Awaitable, Sequence

from ..port.node import Node
from ..port.suspension import NOTHING
from .page_frames import PageFrames

__all__ = ["BASE", "Process"]

BASE = 0x10_0000_0000
"""Beginning of a process's memory, above all 32-bit addresses."""


class Process:
    """Process ``number`` (1 to 255) of ``node``.

    Processes of a node share its host port, one after the other in one program. Each has its own
    address space, which begins at the same address in all.

    Attributes
    ----------
    node, port, memory, number
    page_bytes
        Size of a page (``via.page_bytes``).
    """

    def __init__(self, node: Node, number: int = 1) -> None:
        if not 1 <= number <= 255:
            raise ValueError(f"number must be 1 to 255, not {number}")
        self.node = node
        self.port = node.port
        self.memory = node.memory
        self.number = number
        self._frames = frames = node.service(PageFrames)
        self.page_bytes = size = frames.page_bytes
        self._shift = size.bit_length() - 1
        self._mask = size - 1
        self._pages: dict[int, int] = {}
        """Physical address of each mapped page, by page number."""
        self._next = BASE

    def allocate(self, length: int, align: int = 8, *, fresh: bool = False) -> int:
        """Virtual address of ``length`` newly allocated zero bytes, a multiple of ``align`` (a
        power of two, at most a page). ``fresh``: in pages that hold no other data so far.

        Raises
        ------
        MemoryError
            The node's memory is full (memory.bytes).
        """
        if length < 0:
            raise ValueError(f"length must not be negative, not {length}")
        if align < 1 or align & (align - 1) or align > self.page_bytes:
            raise ValueError(f"align must be a power of two up to a page, not {align}")
        va = self._next
        if fresh:
            align = self.page_bytes
        va = -(-va // align) * align
        shift, pages, new = self._shift, self._pages, []
        try:
            for page in range(va >> shift, (va + max(length, 1) - 1 >> shift) + 1):
                if page not in pages:
                    pages[page] = self._frames.take() << shift
                    new.append(page)
        except MemoryError:
            for page in new:
                self._frames.give(pages.pop(page) >> shift)
            raise
        self._next = va + length
        return va

    def physical(self, va: int) -> int:
        """Address of the byte at ``va`` in the node's memory.

        Raises
        ------
        ValueError
            No page is mapped at ``va``.
        """
        try:
            return self._pages[va >> self._shift] | va & self._mask
        except KeyError:
            raise self._outside(va) from None

    def place(self, va: int) -> int:
        """The same, or 0, where nothing is, if no page is mapped at ``va``."""
        page = self._pages.get(va >> self._shift)
        return 0 if page is None else page | va & self._mask

    def near(self, va: int, length: int) -> int:
        """Physical address of ``length`` bytes at ``va``; 0 if they are not in one mapped page."""
        return self.place(va) if (va & self._mask) + length <= self.page_bytes else 0

    def near_piece(self, pieces: Sequence[tuple[int, int]], length: int) -> int:
        """The same of the first ``length`` bytes of ``pieces`` (address and bytes of each); 0 also
        if they are in several, or none."""
        if len(pieces) != 1:
            return 0
        [(va, size)] = pieces
        at = va & self._mask
        if not 0 < length <= size or at + length > self.page_bytes:
            return 0
        page = self._pages.get(va >> self._shift)
        return 0 if page is None else page | at

    def _outside(self, va: int) -> ValueError:
        return ValueError(f"process {self.number} of node {self.node.number} has no memory at "
                          f"{va:#x}")

    def mapped(self, va: int, length: int = 1) -> bool:
        """Tells whether all of these bytes are mapped."""
        if length < 0 or va < 0:
            return False
        pages, shift = self._pages, self._shift
        first, last = va >> shift, va + (length or 1) - 1 >> shift
        if first == last:
            return first in pages
        return all([page in pages for page in range(first, last + 1)])

    def pieces(self, va: int, length: int) -> list[tuple[int, int]]:
        """The bytes as (physical address, length), cut at pages."""
        found, pages, shift, mask = [], self._pages, self._shift, self._mask
        while length > 0:
            at = va & mask
            part = min(length, mask + 1 - at)
            try:
                found.append((pages[va >> shift] | at, part))
            except KeyError:
                raise self._outside(va) from None
            va += part
            length -= part
        return found

    # Zero-time access, for set-up and inspection

    def read(self, va: int, length: int) -> bytes:
        at = va & self._mask
        if at + length <= self.page_bytes:
            if not length:
                return b""
            try:
                return self.memory.read(self._pages[va >> self._shift] | at, length)
            except KeyError:
                raise self._outside(va) from None
        return b"".join(self.memory.read(at, part) for at, part in self.pieces(va, length))

    def view(self, va: int, length: int) -> memoryview | bytes:
        """The bytes at ``va``, at least one, for whoever copies them at once: within a page they
        are not copied before."""
        at = va & self._mask
        if at + length <= self.page_bytes:
            try:
                return self.memory.view(self._pages[va >> self._shift] | at, length)
            except KeyError:
                raise self._outside(va) from None
        found = memoryview(bytearray(length))
        self.read_into(va, found)
        return found

    def read_into(self, va: int, data: memoryview) -> None:
        """The bytes from ``va`` on into ``data``: its whole pages at once."""
        memory, length, size = self.memory, len(data), self.page_bytes
        begin = -va & self._mask
        if begin >= length:
            if length:
                data[:] = memory.view(self.physical(va), length)
            return
        if begin:
            data[:begin] = memory.view(self.physical(va), begin)
        end = length - (va + length & self._mask)
        if end > begin:
            memory.read_pages(self._numbers(va + begin, va + end), size, data[begin:end])
        if end < length:
            data[end:] = memory.view(self.physical(va + end), length - end)

    def write(self, va: int, data: bytes | memoryview) -> None:
        at, length = va & self._mask, len(data)
        if not length:
            return
        if at + length <= self.page_bytes:
            try:
                self.memory.write(self._pages[va >> self._shift] | at, data)
            except KeyError:
                raise self._outside(va) from None
            return
        memory, whole, begin = self.memory, memoryview(data), -va & self._mask
        if begin:
            memory.write(self.physical(va), whole[:begin])
        end = length - (va + length & self._mask)
        if end > begin:
            memory.write_pages(self._numbers(va + begin, va + end), self.page_bytes,
                               whole[begin:end])
        if end < length:
            memory.write(self.physical(va + end), whole[end:])

    def _numbers(self, va: int, end: int) -> list[int]:
        """Numbers of the physical pages of the whole pages from ``va`` to ``end``."""
        shift, pages = self._shift, self._pages
        try:
            return [pages[page] >> shift for page in range(va >> shift, end >> shift)]
        except KeyError as error:
            raise self._outside(error.args[0] << shift) from None

    # Access by the CPU: charged

    def touch(self, va: int, length: int, store: bool = False) -> Awaitable[None]:
        """CPU traffic over these bytes, through the cache."""
        at = va & self._mask
        if at + length > self.page_bytes:
            return self._touch(va, length, store)
        if length > 0:
            try:
                address = self._pages[va >> self._shift] | at
            except KeyError:
                raise self._outside(va) from None
            return self.port.touch(address, length, store)
        return NOTHING

    async def _touch(self, va: int, length: int, store: bool) -> None:
        """The same over several pages."""
        for address, part in self.pieces(va, length):
            await self.port.touch(address, part, store)

    def queue_touch(self, va: int, length: int, store: bool = False) -> None:
        """The same, without waiting (:meth:`Port.put_touch`)."""
        port, at = self.port, va & self._mask
        if at + length > self.page_bytes:
            for address, part in self.pieces(va, length):
                port.put_touch(address, part, store)
        elif length > 0:
            try:
                address = self._pages[va >> self._shift] | at
            except KeyError:
                raise self._outside(va) from None
            port.put_touch(address, length, store)

    async def store(self, va: int, data: bytes) -> None:
        """The CPU writes ``data``: charged, and visible when the operation has ended."""
        self.port.work("store", -(-len(data) // 8))
        await self.touch(va, len(data), store=True)
        await self.port.flush()
        self.write(va, data)

    async def load(self, va: int, length: int) -> bytes:
        """The CPU reads: charged; the result is the content when the operation has ended."""
        self.port.work("load", -(-length // 8))
        await self.touch(va, length)
        await self.port.flush()
        return self.read(va, length)
