"""A way to the NIC by entries in host memory and their lengths in NIC memory: firmware ``tb2``
(``am.firmware``).

The CPU stores a packet into the next entry, through its cache, flushes it if the bus is not
coherent, and writes the packet's length into an array in NIC memory, by PIO. Bulk data are copied
into entries, too; a PIO write of 8 bytes has the lengths of four entries. Packets arrive in a ring
in host memory, as over firmware ``am``.
"""

from ....layouts.processor import SEND_WORD
from ...nic.done_count import Report
from ...port.node import Node
from ...processor.loader import NicProcessor
from .. import wire
from ..costs import Prices
from ..marks import BEGIN, BULK_SEND, END
from .slot_queue import SlotQueue
from .way import Taken

__all__ = ["EntryQueue"]

ENTRIES = 128
LENGTHS = 4
"""Lengths in a word of the array."""
LAP = 0x8000
"""Bit of a length that differs from one lap to the next; set in the first one."""
LOW = 0xFFFF_FFFF
SEND_TRACE = SEND_WORD.offset("trace")


class EntryQueue(SlotQueue):
    """Uses entries in host memory, with their lengths in NIC memory."""

    entries = 2
    bulk_entries = 3
    price = "entry"
    bulk_price = "bulk_entry"

    def __init__(self, node: Node) -> None:
        super().__init__(node, Report(node, ENTRIES, LOW, node.service(Prices).space))
        self._flushes = bool(node.port.costs.flush_bytes)
        if self._flushes:
            self.entries += 1
            self.bulk_entries += 1
        # An entry has what a slot of the receive ring has, but for the completion word.
        self._entry_bytes = node.description.slot_bytes
        self._lengths = 0
        self._words = [0] * (ENTRIES // LENGTHS)
        self._number = 0
        self._untold = False

    async def open(self, slots: int) -> None:
        node, description = self.node, self.node.description
        self._slots = node.allocate(ENTRIES * self._entry_bytes)
        await self._report.open()
        processor = node.service(NicProcessor)
        await processor.start("tb2", parameters={
            "send_entries": ENTRIES, "send_base": self._slots, "send_bytes": self._entry_bytes,
            "send_report": self._report.place, "receive_base": slots,
            "receive_entries": description.nic.receive_ring,
            "receive_bytes": description.slot_bytes, "nodes": node.nodes,
            "mtu": description.nic.mtu,
            "work_send": description.am.work_send * description.processor.clock_divider})
        self._lengths = processor.address("lengths")
        self._taken = Taken(node, self.ring, processor.address("tb2"), LOW)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> None:
        # The firmware has finished with this entry, and reads it only after its length.
        self.memory.write(self._entry, wire.LINE.pack(header | number << SEND_TRACE, word, low,
                                                      high))
        self._post(8 * beats, number)
        self._tell()

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        port, entry = self.port, self._entry
        port.spend(self._c_bulk)
        self.memory.write(entry, wire.LINE.pack(header | number << SEND_TRACE, word, low, 0))
        if length:
            self.memory.write(entry + wire.BULK_ENTRY, self.memory.read(payload, length))
            port.put_touch(payload, length)
            port.work("copy_word", -(-length // 8))
        self._post(wire.BULK_ENTRY + length, number)
        if self._report.posted % LENGTHS == 0:
            self._tell()

    async def tell(self) -> None:
        if not self._untold:
            return
        port = self.port
        await port.room(1)
        port.mark(BULK_SEND, BEGIN, self._number)
        self._tell()
        port.mark(BULK_SEND, END, self._number)

    @property
    def _entry(self) -> int:
        """Address of the next entry."""
        return self._slots + self._report.posted % ENTRIES * self._entry_bytes

    def _post(self, length: int, number: int) -> None:
        """Store the ``length`` bytes of the next entry. Its packet has the trace number
        ``number``."""
        report = self._report
        self.port.put_touch(self._entry, length, store=True)
        if self._flushes:
            self.port.put_flush(self._entry, length)
        index, lap = report.posted % ENTRIES, 0 if report.posted & ENTRIES else LAP
        at = index // LENGTHS
        shift = 16 * (index % LENGTHS)
        self._words[at] = self._words[at] & ~(0xFFFF << shift) | (length | lap) << shift
        report.posted += 1
        self._number = number
        self._untold = True

    def _tell(self) -> None:
        """Write the word that has the length posted last. Those posted before it in other words
        have been written."""
        at = (self._report.posted - 1) % ENTRIES // LENGTHS
        self.port.put_write(self._lengths + 8 * at, 1, self._words[at], trace=self._number)
        self._untold = False
