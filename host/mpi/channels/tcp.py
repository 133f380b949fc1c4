"""The channel over TCP: a connection to each process on another node, select over all.

A packet on a connection is a head, which has room for the longest header, and its data. The head
is read first. The data are read when it is known where they go, out of the socket's buffer right to
there. A packet is sent only if the socket's buffer has room for all of it, so that no send waits
for its receiver.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ....layouts.description import Description
from ....layouts.trace import BEGIN, END, Activity
from ...kernel.process import Process
from ...port.node import Node
from ...port.port import Watch
from ...port.suspension import NOTHING
from ...tcp import Socket, Tcp, TcpError
from ...tcp.stack import HEAD, connection_bytes
from ..data.copies import Pieces, cut, total
from ..errors import ErrorClass, MpiError
from ..progress.channel import Compute
from ..progress.packets import LONG_BYTES
from .places import Places

__all__ = ["TcpChannel"]

CHANNEL = int(Activity.CHANNEL)
PORT = 7000
"""Where the first process of a node listens; the others at the next ones."""
CALLER = 8000
"""Where several processes share a node they call from this port on, so that the other end knows
which of them it is: the first has a port for each rank, then the second."""
PORTS = 1 << 16
LENGTH_BYTES = 8
HEAD_BYTES = LENGTH_BYTES + LONG_BYTES
"""The number of bytes of data, then the header."""
GENEROUS = 2
"""Packets for which there must be room, that a message goes with its data at once."""


class _Peer:
    """Rank ``rank`` behind ``socket``; ``head`` is where its packets' heads are read to, of which
    ``has`` bytes have come. ``ended``: nothing more comes."""

    def __init__(self, rank: int, socket: Socket, head: int) -> None:
        self.rank = rank
        self.socket = socket
        self.head = head
        self.has = 0
        self.ended = False


class _Packet:
    """A packet of ``rank`` whose data wait in the socket."""

    def __init__(self, channel: "TcpChannel", peer: _Peer, header: bytes, length: int) -> None:
        self._channel = channel
        self._peer = peer
        self._left = length
        self.rank = peer.rank
        self.header = header
        self.length = length

    async def take(self, pieces: Pieces) -> None:
        port = self._channel.process.port
        port.mark(CHANNEL, BEGIN, 0)
        while self._left:
            self._left -= await self._channel.into(
                self._peer, cut(pieces, self.length - self._left, self._left))
        port.mark(CHANNEL, END, 0)

    def release(self) -> Awaitable[None]:
        return self._skip() if self._left else NOTHING

    async def _skip(self) -> None:
        while self._left:
            self._left -= await self._channel.skip(self._peer, self._left)


class TcpChannel:
    """Connections to all processes on other nodes."""

    name = "tcp"
    can_write = False
    can_read = False
    segments = 1

    @staticmethod
    def memory(description: Description, others: int) -> int:
        """Bytes, at most, of a process with ``others`` on other nodes, and of the connections."""
        return (others * (connection_bytes(description) + HEAD_BYTES) + HEAD_BYTES
                + description.mpi.buffer_bytes + description.nic.send_ring * HEAD)

    def __init__(self, node: Node, process: Process, places: Places) -> None:
        description = node.description
        self.process = process
        self._rank = places.rank
        self._places = places
        if places.shared and self._caller(places.rank, places.size - 1) >= PORTS:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {places.rank}: {places.size} ranks, and "
                           f"{places.index(places.rank)} below it on its node: TCP has too few "
                           "ports to call from")
        self._tcp = Tcp(node, process)
        self.compute: Compute | None = self._tcp.stack.compute
        self.eager_bytes = min(description.mpi.buffer_bytes - LONG_BYTES,
                               description.tcp.socket_buffer // GENEROUS - HEAD_BYTES)
        self._most = HEAD_BYTES + self.eager_bytes
        self._peers: dict[int, _Peer] = {}
        self._readable: deque[_Peer] = deque()
        self._wanted: set[int] = set()
        """Ranks for which there was no room."""
        self._head = 0
        self._scratch = 0

    # Opening and closing

    async def open(self) -> None:
        """Call the ranks below, and take the calls of those above."""
        places = self._places
        listener = await self._tcp.socket()
        await listener.bind(PORT + places.index(self._rank))
        await listener.listen(places.size)
        for rank in places.elsewhere:
            if rank < self._rank:
                local = self._caller(self._rank, rank) if places.shared else None
                try:
                    self._add(rank, await self._tcp.call(
                        places.node(rank), PORT + places.index(rank), local=local))
                except TcpError as error:
                    raise self._failed(rank, error) from None
        above = {(places.node(rank), self._caller(rank, self._rank) if places.shared else 0): rank
                 for rank in places.elsewhere if rank > self._rank}
        for _ in above:
            socket = await listener.accept()
            assert socket.peer is not None
            node, port = socket.peer
            self._add(above[node, port if places.shared else 0], socket)
        await listener.close()
        self._head = self.process.allocate(HEAD_BYTES)
        self._scratch = self.process.allocate(self.eager_bytes)

    def _caller(self, rank: int, called: int) -> int:
        """The port from which ``rank`` calls rank ``called``."""
        return CALLER + self._places.index(rank) * self._places.size + called

    def _add(self, rank: int, socket: Socket) -> None:
        socket.nodelay = True
        socket.low = self._most
        self._peers[rank] = _Peer(rank, socket, self.process.allocate(HEAD_BYTES))

    async def close(self) -> None:
        await self._tcp.close()

    # Packets

    def ready(self, rank: int) -> bool:
        socket = self._peers[rank].socket
        if socket.room >= self._most:
            return True
        if socket.writable:  # without room: it would fail at once, and will never have any
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: rank {rank} has ended its "
                           "connection")
        self._wanted.add(rank)
        return False

    def generous(self, rank: int) -> bool:
        return self._peers[rank].socket.room >= GENEROUS * self._most

    async def send(self, rank: int, header: bytes, pieces: Pieces) -> None:
        process = self.process
        head = total(pieces).to_bytes(LENGTH_BYTES, "little") + header.ljust(LONG_BYTES, b"\0")
        process.write(self._head, head)
        await process.touch(self._head, HEAD_BYTES, store=True)
        try:
            await self._peers[rank].socket.sendall_from([(self._head, HEAD_BYTES), *pieces])
        except TcpError as error:
            raise self._failed(rank, error) from None

    async def look(self) -> _Packet | None:
        if not self._readable:
            await self._select(0)
        return await self._next()

    async def wait(self) -> _Packet | None:
        if not self._readable:
            await self._select(None)
        return await self._next()

    def awaits(self) -> tuple[list[Watch], int] | None:
        peers = [peer.socket for peer in self._peers.values() if not peer.ended]
        if self._readable or not peers:
            return None
        return self._tcp.awaits(peers, [self._peers[rank].socket for rank in sorted(self._wanted)])

    async def _select(self, timeout: int | None) -> None:
        peers = [peer for peer in self._peers.values() if not peer.ended]
        if not peers:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: all other ranks have ended")
        readable, _ = await self._tcp.select(
            [peer.socket for peer in peers],
            [self._peers[rank].socket for rank in sorted(self._wanted)], timeout)
        self._wanted.clear()
        self._readable.extend([peer for peer in peers if peer.socket in readable])

    async def _next(self) -> _Packet | None:
        """A packet of those that can be read, if one's head is whole."""
        while self._readable:
            peer = self._readable.popleft()
            try:
                found = await peer.socket.recv_into(
                    [(peer.head + peer.has, HEAD_BYTES - peer.has)])
            except TcpError as error:
                raise self._failed(peer.rank, error) from None
            peer.has += found
            if not found and not peer.has:
                # It has come to its end, and has said all that it had to.
                peer.ended = True
            elif not found:
                raise self._broken(peer)
            elif peer.has == HEAD_BYTES:
                peer.has = 0
                head = self.process.read(peer.head, HEAD_BYTES)
                await self.process.touch(peer.head, HEAD_BYTES)
                return _Packet(self, peer, head[LENGTH_BYTES:],
                               int.from_bytes(head[:LENGTH_BYTES], "little"))
        return None

    async def into(self, peer: _Peer, pieces: Pieces) -> int:
        """Bytes of a packet's data, at least one, to ``pieces``; how many."""
        try:
            found = await peer.socket.recv_into(pieces)
        except TcpError as error:
            raise self._failed(peer.rank, error) from None
        if not found:
            raise self._broken(peer)
        return found

    def _broken(self, peer: _Peer) -> MpiError:
        return MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: rank {peer.rank} has ended "
                        "within a packet")

    async def skip(self, peer: _Peer, count: int) -> int:
        """Up to ``count`` bytes of ``peer``'s connection that nobody wants."""
        return await self.into(peer, [(self._scratch, min(count, self.eager_bytes))])

    def _failed(self, rank: int, error: TcpError) -> MpiError:
        return MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: the connection to rank {rank}: "
                        f"{error}")

    # Memory

    async def register(self, address: int, length: int) -> int:
        raise NotImplementedError("TCP has no registered memory")

    async def deregister(self, address: int, length: int, handle: int) -> None:
        raise NotImplementedError("TCP has no registered memory")

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        raise NotImplementedError("TCP has no writes")

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        raise NotImplementedError("TCP has no reads")
