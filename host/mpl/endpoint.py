"""A side of an exchange over MPL: mp_send, and mp_brecv in a row."""

from collections import deque

from ..endpoint import Endpoint, Exchange, Spin
from ..port.node import Node
from .mpl import Mpl

__all__ = ["MplEndpoint"]

OPEN = 8
"""Sends that are open at once, at most."""


class MplEndpoint(Endpoint):
    """Messages between nodes 0 and 1."""

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self._open: deque[int] = deque()
        self._source, self._target = (node.allocate(max(exchange.size, 8), 4096)
                                      for _ in range(2))
        self._mpl = Mpl(node)

    async def open(self) -> None:
        await self._mpl.enable()

    async def send(self, peer: int, stream: int = 0) -> None:
        """Send one message; wait for the oldest if too many are open."""
        self.on_send(peer, stream)
        await self._send(peer, self.exchange.size)

    async def answer(self, peer: int) -> None:
        """A message without data."""
        await self._send(peer, 0)

    async def receive(self, messages: int) -> None:
        peer = 1 - self.node.home
        while self.received < messages:
            await self._mpl.mp_brecv(self._target, self.exchange.size, self.node.address_on(peer))
            self.received += 1
            self.on_message(peer, 0)

    async def close(self, spin: Spin | None = None) -> None:
        while self._open:
            await self._mpl.mp_wait(self._open.popleft())
        await self._mpl.disable()

    async def _send(self, peer: int, size: int) -> None:
        if len(self._open) == OPEN:
            await self._mpl.mp_wait(self._open.popleft())
        self._open.append(await self._mpl.mp_send(self._source, size, self.node.address_on(peer),
                                                  0))
