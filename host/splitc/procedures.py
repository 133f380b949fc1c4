"""Procedures run at another process: atomic, and stores to a procedure.

A procedure is ``def f(sc, source, *words)``, or ``async def``, with up to four words of 32 bits. It
runs in a handler, so it may not communicate, and no other procedure or access of that process comes
in between. What it returns (None, a word, or a tuple of up to four) is the answer of an atomic.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .costs import Prices
from .counting import Counting
from .process import Process, SplitCError

__all__ = ["Procedure", "Procedures"]

Procedure = Callable[..., Any]


class Procedures:
    """The procedures of a process, given in the same order on all. ``sc`` is the first argument of
    each."""

    __slots__ = ("_process", "_counting", "_sc", "_atomic", "_stored", "_h_answer", "_answer",
                 "_c_procedure", "_c_remote", "_c_awaited", "_c_counted")

    def __init__(self, process: Process, counting: Counting, sc: Any,
                 procedures: Sequence[Procedure]) -> None:
        self._process = process
        self._counting = counting
        self._sc = sc
        self._answer: tuple[int, ...] | None = None
        register = process.am.register
        prices = process.node.service(Prices)
        self._c_procedure = prices.procedure
        self._c_remote = prices.remote
        self._c_awaited = prices.awaited
        self._c_counted = prices.counted
        self._h_answer = register(self._answered)
        self._atomic = {one: register(self._answering(one)) for one in procedures}
        self._stored = {one: register(self._counts(one)) for one in procedures}

    async def atomic(self, target: int, procedure: Procedure, *words: int) -> Any:
        """Run ``procedure`` at process ``target``; return what it returns."""
        process = self._process
        handler = self._index(self._atomic, procedure, target)
        if target == process.number:
            process.statistics.stayed("atomic")
            return _result(await self._call(procedure, target, words))
        process.port.spend(self._c_remote)
        process.statistics.sent("atomic", 4 * len(words), target)
        self._answer = None
        await process.am.request(target, handler, *words)
        process.port.waiting_for(f"process {target} to run an atomic procedure")
        await process.am.wait(lambda: self._answer is not None)
        process.port.waiting_for("")
        process.port.spend(self._c_awaited)
        assert self._answer is not None
        return _result(self._answer)

    async def store(self, target: int, procedure: Procedure, *words: int) -> None:
        """Store ``words`` by ``procedure`` at process ``target``. They count as stored bytes, 4 a
        word, once it has run."""
        process = self._process
        handler = self._index(self._stored, procedure, target)
        self._counting.sent += 4 * len(words)
        if target == process.number:
            process.statistics.stayed("store")
            await self._call(procedure, target, words)
            self._counting.received += 4 * len(words)
            return
        process.port.spend(self._c_remote)
        process.statistics.sent("store", 4 * len(words), target)
        await process.am.request(target, handler, *words)

    def _answering(self, procedure: Procedure) -> Callable[..., Any]:
        async def run(am: Any, source: int, *words: int) -> None:
            await am.reply(self._h_answer, *await self._call(procedure, source, words))
        return run

    def _counts(self, procedure: Procedure) -> Callable[..., Any]:
        async def run(am: Any, source: int, *words: int) -> None:
            await self._call(procedure, source, words)
            self._process.port.spend(self._c_counted)
            self._counting.received += 4 * len(words)
        return run

    def _answered(self, am: Any, source: int, *words: int) -> None:
        self._process.port.spend(self._c_counted)
        self._answer = words

    async def _call(self, procedure: Procedure, source: int, words: tuple[int, ...]
                    ) -> tuple[int, ...]:
        self._process.port.spend(self._c_procedure)
        found = procedure(self._sc, source, *words)
        if hasattr(found, "__await__"):
            found = await found
        return () if found is None else (found,) if isinstance(found, int) else tuple(found)

    def _index(self, table: dict[Procedure, int], procedure: Procedure, target: int) -> int:
        if not 0 <= target < self._process.procs:
            raise SplitCError(f"process {target}: there are 0 to {self._process.procs - 1} (PROCS)")
        if procedure not in table:
            raise SplitCError(f"{getattr(procedure, '__name__', procedure)!r} is no procedure of "
                              "this process: give all of them to SplitC, in the same order on all "
                              "processes")
        return table[procedure]


def _result(words: tuple[int, ...]) -> Any:
    return None if not words else words[0] if len(words) == 1 else words
