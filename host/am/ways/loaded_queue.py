"""A way to the NIC by a queue in host memory, filled through the cache, and one uncached access
that tells the firmware of each packet: firmware ``elan`` (``am.firmware``).

The firmware sends, and acknowledges what has arrived; a slot is free when its packet was
acknowledged. The NIC's hardware stores received packets into its receive ring.
"""

from ....layouts.processor import SEND_WORD, SLOT_BYTES
from ...port.node import Node
from ...processor.loader import NicProcessor
from .. import wire
from .slot_queue import QUEUE_PAGE, SlotQueue
from .way import Taken

__all__ = ["LoadedQueue"]

SEND_TRACE = SEND_WORD.offset("trace")


class LoadedQueue(SlotQueue):
    """Uses slots in host memory and a doorbell for each."""

    entries = 2
    price = "stored_slot"
    bulk_price = "stored_bulk_slot"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._taken = Taken(node, self.ring, node.register("receive_taken"), 0xFFFF)

    async def open(self, slots: int) -> None:
        node, description, port = self.node, self.node.description, self.port
        self._slots = node.allocate(self._report.entries * SLOT_BYTES)
        await self._report.open()
        await port.pio_write(node.register("receive_base"), slots)
        await port.pio_write(node.register("control"), 2)
        cycles = description.processor.clock_divider
        processor = node.service(NicProcessor)
        self._doorbell = processor.doorbell(QUEUE_PAGE)
        await processor.start("elan", parameters={
            "send_slots": self._report.entries, "send_base": self._slots,
            "send_report": self._report.place, "nodes": node.nodes, "mtu": description.nic.mtu,
            "routes": [node.route(number) for number in range(node.nodes)],
            "host_bytes": self.memory.size, "patience": description.am.retry_timeout,
            "work_send": description.am.work_send * cycles,
            "work_receive": description.am.work_receive * cycles})

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> None:
        port, report = self.port, self._report
        slot = self._slots + (report.posted & self._index) * SLOT_BYTES
        # The firmware has finished with this slot, and reads it only after the doorbell.
        self.memory.write(slot, wire.LINE.pack(header | number << SEND_TRACE, word, low, high))
        port.put_touch(slot, 8 * beats, store=True)
        report.posted = posted = report.posted + 1
        port.put_write(self._doorbell, 1, posted & 0xFFFF_FFFF, trace=number)
