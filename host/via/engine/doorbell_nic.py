"""The common part of the providers whose NIC reads descriptors from memory, posted by doorbells."""

from typing import Any

from ....layouts.via import Reliability, ViCommand
from ...port.node import Node
from ..agent.memory_queues import MemoryQueues
from ..agent.tables import Table
from ..costs import Prices
from ..handles import Cq, Vi, WorkQueue
from ..posts import Posts
from ..regions import Region
from .doorbells import Doorbells
from .nic_words import peer_word

__all__ = ["SETTLE", "DoorbellNic"]

SETTLE = 50
"""Cycles between two checks whether a VI's queues are flushed; more than a doorbell or a status
write needs to arrive."""


class DoorbellNic:
    """Part of :class:`~nicbed.host.via.provider.Provider`: one command for each change of a VI,
    table entries, armings. ``posts``, ``queues``, ``doorbells`` and ``table`` are its parts."""

    rdma_read = True
    levels: tuple[Reliability, ...] = tuple(Reliability)
    timers = None
    """The NIC has its own."""

    def __init__(self, node: Node, posts: Posts, queues: MemoryQueues, doorbells: Doorbells,
                 table: Table) -> None:
        self.posts = posts
        self.queues = queues
        self._doorbells = doorbells
        self._table = table
        self._node = node
        self._port = node.port
        self._nic = node.nic_offset
        self._paths = node.service(Prices)

    # Memory

    async def register(self, region: Region) -> None:
        await self._table.install(region)

    async def change(self, region: Region) -> None:
        await self._table.change(region)

    async def deregister(self, region: Region) -> None:
        await self._table.remove(region)

    # VIs

    async def create_vi(self, vi: Vi) -> None:
        await self.command(vi, ViCommand.CREATE)

    async def destroy_vi(self, vi: Vi) -> None:
        await self.command(vi, ViCommand.DESTROY)

    async def change_vi(self, vi: Vi) -> None:
        await self.command(vi, ViCommand.ATTRIBUTES)

    async def connect(self, vi: Vi, route: int, max_transfer: int) -> None:
        await self.command(vi, ViCommand.CONNECT, peer_word(vi, route, max_transfer))

    async def disconnect(self, vi: Vi) -> None:
        await self.command(vi, ViCommand.DISCONNECT)

    def quiet(self, vi: Vi) -> bool:
        return True

    async def command(self, vi: Vi, command: ViCommand, peer: int = 0) -> None:
        """Give the NIC ``command``, with the attributes of ``vi`` and, for CONNECT, its peer."""
        raise NotImplementedError

    # Arming

    async def arm(self, queue: WorkQueue) -> None:
        await self._doorbells.arm(queue)

    async def cq_arm(self, cq: Cq) -> None:
        await self._doorbells.cq_arm(cq)

    # Interrupts

    async def packet(self, header: int, slot: int, trace: int) -> Any:
        """Not called: the NIC takes VIA's packets."""
