"""The channel over GM: a port for each process, PORTS of them on a node.

By default all receive buffers are of one size class, that of the longest packet, and each other
process has its share of them, counted by credits: GM would send a message again and again for which
no buffer has been provided, and has 32 receive tokens, too few for buffers of each class for each
peer. With ``mpi.gm_buffers`` = classes there are some of each class for whoever sends
(:mod:`.gm_buffers`). A send that finds no send token waits in the library. Long data go by directed
sends.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ....layouts.description import Description
from ....layouts.gm import MAX_SIZE, TABLE_ENTRY
from ...gm import GM_EVENT, GM_STATUS, Gm, gm_max_length_for_size
from ...kernel.process import Process
from ...port.node import Node
from ...port.port import Watch
from ..data.copies import Pieces
from ..errors import ErrorClass, MpiError
from ..progress.channel import Compute
from ..progress.packets import HEADER_BYTES, LONG_BYTES
from .buffered import CREDITS, Buffer, Debts, Received, queue_packet, received
from .credits import Credits
from .gm_buffers import Buffers, Classes, Shares
from .places import Places

__all__ = ["GmChannel"]

RECEIVED = GM_EVENT.GM_RECV_EVENT

PORTS = 2, 3, 4, 5, 6, 7, 1
"""The ports of a node's processes; port 0 is the driver's."""
LEAST = 64
"""Bytes of the smallest buffer: a header is looked at before it is known how long it is."""
KEPT = 1
"""Credits that messages with data leave for the packets of others."""
SPIN = 1 << 28
"""Cycles for which a call that waits checks for an event, before it waits for the interrupt."""
AGAIN = 2000
"""Cycles after which a process that was not there yet is greeted again."""


def _buffers(description: Description, others: int) -> Buffers:
    """The receive buffers for ``others``.

    Raises
    ------
    MpiError
        There are too few.
    """
    tokens, buffer = description.gm.receive_tokens, description.mpi.buffer_bytes
    try:
        if description.mpi.gm_buffers == "classes":
            return Classes(tokens, buffer - LONG_BYTES + HEADER_BYTES)
        return Shares(tokens, buffer, others)
    except ValueError as error:
        raise MpiError(ErrorClass.ERR_NO_MEM, f"gm.receive_tokens = {tokens}: {error}") from None


class _Peer:
    """Rank ``rank``, behind ``port`` of ``node``, and the credits."""

    def __init__(self, rank: int, node: int, port: int, credits: Credits) -> None:
        self.rank = rank
        self.node = node
        self.port = port
        self.credits = credits
        self.greeted = False


class GmChannel:
    """A port with buffers for all processes on other nodes."""

    name = "gm"
    can_write = True
    can_read = False
    segments = 1
    compute: Compute | None = None

    @staticmethod
    def memory(description: Description, others: int) -> int:
        """Bytes, at most, of a process with ``others`` on other nodes, and of its port.

        Raises
        ------
        MpiError
            There are too few receive tokens.
        """
        sizes, page = _buffers(description, others).sizes, description.via.page_bytes
        lengths = [max(1 << size, LEAST) for size in sizes]
        lengths += [1 << max(sizes)] * description.gm.send_tokens
        table = description.memory.bytes // page * TABLE_ENTRY
        return sum(-(-length // page) * page for length in lengths) + table

    def __init__(self, node: Node, process: Process, places: Places) -> None:
        settings = node.description.mpi
        self.process = process
        self._port = node.port
        self._rank = rank = places.rank
        gm = node.description.gm
        self._late = (f": that rank had no buffer for it, as it made no calls for long (gm.retries "
                      f"= {gm.retries}, gm.retry_timeout = {gm.retry_timeout})")
        self._gm = Gm(process)
        self._gm.spin = SPIN
        self.eager_bytes = settings.buffer_bytes - LONG_BYTES
        others = places.elsewhere
        self._buffers = _buffers(node.description, len(others))
        self._receives: dict[int, tuple[Buffer, int]] = {}
        """By its address, each receive buffer and its size class."""
        if len(places.beside) >= len(PORTS):
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {rank}: {len(places.beside) + 1} ranks on "
                           f"node {node.number}: GM has ports for {len(PORTS)} processes")
        self._own = PORTS[places.index(rank)]
        self._peers = {one: _Peer(one, places.node(one), PORTS[places.index(one)],
                                  self._buffers.credits()) for one in others}
        self._most = self._buffers.credits().left
        self._by_place = {(peer.node, peer.port): peer for peer in self._peers.values()}
        self._free: list[Buffer] = []
        self._waiting: deque[Callable[[], Awaitable[GM_STATUS]]] = deque()
        """Calls that wait for a send token."""
        self._strange = deque(self._peers.values())
        """Peers to greet."""
        self._failed: deque[_Peer] = deque()
        """Those whose ports were not open."""
        self._early: deque[Received] = deque()
        """Packets that have come meanwhile."""
        self._debts = Debts(self._free, lambda peer: self._send(peer, CREDITS, (), self._sent))
        self._open: Any = None

    # Opening and closing

    async def open(self) -> None:
        status, self._open = await self._gm.gm_open(0, self._own, "MPI")
        self._sound("gm_open", status)
        self._sound("gm_allow_remote_memory_access",
                    await self._gm.gm_allow_remote_memory_access(self._open))
        for size in self._buffers.sizes:
            buffer = await self._memory(max(1 << size, LEAST))
            self._receives[buffer.va] = buffer, size
            await self._provide(buffer.va)
        for _ in range(self._open.send_tokens):
            self._free.append(await self._memory(1 << max(self._buffers.sizes)))
        while not all(peer.greeted for peer in self._peers.values()):
            while self._strange and self._free:
                await self._greet(self._strange.popleft())
            packet = await self._event(await self._gm.gm_blocking_receive(self._open))
            if packet is not None:  # of a peer that has already greeted all others
                self._early.append(packet)
            while self._failed:
                peer = self._failed.popleft()
                await self._port.delay(AGAIN)
                await self._give(lambda one=peer: self._gm.gm_resume_sending(
                    self._open, 0, one.node, one.port, self._resumed, one))

    async def _greet(self, peer: _Peer) -> None:
        """Find out whether the port of ``peer`` is open: it is when it has taken a packet."""
        await self._send(peer, CREDITS, (), self._greeted)

    def _greeted(self, port: Any, context: tuple[_Peer, Buffer], status: GM_STATUS) -> None:
        peer, buffer = context
        self._free.append(buffer)
        if status is GM_STATUS.GM_SEND_TARGET_PORT_CLOSED:
            self._failed.append(peer)
        else:
            self._sound("gm_send_with_callback", status)
            peer.greeted = True

    async def _resumed(self, port: Any, peer: _Peer, status: GM_STATUS) -> None:
        self._sound("gm_resume_sending", status)
        self._strange.append(peer)

    async def close(self) -> None:
        while not self.idle:
            await self.wait()

    @property
    def idle(self) -> bool:
        return not self._waiting and len(self._open.free_sends) == self._open.send_tokens

    async def _memory(self, length: int) -> Buffer:
        address = await self._gm.gm_dma_malloc(self._open, length)
        if address is None:
            raise MpiError(ErrorClass.ERR_NO_MEM, f"rank {self._rank}: gm_dma_malloc has no "
                           f"{length} bytes (memory.bytes)")
        return Buffer(self.process, address)

    async def _provide(self, buffer: int) -> None:
        self._sound("gm_provide_receive_buffer", await self._gm.gm_provide_receive_buffer(
            self._open, buffer, self._receives[buffer][1], 0))

    # Packets

    def ready(self, rank: int) -> bool:
        return bool(self._peers[rank].credits.left and self._free)

    def generous(self, rank: int) -> bool:
        left = self._peers[rank].credits.left
        return bool(left and self._free) and (left > KEPT or self._most <= KEPT)

    def send(self, rank: int, header: bytes, pieces: Pieces) -> Awaitable[None]:
        peer = self._peers[rank]
        peer.credits.left -= 1
        return self._send(peer, header, pieces, self._sent)

    async def _send(self, peer: _Peer, header: bytes, pieces: Pieces, callback: Any) -> None:
        buffer = self._free.pop()
        length = queue_packet(self.process, buffer, header, pieces, peer.credits)
        await self._port.settle()
        await self._give(lambda: self._gm.gm_send_with_callback(
            self._open, buffer.va, self._buffers.size_of(length), length, 0, peer.node, peer.port,
            callback, (peer, buffer)))

    def _sent(self, port: Any, context: tuple[_Peer, Buffer], status: GM_STATUS) -> None:
        peer, buffer = context
        self._check(peer, status)
        self._free.append(buffer)

    async def _give(self, call: Callable[[], Awaitable[GM_STATUS]]) -> None:
        """Make ``call``, now or when there is a token and those before it have been made."""
        if self._waiting or not await self._called(call):
            self._waiting.append(call)

    async def _called(self, call: Callable[[], Awaitable[GM_STATUS]]) -> bool:
        status = await call()
        if status is GM_STATUS.GM_TRY_AGAIN:
            return False
        if status is not GM_STATUS.GM_SUCCESS:
            self._sound("a send", status)
        return True

    async def look(self) -> Received | None:
        if self._early:
            return self._early.popleft()
        event = await self._gm.gm_receive(self._open)
        while event.type is not GM_EVENT.GM_NO_RECV_EVENT:
            packet = await self._event(event)
            if packet is not None:
                return packet
            event = await self._gm.gm_receive(self._open)
        return None

    async def wait(self) -> Received | None:
        if self._early:
            return self._early.popleft()
        return await self._event(await self._gm.gm_blocking_receive(self._open))

    def awaits(self) -> tuple[list[Watch], int] | None:
        return None if self._early else ([self._gm.awaits(self._open)], 0)

    async def _event(self, event: Any) -> Received | None:
        if event.type is RECEIVED:
            peer = self._by_place[event.sender_node_id, event.sender_port_id]
            buffer, _ = self._receives[event.buffer]
            packet = received(self.process, peer.rank, buffer, event.length, peer.credits,
                              partial(self._provide_again, peer, event.buffer))
            await self._port.settle()
            if packet is None:
                await self._provide(event.buffer)
            return packet
        await self._gm.gm_unknown(self._open, event)
        while self._waiting and await self._called(self._waiting[0]):
            self._waiting.popleft()
        await self._debts.tell()
        return None

    async def _provide_again(self, peer: _Peer, buffer: int) -> None:
        """The buffer of a packet is free again."""
        await self._provide(buffer)
        await self._debts.owe(peer)

    # Memory

    async def register(self, address: int, length: int) -> int:
        self._sound("gm_register_memory",
                    await self._gm.gm_register_memory(self._open, address, length))
        return 0

    async def deregister(self, address: int, length: int, handle: int) -> None:
        self._sound("gm_deregister_memory",
                    await self._gm.gm_deregister_memory(self._open, address, length))

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        peer = self._peers[rank]
        [(source, length)] = pieces
        most = gm_max_length_for_size(MAX_SIZE)
        for at in range(0, length, most):
            part = min(most, length - at)
            ended = done if at + part == length else None

            def sent(port: Any, context: Any, status: GM_STATUS) -> Any:
                self._check(peer, status)
                return None if context is None else context()

            await self._give(lambda at=at, part=part, ended=ended:
                             self._gm.gm_directed_send_with_callback(
                                 self._open, source + at, address + at, part, 0, peer.node,
                                 peer.port, sent, ended))

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        raise NotImplementedError("GM has no reads")

    # Errors

    def _check(self, peer: _Peer, status: GM_STATUS) -> None:
        if status is not GM_STATUS.GM_SUCCESS:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: a send to rank {peer.rank} "
                           f"ended with {status.name}"
                           + self._late * (status is GM_STATUS.GM_SEND_TIMED_OUT))

    def _sound(self, call: str, status: GM_STATUS) -> None:
        if status is not GM_STATUS.GM_SUCCESS:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: {call}: {status.name}")
