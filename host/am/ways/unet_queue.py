"""The way over U-Net (``am.carrier`` = unet): all packets are messages of an endpoint, with a
channel for each node. What U-Net drops for want of a buffer, Active Messages send again."""

from ....layouts.packet import HEADER
from ....layouts.rings import COMPLETION
from ....layouts.unet import (
    FREE_SLOTS,
    RECEIVE,
    RECEIVE_BYTES,
    RECEIVE_SLOTS,
    SEND_SLOTS,
)
from ...kernel.process import Process
from ...port.node import Node
from ...unet import CommunicationEndpoint, Unet
from ...unet.send_queue import INLINED, PUT, S_CHANNEL
from .. import wire
from ..costs import Prices
from ..receive_ring import ReceiveRing
from .way import Way

__all__ = ["UnetQueue"]

HEAD = wire.BULK_ENTRY
"""Bytes of a bulk packet before its data: wire header, header of Active Messages, a word."""
PACKET = 1024
"""Most bytes of a packet of U-Net."""
DESTINATION = HEADER.offset("destination")
R_BUFFERS = RECEIVE.offset("buffers")
TAG = 7
"""Tag of the messages of node 0."""
MASK = 0xFFFF_FFFF

if RECEIVE.offset("trace") != COMPLETION.offset("trace") or RECEIVE.offset("phase"):
    raise AssertionError("a descriptor does not have trace number and phase where slots have them")


class UnetRing(ReceiveRing):
    """The receive queue of the endpoint. A small packet is in its slot; a bulk packet in a buffer
    that the slot names.

    Attributes
    ----------
    place
        The buffer of the packet in the next slot; negative: none.
    freed
        Buffers to be given to the free queue again.
    """

    __slots__ = ("_memory", "_port", "_payload", "endpoint", "place", "freed")

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.near = False
        self.entries, self.stride = RECEIVE_SLOTS, RECEIVE_BYTES
        self.quarter = RECEIVE_SLOTS // 4
        self.reported(0)
        self._memory, self._port = node.memory, node.port
        self._payload = 0
        self.endpoint: CommunicationEndpoint = None  # type: ignore[assignment]
        self.place = -1
        self.freed: list[int] = []

    def allocate(self) -> int:
        """Nothing: the slots are the endpoint's."""
        return 0

    @property
    def payload(self) -> int:
        return self._payload

    async def load(self) -> tuple[int, ...]:
        port, memory, slot = self._port, self._memory, self.slot
        word = port.data
        at = slot + 8
        self.place = -1
        if word >> R_BUFFERS & 7:
            self.place = memory.word(at) & MASK
            endpoint = self.endpoint
            at = endpoint.process.physical(endpoint.address(self.place))
            port.put_touch(at, HEAD)
            await port.executed
        self._payload = at + HEAD
        found: tuple[int, ...] = wire.SLOT.unpack(
            word.to_bytes(8, "little") + memory.read(at, wire.SLOT.size - 8))
        if self.place < 0 and found[1] > 16:
            port.put_touch(slot + wire.SMALL_BYTES, 8)
            await port.executed
        return found

    def advance(self) -> bool:
        if self.place >= 0:
            self.freed.append(self.place)
        return super().advance() or bool(self.freed)


class UnetQueue(Way):
    """Uses an endpoint of U-Net. A bulk packet is copied into the segment, its buffer there is the
    one of its slot."""

    entries = PUT
    bulk_entries = PUT + 2

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.ring = self._ring = UnetRing(node)
        self._unet = Unet(Process(node, 1))
        self._step = min(node.description.nic.mtu, PACKET)
        self.bulk_bytes = self._step - HEAD
        prices = node.service(Prices)
        self._c_slot, self._c_bulk = prices.slot, prices.bulk_slot
        self._channels: dict[int, int] = {}
        self._endpoint: CommunicationEndpoint = None  # type: ignore[assignment]

    def header(self, destination: int, behind: int, bulk: bool = False) -> int:
        """The route is the firmware's to know."""
        return wire.wire_header(0, self.node.number, destination, behind)

    async def open(self, slots: int) -> None:
        node, step = self.node, self._step
        self._endpoint = endpoint = await self._unet.create_endpoint(
            (SEND_SLOTS + FREE_SLOTS) * step, SEND_SLOTS, RECEIVE_SLOTS, FREE_SLOTS)
        ring = self._ring
        ring.endpoint = endpoint
        ring.first = ring.slot = endpoint.receive_queue.watch.address
        for number in range(SEND_SLOTS, SEND_SLOTS + FREE_SLOTS):
            await endpoint.post_free(number * step, step)
        for peer in node.active:
            channel = await self._unet.create_channel(endpoint, peer, TAG + node.number,
                                                      TAG + peer)
            self._channels[peer] = channel.number << S_CHANNEL
        await self.port.flush()
        self.port.process = 0

    # Out

    async def room(self) -> int:
        queue = self._endpoint.send_queue
        await queue.look()
        return wire.SMALL_BYTES * (queue.count - queue.posted + queue.done)

    def put(self, beats: int, header: int, word: int, low: int, high: int, number: int) -> None:
        self.port.spend(self._c_slot)
        self._put(header, 8 * beats | INLINED, (header, word, low, high)[:beats], number)

    def put_bulk(self, header: int, word: int, low: int, payload: int, length: int, number: int
                 ) -> None:
        port, endpoint = self.port, self._endpoint
        port.spend(self._c_bulk)
        offset = (endpoint.send_queue.posted & SEND_SLOTS - 1) * self._step
        place = endpoint.process.physical(endpoint.segment + offset)
        self.memory.write(place, wire.LINE.pack(header, word, low, 0)[:HEAD]
                          + self.memory.read(payload, length))
        port.work("store", HEAD // 8)
        port.work("copy_word", -(-length // 8))
        if length:
            port.put_touch(payload, length)
        port.put_touch(place, HEAD + length, store=True)
        self._put(header, HEAD + length, (endpoint.place(endpoint.segment + offset),), number)

    def _put(self, header: int, word: int, words: tuple[int, ...], number: int) -> None:
        channel = self._channels[header >> DESTINATION & 255]
        store = self._endpoint.send_queue.put(word | channel, words, number)
        if store is not None:
            self.stores.append(store)

    def watch_room(self, small: bool, bulk: bool, timeout: int) -> None:
        self._endpoint.send_queue.put_watch(timeout)

    @property
    def posted(self) -> int:
        return self._endpoint.send_queue.posted

    async def done(self) -> int:
        await self._endpoint.send_queue.look()
        return self._endpoint.send_queue.done

    # In

    async def free(self) -> None:
        """Give buffers back, and tell how many slots were taken."""
        ring, queue = self._ring, self._endpoint.receive_queue
        while ring.freed:
            queue.out -= 1
            await self._endpoint.post_free_at(self._endpoint.address(ring.freed.pop(0)), self._step)
        if ring.told != queue.told:
            await queue.tell(ring.told)
