"""Posting by doorbell: the common part of providers whose NIC reads descriptors from memory.

For a message the CPU makes two stores and a posted PIO write to post it, and polls a word for its
completion. The NIC does the rest.
"""

import struct
from collections.abc import Awaitable
from typing import Any

from ....layouts.via import (
    ADDRESS,
    ATTRIBUTES,
    CQ_ARM,
    CQ_CONFIG,
    CQ_CONSUMED,
    DESCRIPTOR_ALIGN,
    HANDLE_BITS,
    PEER,
    VA_BITS,
    ViCommand,
)
from ...kernel.timers import FAR
from ...port.node import Node
from ...port.suspension import NOTHING
from ..agent.memory_queues import MemoryQueues
from ..agent.tables import Table
from ..handles import Cq, Posted, Vi, WorkQueue
from ..records import Records
from ..regions import Region
from ..returns import VIP_RETURN

__all__ = ["BAD_TOKEN", "DoorbellQueues", "NEXT", "SETTLE", "STATUS_WORD", "attributes_word",
           "cq_word", "keep_count", "token"]

NEXT = struct.Struct("<QI")
"""Next and NextHandle, with which a descriptor begins."""
NEXT_BYTES = NEXT.size
HALF = struct.Struct("<I")
"""Half a word of a descriptor."""
TRACE_AT, STATUS_AT = 16, 28
"""Offsets of the trace number and of Status."""
STATUS_WORD = 24
HANDLE = ADDRESS.offset("handle")
SETTLE = 50
"""Cycles between two checks whether a VI's queues are flushed; more than a doorbell or a status
write needs to arrive."""
BAD_TOKEN = 1
"""Stands for an address that no token can hold. It is misaligned, so the NIC refuses it as a bad
descriptor."""


def token(va: int, handle: int) -> int:
    """The doorbell's value for the descriptor at ``va``."""
    if va >> VA_BITS or handle >> HANDLE_BITS:
        return BAD_TOKEN
    return va | handle << HANDLE


def attributes_word(vi: Vi) -> int:
    """layouts.via.ATTRIBUTES of ``vi``."""
    send, receive = vi.send.cq, vi.receive.cq
    attributes = vi.attributes
    return ATTRIBUTES.pack(
        tag=attributes.ptag.number, owner=vi.nic.process.number,
        reliability=attributes.reliability, rdma_write=attributes.rdma_write,
        rdma_read=attributes.rdma_read, send_cq=send.number if send else 0,
        send_on_cq=send is not None, receive_cq=receive.number if receive else 0,
        receive_on_cq=receive is not None)


def _peer_word(vi: Vi, route: int, max_transfer: int) -> int:
    """layouts.via.PEER of ``vi``."""
    assert vi.peer is not None
    return PEER.pack(node=vi.peer.node, vi=vi.peer.vi, route=route, max_transfer=max_transfer)


def cq_word(cq: Cq) -> int:
    """layouts.via.CQ_CONFIG of ``cq``."""
    ring = cq.ring
    return CQ_CONFIG.pack(log_entries=ring.size.bit_length() - 1, enable=1,
                          tag=ring.region.ptag.number, owner=cq.process)


def keep_count(vi: Vi, completed: int) -> None:
    """Both queues of ``vi`` are flushed: set the counts of seen completions to ``completed``, with
    the send queue's count in the low half and the receive queue's in the high half."""
    for queue, count in ((vi.send, completed), (vi.receive, completed >> 16)):
        # The NIC does not count descriptors that it lost.
        queue.seen = count - sum(posted.counted for posted in queue.entries) & 0xFFFF


