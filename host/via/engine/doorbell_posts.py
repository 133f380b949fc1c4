"""Posting by doorbell, for a NIC that reads descriptors from memory.

For a message the CPU makes two stores and a posted PIO write to post it, and polls a word for its
completion. The NIC does the rest.
"""

import struct
from collections.abc import Awaitable, Callable

from ....layouts.via import DESCRIPTOR_ALIGN, NEXT, STATUS_WORD
from ...port.node import Node
from ...port.suspension import NOTHING
from ..agent.memory_queues import MemoryQueues
from ..costs import Prices
from ..handles import Posted, WorkQueue
from ..returns import VIP_RETURN
from .nic_words import BAD_TOKEN, token

__all__ = ["DoorbellPosts"]

NEXT_BYTES = NEXT.size
HALF = struct.Struct("<I")
"""Half a word of a descriptor."""
TRACE_AT, STATUS_AT = 16, 28
"""Offsets of the trace number and of Status."""


class DoorbellPosts:
    """See :class:`~nicbed.host.via.posts.Posts`. ``ring(queue, word, trace)`` rings the doorbell of
    ``queue``, by ``operations`` operations of the port."""

    def __init__(self, node: Node, queues: MemoryQueues,
                 ring: Callable[[WorkQueue, int, int], None], operations: int = 1) -> None:
        self.entries = 2 + operations
        self._port = node.port
        self._paths = node.service(Prices)
        self._queues = queues
        self._ring = ring
        self._write_next = node.memory.writer(NEXT)
        self._write_word = node.memory.writer(HALF)

    def post(self, queue: WorkQueue, va: int, handle: int, trace: int
             ) -> Awaitable[VIP_RETURN | None]:
        port, entries = self._port, queue.entries
        room = port.spend_within(self._paths.post_linked if entries else self._paths.post,
                                 self.entries)
        if room is not NOTHING:
            return self._post_later(room, queue, va, handle, trace)
        tail = 0
        if entries:
            last = entries[-1].status
            if last not in self._queues.flushed:
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
            return word, 0, self._queues.flushed[queue.receive], not word % DESCRIPTOR_ALIGN
        found = queue.known[va, handle] = word, at, at + STATUS_WORD, word != BAD_TOKEN
        return found

    async def _post_later(self, room: Awaitable[None], queue: WorkQueue, va: int, handle: int,
                          trace: int) -> VIP_RETURN | None:
        """The same when there is room."""
        await room
        return await self.post(queue, va, handle, trace)

    def take(self, queue: WorkQueue) -> Awaitable[None]:
        """The NIC has written the whole status."""
        return NOTHING
