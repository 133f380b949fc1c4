"""The way to a NIC without a processor: small packets by PIO into the send window, bulk packets by
descriptors of the send ring."""

from ....layouts.registers import RECHECK, SEND_WINDOW
from ....layouts.rings import DESCRIPTOR_BYTES, DESCRIPTOR_CONTROL
from ...nic.done_count import Report
from ...port.node import Node
from ...port.words import F_NOT_EQUAL
from .. import wire
from ..costs import Prices
from .way import SmallRoom, Taken, Way

__all__ = ["SendWindow"]

PAYLOAD = DESCRIPTOR_CONTROL.offset("payload")
DESCRIPTOR_TRACE = DESCRIPTOR_CONTROL.offset("trace")

if SEND_WINDOW % 8:
    raise AssertionError("the send window is not a place of whole words")


class SendWindow(Way):
    """Uses the NIC's send window and send ring."""

    takes = tuple(8 * beats for beats in range(wire.SMALL_BEATS + 1))
    bulk_takes = 0

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        prices = node.service(Prices)
        self._report = Report(node, node.description.nic.send_ring, 0xFFFF, prices.space)
        self._descriptors = 0
        self._taken = Taken(node, self.ring, node.register("receive_taken"), 0xFFFF)
        self._window = node.nic_address(SEND_WINDOW)
        self._send_space = node.register("send_space")
        self._doorbell = node.register("send_doorbell")
        self._space = prices.space
        self._bulk_send = prices.bulk_send
        self._pin(self._report.entries)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        node = self.node
        return wire.wire_header(node.route(destination), node.number, destination, behind)

    async def open(self, slots: int) -> None:
        node, port = self.node, self.port
        self._descriptors = node.allocate(self._report.entries * DESCRIPTOR_BYTES)
        await self._report.open()
        await port.pio_write(node.register("send_base"), self._descriptors)
        await port.pio_write(node.register("send_report"), self._report.place)
        await port.pio_write(node.register("receive_base"), slots)
        await port.pio_write(node.register("control"), 3)

    def put(self, beats: int, header: int, word: int, low: int, high: int, number: int) -> None:
        self.port.put_write(self._window, beats, header, word, low, high, number)

    async def room(self) -> int:
        port = self.port
        port.spend(self._space)
        port.put_read(self._send_space)
        await port.executed
        return port.data

    async def bulk_room(self, small: SmallRoom) -> bool:
        if self._report.free <= 0:
            await self._report.look()
        return self._report.free > 0

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        port, report = self.port, self._report
        port.spend(self._bulk_send)
        payload = self._place(payload, length)
        slot = self._descriptors + report.posted % report.entries * DESCRIPTOR_BYTES
        # The NIC has finished with this slot, and reads it only after the doorbell.
        self.memory.write(slot, wire.DESCRIPTOR.pack(
            header, word, low, 0, 0, payload,
            wire.BULK_HEADER_BYTES | length << PAYLOAD | number << DESCRIPTOR_TRACE, 0))
        port.put_touch(slot, DESCRIPTOR_BYTES, store=True)
        report.posted += 1
        port.put_write(self._doorbell, 1, report.posted & 0xFFFF, trace=number)

    def watch_room(self, small: bool, bulk: bool, timeout: int) -> None:
        port = self.port
        if bulk:
            if small:
                port.put_watch(self._send_space, 0, wire.SPACE_MASK, F_NOT_EQUAL)
            self._report.put_poll(timeout)
        else:
            port.put_poll(self._send_space, 0, wire.SPACE_MASK, timeout, F_NOT_EQUAL)

    async def recheck(self) -> None:
        self.ring.reported(self.ring.taken)
        await self._taken.tell(RECHECK)
