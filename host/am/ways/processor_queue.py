"""The way to a message processor, which is another CPU of the node (``am.message_processor`` =
cpu): all packets are lines of a queue in host memory, which it reads."""

from ....layouts.packet import Protocol
from ....layouts.rings import LINE_BYTES, LINE_WORD
from ...nic.done_count import Report
from ...port.node import Node
from ...port.words import WORD
from .. import wire
from ..costs import Prices
from ..message_queues import FLAG, LAID_OUT, LINES, SERVED, MessageQueues
from ..receive_ring import ReceiveQueue
from .way import Way

__all__ = ["ProcessorQueue"]

LINE_TRACE = LINE_WORD.offset("trace")


class ProcessorQueue(Way):
    """Uses the lines of a queue in host memory that a message processor reads. A line has a flag:
    this CPU sets it with the message, the message processor clears it when the message has gone on.
    So the CPU looks at the flag of a line before it stores a message there. The store that takes
    the line is the last of its block, and its words are written at that time.

    Received packets are in a queue with flags, too. Bulk data are where the program has them: a
    line has their address."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        queues = node.shared_service(MessageQueues)
        if not queues.served:
            raise RuntimeError(
                f"Active Messages on CPU {node.cpu} of node {node.number}: its CPU 1 is the "
                "message processor (am.message_processor = cpu) and must not be given a program")
        self._queues = queues
        self.ring = self._queue = ReceiveQueue(node)
        prices = node.service(Prices)
        self._report = Report(node, node.description.nic.send_ring, 0xFFFF, prices.space)
        """Counts bulk packets: they are the NIC's descriptors."""
        self._line = 0
        self._c_line = prices.stored_slot
        self._c_bulk = prices.stored_bulk_slot
        self._c_room = prices.space
        self._c_freed = prices.freed
        self._pin(LINES + self._report.entries)

    async def free(self) -> None:
        """Clear the flag of the slot that was freed last."""
        port, ring = self.port, self._queue
        await port.room(1)
        port.spend(self._c_freed)
        port.put_touch(ring.freed, 8, store=True)
        await port.executed
        self.memory.write(ring.freed, bytes(8))

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return LINE_WORD.pack(route=self.node.route(destination), length=behind, phase=1,
                              protocol=Protocol.AM, payload=int(bulk), destination=destination)

    async def open(self, slots: int) -> None:
        node, queues = self.node, self._queues
        await self._report.open()
        queues.lay_out(node, slots, self._report.place)
        self._line = queues.first
        # Each CPU clears the flags that it will clear later, so that the first lap costs what the
        # others cost.
        for slot in range(node.description.nic.receive_ring):
            await node.store(slots + slot * node.description.slot_bytes, bytes(8))
        start = queues.start(node)
        await node.store(start, LAID_OUT.to_bytes(8, "little"))
        self.port.put_poll(start, SERVED, WORD)
        await self.port.executed

    def put(self, beats: int, header: int, word: int, low: int, high: int, number: int) -> None:
        self.port.spend(self._c_line)
        self._put(header, word, low, high, number)

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        self.port.spend(self._c_bulk)
        self._report.posted += 1
        self._put(header, word, low, self._place(payload, length), number)

    def _put(self, header: int, word: int, low: int, high: int, number: int) -> None:
        self.port.put_touch(self._line, LINE_BYTES, store=True)
        self.stores.append((self._line, wire.LINE.pack(header | number << LINE_TRACE, word, low,
                                                       high)))
        self._line = self._queues.line_behind(self._line)

    async def room(self) -> int:
        port = self.port
        port.spend(self._c_room)
        port.put_touch(self._line, 8)
        await port.executed
        return 0 if self.memory.word(self._line) & FLAG else wire.SMALL_BYTES

    def watch_room(self, small: bool, bulk: bool, timeout: int) -> None:
        self.port.put_poll(self._line, 0, FLAG, timeout)
