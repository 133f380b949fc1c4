"""A side of an exchange over GM."""

from collections import deque
from typing import Any

from ..endpoint import Endpoint, EndpointError, Exchange, Spin
from ..kernel.process import Process
from ..port.node import Node
from .events import GM_EVENT
from .gm import Gm
from .sizes import gm_min_size_for_length
from .status import GM_STATUS

__all__ = ["GmEndpoint", "credits_at"]

PORT = 2
LOW, HIGH = 0, 1
CREDIT = 8
"""Bytes of a message that says that buffers have been provided again."""
MOST = 16
"""Most messages of a sender that wait for credit."""
BUFFERS = 8
"""Receive buffers where messages are not counted beforehand."""
ANSWER = 4
"""Bytes of an answer, which goes into a buffer for a message."""


class GmEndpoint(Endpoint):
    """A GM port. Where messages are counted beforehand there are credits: each sender may have as
    many messages at a receiver as it has buffers for it there; the receiver tells it, with high
    priority, when it has provided half of them again."""

    crowds = True

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        me = node.home
        self._gm = Gm(Process(node, 1))
        self._class = gm_min_size_for_length(exchange.size)
        self._credit_class = gm_min_size_for_length(CREDIT)
        self._credits = min(credits_at(exchange, one, node.description.gm.receive_tokens)
                            for one in exchange.nodes) if exchange.count else 0
        self._lot = max(1, self._credits // 2)
        self._open = dict.fromkeys(exchange.to(me), self._credits)
        self._due: deque[int] = deque()
        self._taken = dict.fromkeys(exchange.of(me), 0)
        self._port: Any = None
        self._source = 0

    async def open(self) -> None:
        status, self._port = await self._gm.gm_open(0, PORT, "bench")
        _sound("gm_open", status)
        exchange, me = self.exchange, self.node.home
        if not self._credits:
            self._source = await self._memory(exchange.size)
            buffers = BUFFERS
        else:
            self._source = await self._memory(max(exchange.size, CREDIT))
            buffers = self._credits * len(exchange.of(me))
        for _ in range(buffers):
            await self._provide(await self._memory(exchange.size), self._class, LOW)
        for _ in range(self._credits // self._lot * len(exchange.to(me))):
            await self._provide(await self._memory(CREDIT), self._credit_class, HIGH)

    async def send(self, peer: int, stream: int = 0) -> None:
        """Send one message; wait for credit, and for a token."""
        self.on_send(peer, stream)
        if self._credits:
            while not self._open[peer]:
                await self._event()
            self._open[peer] -= 1
        await self._send(peer, self.exchange.size)

    async def answer(self, peer: int) -> None:
        """4 bytes, into a buffer for a message."""
        await self._send(peer, ANSWER)

    async def poll(self) -> None:
        await self._handle(await self._gm.gm_receive(self._port))

    async def receive(self, messages: int) -> None:
        while self.received < messages:
            await self._event()

    def over(self) -> bool:
        return super().over() and not self._due and not self._under_way()

    async def finish(self) -> None:
        while not self.over():
            await self._event()

    async def close(self, spin: Spin | None = None) -> None:
        """Wait until all sends are acknowledged."""
        while self._under_way():
            await self._event()

    def _under_way(self) -> bool:
        return len(self._port.free_sends) < self._port.send_tokens

    async def _send(self, peer: int, length: int) -> None:
        while not await self._give(peer, self._class, length, LOW):
            await self._event()

    async def _event(self) -> None:
        await self._handle(await self._gm.gm_blocking_receive(self._port))

    async def _handle(self, event: Any) -> None:
        source = self.node.node_of(event.sender_node_id)
        if event.type is GM_EVENT.GM_RECV_EVENT:
            self.on_message(source, 0)
            self.received += 1
            self._taken[source] += 1
            await self._provide(event.buffer, self._class, LOW)
            if self._credits and self._taken[source] % self._lot == 0:
                self._due.append(source)
        elif event.type is GM_EVENT.GM_HIGH_RECV_EVENT:
            self._open[source] += self._lot
            await self._provide(event.buffer, self._credit_class, HIGH)
        else:
            await self._gm.gm_unknown(self._port, event)
        while self._due and await self._give(self._due[0], self._credit_class, CREDIT, HIGH):
            self._due.popleft()

    async def _give(self, peer: int, size: int, length: int, priority: int) -> bool:
        """Send a message; return whether there was a send token for it."""
        status = await self._gm.gm_send_with_callback(
            self._port, self._source, size, length, priority, self.node.address_on(peer), PORT,
            _sent)
        if status is GM_STATUS.GM_TRY_AGAIN:
            return False
        _sound("gm_send_with_callback", status)
        return True

    async def _provide(self, buffer: int, size: int, priority: int) -> None:
        _sound("gm_provide_receive_buffer", await self._gm.gm_provide_receive_buffer(
            self._port, buffer, size, priority))

    async def _memory(self, length: int) -> int:
        address = await self._gm.gm_dma_malloc(self._port, length)
        if address is None:
            raise EndpointError(f"gm_dma_malloc: no {length} bytes are left")
        return address


def credits_at(exchange: Exchange, node: int, tokens: int) -> int:
    """Messages of each sender that ``node`` has buffers for: 1, or an even number, so that two lots
    of credits at the most are under way to a sender; each needs a buffer there.

    Raises
    ------
    EndpointError
        There are not enough ``tokens``.
    """
    left = tokens - 2 * len(exchange.to(node))
    senders = max(exchange.crowd if exchange.of(node) else 1, len(exchange.of(node)))
    each = min(MOST, left // senders) & ~1
    if each > 0:
        return each
    if len(exchange.to(node)) + len(exchange.of(node)) > tokens:
        raise EndpointError(f"gm.receive_tokens = {tokens}: too few for a buffer of each of "
                            f"{len(exchange.of(node))} senders and {len(exchange.to(node))} "
                            "receivers")
    return 1


def _sent(port: Any, context: Any, status: GM_STATUS) -> None:
    _sound("a send", status)


def _sound(call: str, status: GM_STATUS) -> None:
    if status is not GM_STATUS.GM_SUCCESS:
        raise EndpointError(f"{call}: {status.name}")
