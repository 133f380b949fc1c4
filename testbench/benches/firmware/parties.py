"""A node that takes part in a benchmark of GM or of Fast Messages, with the same interface for
both."""

from typing import Any

from ....host.fm import Fm
from ....host.gm import GM_EVENT, GM_STATUS, Gm, gm_min_size_for_length
from ....host.port.node import Node
from ....host.via.process import Process
from ....layouts.fm import FRAME_BYTES
from ...errors import UserError

__all__ = ["FmParty", "GmParty", "PARTIES"]

PORT = 2
BUFFERS = 8
"""Receive buffers of a GM port."""


class GmParty:
    """A GM port with buffers for messages of one size, on nodes 0 and 1."""

    def __init__(self, node: Node, size: int) -> None:
        self.node = node
        self.size = size
        self.peer = 1 - node.number
        self.received = 0
        self._gm = Gm(Process(node, 1))
        self._class = gm_min_size_for_length(size)
        self._port: Any = None
        self._source = 0

    async def open(self) -> None:
        """The first call: open the layer."""
        status, self._port = await self._gm.gm_open(0, PORT, "bench")
        self._sound("gm_open", status)
        self._source = await self._memory(self.size)
        for _ in range(BUFFERS):
            await self._provide(await self._memory(self.size))

    async def send(self) -> None:
        """Send one message; wait for a token if there is none."""
        while True:
            status = await self._gm.gm_send_with_callback(
                self._port, self._source, self._class, self.size, 0, self.peer, PORT, self._sent)
            if status is not GM_STATUS.GM_TRY_AGAIN:
                break
            await self._event()
        self._sound("gm_send_with_callback", status)

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        while self.received < messages:
            await self._event()

    async def close(self) -> None:
        """Wait until all sends are acknowledged, then close."""
        while len(self._port.free_sends) < self._port.send_tokens:
            await self._event()

    async def _event(self) -> None:
        event = await self._gm.gm_blocking_receive(self._port)
        if event.type in (GM_EVENT.GM_RECV_EVENT, GM_EVENT.GM_HIGH_RECV_EVENT):
            self.received += 1
            await self._provide(event.buffer)
        else:
            await self._gm.gm_unknown(self._port, event)

    async def _provide(self, buffer: int) -> None:
        self._sound("gm_provide_receive_buffer", await self._gm.gm_provide_receive_buffer(
            self._port, buffer, self._class, 0))

    async def _memory(self, length: int) -> int:
        address = await self._gm.gm_dma_malloc(self._port, length)
        if address is None:
            raise UserError(f"gm_dma_malloc: no {length} bytes are left", status=1)
        return address

    def _sent(self, port: Any, context: Any, status: GM_STATUS) -> None:
        self._sound("a send", status)

    @staticmethod
    def _sound(call: str, status: GM_STATUS) -> None:
        if status is not GM_STATUS.GM_SUCCESS:
            raise UserError(f"{call}: {status.name}", status=1)


class FmParty:
    """Fast Messages between nodes 0 and 1. A message is one FM_send_4 up to 16 bytes, else as many
    frames as it needs."""

    def __init__(self, node: Node, size: int) -> None:
        self.node = node
        self.size = size
        self.peer = 1 - node.number
        self._pieces = [min(FRAME_BYTES, size - at) for at in range(0, size, FRAME_BYTES)]
        self._frames = 0
        self._fm = Fm(node, [self._took_words, self._took_frame])
        self._source = node.allocate(max(size, 8), 4096)

    @property
    def received(self) -> int:
        """Messages that have arrived."""
        return self._frames // (1 if self.size <= 16 else len(self._pieces))

    async def open(self) -> None:
        """The first call: open the layer."""
        await self._fm.FM_initialize()

    async def send(self) -> None:
        """Send one message."""
        if self.size <= 16:
            await self._fm.FM_send_4(self.peer, self._took_words, 1, 2, 3, 4)
            return
        at = self._source
        for length in self._pieces:
            await self._fm.FM_send(self.peer, self._took_frame, at, length)
            at += length

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        await self._fm.extract_until(lambda: self.received >= messages)

    async def close(self) -> None:
        """Wait until all frames are accepted, then close."""
        await self._fm.FM_finalize()

    def _took_words(self, fm: Fm, source: int, *words: int) -> None:
        self._frames += 1

    def _took_frame(self, fm: Fm, source: int, address: int, length: int) -> None:
        self._frames += 1


PARTIES: dict[str, Any] = {"gm": GmParty, "fm": FmParty}
