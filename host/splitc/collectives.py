"""Barrier, broadcast, reduce and scan, by trees of messages.

All processes make the same collective calls in the same order. Each call has a number, which its
messages carry, so that a process that is a call ahead disturbs no other. A message brings its value
to the slot of its call and sender.
"""

from collections.abc import Callable
from typing import Any

from .costs import Prices
from .pointers import to_value, to_words
from .process import Process, SplitCError
from .statistics import COLLECTIVE

__all__ = ["Collectives", "add"]

Operation = Callable[[Any, Any], Any]


def add(left: Any, right: Any) -> Any:
    """The sum: what reduce and scan do by default."""
    return left + right


class Collectives:
    """The collective calls of a process.

    reduce combines along a binomial tree to process 0 and sends the result back along it: PROCS - 1
    messages each way. broadcast sends along such a tree from its root. scan doubles distances:
    in round r each process sends what it has to the one 2^r further on.
    """

    __slots__ = ("_process", "_call", "_slots", "_handler", "_c_collective", "_c_combine")

    def __init__(self, process: Process) -> None:
        self._process = process
        self._call = 0
        self._slots: dict[tuple[int, int], tuple[int, ...]] = {}
        self._handler = process.am.register(self._arrived)
        prices = process.node.service(Prices)
        self._c_collective = prices.collective
        self._c_combine = prices.combine

    async def barrier(self) -> None:
        """Wait until all processes have called this."""
        self._next()
        await self._up("barrier", None, None)
        await self._down("barrier", 0, ())

    async def broadcast(self, value: int | float, root: int, code: str) -> int | float:
        """The ``value`` of process ``root``. The others' is ignored. The root does not wait."""
        self._next()
        if not 0 <= root < self._process.procs:
            raise SplitCError(f"process {root}: there are 0 to {self._process.procs - 1} (PROCS)")
        words = to_words(code, value) if self._process.number == root else ()
        return to_value(code, await self._down("broadcast", root, words))

    async def reduce(self, value: int | float, operation: Operation, code: str) -> int | float:
        """All processes' values combined, in the order of the processes; all get the result."""
        self._next()
        whole = await self._up("reduce", value, operation, code)
        words = to_words(code, whole) if self._process.number == 0 else ()
        return to_value(code, await self._down("reduce", 0, words))

    async def scan(self, value: int | float, operation: Operation, code: str) -> int | float:
        """The values of processes 0 to this one combined."""
        self._next()
        process = self._process
        me, distance = process.number, 1
        to_words(code, value)
        while distance < process.procs:
            if me + distance < process.procs:
                await self._send(me + distance, to_words(code, value))
            if me >= distance:
                words = await self._take("scan", me - distance)
                process.port.spend(self._c_combine)
                value = operation(to_value(code, words), value)
            distance *= 2
        return to_value(code, to_words(code, value))

    def _next(self) -> None:
        self._call = self._call + 1 & 0xFFFF_FFFF

    async def _up(self, what: str, value: Any, operation: Operation | None, code: str = "") -> Any:
        """Combine with what the children of the tree send, and send the result to the parent. With
        process 0 as the root a child's part of the tree lies behind that of the one before it."""
        process = self._process
        me, step = process.number, 1
        while step < process.procs and not me & step:
            if me + step < process.procs:
                words = await self._take(what, me + step)
                if operation is not None:
                    process.port.spend(self._c_combine)
                    value = operation(value, to_value(code, words))
            step *= 2
        if me:
            await self._send(me & me - 1, () if operation is None else to_words(code, value))
        return value

    async def _down(self, what: str, root: int, words: tuple[int, ...]) -> tuple[int, ...]:
        """What ``root`` has, from the parent, sent on to the children."""
        process = self._process
        procs = process.procs
        place = (process.number - root) % procs
        step = 1
        while step < procs and not place & step:
            step *= 2
        if place:
            words = await self._take(what, ((place & place - 1) + root) % procs)
        while step > 1:
            step //= 2
            if place + step < procs:
                await self._send((place + step + root) % procs, words)
        return words

    async def _send(self, dest: int, words: tuple[int, ...]) -> None:
        process = self._process
        process.port.spend(self._c_collective)
        process.statistics.sent(COLLECTIVE, 4 * len(words), dest)
        await process.am.request(dest, self._handler, self._call, *words)

    async def _take(self, what: str, source: int) -> tuple[int, ...]:
        process, slots = self._process, self._slots
        slot = self._call, source
        process.port.spend(self._c_collective)
        process.port.waiting_for(f"process {source}, in a {what}")
        await process.am.wait(lambda: slot in slots)
        process.port.waiting_for("")
        return slots.pop(slot)

    def _arrived(self, am: Any, source: int, call: int, *words: int) -> None:
        self._process.port.spend(self._c_collective)
        self._slots[call, source] = words
