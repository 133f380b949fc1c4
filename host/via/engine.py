"""The provider for the VI engine in the NIC: doorbells, registers, events.

On the way of a message there are two stores and a posted PIO write to post, and a polled word to
see it done; all else is the NIC's. The rest is the kernel agent's side: VIs, completion queues and
table entries laid down in registers, and events read from one.
"""

import struct
from typing import TYPE_CHECKING, Any

from ...layouts.operations import BLOCK
from ...layouts.registers import Irq, address
from ...layouts.via import (
    ADDRESS,
    ATTRIBUTES,
    CQ_ARM,
    CQ_CONFIG,
    CQ_CONSUMED,
    DESCRIPTOR_ALIGN,
    EVENT,
    HANDLE_BITS,
    PEER,
    VA_BITS,
    Event,
    ViCommand,
    ViState,
)
from ..port import Watch
from .channel import FAR
from .handles import Cq, Posted, Vi, WorkQueue
from .memory_queues import MemoryQueues
from .regions import Region
from .returns import VIP_RETURN
from .tables import HostTable, NicTable, Table

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["Engine", "token"]

VI_SELECT, VI_ATTRIBUTES = address("vi_select"), address("vi_attributes")
VI_PEER, VI_COMMAND, VI_STATE = address("vi_peer"), address("vi_command"), address("vi_state")
VI_POSTED, VI_COMPLETED = address("vi_posted"), address("vi_completed")
CQ_BASE_REGISTER, CQ_CONFIG_REGISTER = address("cq_base"), address("cq_config")
VIA_EVENT, VIA_READY = address("via_event"), address("via_ready")

NEXT = struct.Struct("<QI")
"""Next and NextHandle, where a descriptor begins."""
TRACE_AT, STATUS_AT = 16, 28
"""Where the trace number and Status are in it."""
STATUS_WORD = 24
HANDLE = ADDRESS.offset("handle")
SETTLE = 50
"""Cycles between two looks whether a VI's queues are flushed; more than a doorbell, or a status,
takes on its way."""
BAD_TOKEN = 1
"""Stands for an address that no token can hold: misaligned, so it is refused as a bad descriptor.
"""


def token(va: int, handle: int) -> int:
    """What is written to a doorbell for the descriptor at ``va``."""
    if va >> VA_BITS or handle >> HANDLE_BITS:
        return BAD_TOKEN
    return va | handle << HANDLE


