"""A side of an exchange by raw frames."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..endpoint import Endpoint, Exchange, Spin
from ..nic.kinds import Frame
from ..port.node import Node
from .raw import Raw

__all__ = ["RawEndpoint"]

ANSWER = b"\1".ljust(8, b"\0")
"""The bytes of an answer. Those of a message begin with 0."""


class RawEndpoint(Endpoint):
    """A message is as many frames as it needs, and complete when that many have come from its
    sender. While the NIC has no room for a frame, arriving frames are taken."""

    crowds = True
    lossy = True

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        self._raw = raw = Raw(node)
        size = max(1, exchange.size)
        self._pieces = [min(raw.mtu, size - at) for at in range(0, size, raw.mtu)]
        self._frames: Counter[int] = Counter()
        self._message = node.allocate(max(raw.mtu, 8), 4096)
        self._answer = node.allocate(8, 64)

    async def open(self) -> None:
        node = self.node
        await node.store(self._message, bytes(8))
        await node.store(self._answer, ANSWER)
        await self._raw.open()

    async def send(self, peer: int, stream: int = 0) -> None:
        self.on_send(peer, stream)
        raw, address = self._raw, self.node.address_on(peer)
        for length in self._pieces:
            if self.exchange.count:
                while not await raw.room():
                    await self.poll()
            await raw.send(address, self._message, length)
        if self.exchange.count:
            await self.poll()

    async def answer(self, peer: int) -> None:
        """One frame of 8 bytes."""
        await self._raw.send(self.node.address_on(peer), self._answer, len(ANSWER))

    async def poll(self) -> None:
        while await self._raw.poll(self._took):
            pass

    async def wait(self, condition: Callable[[], Any]) -> None:
        await self._raw.wait(condition, self._took)

    async def close(self, spin: Spin | None = None) -> None:
        """Wait until all that was sent has left this node: more is not known here."""
        await self._raw.close()

    def _took(self, frame: Frame) -> None:
        source, pieces = frame.source, len(self._pieces)
        if pieces > 1 and not self._is_answer(frame):
            self._frames[source] += 1
            if self._frames[source] % pieces:
                return
        self.received += 1
        self.on_message(self.node.node_of(source), 0)

    def _is_answer(self, frame: Frame) -> bool:
        self.node.port.work("load")
        return self.node.memory.read(frame.address, 1) == ANSWER[:1]
