"""A side of an exchange over Fast Messages."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...layouts.fm import FRAME_BYTES
from ..endpoint import Endpoint, Exchange, Spin
from ..port.node import Node
from .fm import Fm

__all__ = ["FmEndpoint"]

SMALL = 16
"""Bytes of the longest message that goes as words."""


class FmEndpoint(Endpoint):
    """A message of up to 16 bytes is one FM_send_4, a longer one as many frames as it needs; it is
    complete with its last frame. Where messages are counted beforehand, what has come is extracted
    after each message sent."""

    crowds = True
    lossy = True
    lot = 12

    def __init__(self, node: Node, exchange: Exchange) -> None:
        super().__init__(node, exchange)
        size = exchange.size
        self._pieces = [min(FRAME_BYTES, size - at) for at in range(0, size, FRAME_BYTES)]
        self._frames: Counter[int] = Counter()
        self._fm = Fm(node, [self._took_words, self._took_frame])
        self._source = node.allocate(max(size, 8), 4096)

    async def open(self) -> None:
        await self._fm.FM_initialize()

    async def send(self, peer: int, stream: int = 0) -> None:
        self.on_send(peer, stream)
        if self.exchange.size <= SMALL:
            await self.answer(peer)
        else:
            address, at = self.node.address_on(peer), self._source
            for length in self._pieces:
                await self._fm.FM_send(address, self._took_frame, at, length)
                at += length
        if self.exchange.count:
            await self._fm.FM_extract()

    async def answer(self, peer: int) -> None:
        """One FM_send_4."""
        await self._fm.FM_send_4(self.node.address_on(peer), self._took_words, 1, 2, 3, 4)

    async def poll(self) -> None:
        await self._fm.FM_extract()

    async def wait(self, condition: Callable[[], Any]) -> None:
        await self._fm.extract_until(condition)

    async def close(self, spin: Spin | None = None) -> None:
        await self._fm.FM_finalize()

    def _took_words(self, fm: Fm, source: int, *words: int) -> None:
        self._message(source)

    def _took_frame(self, fm: Fm, source: int, address: int, length: int) -> None:
        self._frames[source] += 1
        if self._frames[source] % len(self._pieces) == 0:
            self._message(source)

    def _message(self, source: int) -> None:
        self.received += 1
        self.on_message(self.node.node_of(source), 0)
