"""The way to a NIC on the memory bus without a processor: all packets are cache lines of a ring in
host memory, which the NIC pulls; there are no doorbells."""

from ....layouts.packet import TRACE_BITS, Protocol
from ....layouts.registers import RECHECK
from ....layouts.rings import LINE_BYTES, LINE_WORD
from ...nic.done_count import Report
from ...port.node import Node
from .. import wire
from ..costs import Prices
from .way import Taken, Way

__all__ = ["LineRing"]

LINE_PHASE = LINE_WORD.offset("phase")
LINE_TRACE = LINE_WORD.offset("trace")

if LINE_TRACE + TRACE_BITS != 64 or LINE_WORD.offset("length") != 16:
    raise AssertionError("headers with a length or trace number added do not match their words")


class LineRing(Way):
    """Uses the lines of a ring in host memory. The store that takes the line is the last of its
    block, and its words are written at that time. So the NIC sees them exactly when it sees the
    store."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        prices = node.service(Prices)
        self._report = Report(node, node.description.nic.send_ring, 0xFFFF, prices.space)
        self._taken = Taken(node, self.ring, node.register("receive_taken"), 0xFFFF)
        self._lines = 0
        self._c_line = prices.stored_slot
        self._c_bulk = prices.stored_bulk_slot
        self._pin(self._report.entries)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return LINE_WORD.pack(route=self.node.route(destination), length=behind,
                              protocol=Protocol.AM, payload=int(bulk), destination=destination)

    async def open(self, slots: int) -> None:
        node, port = self.node, self.port
        self._lines = node.allocate(self._report.entries * LINE_BYTES)
        await self._report.open()
        # The NIC does not use the ring yet. Clearing it brings its lines into the cache.
        await node.store(self._lines, bytes(self._report.entries * LINE_BYTES))
        await port.pio_write(node.register("send_base"), self._lines)
        await port.pio_write(node.register("send_report"), self._report.place)
        await port.pio_write(node.register("receive_base"), slots)
        await port.pio_write(node.register("control"), 7)

    def put(self, beats: int, header: int, word: int, low: int, high: int, number: int) -> None:
        self.port.spend(self._c_line)
        self._put(header, word, low, high, number)

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        self.port.spend(self._c_bulk)
        self._put(header, word, low, self._place(payload, length), number)

    def _put(self, header: int, word: int, low: int, high: int, number: int) -> None:
        report = self._report
        posted, entries = report.posted, report.entries
        line = self._lines + posted % entries * LINE_BYTES
        phase = 0 if posted & entries else 1
        report.posted = posted + 1
        self.port.put_touch(line, LINE_BYTES, store=True)
        self.stores.append((line, wire.LINE.pack(
            header | phase << LINE_PHASE | number << LINE_TRACE, word, low, high)))

    async def room(self) -> int:
        return await self._look()

    async def recheck(self) -> None:
        self.ring.reported(self.ring.taken)
        await self._taken.tell(RECHECK)
