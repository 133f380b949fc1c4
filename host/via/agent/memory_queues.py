"""Completions in memory, where a consumer's CPU reads them: status words and completion queues.

A check is one polled read through the cache; a wait is one operation of the port.
"""

from collections.abc import Awaitable, Callable

from ....layouts.via import CQ_ENTRY, DONE_WORD, RemoteOperation, Status
from ...kernel.timers import FAR
from ...port.node import Node
from ...port.port import Watch
from ...port.suspension import NOTHING
from ...port.words import F_ONCE, TIMEOUT
from ..costs import Prices
from ..handles import Cq, CqEntry, Ring, WorkQueue

__all__ = ["MemoryQueues"]

RECEIVE = CQ_ENTRY.mask("receive")
VI = CQ_ENTRY.offset("vi")
VI_MASK = CQ_ENTRY.mask("vi") >> VI


class MemoryQueues:
    """The :class:`~nicbed.host.via.queues.Queues` of a provider that writes completions to memory,
    which holds one. ``consumed`` reports to the writer of a completion queue's ring how far it was
    emptied.

    Attributes
    ----------
    flushed
        Substitutes for the status of descriptors that are in no memory, for sends and receives:
        physical addresses of words with a descriptor's layout. Known from :meth:`start` on.
    """

    def __init__(self, node: Node, consumed: Callable[[Cq], None]) -> None:
        self.flushed = 0, 0
        self._node = node
        self._port = node.port
        self._memory = node.memory
        self._paths = node.service(Prices)
        self._consumed = consumed

    def start(self) -> None:
        """Lay the substitutes out. To be called once, before anything else."""
        at = self._node.allocate(16)
        self.flushed = at, at + 8
        for place, operation in zip(self.flushed, (RemoteOperation.SEND, RemoteOperation.RECEIVE),
                                    strict=True):
            status = Status.DONE | Status.FLUSHED | operation << 16
            self._memory.write(place, (status << 32).to_bytes(8, "little"))

    def check(self, queue: WorkQueue, cycles: int = 0) -> Awaitable[None]:
        port, status = self._port, queue.entries[0].status
        if cycles > 0:
            port.put_poll(status, DONE_WORD, DONE_WORD, cycles)
        else:
            port.put_poll(status, DONE_WORD, DONE_WORD, 0, F_ONCE)
        return port.executed

    def found(self) -> int | None:
        port = self._port
        return None if port.status & TIMEOUT else port.data >> 32

    def cq_check(self, cq: Cq, cycles: int = 0) -> Awaitable[None]:
        if cq.backlog:
            return NOTHING
        port = self._port
        place, phase = cq.ring.next()
        if cycles > 0:
            port.put_poll(place, phase, 1, cycles)
        else:
            port.put_poll(place, phase, 1, 0, F_ONCE)
        return port.executed

    def cq_found(self, cq: Cq) -> CqEntry | None:
        if cq.backlog:
            return cq.backlog.popleft()
        port, ring = self._port, cq.ring
        if port.status & TIMEOUT:
            return None
        word = port.data
        ring.seen += 1
        port.spend(self._paths.cq_take)
        if ring.seen - ring.told > ring.slack:
            self._consumed(cq)
        entry = word >> VI & VI_MASK, bool(word & RECEIVE)
        if cq.old is not None:
            self.empty(cq, cq.old)
            cq.old = None
            if cq.backlog:
                cq.backlog.append(entry)
                return cq.backlog.popleft()
        return entry

    def cq_awaits(self, cq: Cq) -> tuple[list[Watch], int]:
        place, phase = cq.ring.next()
        return [Watch(place, phase, 1)], FAR

    def empty(self, cq: Cq, ring: Ring) -> None:
        place, phase = ring.next()
        while (word := self._memory.word(place)) & 1 == phase:
            self._port.spend(self._paths.cq_take)
            ring.seen += 1
            cq.backlog.append((word >> VI & VI_MASK, bool(word & RECEIVE)))
            place, phase = ring.next()
