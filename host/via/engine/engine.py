"""The provider for the VI engine in the NIC, with whichever table of translations it has.

This is the kernel agent's side: it writes VIs, completion queues and table entries to registers,
and reads events from one.
"""

from ....layouts.registers import Irq, address
from ....layouts.via import ADDRESS, EVENT, Event, ViCommand, ViState
from ...port.node import Node
from ...port.port import Watch
from ..agent.memory_queues import MemoryQueues
from ..agent.tables import HostTable, NicTable, PhysicalTable
from ..handles import Cq, Vi
from ..records import Records
from .doorbell_nic import SETTLE, DoorbellNic
from .doorbell_posts import DoorbellPosts
from .doorbells import Doorbells
from .nic_words import attributes_word, cq_word, keep_count
from .shadow_posts import ShadowPosts

__all__ = ["Engine"]

VI_SELECT, VI_ATTRIBUTES = address("vi_select"), address("vi_attributes")
VI_PEER, VI_COMMAND, VI_STATE = address("vi_peer"), address("vi_command"), address("vi_state")
VI_POSTED, VI_COMPLETED = address("vi_posted"), address("vi_completed")
CQ_BASE_REGISTER, CQ_CONFIG_REGISTER = address("cq_base"), address("cq_config")
VIA_EVENT, VIA_READY = address("via_event"), address("via_ready")


class Engine(DoorbellNic):
    """See :class:`~nicbed.host.via.provider.Provider`. With physical addresses (via.translation)
    there is no RDMA, which would need the other end's translation."""

    causes: int = Irq.VIA

    def __init__(self, node: Node, records: Records) -> None:
        doorbells = Doorbells(node)
        queues = MemoryQueues(node, doorbells.consumed)
        translation = node.description.via.translation
        physical = translation == "physical"
        if physical:
            table = PhysicalTable(node)
            posts = ShadowPosts(node, records, table, queues, doorbells.ring)
        else:
            table = {"cache": HostTable, "table": NicTable}[translation](node)
            posts = DoorbellPosts(node, queues, doorbells.ring)
        self.rdma = not physical
        super().__init__(node, posts, queues, doorbells, table)

    async def start(self) -> None:
        self.queues.start()
        await self._port.poll(Watch(self._nic + VIA_READY, 1, 1))
        await self._table.start()

    # VIs

    async def idle(self, vi: Vi) -> None:
        while not await self.drained(vi):
            await self._port.delay(SETTLE)
        keep_count(vi, self._port.data)
        await self.command(vi, ViCommand.IDLE)

    async def state(self, vi: Vi) -> ViState:
        await self._select(vi.number)
        return ViState(await self._port.pio_read(self._nic + VI_STATE))

    async def drained(self, vi: Vi) -> bool:
        # Twice, so that doorbells and status writes under way have arrived.
        port = self._port
        await self._select(vi.number)
        posted, completed = self._nic + VI_POSTED, self._nic + VI_COMPLETED
        if await port.pio_read(posted) != await port.pio_read(completed):
            return False
        await port.delay(SETTLE)
        return await port.pio_read(posted) == await port.pio_read(completed)

    async def completed(self, vi: Vi) -> int:
        """The NIC's count of completions of ``vi``: of the send queue in the low half, of the
        receive queue in the high half."""
        await self._select(vi.number)
        return await self._port.pio_read(self._nic + VI_COMPLETED)

    async def command(self, vi: Vi, command: ViCommand, peer: int = 0) -> None:
        port = self._port
        port.spend(self._paths.command)
        await port.room(4)
        port.put_write(self._nic + VI_SELECT, 1, vi.number)
        port.put_write(self._nic + VI_ATTRIBUTES, 1, attributes_word(vi))
        port.put_write(self._nic + VI_PEER, 1, peer)
        port.put_write(self._nic + VI_COMMAND, 1, command)
        await port.poll(Watch(self._nic + VI_COMMAND, 0, 7))

    async def _select(self, number: int) -> None:
        await self._port.room(1)
        self._port.put_write(self._nic + VI_SELECT, 1, number)

    # Completion queues

    async def create_cq(self, cq: Cq) -> None:
        va, handle = await self._table.place(cq.ring)
        await self._configure(cq, ADDRESS.pack(va=va, handle=handle), cq_word(cq))

    async def destroy_cq(self, cq: Cq) -> None:
        await self._configure(cq, 0, 0)

    async def _configure(self, cq: Cq, base: int, config: int) -> None:
        port = self._port
        port.spend(self._paths.command)
        await port.room(3)
        port.put_write(self._nic + VI_SELECT, 1, cq.number)
        port.put_write(self._nic + CQ_BASE_REGISTER, 1, base)
        port.put_write(self._nic + CQ_CONFIG_REGISTER, 1, config)
        await port.pio_read(self._nic + VI_COMMAND)

    # Interrupts

    async def events(self) -> list[tuple[Event, int]]:
        found = []
        while word := await self._port.pio_read(self._nic + VIA_EVENT):
            found.append((Event(EVENT.get(word, "code")), EVENT.get(word, "number")))
        return found
