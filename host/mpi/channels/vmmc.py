"""The channel over VMMC: each process exports a default buffer to each other one, with places for
packets that credits count.

A packet is sent to its place and told of by an event. Where the translations are user-managed
(``vmmc.translation`` = utlb) the data of an expected message do not stay there: if the receive is
posted first they are redirected into the user's buffer, and nothing is copied. Long messages go in
parts through the default buffers.
"""

from collections import deque
from collections.abc import Awaitable
from typing import Any

from ....layouts.description import Description
from ....layouts.vmmc import EVENTS, EXPORTS, TABLE_ENTRY
from ...kernel.process import Process
from ...port.node import Node
from ...port.port import Watch
from ...port.suspension import NOTHING
from ...vmmc import EVERYBODY, Event, Export, Import, Sending, Status, Vmmc
from ...vmmc.knobs import Knobs
from ..data.copies import Piece, Pieces, copy
from ..errors import ErrorClass, MpiError
from ..progress.channel import Compute
from ..progress.packets import HEADER_BYTES, LONG_BYTES, Packet, parse
from .buffered import CREDITS, Buffer, Debts, Received, queue_packet, received
from .credits import Credits
from .places import Places

__all__ = ["VmmcChannel"]

MOST = 12
"""Most credits that a process has at another one."""
BUFFERS = 8
"""Buffers of a process for what it sends."""
KEPT = 1
"""Credits that messages with data leave for the packets of others."""
PATIENCE = 1 << 26
"""Cycles for which another process may take to export its buffers."""
EAGER = frozenset({Packet.EAGER, Packet.EAGER_SYNC, Packet.EAGER_READY})
TAGS = 1 << 20
CONTEXTS = 1 << 11
UNEXPECTED = 0xFFFF_FFFF
"""Key of a packet that no redirection is for."""
LEAST = 64
"""Bytes of a buffer from which on redirection is worth its command."""


def _key(context: int, tag: int) -> int:
    """Key of the messages that match."""
    return context << 20 | tag if 0 <= tag < TAGS and context < CONTEXTS else UNEXPECTED


