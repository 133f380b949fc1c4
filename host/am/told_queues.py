"""A way to the NIC by a queue in host memory, filled through the cache, and one uncached access
that tells the firmware of each packet: firmware ``elan`` (``am.firmware``).

The firmware only sends. The NIC's hardware stores received packets into its receive ring.
"""

from ...layouts.operations import NIC_BASE
from ...layouts.processor import SEND_WORD, SLOT_BYTES, SendKind
from ...layouts.via import DOORBELL_PAGES, PAGE
from ..port.done_count import Report
from ..port.node import Node
from ..processor.loader import NicProcessor
from . import costs, wire
from .injection import QUEUE_PAGE, QUEUE_SLOTS, Injection

__all__ = ["LoadedQueue"]

SEND_TRACE = SEND_WORD.offset("trace")


class LoadedQueue(Injection):
    """Uses slots in host memory and a doorbell for each. Room is counted as if each slot were a
    small packet."""

    entries = 2

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        # With this many slots no doorbell finds the doorbell queue full.
        slots = min(QUEUE_SLOTS, node.description.processor.doorbell_queue)
        self._report = Report(node, slots, (1 << 32) - 1, costs.SPACE)
        self._index = slots - 1
        self._slots = 0
        self._doorbell = NIC_BASE + DOORBELL_PAGES + QUEUE_PAGE * PAGE
        self._c_slot = node.port.path(costs.STORED_SLOT)
        self._c_bulk = node.port.path(costs.STORED_BULK_SLOT)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return SEND_WORD.pack(route=self.node.route(destination), length=behind,
                              kind=SendKind.BULK if bulk else SendKind.INLINE,
                              destination=destination)

    async def open(self, slots: int) -> None:
        node, description, port = self.node, self.node.description, self.port
        self._slots = node.allocate(self._report.entries * SLOT_BYTES)
        await self._report.open()
        await port.pio_write(self._register("receive_base"), slots)
        await port.pio_write(self._register("control"), 2)
        await node.service(NicProcessor).start("elan", parameters={
            "send_slots": self._report.entries, "send_base": self._slots,
            "send_report": self._report.place, "nodes": node.nodes, "mtu": description.nic.mtu,
            "host_bytes": self.memory.size,
            "work_send": description.am.work_send * description.processor.clock_divider})

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        port, report = self.port, self._report
        slot = self._slots + (report.posted & self._index) * SLOT_BYTES
        # The firmware has finished with this slot, and reads it only after the doorbell.
        self.memory.write(slot, wire.LINE.pack(header | number << SEND_TRACE, word, low, high))
        port.put_touch(slot, 8 * beats, store=True)
        report.posted = posted = report.posted + 1
        port.put_write(self._doorbell, 1, posted & 0xFFFF_FFFF, trace=number)
        return wire.SMALL_BYTES

    def small(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> int:
        self.port.spend(self._c_slot)
        return self._put(header, word, low, high, beats, number)

    def bulk(self, header: int, word: int, low: int, payload: int, length: int,
             number: int) -> int:
        self.port.spend(self._c_bulk)
        return self._put(header, word, low, payload, 4, number)

    async def room(self) -> int:
        await self._report.look()
        return wire.SMALL_BYTES * self._report.free

    def put_poll(self, small: bool, bulk: bool, timeout: int) -> None:
        self._report.put_poll(timeout)
