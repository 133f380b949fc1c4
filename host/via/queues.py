"""The part of a design point that checks work queues and completion queues."""

from collections.abc import Awaitable
from typing import Protocol

from ..port.port import Watch
from .handles import Cq, CqEntry, Ring, WorkQueue

__all__ = ["Queues"]


class Queues(Protocol):
    """Checks for completions. Its calls are user calls of :mod:`.provider`."""

    def check(self, queue: WorkQueue, cycles: int = 0) -> Awaitable[None]:
        """One check whether the oldest of ``queue.entries`` has completed, at the cost of one; or
        the same check repeated for ``cycles`` cycles: one operation of the port where possible. The
        entry stays in the queue; :meth:`found` says what was found. Waits."""
        ...

    def found(self) -> int | None:
        """Returns what the check that was just awaited has found: the Status (layouts.via.STATUS),
        or None. It is separate from :meth:`check` so that a check needs no coroutine of its own:
        the caller awaits the port's block directly."""
        ...

    def cq_check(self, cq: Cq, cycles: int = 0) -> Awaitable[None]:
        """One check for an entry, or the same check repeated for ``cycles`` cycles;
        :meth:`cq_found` says what was found. Waits."""
        ...

    def cq_found(self, cq: Cq) -> CqEntry | None:
        """The entry that the check that was just awaited has found, or None; to be called once. It
        is taken, and counted in its ring. An entry in the new ring ends the old one: the entries of
        the old ring are appended to ``cq.backlog``, then the new entry, and the first of them is
        returned."""
        ...

    def cq_awaits(self, cq: Cq) -> tuple[list[Watch], int]:
        """For a process that also waits for something else: the words that such a check would poll,
        and the cycle by which it has to be made at the latest (:data:`.timers.FAR`: none)."""
        ...

    def empty(self, cq: Cq, ring: Ring) -> None:
        """Move the entries in ``ring``, the old one of ``cq``, to ``cq.backlog``."""
        ...
