"""A side of an exchange over Active Messages II, one a process."""

from collections.abc import Callable
from typing import Any

from ..endpoint import Endpoint, Exchange, Spin
from ..port.node import Node
from .gam_over_am2 import GamOverAm2

__all__ = ["Am2Endpoint"]

ECHO, ANSWER, STOP, SINK, STORED = range(5)
"""The handler table, the same in all processes. ECHO replies with its words; SINK and STORED count
a message, and leave the reply to the layer."""
SMALL = 32
"""Most bytes that go as arguments of a request; longer messages are transfers."""
PAGE = 4096


class Am2Endpoint(Endpoint):
    """Messages of up to 32 bytes are requests of so many words, longer ones transfers, in parts of
    8 KB, all into one place of the receiver's own.

    Attributes
    ----------
    am
        The layer.
    stopped
        Processes that have sent STOP.

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
        size = exchange.size
        self._words = tuple(range(1, -(-size // 4) + 1)) if size <= SMALL else ()
        self._cpus = [cpu for _, cpu in node.programs]
        if size > SMALL:
            # The first that a process allocates, so that it is at one place on all nodes.
            self._room = -(-size // PAGE) * PAGE
            self._buffers = node.shared("am2 buffers", 2 * self._room * node.cpus)
        self.am = GamOverAm2(node, [self._echo, self._answered, self._stop, self._took,
                                    self._took_data])

    @property
    def number(self) -> int:
        return self.am.number

    async def open(self) -> None:
        await self.am.enable()

    async def send(self, peer: int, stream: int = 0) -> None:
        self.on_send(peer, stream)
        if self.exchange.size <= SMALL:
            await self.am.request(peer, SINK, *self._words)
        else:
            await self.am.store(peer, self._buffer(self.number, 0), self._buffer(peer, 1),
                                self.exchange.size, STORED)

    async def answer(self, peer: int) -> None:
        await self.am.request(peer, SINK)

    async def request(self, peer: int, *words: int) -> None:
        """As of an endpoint, of up to eight words."""
        await self.am.request(peer, ECHO, *words)

    async def dismiss(self, peer: int) -> None:
        await self.am.request(peer, STOP)

    async def serve(self, requesters: int) -> None:
        await self.am.wait(lambda: self.stopped >= requesters)

    async def poll(self) -> None:
        await self.am.poll()

    async def wait(self, condition: Callable[[], Any]) -> None:
        await self.am.wait(condition)

    async def leave(self, spin: Spin) -> None:
        await self.am.leave(spin)

    async def close(self, spin: Spin | None = None) -> None:
        await self.am.disable(spin)

    def _buffer(self, process: int, which: int) -> int:
        """Where a process has the data that it sends (0), and those that come (1)."""
        return self._buffers + (2 * self._cpus[process] + which) * self._room

    def _echo(self, am: Any, source: int, *words: int) -> Any:
        self.received += 1
        return am.reply(ANSWER, *words)

    def _answered(self, am: Any, source: int, *words: int) -> None:
        self.replied += 1
        self.on_reply()

    def _stop(self, am: Any, source: int) -> None:
        self.stopped += 1

    def _took(self, am: Any, source: int, *words: int) -> None:
        self.received += 1
        self.on_message(source, 0)

    def _took_data(self, am: Any, source: int, address: int, length: int, argument: int) -> None:
        self._took(am, source)
