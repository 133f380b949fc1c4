"""A side of an exchange over Active Messages."""

from collections.abc import Callable
from typing import Any

from ...layouts.description import Description
from ..endpoint import Endpoint, Exchange, Spin
from ..port.node import Node
from .gam import Gam

__all__ = ["ANSWER", "ARRIVED", "ECHO", "SINK", "START", "STOP", "STORED", "AmEndpoint",
           "buffer_of"]

ECHO, ANSWER, STOP, STORED, SINK, START, ARRIVED = range(7)
"""The handler table of an exchange whose messages are not counted beforehand, the same on all
nodes. ECHO replies with its words, SINK leaves the reply to the layer, STORED handles a store and
replies; ANSWER and ARRIVED (for gets) count the answers."""

SMALL = 16
"""Most bytes that go as words of a request; longer messages are stores."""
LARGEST = 1 << 20


def buffer_of(description: Description) -> int:
    """Bytes of the buffers: 1 MB, or as many as the memory has room for."""
    return min(LARGEST, description.memory.bytes // 4)


class AmEndpoint(Endpoint):
    """Messages of up to 16 bytes are requests of so many words, longer ones asynchronous stores,
    all into one place of the receiver.

    Buffers have the same addresses on all nodes: rings are allocated later, and in the same way
    everywhere. If messages are not counted beforehand, there are a source and a target of
    :func:`buffer_of` bytes, or, if the messages are longer, one buffer, the source on one node and
    the target on another; with messages of 0 bytes (requests alone) there are none.

    Attributes
    ----------
    am
        The layer.
    stopped
        Nodes that have sent STOP.
    started
        Whether START has come.

    Raises
    ------
    MemoryError
        The node's memory has no room for the buffers.
    """

    replies = True
    crowds = True

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self.stopped = 0
        self.started = False
        self._open = 0
        size = exchange.size
        if exchange.count:
            self.source, self.target = (node.allocate(size, 4096) for _ in range(2))
            self.am = Gam(node, [self._took, self._took_store])
            self._words = tuple(range(1, -(-size // 4) + 1)) if size <= SMALL else ()
            return
        self.am = Gam(node, [self._echo, self._answer, self._stop, self._stored, self._sink,
                             self._start, self._arrived])
        self._words = tuple(range(size // 4)) if size <= SMALL else ()
        if size:
            length = buffer_of(node.description)
            self.source = node.allocate(max(length, size), 4096)
            self.target = self.source if size > length else node.allocate(length, 4096)

    async def open(self) -> None:
        await self.am.enable()

    async def send(self, peer: int, stream: int = 0) -> None:
        self.on_send(peer, stream)
        exchange, address = self.exchange, self.node.address_on(peer)
        small, stored = (self._took, self._took_store) if exchange.count else (SINK, ARRIVED)
        if exchange.size <= SMALL:
            await self.am.request(address, small, *self._words)
        elif not exchange.open:
            await self.am.store_async(address, self.source, self.target, exchange.size, stored)
        else:
            if self._open == exchange.open:
                await self.am.wait(lambda: self._open < exchange.open)
            self._open += 1
            await self.am.store_async(address, self.source, self.target, exchange.size, stored, 0,
                                      self._ended)

    async def request(self, peer: int, *words: int) -> None:
        await self.am.request(self.node.address_on(peer), ECHO, *words)

    async def dismiss(self, peer: int) -> None:
        await self.am.request(self.node.address_on(peer), STOP)

    async def serve(self, requesters: int) -> None:
        await self.am.wait(lambda: self.stopped >= requesters)

    async def poll(self) -> None:
        if self.am.enabled:  # others of the CPU may be closing still
            await self.am.poll()

    async def wait(self, condition: Callable[[], Any]) -> None:
        await self.am.wait(condition)

    async def receive(self, messages: int) -> None:
        def arrived() -> bool:
            # Stores of an exchange that is not counted beforehand arrive as the data of gets do.
            return self.received + self.replied >= messages

        await self.am.wait(arrived)

    async def leave(self, spin: Spin) -> None:
        await self.am.leave(spin)

    async def close(self, spin: Spin | None = None) -> None:
        await self.am.disable(spin)

    def reply(self, am: Any, words: tuple[int, ...]) -> Any:
        """The reply to a request, an awaitable."""
        return am.reply(ANSWER, *words)

    def _message(self, source: int) -> None:
        self.received += 1
        self.on_message(self.node.node_of(source), 0)

    def _took(self, am: Any, source: int, *words: int) -> None:
        self._message(source)

    def _took_store(self, am: Any, source: int, address: int, length: int, argument: int) -> None:
        self._message(source)

    def _ended(self, am: Any, argument: Any) -> None:
        self._open -= 1

    def _echo(self, am: Any, source: int, *words: int) -> Any:
        self.received += 1
        return self.reply(am, words)

    def _answer(self, am: Any, source: int, *words: int) -> None:
        self.replied += 1
        self.on_reply()

    def _stop(self, am: Any, source: int) -> None:
        self.stopped += 1

    def _start(self, am: Any, source: int) -> None:
        self.started = True

    def _stored(self, am: Any, source: int, address: int, length: int, argument: int) -> Any:
        self.received += 1
        return am.reply(ANSWER)

    def _sink(self, am: Any, source: int, *words: int) -> None:
        self._message(source)

    def _arrived(self, am: Any, source: int, address: int, length: int, argument: int) -> None:
        self._answer(am, source)
