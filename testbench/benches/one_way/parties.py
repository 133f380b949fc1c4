"""A node that takes part in a benchmark of GM, Fast Messages, MPL or TCP, with the same interface
for all."""

from collections import deque
from typing import Any

from ....host.fm import Fm
from ....host.gm import GM_EVENT, GM_STATUS, Gm, gm_min_size_for_length
from ....host.kernel.process import Process
from ....host.mpl import Mpl
from ....host.port.node import Node
from ....host.tcp import Tcp
from ....layouts.fm import FRAME_BYTES
from ...errors import UserError

__all__ = ["FmParty", "GmParty", "MplParty", "PARTIES", "TcpParty"]

PORT = 2
TCP_PORT = 5001
BUFFERS = 8
"""Receive buffers of a GM port."""
ANSWER = 4
"""Bytes of the answer to a stream."""
OPEN = 8
"""Sends of MPL that are open at once, at most."""


class Party:
    """A node's side of an exchange of messages of one size between nodes 0 and 1."""

    def __init__(self, node: Node, size: int) -> None:
        self.node = node
        self.size = size
        self.peer = node.address_on(1 - node.home)
        self.received = 0
        """Messages that have arrived."""

    async def open(self) -> None:
        """The first call: open the layer."""
        raise NotImplementedError

    async def send(self) -> None:
        """Send one message; wait for room."""
        raise NotImplementedError

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        raise NotImplementedError

    async def answer(self) -> None:
        """Tell the other node in a short message that a stream has arrived."""
        raise NotImplementedError

    async def answered(self, times: int) -> None:
        """Wait until the other node has answered ``times`` in total."""
        await self.until(times)

    async def close(self) -> None:
        """Wait until all that was sent has arrived, then close."""
        raise NotImplementedError


class GmParty(Party):
    """A GM port with buffers for messages of one size, on nodes 0 and 1."""

    def __init__(self, node: Node, size: int) -> None:
        super().__init__(node, size)
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
        await self._send(self.size)

    async def answer(self) -> None:
        """Tell the other node that a stream has arrived: 4 bytes, into a buffer for a message."""
        await self._send(ANSWER)

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        while self.received < messages:
            await self._event()

    async def close(self) -> None:
        """Wait until all sends are acknowledged, then close."""
        while len(self._port.free_sends) < self._port.send_tokens:
            await self._event()

    async def _send(self, length: int) -> None:
        while True:
            status = await self._gm.gm_send_with_callback(
                self._port, self._source, self._class, length, 0, self.peer, PORT, self._sent)
            if status is not GM_STATUS.GM_TRY_AGAIN:
                break
            await self._event()
        self._sound("gm_send_with_callback", status)

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


class FmParty(Party):
    """Fast Messages between nodes 0 and 1. A message is one FM_send_4 up to 16 bytes, else as many
    frames as it needs."""

    def __init__(self, node: Node, size: int) -> None:
        super().__init__(node, size)
        self._pieces = [min(FRAME_BYTES, size - at) for at in range(0, size, FRAME_BYTES)]
        self._frames = 0
        self._fm = Fm(node, [self._took_words, self._took_frame])
        self._source = node.allocate(max(size, 8), 4096)

    async def open(self) -> None:
        """The first call: open the layer."""
        await self._fm.FM_initialize()

    async def send(self) -> None:
        """Send one message."""
        if self.size <= 16:
            await self.answer()
            return
        at = self._source
        for length in self._pieces:
            await self._fm.FM_send(self.peer, self._took_frame, at, length)
            at += length

    async def answer(self) -> None:
        """Tell the other node that a stream has arrived: one FM_send_4."""
        await self._fm.FM_send_4(self.peer, self._took_words, 1, 2, 3, 4)

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        await self._fm.extract_until(lambda: self.received >= messages)

    async def close(self) -> None:
        """Wait until all frames are accepted, then close."""
        await self._fm.FM_finalize()

    def _took_words(self, fm: Fm, source: int, *words: int) -> None:
        self.received += 1

    def _took_frame(self, fm: Fm, source: int, address: int, length: int) -> None:
        self._frames += 1
        if self._frames == len(self._pieces):
            self._frames = 0
            self.received += 1


class MplParty(Party):
    """MPL between nodes 0 and 1: mp_send, and mp_brecv in a row."""

    def __init__(self, node: Node, size: int) -> None:
        super().__init__(node, size)
        self._open: deque[int] = deque()
        self._source, self._target = (node.allocate(max(size, 8), 4096) for _ in range(2))
        self._mpl = Mpl(node)

    async def open(self) -> None:
        """The first call: open the layer."""
        await self._mpl.enable()

    async def send(self) -> None:
        """Send one message; wait for the oldest if too many are open."""
        await self._send(self.size)

    async def answer(self) -> None:
        """Tell the other node that a stream has arrived: a message without data."""
        await self._send(0)

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        while self.received < messages:
            await self._mpl.mp_brecv(self._target, self.size, self.peer)
            self.received += 1

    async def close(self) -> None:
        """Wait until all sends have finished, then close."""
        while self._open:
            await self._mpl.mp_wait(self._open.popleft())
        await self._mpl.disable()

    async def _send(self, size: int) -> None:
        if len(self._open) == OPEN:
            await self._mpl.mp_wait(self._open.popleft())
        self._open.append(await self._mpl.mp_send(self._source, size, self.peer, 0))


class TcpParty(Party):
    """A connection of TCP between nodes 0 and 1, short segments at once. A message is its bytes; a
    receive takes what has come."""

    def __init__(self, node: Node, size: int) -> None:
        super().__init__(node, size)
        self._bytes = 0
        self._tcp = Tcp(node)
        allocate = self._tcp.process.allocate
        self._source, self._target = (allocate(max(size, 8), fresh=True) for _ in range(2))
        self._socket: Any = None

    async def open(self) -> None:
        """The first call: connect; node 1 listens."""
        if self.node.number:
            listener = await self._tcp.socket()
            await listener.bind(TCP_PORT)
            await listener.listen()
            socket = await listener.accept()
        else:
            socket = await self._tcp.call(1, TCP_PORT)
        socket.nodelay = True
        self._socket = socket

    async def send(self) -> None:
        """Send one message; wait for room."""
        await self._socket.sendall_from([(self._source, self.size)])

    async def answer(self) -> None:
        """Tell the other node that a stream has arrived: 4 bytes."""
        await self._socket.sendall_from([(self._source, ANSWER)])

    async def until(self, messages: int) -> None:
        """Wait until ``messages`` have arrived in total."""
        while self.received < messages:
            self._bytes += await self._receive(self.size - self._bytes % self.size)
            self.received = self._bytes // self.size

    async def answered(self, times: int) -> None:
        """Wait for the next answer; ``times`` counts it."""
        left = ANSWER
        while left:
            left -= await self._receive(left)

    async def close(self) -> None:
        """Wait until the peer has closed, too."""
        await self._tcp.close()

    async def _receive(self, most: int) -> int:
        got: int = await self._socket.recv_into([(self._target, most)])
        if not got:
            raise UserError("the other node has closed its connection", status=1)
        return got


PARTIES: dict[str, type[Party]] = {"gm": GmParty, "fm": FmParty, "mpl": MplParty, "tcp": TcpParty}
