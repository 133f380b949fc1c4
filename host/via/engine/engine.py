"""The provider for the VI engine in the NIC: registers and events beside :mod:`.doorbell_queues`.

This is the kernel agent's side: it writes VIs, completion queues and table entries to registers,
and reads events from one.
"""

from ....layouts.registers import Irq, address
from ....layouts.via import ADDRESS, EVENT, Event, ViCommand, ViState
from ...port.port import Watch
from ..agent.tables import HostTable, NicTable, Table
from ..handles import Cq, Vi
from .doorbell_queues import (
    SETTLE,
    DoorbellQueues,
    attributes_word,
    cq_word,
    keep_count,
)

__all__ = ["Engine"]

VI_SELECT, VI_ATTRIBUTES = address("vi_select"), address("vi_attributes")
VI_PEER, VI_COMMAND, VI_STATE = address("vi_peer"), address("vi_command"), address("vi_state")
VI_POSTED, VI_COMPLETED = address("vi_posted"), address("vi_completed")
CQ_BASE_REGISTER, CQ_CONFIG_REGISTER = address("cq_base"), address("cq_config")
VIA_EVENT, VIA_READY = address("via_event"), address("via_ready")


class Engine(DoorbellQueues):
    """See :class:`~nicbed.host.via.provider.Provider`."""

    rdma = True
    causes: int = Irq.VIA
    post_entries = 2 + DoorbellQueues.tokens

    def _make_table(self) -> Table:
        kind = {"cache": HostTable, "table": NicTable}[self.description.via.translation]
        return kind(self.node)

    async def start(self) -> None:
        await super().start()
        await self.port.poll(Watch(self._nic + VIA_READY, 1, 1))
        await self.table.start()

    # VIs

    async def idle(self, vi: Vi) -> None:
        while not await self.drained(vi):
            await self.port.delay(SETTLE)
        keep_count(vi, self.port.data)
        await self._command(vi, ViCommand.IDLE)

    async def state(self, vi: Vi) -> ViState:
        await self._select(vi.number)
        return ViState(await self.port.pio_read(self._nic + VI_STATE))

    async def drained(self, vi: Vi) -> bool:
        # Twice, so that doorbells and status writes under way have arrived.
        port = self.port
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
        return await self.port.pio_read(self._nic + VI_COMPLETED)

    async def _command(self, vi: Vi, command: ViCommand, peer: int = 0) -> None:
        port = self.port
        port.spend(self.paths.command)
        await port.room(4)
        port.put_write(self._nic + VI_SELECT, 1, vi.number)
        port.put_write(self._nic + VI_ATTRIBUTES, 1, attributes_word(vi))
        port.put_write(self._nic + VI_PEER, 1, peer)
        port.put_write(self._nic + VI_COMMAND, 1, command)
        await port.poll(Watch(self._nic + VI_COMMAND, 0, 7))

    async def _select(self, number: int) -> None:
        await self.port.room(1)
        self.port.put_write(self._nic + VI_SELECT, 1, number)

    # Completion queues

    async def create_cq(self, cq: Cq) -> None:
        await self._configure_ring(cq, cq.ring.region.va, cq.ring.region.handle)

    async def _configure_ring(self, cq: Cq, va: int, handle: int) -> None:
        await self._configure(cq, ADDRESS.pack(va=va, handle=handle), cq_word(cq))

    async def destroy_cq(self, cq: Cq) -> None:
        await self._configure(cq, 0, 0)

    async def _configure(self, cq: Cq, base: int, config: int) -> None:
        port = self.port
        port.spend(self.paths.command)
        await port.room(3)
        port.put_write(self._nic + VI_SELECT, 1, cq.number)
        port.put_write(self._nic + CQ_BASE_REGISTER, 1, base)
        port.put_write(self._nic + CQ_CONFIG_REGISTER, 1, config)
        await port.pio_read(self._nic + VI_COMMAND)

    # Interrupts

    async def events(self) -> list[tuple[Event, int]]:
        found = []
        while word := await self.port.pio_read(self._nic + VIA_EVENT):
            found.append((Event(EVENT.get(word, "code")), EVENT.get(word, "number")))
        return found
