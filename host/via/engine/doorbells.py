"""Writes to the doorbell pages of VIs and completion queues."""

from ....layouts.via import CQ_ARM, CQ_CONSUMED
from ...port.node import Node
from ..costs import Prices
from ..handles import Cq, WorkQueue

__all__ = ["Doorbells"]


class Doorbells:
    """Writes to the pages, each as the process that has the page. ``numbered``: every arming has
    another value than the last one, as the NIC sees no value that is written twice."""

    def __init__(self, node: Node, numbered: bool = False) -> None:
        self._port = node.port
        self._paths = node.service(Prices)
        self._numbered = numbered
        self._armings = 0

    def ring(self, queue: WorkQueue, word: int, trace: int) -> None:
        """Post ``word`` to ``queue``: one operation of the port, for which there is room."""
        self._port.put_write(queue.doorbell, 1, word, 0, 0, 0, trace, queue.process)

    async def arm(self, queue: WorkQueue) -> None:
        """Request the event of a completion behind those seen."""
        await self._arm(queue.process, queue.arming, queue.seen & 0xFFFF)

    async def cq_arm(self, cq: Cq) -> None:
        """Request the event of an entry behind those seen."""
        await self._arm(cq.process, cq.page + CQ_ARM, cq.ring.seen & 0xFFFF)

    async def _arm(self, process: int, at: int, seen: int) -> None:
        port = self._port
        if self._numbered:
            self._armings += 1
            seen |= (self._armings & 0xFFFF) << 16
        port.spend(self._paths.arm)
        await port.room(1)
        port.process = process
        port.put_write(at, 1, seen)
        port.process = 0

    def consumed(self, cq: Cq) -> None:
        """Report how far the ring of ``cq`` was emptied."""
        port = self._port
        port.spend(self._paths.cq_consumed)
        cq.ring.told = cq.ring.seen
        port.process = cq.process
        port.put_write(cq.page + CQ_CONSUMED, 1, cq.ring.seen & 0xFFFF)
        port.process = 0
