"""Queues of slots from a host program to the firmware (firmware/runtime/queue.h)."""

from collections.abc import Sequence

from ...layouts.operations import BURST, CACHE_LINE
from ...layouts.processor import SEND_WORD, SLOT_BYTES
from ..nic.done_count import Report
from ..port.words import TIMEOUT
from .costs import Prices
from .loader import NicProcessor

__all__ = ["CoherentQueue", "PioQueue", "SendQueue"]

MASK = 0xFFFF_FFFF


class SendQueue:
    """Common part of both kinds of queues: free slots, counted by the report word in host memory
    that the firmware writes.

    Parameters
    ----------
    page
        Doorbell page of the queue; the port's process must own it.
    count
        Slots, a power of two; the firmware must have the same number.
    report
        Address of the report word in host memory, which must be zero; the firmware must have the
        same address.

    Attributes
    ----------
    room
        Counts of slots posted, and of slots that the firmware has given back.
    """

    def __init__(self, processor: NicProcessor, page: int, count: int, report: int) -> None:
        if count < 4 or count & (count - 1):
            raise ValueError(f"count must be a power of two from 4 on, not {count}")
        self.port = processor.port
        self.memory = processor.node.memory
        self.count = count
        prices = processor.node.service(Prices)
        self.room = Report(processor.node, count, MASK, prices.room, report)
        self._doorbell = processor.doorbell(page)
        self._post = prices.post

    async def wait(self, limit: int = 0) -> bool:
        """Wait for a free slot; return whether there is one within ``limit`` cycles (0: no
        limit)."""
        room, port = self.room, self.port
        if room.free > 0:
            return True
        await room.look()
        if room.free > 0:
            return True
        port.waiting_for("room in a queue to the NIC processor")
        await port.room(1)
        room.put_poll(limit)
        await port.executed
        port.waiting_for("")
        if port.status & TIMEOUT:
            return False
        room.done += port.data - room.done & MASK
        return True

    async def put(self, words: Sequence[int], trace: int = 0) -> None:
        """Fill the next slot, which must be free, with ``words``, SEND_WORD first, and notify the
        NIC."""
        raise NotImplementedError

    async def post(self, words: Sequence[int], trace: int = 0) -> None:
        """Wait for a free slot, then fill it as :meth:`put` does."""
        if self.room.free <= 0:
            await self.wait()
        await self.put(words, trace)


class PioQueue(SendQueue):
    """A queue in NIC memory, at object ``slots`` of the firmware: PIO bursts, and a doorbell that
    gives the number of posted slots."""

    def __init__(self, processor: NicProcessor, page: int, slots: str, count: int, report: int, *,
                 offset: int = 0) -> None:
        super().__init__(processor, page, count, report)
        self._slots = processor.address(slots, offset)

    async def put(self, words: Sequence[int], trace: int = 0) -> None:
        port = self.port
        port.spend(self._post)
        await port.room(3)
        at = self._slots + (self.room.posted & self.count - 1) * SLOT_BYTES
        port.put_write(at, min(len(words), BURST), *words[:BURST], trace=trace)
        if len(words) > BURST:
            port.put_write(at + 8 * BURST, len(words) - BURST, *words[BURST:])
        self.room.posted += 1
        port.put_write(self._doorbell, 1, self.room.posted & MASK)


class CoherentQueue(SendQueue):
    """A queue in host memory at ``slots``, cacheable (nic.attachment = memory_bus). The CPU stores
    into it, and the NIC reads a line when the CPU takes ownership of it.

    The store that takes the first line is the last of its block, and the words are written when the
    block has ended. So the NIC sees the words exactly when it sees the store.
    """

    def __init__(self, processor: NicProcessor, page: int, slots: int, count: int, report: int
                 ) -> None:
        super().__init__(processor, page, count, report)
        if slots % SLOT_BYTES:
            raise ValueError(f"slots must be a multiple of {SLOT_BYTES}, not {slots:#x}")
        self._slots = slots

    async def put(self, words: Sequence[int], trace: int = 0) -> None:
        port = self.port
        port.spend(self._post)
        port.work("store", len(words))
        await port.room(2)
        at = self._slots + (self.room.posted & self.count - 1) * SLOT_BYTES
        phase = SEND_WORD.mask("phase")
        first = words[0] & ~phase if self.room.posted & self.count else words[0] | phase
        data = b"".join(word.to_bytes(8, "little") for word in (first, *words[1:]))
        if len(data) > CACHE_LINE:
            port.put_touch(at + CACHE_LINE, len(data) - CACHE_LINE, store=True)
        port.put_touch(at, min(len(data), CACHE_LINE), store=True)
        self.room.posted += 1
        await port.executed
        self.memory.write(at, data)
