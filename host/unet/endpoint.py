"""A side of an exchange over U-Net."""

from collections import deque
from collections.abc import Callable
from typing import Any

from ...layouts.description import Description
from ...layouts.unet import (
    FREE_SLOTS,
    INLINE,
    MAX_MESSAGE,
    RECEIVE_SLOTS,
    SEGMENT_PAGES,
    SEND_SLOTS,
)
from ..endpoint import Endpoint, EndpointError, Exchange, Spin
from ..kernel.process import Process
from ..port.node import Node
from .channel import Channel
from .knobs import Knobs
from .received import Received
from .unet import Unet

__all__ = ["UnetEndpoint"]

WINDOW = 32
"""Most messages of a sender that are not known to be taken."""
OUT = 4
"""Buffers of the segment from which messages are sent, most."""
DATA, CREDIT = 1, 2
"""First byte of a message: it counts, or it brings nothing but the count of those taken."""
WORD = 4
"""Bytes of that byte and the count, of 24 bits."""
LONG_CREDIT = 8
"""Bytes of a message with a count where others are shorter than a word."""
COUNT = 0xFF_FFFF


class UnetEndpoint(Endpoint):
    """A U-Net endpoint with a channel for each peer. U-Net holds nobody back, so this does: a
    sender has no more messages at a receiver than that has buffers for. Each message tells in its
    first word how many have been taken; a message of its own tells it where none has gone the other
    way for half a window."""

    crowds = True
    lossy = True

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self._unet = Unet(Process(node, 1))
        self._process = self._unet.process
        me = node.home
        self._peers = sorted({*exchange.to(me), *exchange.of(me)} - {me})
        self._size = size = exchange.size
        self._small = max(size, LONG_CREDIT) <= INLINE
        self._endpoint: Any = None
        self._channels: dict[int, Channel] = {}
        self._of: dict[int, int] = {}
        """Peer by number of its channel."""
        self._window = min(self._share(one) for one in exchange.nodes)
        self._lot = max(1, self._window // 2)
        self._sent = dict.fromkeys(self._peers, 0)
        self._known = dict.fromkeys(self._peers, 0)
        """Of these, the peer has said that it has taken so many."""
        self._taken = dict.fromkeys(self._peers, 0)
        self._told = dict.fromkeys(self._peers, 0)
        self._due: deque[int] = deque()
        self._source = self._target = 0
        self._outs: deque[tuple[int, int]] = deque()
        """Buffers to send from, the oldest first: place, and the send that it is in."""

    @classmethod
    def largest(cls, description: Description) -> int:
        """The longest message whose buffers, one to send and one to receive, are in a segment."""
        if description.section(Knobs).buffers != "segment":
            return MAX_MESSAGE
        return min(MAX_MESSAGE, (SEGMENT_PAGES * description.via.page_bytes) // 2 - 4096)

    @property
    def _step_bytes(self) -> int:
        """Bytes of a buffer."""
        return -(-max(self._size, 8) // 8) * 8

    def _share(self, node: int) -> int:
        """Messages of each sender that ``node`` has room for."""
        exchange = self.exchange
        peers = len({*exchange.to(node), *exchange.of(node)} - {node})
        senders = max(exchange.crowd, peers, 1)
        # Beside each message there may be the lots of counts that it and the answer bring.
        found = min(WINDOW, (RECEIVE_SLOTS - 4 * senders) // senders)
        if not self._small:
            room = SEGMENT_PAGES * self._process.page_bytes
            step = self._step_bytes
            found = min(found, FREE_SLOTS // senders, (room - step) // (step * senders))
        if found < 1:
            raise EndpointError(f"unet: no room for a message of {exchange.size} bytes of each of "
                                f"{senders} peers in a segment of "
                                f"{SEGMENT_PAGES * self._process.page_bytes} bytes")
        return found

    async def open(self) -> None:
        node, process = self.node, self._process
        step = self._step_bytes
        count = 0 if self._small else self._window * max(len(self._peers), 1)
        most = SEGMENT_PAGES * process.page_bytes
        outs = 0 if self._small else max(1, min(OUT, (most - count * step) // step))
        self._endpoint = endpoint = await self._unet.create_endpoint(
            max(64, (count + outs) * step), SEND_SLOTS, RECEIVE_SLOTS, FREE_SLOTS)
        self._source = process.allocate(max(self._size, 8), fresh=True)
        self._target = process.allocate(max(self._size, 8), fresh=True)
        if endpoint.registers:
            await self._unet.register(endpoint, self._source, max(self._size, 8))
        for index in range(count):
            await endpoint.post_free((outs + index) * step, step)
        self._outs.extend((index * step, 0) for index in range(outs))
        for peer in self._peers:
            channel = await self._unet.create_channel(
                endpoint, node.address_on(peer), self._tag(node.home), self._tag(peer))
            self._channels[peer] = channel
            self._of[channel.number] = peer

    def _tag(self, peer: int) -> int:
        """The tag of messages from ``peer``."""
        return peer

    # Sends

    async def send(self, peer: int, stream: int = 0) -> None:
        """Send one message; wait until the peer has room for it, and the queue."""
        self.on_send(peer, stream)
        await self._send(peer, self._size)

    async def answer(self, peer: int) -> None:
        """8 bytes."""
        await self._send(peer, LONG_CREDIT)

    async def _send(self, peer: int, length: int) -> None:
        while self._sent[peer] - self._known[peer] >= self._window:
            await self._step()
        self._sent[peer] += 1
        await self._post(peer, DATA, length)
        if self.exchange.count:
            await self.poll()

    async def _post(self, peer: int, kind: int, length: int) -> None:
        endpoint, channel = self._endpoint, self._channels[peer]
        word = kind | (self._taken[peer] & COUNT) << 8
        data = word.to_bytes(WORD, "little")
        if length >= WORD:
            self._told[peer] = self._taken[peer]
        if length <= INLINE:
            data = data[:length].ljust(length, b"\0")
            await self._process.touch(self._source, length)
            while not await endpoint.post_inline(channel, data):
                await self._step()
            return
        await self._process.store(self._source, data)
        if endpoint.registers or endpoint.asks:
            while not (number := await endpoint.post_from(channel, self._source, length)):
                await self._step()
            await self._used(number)
            return
        place, used = self._outs.popleft()
        while used and not await endpoint.over(used):
            await self._step()
        while not (number := await endpoint.send(channel, self._source, length, place)):
            await self._step()
        self._outs.append((place, number))

    async def _used(self, number: int) -> None:
        """The word at the source changes with each message: wait until the NIC has read it."""
        while not await self._endpoint.over(number):
            await self._step()

    # Receives

    async def poll(self) -> None:
        while (message := await self._endpoint.poll()) is not None:
            await self._take(message)
        await self._tell()

    async def wait(self, condition: Callable[[], Any]) -> None:
        while not condition():
            await self._take(await self._endpoint.receive())
            await self._tell()

    async def _step(self) -> None:
        """Take a message if there is one."""
        message = await self._endpoint.poll()
        if message is not None:
            await self._take(message)

    async def _take(self, message: Received) -> None:
        endpoint, peer = self._endpoint, self._of[message.channel]
        if message.data is None:
            if not (endpoint.registers or endpoint.asks):
                await endpoint.take(message, self._target)
            first = self._process.read(endpoint.address(message.buffers[0][0]), WORD)
            for place, _ in message.buffers:
                await endpoint.post_free_at(endpoint.address(place), self._step_bytes)
        else:
            first = message.data[:WORD]
        if len(first) == WORD:
            known = int.from_bytes(first, "little") >> 8
            self._known[peer] += known - self._known[peer] & COUNT
            if first[0] == CREDIT:
                return
        self._taken[peer] += 1
        self.received += 1
        self.on_message(peer, 0)
        if self._taken[peer] - self._told[peer] >= self._lot and peer not in self._due:
            self._due.append(peer)

    async def _tell(self) -> None:
        """Tell peers how many messages have been taken, if no message has told it."""
        while self._due:
            peer = self._due.popleft()
            if self._taken[peer] - self._told[peer] >= self._lot:
                await self._post(peer, CREDIT, LONG_CREDIT)

    def over(self) -> bool:
        return super().over() and not self._due and not self._endpoint.under_way

    async def finish(self) -> None:
        """Wait until all has come, and has been told, and has left."""
        while not self.over():
            await self.poll()
            await self._endpoint.over()

    async def close(self, spin: Spin | None = None) -> None:
        """Wait until all that was sent has left this node: more is not known here."""
        await self._tell()
        await self._endpoint.drain()