def _credits(description: Description, others: int) -> tuple[Credits, int]:
    """Credits at each of ``others``, and the places for its packets.

    Raises
    ------
    MpiError
        There is no room for two.
    """
    vmmc, mpi, page = description.section(Knobs), description.mpi, description.via.page_bytes
    events = EVENTS // max(1, others)
    bytes_each = min(vmmc.exports, vmmc.imports) * page // max(1, others)
    each = min(MOST, events - 1, bytes_each // mpi.buffer_bytes - 1)
    limit = (each - 1) // 2
    while each > 1 and each + Credits.further(each, limit) > bytes_each // mpi.buffer_bytes:
        each -= 1
        limit = (each - 1) // 2
    if each < 2 or others > EXPORTS:
        raise MpiError(ErrorClass.ERR_NO_MEM, f"vmmc.exports = {vmmc.exports}, vmmc.imports = "
                       f"{vmmc.imports}: too few for {others + 1} ranks")
    return Credits(each, limit), each + Credits.further(each, limit)


class _Peer:
    """Rank ``rank`` on ``node``: credits, places here and there."""

    def __init__(self, rank: int, node: int, credits: Credits) -> None:
        self.rank = rank
        self.node = node
        self.credits = credits
        self.export: Export = None  # type: ignore[assignment]
        self.there: Import = None  # type: ignore[assignment]
        self.sent = 0
        self.places: list[Buffer] = []
        self.kept: set[int] = set()
        """Packets, by number, that were given back before an older one was."""
        self.came = self.back = 0
        """Packets that have come, and those given back, in order."""


class _Redirected:
    """A packet whose data are at ``piece`` already."""

    def __init__(self, packet: Received, process: Process, piece: Piece) -> None:
        self._packet = packet
        self._process = process
        self._piece = piece
        self.rank = packet.rank
        self.header = packet.header
        self.length = packet.length

    def take(self, pieces: Pieces) -> Awaitable[None]:
        at, length = self._piece[0], self.length
        if not length or len(pieces) == 1 and pieces[0][0] == at:
            return NOTHING
        return copy(self._process, [(at, length)], pieces)

    def release(self) -> Awaitable[None]:
        return self._packet.release()


class VmmcChannel:
    """A VMMC process with a default buffer for each other one.

    Attributes
    ----------
    redirected
        Messages whose data were not copied here.
    """

    name = "vmmc"
    can_write = False
    can_read = False
    segments = 1
    compute: Compute | None = None

    @staticmethod
    def memory(description: Description, others: int) -> int:
        """Bytes, at most, of a process with ``others`` on other nodes, and of its port.

        Raises
        ------
        MpiError
            There is too little for them.
        """
        _, places = _credits(description, others)
        page = description.via.page_bytes
        buffers = (others * places + BUFFERS) * description.mpi.buffer_bytes
        return buffers + (others + BUFFERS) * page + description.memory.bytes // page * TABLE_ENTRY

    def __init__(self, node: Node, process: Process, places: Places) -> None:
        description = node.description
        self.process = process
        self._port = node.port
        self._node = node
        self._vmmc = Vmmc(process)
        self._rank = places.rank
        self._size = description.mpi.buffer_bytes
        self.eager_bytes = self._size - LONG_BYTES
        others = places.elsewhere
        self._peers: dict[int, _Peer] = {}
        self._places = 0
        for one in others:
            credits, self._places = _credits(description, len(others))
            self._peers[one] = _Peer(one, places.node(one), credits)
        self._by_export: dict[int, _Peer] = {}
        self._most = min((peer.credits.left for peer in self._peers.values()), default=0)
        self._free: list[Buffer] = []
        self._out: deque[tuple[Sending, Buffer, _Peer]] = deque()
        self._early: deque[Event] = deque()
        self._debts = Debts(self._free, lambda peer: self._send(peer, CREDITS, ()))
        self._redirects = description.section(Knobs).translation == "utlb"
        self.redirected = 0

    # Opening and closing

    async def open(self) -> None:
        vmmc = self._vmmc
        self._sound("open", await vmmc.open())
        length = self._places * self._size
        for peer in self._peers.values():
            base = vmmc.allocate(length)
            peer.places = [Buffer(self.process, base + index * self._size)
                           for index in range(self._places)]
            status, export = await vmmc.export(base, length, self._name(self._rank, peer.rank),
                                               EVERYBODY)
            self._sound("export", status)
            assert export is not None
            peer.export = export
            self._by_export[export.number] = peer
        for _ in range(BUFFERS):
            self._free.append(Buffer(self.process, vmmc.allocate(self._size)))
        for peer in self._peers.values():
            status, there = await vmmc.import_(peer.node, self._name(peer.rank, self._rank),
                                               length, PATIENCE)
            self._sound("import", status)
            assert there is not None
            peer.there = there

    @staticmethod
    def _name(owner: int, sender: int) -> int:
        """The name of the buffer of ``owner`` for ``sender``."""
        return owner << 16 | sender

    async def close(self) -> None:
        await self._vmmc.idle()
        self._reap()

    @property
    def idle(self) -> bool:
        return not self._out

    # Packets

    def ready(self, rank: int) -> bool:
        return bool(self._peers[rank].credits.left and self._free)

    def generous(self, rank: int) -> bool:
        left = self._peers[rank].credits.left
        return bool(left and self._free) and (left > KEPT or self._most <= KEPT)

    def send(self, rank: int, header: bytes, pieces: Pieces) -> Awaitable[None]:
        peer = self._peers[rank]
        peer.credits.left -= 1
        return self._send(peer, header, pieces)

    async def _send(self, peer: _Peer, header: bytes, pieces: Pieces) -> None:
        buffer = self._free.pop()
        key = UNEXPECTED
        if header[0] in EAGER:
            parsed = parse(header)
            key = _key(parsed.context, parsed.tag)
        length = queue_packet(self.process, buffer, header, pieces, peer.credits)
        await self._port.settle()
        place = peer.sent % self._places
        peer.sent += 1
        sending = await self._vmmc.send(buffer.va, peer.there, place * self._size, length, key=key)
        self._out.append((sending, buffer, peer))
        self._reap()

    def _reap(self) -> None:
        """Buffers whose sends are known to be over are free again."""
        while self._out and self._out[0][0].status is not None:
            sending, buffer, peer = self._out.popleft()
            if sending.status:
                raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: a send to rank "
                               f"{peer.rank} ended with {sending.status.name}")
            self._free.append(buffer)

    async def _look_at_sends(self) -> None:
        if self._out:
            await self._vmmc.look()
            self._reap()
            await self._debts.tell()

    async def look(self) -> Any:
        await self._look_at_sends()
        while (event := await self._next()) is not None:
            packet = await self._event(event)
            if packet is not None:
                return packet
        return None

    async def _next(self) -> Event | None:
        return self._early.popleft() if self._early else await self._vmmc.check()

    async def wait(self) -> Any:
        found = await self.look()
        watches = self.awaits()
        if found is not None or watches is None:
            return found
        await self._vmmc.spin(watches[0])
        return await self.look()

    def awaits(self) -> tuple[list[Watch], int] | None:
        watch = self._vmmc.watch()
        if watch is None or self._early:
            return None
        return [watch, *([self._vmmc.sends()] if self._out else [])], 0

    async def _event(self, event: Event) -> Any:
        if event.cancelled or event.export is None:
            return None
        peer = self._by_export[event.export.number]
        number = peer.came
        peer.came += 1
        buffer = peer.places[event.place // self._size]
        packet = received(self.process, peer.rank, buffer, event.length, peer.credits,
                          lambda: self._again(peer, number))
        await self._port.settle()
        if packet is None:
            self._given_back(peer, number)
            return None
        if event.redirection is None:
            return packet
        self.redirected += 1
        return _Redirected(packet, self.process,
                           (event.redirection.address, event.length - HEADER_BYTES))

    @staticmethod
    def _given_back(peer: _Peer, number: int) -> int:
        """Places that are free in order now: senders use them one after the other."""
        peer.kept.add(number)
        before = peer.back
        while peer.back in peer.kept:
            peer.kept.remove(peer.back)
            peer.back += 1
        return peer.back - before

    async def _again(self, peer: _Peer, number: int) -> None:
        for _ in range(self._given_back(peer, number)):
            await self._debts.owe(peer)

    # Redirection

    def expect(self, rank: int, context: int, tag: int, piece: Piece) -> Awaitable[None]:
        """A receive was posted that the next message of ``rank`` with this context and tag is for:
        its data may go to ``piece``. The receive may not be withdrawn before :meth:`unexpect`."""
        peer = self._peers[rank]
        key = _key(context, tag)
        if (not self._redirects or piece[1] < LEAST or key == UNEXPECTED
                or peer.export.redirection is not None):
            return NOTHING
        return self._redirect(peer, key, piece)

    async def _redirect(self, peer: _Peer, key: int, piece: Piece) -> None:
        self._sound("redirect", await self._vmmc.redirect(
            peer.export, *piece, key=key, skip=HEADER_BYTES))

    async def unexpect(self, rank: int, piece: Piece) -> None:
        """End the redirection of a receive that has been withdrawn."""
        export = self._peers[rank].export
        redirection = export.redirection
        if redirection is None or redirection.address != piece[0]:
            return
        await self._vmmc.cancel(export)
        while export.redirection is redirection:
            self._early.append(await self._vmmc.next())

    # Memory

    async def register(self, address: int, length: int) -> int:
        raise NotImplementedError("VMMC's long messages go through the default buffers")

    async def deregister(self, address: int, length: int, handle: int) -> None:
        raise NotImplementedError("VMMC's long messages go through the default buffers")

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Any) -> None:
        raise NotImplementedError("VMMC's long messages go through the default buffers")

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Any) -> None:
        raise NotImplementedError("VMMC has no reads")

    def _sound(self, call: str, status: Status) -> None:
        if status is not Status.SUCCESS:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self._rank}: {call}: {status.name}")