class Engine(MemoryQueues):
    """See :class:`~nicbed.host.via.provider.Provider`."""

    rdma = True
    causes = Irq.VIA

    def __init__(self, kernel: "Kernel") -> None:
        super().__init__(kernel)
        self.table = self._make_table()

    def _make_table(self) -> Table:
        kernel = self.kernel
        return {"cache": HostTable, "table": NicTable}[kernel.description.via.translation](kernel)

    async def start(self) -> None:
        await super().start()
        await self.port.poll(Watch(VIA_READY, 1, 1))
        await self.table.start()

    async def register(self, region: Region) -> None:
        await self.table.install(region)

    async def change(self, region: Region) -> None:
        await self.table.change(region)

    async def deregister(self, region: Region) -> None:
        await self.table.remove(region)

    # VIs

    async def create_vi(self, vi: Vi) -> None:
        await self._command(vi, ViCommand.CREATE)

    async def destroy_vi(self, vi: Vi) -> None:
        await self._command(vi, ViCommand.DESTROY)

    async def change_vi(self, vi: Vi) -> None:
        await self._command(vi, ViCommand.ATTRIBUTES)

    async def connect(self, vi: Vi, route: int, max_transfer: int) -> None:
        assert vi.peer is not None
        await self._command(vi, ViCommand.CONNECT, PEER.pack(
            node=vi.peer.node, vi=vi.peer.vi, route=route, max_transfer=max_transfer))

    async def disconnect(self, vi: Vi) -> None:
        await self._command(vi, ViCommand.DISCONNECT)

    async def idle(self, vi: Vi) -> None:
        while not await self.drained(vi):
            await self.port.delay(SETTLE)
        completed = self.port.data
        for queue, count in ((vi.send, completed), (vi.receive, completed >> 16)):
            # Of descriptors that the NIC lost it has no count.
            queue.seen = count - sum(posted.counted for posted in queue.entries) & 0xFFFF
        await self._command(vi, ViCommand.IDLE)

    async def state(self, vi: Vi) -> ViState:
        await self._select(vi.number)
        return ViState(await self.port.pio_read(VI_STATE))

    async def drained(self, vi: Vi) -> bool:
        # Twice, so that doorbells and statuses on their way have landed.
        port = self.port
        await self._select(vi.number)
        if await port.pio_read(VI_POSTED) != await port.pio_read(VI_COMPLETED):
            return False
        await port.delay(SETTLE)
        return await port.pio_read(VI_POSTED) == await port.pio_read(VI_COMPLETED)

    async def _command(self, vi: Vi, command: ViCommand, peer: int = 0) -> None:
        port = self.port
        port.spend(self.paths.command)
        send, receive = vi.send.cq, vi.receive.cq
        attributes = vi.attributes
        word = ATTRIBUTES.pack(
            tag=attributes.ptag.number, owner=vi.nic.process.number,
            reliability=attributes.reliability, rdma_write=attributes.rdma_write,
            rdma_read=attributes.rdma_read, send_cq=send.number if send else 0,
            send_on_cq=send is not None, receive_cq=receive.number if receive else 0,
            receive_on_cq=receive is not None)
        await port.room(4)
        port.put_write(VI_SELECT, 1, vi.number)
        port.put_write(VI_ATTRIBUTES, 1, word)
        port.put_write(VI_PEER, 1, peer)
        port.put_write(VI_COMMAND, 1, command)
        await port.poll(Watch(VI_COMMAND, 0, 7))

    async def _select(self, number: int) -> None:
        await self.port.room(1)
        self.port.put_write(VI_SELECT, 1, number)

    # Completion queues

    async def create_cq(self, cq: Cq) -> None:
        await self._configure_ring(cq, cq.ring.region.va, cq.ring.region.handle)

    async def _configure_ring(self, cq: Cq, va: int, handle: int) -> None:
        ring = cq.ring
        await self._configure(cq, ADDRESS.pack(va=va, handle=handle),
                              CQ_CONFIG.pack(log_entries=ring.size.bit_length() - 1, enable=1,
                                             tag=ring.region.ptag.number, owner=cq.process))

    async def destroy_cq(self, cq: Cq) -> None:
        await self._configure(cq, 0, 0)

    async def _configure(self, cq: Cq, base: int, config: int) -> None:
        port = self.port
        port.spend(self.paths.command)
        await port.room(3)
        port.put_write(VI_SELECT, 1, cq.number)
        port.put_write(CQ_BASE_REGISTER, 1, base)
        port.put_write(CQ_CONFIG_REGISTER, 1, config)
        await port.pio_read(VI_COMMAND)

    # Posting and arming

    async def post(self, queue: WorkQueue, va: int, handle: int, trace: int) -> VIP_RETURN:
        port = self.port
        if port.count > BLOCK - 3:
            await port.executed
        memory = self.memory
        port.spend(self.paths.post)
        entries = queue.entries
        if entries:
            port.spend(self.paths.link)
            tail = entries[-1].status - STATUS_WORD
            if entries[-1].status not in self.flushed:
                memory.write(tail, NEXT.pack(va, handle))
                port.put_touch(tail, NEXT.size, True)
        at = self._descriptor(queue, va)
        word = token(va, handle)
        if at:
            memory.write(at + TRACE_AT, trace.to_bytes(4, "little"))
            memory.write(at + STATUS_AT, b"\0\0\0\0")
            port.put_touch(at + TRACE_AT, 16, True)
            entries.append(Posted(va, handle, at + STATUS_WORD, trace, word != BAD_TOKEN))
        else:
            entries.append(Posted(va, handle, self.flushed[queue.receive], trace,
                                  not word % DESCRIPTOR_ALIGN))
        self._ring(queue, word, trace)
        queue.posted += 1
        return VIP_RETURN.SUCCESS

    def _descriptor(self, queue: WorkQueue, va: int) -> int:
        """Physical address of the descriptor at ``va``; 0 for one that the CPU cannot write to, or
        that is no descriptor's. The NIC finds that, too, and reports it; the consumer gets it back
        as flushed."""
        if va % DESCRIPTOR_ALIGN:
            return 0
        try:
            return queue.vi.nic.process.physical(va)
        except ValueError:
            return 0

    def _ring(self, queue: WorkQueue, word: int, trace: int) -> None:
        port = self.port
        port.process = queue.process
        port.put_write(queue.doorbell, 1, word, trace=trace)
        port.process = 0

    async def arm(self, queue: WorkQueue) -> None:
        await self._arm(queue.process, queue.arming, queue.seen)

    async def cq_arm(self, cq: Cq) -> None:
        await self._arm(cq.process, cq.page + CQ_ARM, cq.ring.seen)

    async def _arm(self, process: int, at: int, seen: int) -> None:
        port = self.port
        port.spend(self.paths.arm)
        await port.room(1)
        port.process = process
        port.put_write(at, 1, seen & 0xFFFF)
        port.process = 0

    def consumed(self, cq: Cq) -> None:
        port = self.port
        port.spend(self.paths.cq_consumed)
        cq.ring.told = cq.ring.seen
        port.process = cq.process
        port.put_write(cq.page + CQ_CONSUMED, 1, cq.ring.seen & 0xFFFF)
        port.process = 0

    # Interrupts

    async def events(self) -> list[tuple[Event, int]]:
        found = []
        while word := await self.port.pio_read(VIA_EVENT):
            found.append((Event(EVENT.get(word, "code")), EVENT.get(word, "number")))
        return found

    def deadline(self) -> int:
        return FAR

    async def tick(self) -> None:
        """The engine has its own timers."""

    async def packet(self, header: int, slot: int, trace: int) -> Any:
        """The engine takes VIA's packets: none comes this way."""
