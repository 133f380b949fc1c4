"""The way to firmware ``am`` of a NIC on the memory bus: the queue is in host memory, and the
firmware pulls it; there are no doorbells."""

from ....layouts.processor import SEND_WORD, SLOT_BYTES
from .. import wire
from .am_queue import AmQueue

__all__ = ["CoherentQueue"]

SEND_PHASE = SEND_WORD.offset("phase")
SEND_TRACE = SEND_WORD.offset("trace")


class CoherentQueue(AmQueue):
    """Uses slots in host memory. The store that takes the line is the last of its block, and its
    words are written at that time. So the firmware sees them exactly when it sees the store."""

    price = "stored_slot"
    bulk_price = "stored_bulk_slot"

    async def open(self, slots: int) -> None:
        self._slots = self.node.allocate(self._report.entries * SLOT_BYTES)
        # Cached and clean, so the NIC sees each store, also those of the first lap.
        await self.node.load(self._slots, self._report.entries * SLOT_BYTES)
        await self._start(slots, self._slots)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> None:
        port, report = self.port, self._report
        posted = report.posted
        slot = self._slots + (posted & self._index) * SLOT_BYTES
        phase = 0 if posted & self._index + 1 else 1
        report.posted = posted + 1
        port.put_touch(slot, 8 * beats, store=True)
        self.stores.append((slot, wire.LINE.pack(
            header | phase << SEND_PHASE | number << SEND_TRACE, word, low, high)[:8 * beats]))
