"""Completions in memory, where a consumer's CPU reads them: status words and completion queues.

The common part of the providers that write completions there. A check is one polled read through
the cache; a wait is one operation of the port.
"""

from collections.abc import Awaitable

from ....layouts.via import CQ_ENTRY, Reliability, RemoteOperation, Status
from ...kernel.timers import FAR
from ...port.node import Node
from ...port.port import Watch
from ...port.suspension import NOTHING
from ...port.words import F_ONCE, TIMEOUT
from ..costs import Prices
from ..handles import Cq, CqEntry, Ring, WorkQueue
from ..records import Records

__all__ = ["MemoryQueues"]

DONE = int(Status.DONE) << 32
"""A bit of the word that holds Length and Status."""
RECEIVE = CQ_ENTRY.mask("receive")
VI = CQ_ENTRY.offset("vi")
VI_MASK = CQ_ENTRY.mask("vi") >> VI


class MemoryQueues:
    """The checks of :class:`~nicbed.host.via.provider.Provider`; ``port`` and ``paths`` are the
    node's, ``records`` the kernel agent's."""

    rdma_read = True
    post_entries = 0
    levels = tuple(Reliability)

    def __init__(self, node: Node, records: Records) -> None:
        self.node = node
        self.port = node.port
        self.memory = node.memory
        self.description = node.description
        self.records = records
        self.paths = node.service(Prices)
        self.flushed = 0, 0
        """Substitutes for the status of descriptors that are in no memory, for sends and receives:
        physical addresses of words with a descriptor's layout."""

    async def start(self) -> None:
        at = self.node.allocate(16)
        self.flushed = at, at + 8
        for place, operation in zip(self.flushed, (RemoteOperation.SEND, RemoteOperation.RECEIVE),
                                    strict=True):
            status = Status.DONE | Status.FLUSHED | operation << 16
            self.memory.write(place, (status << 32).to_bytes(8, "little"))

    def check(self, queue: WorkQueue, cycles: int = 0) -> Awaitable[None]:
        port, status = self.port, queue.entries[0].status
        if cycles > 0:
            port.put_poll(status, DONE, DONE, cycles)
        else:
            port.put_poll(status, DONE, DONE, 0, F_ONCE)
        return port.executed

    def found(self) -> int | None:
        port = self.port
        return None if port.status & TIMEOUT else port.data >> 32

    def take(self, queue: WorkQueue) -> Awaitable[None]:
        """The NIC, or the kernel agent, has written the whole status."""
        return NOTHING

    def cq_check(self, cq: Cq, cycles: int = 0) -> Awaitable[None]:
        if cq.backlog:
            return NOTHING
        port = self.port
        place, phase = cq.ring.next()
        if cycles > 0:
            port.put_poll(place, phase, 1, cycles)
        else:
            port.put_poll(place, phase, 1, 0, F_ONCE)
        return port.executed

    def cq_found(self, cq: Cq) -> CqEntry | None:
        if cq.backlog:
            return cq.backlog.popleft()
        port, ring = self.port, cq.ring
        if port.status & TIMEOUT:
            return None
        word = port.data
        ring.seen += 1
        port.spend(self.paths.cq_take)
        if ring.seen - ring.told > ring.slack:
            self.consumed(cq)
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

    def consumed(self, cq: Cq) -> None:
        """Report how far the ring was emptied to the writer of the ring."""
        raise NotImplementedError

    def empty(self, cq: Cq, ring: Ring) -> None:
        """Move the entries of ``ring``, which is no longer filled, to the backlog."""
        place, phase = ring.next()
        while (word := self.memory.word(place)) & 1 == phase:
            self.port.spend(self.paths.cq_take)
            ring.seen += 1
            cq.backlog.append((word >> VI & VI_MASK, bool(word & RECEIVE)))
            place, phase = ring.next()
