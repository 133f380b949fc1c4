"""A way to the NIC without doorbells and rings: firmware ``lanai`` (``am.firmware``).

Both queues are in NIC memory, and each slot has a flag in its first word. The CPU stores a packet
into a slot by PIO, the word with the flag last; it polls the flag of the next slot of the receive
queue, loads the words that it needs by PIO, and writes 0 to the first word. The payload of a
received bulk packet is copied out of a pinned region of host memory, with a place for each slot.
"""

from ....layouts.processor import NIC_MEMORY, SEND_WORD, SLOT_BYTES, SendKind
from ....layouts.rings import COMPLETION
from ...nic.done_count import Report
from ...port.node import Node
from ...processor.loader import NicProcessor
from .. import wire
from ..costs import Prices
from ..receive_ring import ReceiveRing
from .slot_queue import QUEUE_SLOTS, SlotQueue

__all__ = ["NicQueues", "SentCount"]

FIRMWARE = "lanai"
SEND_TRACE = SEND_WORD.offset("trace")
LENGTH, LENGTH_MASK = COMPLETION.offset("length"), 0xFFFF
SOURCE = COMPLETION.offset("index")
"""The firmware puts the packet's source there."""
LEAST = 4
"""Slots that a receive queue has in any case."""
PROGRAM = 13312
"""NIC memory that the firmware takes at most, on any core: its program, its queue, 1 KiB of stack.
The stages and the receive queue come beside it."""
STAGES = 2
LOW = 0xFFFF_FFFF


def _aligned(length: int) -> int:
    return -(-length // 64) * 64


class SentCount(Report):
    """The number of sent slots, which the firmware keeps in NIC memory."""

    async def open(self) -> None:
        """Nothing is to be done: the firmware begins at 0."""

    def _put_look(self) -> None:
        self.port.put_read(self.place)

    def _count(self) -> int:
        return self.port.data


class NicReceiveQueue(ReceiveRing):
    """The slots in NIC memory in which the firmware receives packets. Each has a place of the same
    size in a pinned region of host memory, for the payload of a bulk packet."""

    __slots__ = ("_port", "_payloads", "freed")

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.near = False
        self._port = node.port
        room = (node.description.processor.memory - PROGRAM
                - STAGES * _aligned(node.description.nic.mtu))
        while self.entries > LEAST and self.entries * self.stride > room:
            self.entries //= 2
        self._payloads = 0
        self.freed = 0
        """PIO address of the slot that was freed last."""

    def allocate(self) -> int:
        """Allocate the pinned region; return its address."""
        self._payloads = super().allocate()
        return self._payloads

    def open(self, address: int) -> None:
        """The firmware's slots are at PIO address ``address``."""
        self.first = self.slot = address

    @property
    def payload(self) -> int:
        return self._payloads + self.slot - self.first

    async def load(self) -> tuple[int, ...]:
        port, slot = self._port, self.slot
        completion = port.data
        port.put_read(slot + 16)
        await port.executed
        word = port.data
        flags = word & 0xFFFF
        kind, count = flags & 15, flags >> 4 & 7
        low = high = 0
        if count or kind in wire.WITH_WORD or flags & wire.ANSWER:
            port.put_read(slot + 24)
            await port.executed
            low = port.data
            if count > 2 or kind == wire.K_GET:
                port.put_read(slot + 32)
                await port.executed
                high = port.data
        return (completion, completion >> LENGTH & LENGTH_MASK, completion >> SOURCE, flags,
                word >> wire.HANDLER & 255, word >> wire.SEQUENCE & 255, word >> wire.ACKS,
                low & LOW, low >> 32, high & LOW, high >> 32)

    def advance(self) -> bool:
        """Go on to the next slot. The CPU frees each one."""
        self.freed = self.slot
        self.taken = taken = self.taken + 1
        self.slot = self.first + taken % self.entries * self.stride
        return True


class NicQueues(SlotQueue):
    """Uses a queue of slots in NIC memory, whose flags stand for doorbells."""

    entries = 2
    price = "slot"
    bulk_price = "bulk_slot"

    def __init__(self, node: Node) -> None:
        prices = node.service(Prices)
        super().__init__(node, SentCount(node, QUEUE_SLOTS, LOW, prices.space))
        self.ring = self._queue = NicReceiveQueue(node)
        self._c_free = prices.free

    async def free(self) -> None:
        """Clear the flag of the slot that was freed last."""
        port = self.port
        await port.room(1)
        port.spend(self._c_free)
        port.put_write(self._queue.freed, 1, 0)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        """The route is left to the NIC."""
        return SEND_WORD.pack(length=behind, phase=1, destination=destination,
                              kind=SendKind.BULK if bulk else SendKind.INLINE)

    async def open(self, slots: int) -> None:
        node, description = self.node, self.node.description
        processor = node.service(NicProcessor)
        cycles = description.processor.clock_divider
        await processor.start(FIRMWARE, parameters={
            "send_slots": QUEUE_SLOTS, "receive_slots": self._queue.entries,
            "receive_bytes": description.slot_bytes, "receive_base": slots,
            "routes": [node.route(number) for number in range(node.nodes)], "nodes": node.nodes,
            "mtu": description.nic.mtu, "host_bytes": self.memory.size,
            "work_send": description.am.work_send * cycles,
            "work_receive": description.am.work_receive * cycles})
        self._slots = processor.address("slots")
        self._report.place = processor.address("lanai")
        self._queue.open(node.nic_address(NIC_MEMORY)
                         + await self.port.pio_read(processor.address("lanai", 8)))

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> None:
        port, report = self.port, self._report
        slot = self._slots + report.posted % QUEUE_SLOTS * SLOT_BYTES
        report.posted += 1
        port.put_write(slot + 8, beats - 1, word, low, high)
        port.put_write(slot, 1, header | number << SEND_TRACE, trace=number)
