"""Accesses to bytes in bulk.

bulk_read and bulk_get are an am_get; bulk_write, bulk_put and bulk_store an am_store_async, whose
handler at the receiver answers, or counts the bytes.
"""

from typing import Any

from .costs import Prices
from .counting import Counting
from .pointers import GlobalPointer
from .process import Process

__all__ = ["Bulk"]

AWAITED, SPLIT_PHASE = 0, 1


class Bulk:
    """Copies bytes between this process's memory and that of any process."""

    __slots__ = ("_process", "_counting", "_arrived", "_h_got", "_h_put", "_h_stored", "_h_done",
                 "_c_bulk", "_c_copy", "_c_counted")

    def __init__(self, process: Process, counting: Counting) -> None:
        self._process = process
        self._counting = counting
        self._arrived = False
        """Whether the blocking access is complete."""
        register = process.am.register
        self._h_got = register(self._got)
        self._h_put = register(self._put)
        self._h_stored = register(self._stored)
        self._h_done = register(self._done)
        prices = process.node.service(Prices)
        self._c_bulk = prices.bulk
        self._c_copy = prices.copy
        self._c_counted = prices.counted

    # Calls

    async def read(self, local: int, source: GlobalPointer, length: int) -> None:
        """Copy ``length`` bytes from ``source`` to ``local``; return when they are there."""
        self._arrived = False
        if await self._elsewhere("bulk_read", source, local, length, into=True):
            await self._process.am.get(source.process, source.address, local, length, self._h_got,
                                       AWAITED)
            await self._wait("bulk_read", source.process)

    async def write(self, target: GlobalPointer, local: int, length: int) -> None:
        """Copy ``length`` bytes from ``local`` to ``target``; return when they are there."""
        self._arrived = False
        if await self._elsewhere("bulk_write", target, local, length, into=False):
            await self._process.am.store_async(target.process, local, target.address, length,
                                               self._h_put, AWAITED)
            await self._wait("bulk_write", target.process)

    async def get(self, local: int, source: GlobalPointer, length: int) -> None:
        """Begin to copy ``length`` bytes from ``source`` to ``local``."""
        if await self._elsewhere("bulk_get", source, local, length, into=True):
            self._counting.open += 1
            await self._process.am.get(source.process, source.address, local, length, self._h_got,
                                       SPLIT_PHASE)

    async def put(self, target: GlobalPointer, local: int, length: int) -> None:
        """Begin to copy ``length`` bytes from ``local`` to ``target``."""
        if await self._elsewhere("bulk_put", target, local, length, into=False):
            self._counting.open += 1
            await self._process.am.store_async(target.process, local, target.address, length,
                                               self._h_put, SPLIT_PHASE)

    async def store(self, target: GlobalPointer, local: int, length: int) -> None:
        """Send ``length`` bytes from ``local`` to ``target``; only the receiver learns of their
        arrival."""
        counting = self._counting
        if await self._elsewhere("bulk_store", target, local, length, into=False):
            counting.open += 1
            await self._process.am.store_async(target.process, local, target.address, length,
                                               self._h_stored, 0, self._free)
        else:
            counting.received += length
        counting.sent += length

    # Handlers and end functions

    def _got(self, am: Any, source: int, address: int, length: int, phase: int) -> None:
        self._complete(phase)

    def _put(self, am: Any, source: int, address: int, length: int, phase: int) -> Any:
        return am.reply(self._h_done, phase)

    def _stored(self, am: Any, source: int, address: int, length: int, phase: int) -> None:
        self._process.port.spend(self._c_counted)
        self._counting.received += length

    def _done(self, am: Any, source: int, phase: int) -> None:
        self._complete(phase)

    def _free(self, am: Any, argument: Any) -> None:
        self._complete(SPLIT_PHASE)

    def _complete(self, phase: int) -> None:
        self._process.port.spend(self._c_counted)
        if phase == AWAITED:
            self._arrived = True
        else:
            self._counting.open -= 1

    # Helpers

    async def _elsewhere(self, kind: str, place: GlobalPointer, local: int, length: int, *,
                         into: bool) -> bool:
        """Whether ``place`` is at another process. If not, copy its bytes to (``into``) or from
        ``local`` here."""
        process = self._process
        process.check(local, length)
        if not process.is_local(place, length):
            process.port.spend(self._c_bulk)
            process.statistics.sent(kind, length, place.process)
            return True
        process.port.spend(self._c_copy)
        process.statistics.stayed(kind)
        source, target = (place.address, local) if into else (local, place.address)
        if length and source != target:
            port = process.port
            await port.touch(source, length)
            port.work("copy_word", -(-length // 8))
            await port.touch(target, length, store=True)
            await port.flush()
            process.memory.write(target, process.memory.read(source, length))
        return False

    async def _wait(self, kind: str, other: int) -> None:
        process = self._process
        process.port.waiting_for(f"process {other} to complete a {kind}")
        await process.am.wait(lambda: self._arrived)
        process.port.waiting_for("")
