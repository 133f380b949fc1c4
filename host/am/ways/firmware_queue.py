"""The way to firmware ``am`` on a NIC processor: all packets are slots of its queue in NIC memory,
written by PIO, and a doorbell."""

from ....layouts.processor import SEND_WORD, SLOT_BYTES
from .am_queue import AmQueue
from .slot_queue import QUEUE_PAGE

__all__ = ["FirmwareQueue"]

SEND_TRACE = SEND_WORD.offset("trace")


class FirmwareQueue(AmQueue):
    """Uses slots in NIC memory and a doorbell."""

    entries = 2
    price = "slot"
    bulk_price = "bulk_slot"

    async def open(self, slots: int) -> None:
        processor = await self._start(slots, 0)
        self._slots = processor.address("slots")
        self._doorbell = processor.doorbell(QUEUE_PAGE)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> None:
        port, report = self.port, self._report
        posted = report.posted
        port.put_write(self._slots + (posted & self._index) * SLOT_BYTES, beats,
                       header | number << SEND_TRACE, word, low, high, number)
        report.posted = posted = posted + 1
        port.put_write(self._doorbell, 1, posted & 0xFFFF_FFFF, trace=number)