class DoorbellQueues(MemoryQueues):
    """Part of :class:`~nicbed.host.via.provider.Provider`: posting and arming, one command for each
    change of a VI, table entries."""

    timers = False
    tokens = 1
    """Operations of the port that :meth:`_ring` needs."""

    def __init__(self, node: Node, records: Records) -> None:
        super().__init__(node, records)
        self._nic = node.nic_offset
        self._entries = 2 + self.tokens
        """Operations of the port that a post needs."""
        self._write_next = node.memory.writer(NEXT)
        self._write_word = node.memory.writer(HALF)
        self.table = self._make_table()

    def _make_table(self) -> Table:
        raise NotImplementedError

    # Memory

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
        await self._command(vi, ViCommand.CONNECT, _peer_word(vi, route, max_transfer))

    async def disconnect(self, vi: Vi) -> None:
        await self._command(vi, ViCommand.DISCONNECT)

    def quiet(self, vi: Vi) -> bool:
        return True

    async def _command(self, vi: Vi, command: ViCommand, peer: int = 0) -> None:
        """Give the NIC ``command``, with the attributes of ``vi`` and, for CONNECT, its peer."""
        raise NotImplementedError

    # Posting and arming

    def post(self, queue: WorkQueue, va: int, handle: int, trace: int
             ) -> Awaitable[VIP_RETURN | None]:
        port, entries = self.port, queue.entries
        room = port.spend_within(self.paths.post_linked if entries else self.paths.post,
                                 self._entries)
        if room is not NOTHING:
            return self._post_later(room, queue, va, handle, trace)
        tail = 0
        if entries:
            last = entries[-1].status
            if last not in self.flushed:
                tail, write = last - STATUS_WORD, self._write_next
                write(tail, va, handle)
        # If there can be no descriptor, or the CPU cannot write to it, the NIC finds and reports
        # this, too, and the consumer gets the descriptor back as flushed.
        word, at, status, counted = (queue.known.get((va, handle))
                                     or self._known(queue, va, handle))
        if at:
            write = self._write_word
            write(at + TRACE_AT, trace)
            write(at + STATUS_AT, 0)
            if tail:
                port.put_two_touches(tail, NEXT_BYTES, True, at + TRACE_AT, 16)
            else:
                port.put_touch(at + TRACE_AT, 16, True)
        elif tail:
            port.put_touch(tail, NEXT_BYTES, True)
        entries.append(Posted(va, handle, status, trace, counted))
        self._ring(queue, word, trace)
        queue.posted += 1
        return NOTHING

    def _known(self, queue: WorkQueue, va: int, handle: int) -> tuple[int, int, int, bool]:
        """The doorbell's value for the descriptor at ``va``; its physical address, 0 if it has
        none; ``status`` and ``counted`` of what is posted. Kept for the next time, as a page that a
        process has stays where it is."""
        word, at = token(va, handle), 0
        if not va % DESCRIPTOR_ALIGN:
            at = queue.vi.nic.process.place(va)
        if not at:
            return word, 0, self.flushed[queue.receive], not word % DESCRIPTOR_ALIGN
        found = queue.known[va, handle] = word, at, at + STATUS_WORD, word != BAD_TOKEN
        return found

    async def _post_later(self, room: Awaitable[None], queue: WorkQueue, va: int, handle: int,
                          trace: int) -> VIP_RETURN | None:
        """The same when there is room."""
        await room
        return await self.post(queue, va, handle, trace)

    def _ring(self, queue: WorkQueue, word: int, trace: int) -> None:
        self.port.put_write(queue.doorbell, 1, word, 0, 0, 0, trace, queue.process)

    async def arm(self, queue: WorkQueue) -> None:
        await self._arm(queue.process, queue.arming, queue.seen & 0xFFFF)

    async def cq_arm(self, cq: Cq) -> None:
        await self._arm(cq.process, cq.page + CQ_ARM, cq.ring.seen & 0xFFFF)

    async def _arm(self, process: int, at: int, seen: int) -> None:
        port = self.port
        port.spend(self.paths.arm)
        await port.room(1)
        port.process = process
        port.put_write(at, 1, seen)
        port.process = 0

    def consumed(self, cq: Cq) -> None:
        port = self.port
        port.spend(self.paths.cq_consumed)
        cq.ring.told = cq.ring.seen
        port.process = cq.process
        port.put_write(cq.page + CQ_CONSUMED, 1, cq.ring.seen & 0xFFFF)
        port.process = 0

    # Interrupts

    def deadline(self) -> int:
        return FAR

    async def tick(self) -> None:
        """The NIC has its own timers."""

    async def packet(self, header: int, slot: int, trace: int) -> Any:
        """Not called: the NIC takes VIA's packets."""
