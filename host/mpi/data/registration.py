"""Registered memory of users' buffers, kept after use.

Pages are registered whole. A region that is no longer in use stays registered until others need its
room: the least recently used one goes first. ``mpi.registration_cache`` is the number of pages
kept; with 0 each use registers and deregisters.
"""

from collections import OrderedDict
from dataclasses import dataclass

from ....layouts.trace import BEGIN, END, Activity
from ...kernel.process import Process
from ..costs import Prices
from ..progress.channel import Channel, NoRoom

__all__ = ["Region", "Registration"]

REGISTER = int(Activity.REGISTER)


@dataclass(slots=True, eq=False)
class Region:
    """Registered pages ``first`` to ``last``, in use by ``users``."""

    first: int
    last: int
    handle: int
    users: int = 0


class Registration:
    """The regions of ``process`` on ``channel``.

    Attributes
    ----------
    hits, misses
        Uses that found their pages registered, and those that did not.
    """

    def __init__(self, process: Process, channel: Channel, prices: Prices, pages: int) -> None:
        self._process = process
        self._channel = channel
        self._prices = prices
        self._limit = pages
        self._regions: OrderedDict[tuple[int, int], Region] = OrderedDict()
        self._pages = 0
        self.hits = self.misses = 0

    async def use(self, address: int, length: int) -> Region:
        """The region that has these bytes, until :meth:`leave`.

        Raises
        ------
        NoRoom
            There is none, even without all that is not in use.
        """
        size = self._process.page_bytes
        first, last = address // size, (address + length - 1) // size
        self._process.port.spend(self._prices.cached)
        for key, region in self._regions.items():
            if region.first <= first and last <= region.last:
                self.hits += 1
                region.users += 1
                self._regions.move_to_end(key)
                return region
        self.misses += 1
        port = self._process.port
        port.mark(REGISTER, BEGIN, 0)
        try:
            await self._make_room(last - first + 1)
            handle = await self._registered(first * size, (last - first + 1) * size)
        finally:
            port.mark(REGISTER, END, 0)
        region = Region(first, last, handle, 1)
        self._regions[first, last] = region
        self._pages += last - first + 1
        return region

    async def _registered(self, address: int, length: int) -> int:
        try:
            return await self._channel.register(address, length)
        except NoRoom:
            await self._make_room(self._limit)
            return await self._channel.register(address, length)

    async def leave(self, region: Region) -> None:
        """One use of ``region`` has ended."""
        region.users -= 1
        if not region.users and self._pages > self._limit:
            port = self._process.port
            port.mark(REGISTER, BEGIN, 0)
            await self._drop(region)
            port.mark(REGISTER, END, 0)

    async def _make_room(self, pages: int) -> None:
        for region in list(self._regions.values()):
            if self._pages + pages <= self._limit:
                break
            if not region.users:
                await self._drop(region)

    async def _drop(self, region: Region) -> None:
        size = self._process.page_bytes
        pages = region.last - region.first + 1
        del self._regions[region.first, region.last]
        self._pages -= pages
        await self._channel.deregister(region.first * size, pages * size, region.handle)
