"""Registered memory: handles that are never reused, and places in the NIC's table.

The entry of a region's page p is at index (p + handle) modulo the table's size, so a handle's low
bits give the beginning of the region's run of entries. Its high bits count how often these low bits
were used, so a deregistered handle is never used again.
"""

from dataclasses import dataclass

from ...layouts.via import HANDLE_BITS, INDEX_BITS, TRANSLATION_FLAGS, TRANSLATION_PLACE
from ..kernel.process import Process
from .tags import Ptag

__all__ = ["HandleTable", "NoRoom", "Region", "entry"]

GENERATIONS = 1 << HANDLE_BITS - INDEX_BITS
LOW = (1 << INDEX_BITS) - 1


class NoRoom(Exception):
    """The table, or the supply of handles, has no room for a region, or the design point cannot
    protect the region."""


@dataclass(slots=True)
class Region:
    """``length`` bytes from ``va`` of ``process``, registered under ``handle``.

    ``first`` is the first page's number, ``frames`` the physical page numbers of its pages,
    ``index`` where its run of entries begins (page p at index + p - first, no wrap)."""

    process: Process
    va: int
    length: int
    ptag: Ptag
    rdma_write: bool
    rdma_read: bool
    handle: int
    first: int
    frames: list[int]
    index: int

    @property
    def pages(self) -> int:
        return len(self.frames)

    def covers(self, va: int, length: int) -> bool:
        """Tells whether all of these bytes belong to the region."""
        return self.va <= va and va + length <= self.va + self.length


def entry(region: Region, page: int) -> tuple[int, int]:
    """Words 0 and 1 of the table entry of ``page`` (a page number, from ``region.first`` on)."""
    size = region.process.page_bytes
    first = max(0, region.va - page * size)
    last = min(size, region.va + region.length - page * size) - 1
    return (TRANSLATION_FLAGS.pack(valid=1, rdma_write=region.rdma_write,
                                   rdma_read=region.rdma_read, tag=region.ptag.number,
                                   first=first, last=last),
            TRANSLATION_PLACE.pack(frame=region.frames[page - region.first], handle=region.handle,
                                   page=page >> 6))


class HandleTable:
    """Places in a translation table of ``size`` entries, and the handles that select them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._used = bytearray(size)
        self._from = 0
        self._generation: dict[int, int] = {}

    def take(self, first: int, pages: int) -> tuple[int, int]:
        """Take a run of entries for a region of ``pages`` pages whose first is ``first``; return
        the region's handle and the index of its first entry.

        Raises
        ------
        NoRoom
            No run of entries is free, or no handle for one is left.
        """
        free = bytes(pages)
        at = self._used.find(free, self._from)
        if at < 0:
            at = self._used.find(free)
        while at >= 0:
            handle = self._handle(at - first)
            if handle:
                self._used[at:at + pages] = b"\1" * pages
                self._from = at + pages
                return handle, at
            at = self._used.find(free, at + 1)
        raise NoRoom(f"no {pages} entries in a row are free of the {self.size} of the translation "
                     "table (via.translations)")

    def give(self, index: int, pages: int) -> None:
        """Free the entries again; the handle for them is used up."""
        self._used[index:index + pages] = bytes(pages)

    def _handle(self, low: int) -> int:
        """An unused handle whose low bits are ``low``; 0 if there is none."""
        low &= self.size - 1
        for place in range(low, LOW + 1, self.size):
            generation = self._generation.get(place, 1)
            if generation < GENERATIONS:
                self._generation[place] = generation + 1
                return generation << INDEX_BITS | place
        return 0
