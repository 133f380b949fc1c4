"""A side of an exchange over TCP: a connection between nodes 0 and 1."""

from typing import Any

from ..endpoint import Endpoint, EndpointError, Exchange, Spin
from ..port.node import Node
from .sockets import Tcp

__all__ = ["TcpEndpoint"]

PORT = 5001
ANSWER = 4
"""Bytes of an answer."""


class TcpEndpoint(Endpoint):
    """Short segments go at once. A message is its bytes; a receive takes what has come."""

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self._bytes = 0
        self._tcp = Tcp(node)
        allocate = self._tcp.process.allocate
        self._source, self._target = (allocate(max(exchange.size, 8), fresh=True)
                                      for _ in range(2))
        self._socket: Any = None

    async def open(self) -> None:
        """Connect; node 1 listens."""
        if self.node.number:
            listener = await self._tcp.socket()
            await listener.bind(PORT)
            await listener.listen()
            socket = await listener.accept()
        else:
            socket = await self._tcp.call(1, PORT)
        socket.nodelay = True
        self._socket = socket

    async def send(self, peer: int, stream: int = 0) -> None:
        self.on_send(peer, stream)
        await self._socket.sendall_from([(self._source, self.exchange.size)])

    async def answer(self, peer: int) -> None:
        """4 bytes, which count as no message."""
        await self._socket.sendall_from([(self._source, ANSWER)])

    async def receive(self, messages: int) -> None:
        size = self.exchange.size
        while self.received < messages:
            self._bytes += await self._receive(size - self._bytes % size)
            while self.received < self._bytes // size:
                self.received += 1
                self.on_message(1 - self.node.home, 0)

    async def answered(self, times: int) -> None:
        """Wait for the next answer; ``times`` counts it."""
        left = ANSWER
        while left:
            left -= await self._receive(left)

    async def close(self, spin: Spin | None = None) -> None:
        """Wait until the peer has closed, too."""
        await self._tcp.close()

    async def _receive(self, most: int) -> int:
        got: int = await self._socket.recv_into([(self._target, most)])
        if not got:
            raise EndpointError("the other node has closed its connection")
        return got
