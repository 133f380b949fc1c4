"""The part of the ways that hand all packets to firmware in slots of a queue."""

from ....layouts.packet import TRACE_BITS
from ....layouts.processor import SEND_WORD, SendKind
from ...nic.done_count import Report
from ...port.node import Node
from ..costs import Prices
from .way import Way

__all__ = ["QUEUE_PAGE", "QUEUE_SLOTS", "SlotQueue"]

QUEUE_PAGE = 1
"""Doorbell page of the firmware's queue."""
QUEUE_SLOTS = 32
"""Most slots of the queue. A posted packet waits behind all of them."""

if SEND_WORD.offset("trace") + TRACE_BITS != 64 or SEND_WORD.offset("length") != 16:
    raise AssertionError("headers with a length or trace number added do not match their words")


class SlotQueue(Way):
    """Uses the slots of a queue that firmware reads. Room is counted as if each slot were a small
    packet.

    Parameters
    ----------
    report
        How many slots there are, and how those sent are counted; None: by a count in host memory.
    """

    price: str
    """The path, by its name in :class:`.Prices`, charged for a packet in addition to the packet's
    own."""
    bulk_price: str

    def __init__(self, node: Node, report: Report | None = None) -> None:
        super().__init__(node)
        prices = node.service(Prices)
        processor, slots = node.description.processor, QUEUE_SLOTS
        if processor.doorbells == "queue":
            # One doorbell for each slot. With this many slots no doorbell finds the doorbell
            # queue full.
            slots = min(slots, processor.doorbell_queue)
        self._report = report or Report(node, slots, (1 << 32) - 1, prices.space)
        self._index = self._report.entries - 1
        self._slots = 0
        self._c_slot = getattr(prices, self.price)
        self._c_bulk = getattr(prices, self.bulk_price)
        self._pin(self._report.entries)

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        return SEND_WORD.pack(route=self.node.route(destination), length=behind, phase=0,
                              kind=SendKind.BULK if bulk else SendKind.INLINE,
                              destination=destination, trace=0)

    async def room(self) -> int:
        return await self._look()

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        self.port.spend(self._c_bulk)
        self._put(header, word, low, self._place(payload, length), 4, number)

    def put(self, beats: int, header: int, word: int, low: int, high: int, number: int) -> None:
        self.port.spend(self._c_slot)
        self._put(header, word, low, high, beats, number)

    def _put(self, header: int, word: int, low: int, high: int, beats: int, number: int) -> None:
        raise NotImplementedError
