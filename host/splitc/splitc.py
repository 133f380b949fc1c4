"""Split-C of one process: the public calls.

Whatever waits, polls; a process serves the others only in calls that wait or send, and in
:meth:`SplitC.poll`.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ...layouts.doors.layer import Layer
from ..am.layer import LAYER as AM
from ..port.node import Node
from .bulk import Bulk
from .collectives import Collectives, Operation, add
from .counting import Counting
from .heap import Heap
from .pointers import GlobalPointer, SpreadArray, size_of
from .procedures import Procedure, Procedures
from .process import Process, SplitCError
from .words import Words

__all__ = ["SplitC"]

ALIGN = 64
"""Spread arrays begin at multiples of this many bytes."""


class SplitC:
    """Split-C on ``node``, with the ``procedures`` that other processes may run here: the same, in
    the same order, on all. Its messages, and its processes, are those of ``layer``: over Active
    Messages, the default, a process is a node. A program runs between :meth:`enable`
    and :meth:`disable`, or inside ``async with SplitC(node) as sc:``.

    Attributes
    ----------
    MYPROC, PROCS
        Number of this process, and number of processes.
    node, am
        The node, and its Active Messages.
    statistics
        Counts of messages and bytes, by kind.

    Raises
    ------
    SplitCError
        Others run a program than the layer's processes: over Active Messages each node.
    """

    def __init__(self, node: Node, procedures: Sequence[Procedure] = (), layer: Layer = AM
                 ) -> None:
        self._process = process = Process(node, layer)
        self._arrays = 0
        self.node = node
        self.am = process.am
        self.MYPROC = process.number
        self.PROCS = process.procs
        self.statistics = process.statistics
        self._counting = counting = Counting(process)
        self._words = Words(process, counting)
        self._bulk = Bulk(process, counting)
        self._collectives = Collectives(process)
        self._procedures = Procedures(process, counting, self, procedures)

    async def enable(self) -> None:
        """Start. This must be the first call."""
        await self.am.enable()

    async def disable(self) -> None:
        """Finish: serve the others until all have called this."""
        await self.am.disable()

    async def __aenter__(self) -> "SplitC":
        await self.enable()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        if kind is None:
            await self.disable()

    async def poll(self) -> None:
        """Serve what has arrived, once."""
        await self.am.poll()

    # Memory

    async def all_spread_malloc(self, count: int, element: str | int) -> SpreadArray:
        """Allocate a spread array of ``count`` elements, each one value of a type ("d") or a number
        of bytes. All processes call this, with the same arguments."""
        if count < 0:
            raise SplitCError(f"a spread array of {count} elements: must not be negative")
        size = size_of(element) if isinstance(element, str) else element
        if size < 1:
            raise SplitCError(f"an element of {size} bytes: must be at least 1")
        node = self.node
        mine = node.allocate(0, ALIGN)
        address = int(await self.reduce(mine, max))
        self._arrays += 1
        part = -(-count // self.PROCS) * size
        lanes = self._process.lanes
        several = any(lanes)
        if several:
            part += -part % ALIGN
        node.shared_service(Heap).claim(node, self._arrays, mine, address,
                                        self._process.here * part, ALIGN)
        return SpreadArray(address, count, self.PROCS, size,
                           element if isinstance(element, str) else "",
                           tuple(lanes) if several else (), part if several else 0)

    def tolocal(self, pointer: GlobalPointer) -> int:
        """The address of ``pointer`` in this process's memory.

        Raises
        ------
        SplitCError
            It points into another's.
        """
        if not self._process.is_local(pointer, pointer.size):
            raise SplitCError(f"tolocal: {pointer} is not local to process {self.MYPROC}")
        return pointer.address

    # Words

    async def read(self, source: GlobalPointer) -> int | float:
        """Blocking read: the value at ``source``."""
        return await self._words.read(source)

    async def write(self, target: GlobalPointer, value: int | float) -> None:
        """Blocking write: returns when the value is there."""
        await self._words.write(target, value)

    async def get(self, local: int, source: GlobalPointer) -> None:
        """Split-phase read (``:=``) to the address ``local`` of this process. :meth:`sync` waits
        for it."""
        await self._words.get(local, source)

    async def put(self, target: GlobalPointer, value: int | float) -> None:
        """Split-phase write (``:=``). :meth:`sync` waits for it."""
        await self._words.put(target, value)

    async def sync(self) -> None:
        """Wait until all gets and puts of this process are complete, and the source of each of its
        bulk stores may be reused."""
        await self._counting.sync()

    async def store(self, target: GlobalPointer, value: int | float) -> None:
        """One-way write (``:-``). Its bytes are counted at the receiver: :meth:`store_sync`,
        :meth:`all_store_sync`."""
        await self._words.store(target, value)

    async def store_sync(self, length: int) -> None:
        """Wait until ``length`` bytes, besides those of earlier calls, were stored here, by
        whomever."""
        await self._counting.store_sync(length)

    async def all_store_sync(self) -> None:
        """Wait until everything that was stored anywhere has arrived. All processes call this.

        It is as many reductions as it takes until all processes together have received as many
        bytes as they have sent. None sends meanwhile, so the sum is zero only then.
        """
        counting = self._counting
        while True:
            received = counting.received
            if not await self.reduce(counting.sent - received):
                break
        counting.settle(received)

    # Bulk

    async def bulk_read(self, local: int, source: GlobalPointer, length: int) -> None:
        """Copy ``length`` bytes from ``source`` to the address ``local``; return when they are
        there."""
        await self._bulk.read(local, source, length)

    async def bulk_write(self, target: GlobalPointer, local: int, length: int) -> None:
        """Copy ``length`` bytes from ``local`` to ``target``; return when they are there."""
        await self._bulk.write(target, local, length)

    async def bulk_get(self, local: int, source: GlobalPointer, length: int) -> None:
        """As :meth:`bulk_read`, but split-phase."""
        await self._bulk.get(local, source, length)

    async def bulk_put(self, target: GlobalPointer, local: int, length: int) -> None:
        """As :meth:`bulk_write`, but split-phase; the source may be reused after :meth:`sync`."""
        await self._bulk.put(target, local, length)

    async def bulk_store(self, target: GlobalPointer, local: int, length: int) -> None:
        """As :meth:`store`, of ``length`` bytes from ``local``, which may be reused after
        :meth:`sync` or :meth:`all_store_sync`."""
        await self._bulk.store(target, local, length)

    # Procedures

    async def atomic(self, process: int, procedure: Procedure, *words: int) -> Any:
        """Run ``procedure(sc, source, *words)`` at ``process``, with nothing in between; return
        what it returns: None, a word of 32 bits, or a tuple of up to four."""
        return await self._procedures.atomic(process, procedure, *words)

    async def store_by(self, process: int, procedure: Procedure, *words: int) -> None:
        """One-way: ``procedure(sc, source, *words)`` puts the words where they belong at
        ``process``. They are stored bytes, 4 a word."""
        await self._procedures.store(process, procedure, *words)

    # Collective calls: all processes make them, in the same order

    async def barrier(self) -> None:
        """Wait until all processes have called this."""
        await self._collectives.barrier()

    async def broadcast(self, value: int | float, root: int = 0, type: str = "q") -> int | float:
        """The ``value`` that process ``root`` has."""
        return await self._collectives.broadcast(value, root, type)

    async def reduce(self, value: int | float, operation: Operation = add, type: str = "q"
                     ) -> int | float:
        """All processes' values combined by ``operation``, an associative function of two; by
        default their sum. All processes get it."""
        return await self._collectives.reduce(value, operation, type)

    async def scan(self, value: int | float, operation: Operation = add, type: str = "q"
                   ) -> int | float:
        """The values of processes 0 to this one combined."""
        return await self._collectives.scan(value, operation, type)
