"""Sends: eager, or by a request and a reply.

- *Eager*: header and data are copied into a buffer of the channel, and the send is over.
- *Write*: a request; the receiver's reply says where the data go; they are written there, and a
  short message follows.
- *Read*: the request says where the data are, and the receiver reads them.
- *Bounce*: a request, a reply, and the data in parts through the buffers of the channel.
"""

from ..port.port import Port
from ..via.process import Process
from .channel import Arrived, Channel
from .copying import copy, cut
from .costs import Prices
from .engine import Engine
from .packets import Header, Packet
from .registration import Registration
from .requests import Send
from .store import Store

__all__ = ["BOUNCE", "READ", "Sending", "WRITE", "way"]

WRITE, READ, BOUNCE = "write", "read", "bounce"


def way(rendezvous: str, channel: Channel) -> str:
    """How long messages go by ``channel``: as the knob ``mpi.rendezvous`` says, if it can."""
    if rendezvous == READ and channel.can_read:
        return READ
    return WRITE if channel.can_write and rendezvous != BOUNCE else BOUNCE


class Sending:
    """The sends of a process.

    Parameters
    ----------
    eager, rendezvous, derived
        Knobs ``mpi.eager``, ``mpi.rendezvous`` and ``mpi.derived``.
    registrations
        By channel's name.
    """

    def __init__(self, process: Process, rank: int, engine: Engine, store: Store, prices: Prices,
                 registrations: dict[str, Registration], eager: int, rendezvous: str,
                 derived: str) -> None:
        self._process = process
        self._port: Port = process.port
        self._rank = rank
        self._engine = engine
        self._store = store
        self._prices = prices
        self._registrations = registrations
        self._eager = eager
        self._rendezvous = rendezvous
        self._derived = derived
        self._open: dict[int, Send] = {}
        """Sends that wait for an answer, by number."""

    @property
    def open(self) -> int:
        """Sends that wait for an answer."""
        return len(self._open)

    async def begin(self, send: Send) -> None:
        """Begin ``send``."""
        data = send.data.save()
        engine, rank = self._engine, send.world
        channel = engine.channel(rank)
        for _ in range(len(data.pieces) - 1):
            self._port.spend(self._prices.segment)
        source = send.comm.rank
        short = data.length <= min(self._eager, channel.eager_bytes)
        if short and not engine.generous(rank):
            await engine.look()  # for credits that have come meanwhile
        if short and (engine.generous(rank) or not data.length):
            kind = Packet.EAGER
            if send.sync:
                kind = Packet.EAGER_SYNC
                self._open[send.number] = send
            elif send.ready:
                kind = Packet.EAGER_READY
            await engine.packet(rank, Header(kind, send.context, source, send.tag, data.length,
                                             send.number), data.pieces,
                                None if send.sync else send.ended)
            return
        self._open[send.number] = send
        self._port.spend(self._prices.protocol)
        address = handle = 0
        if way(self._rendezvous, channel) == READ:
            whole, send.temporary = await self._whole(send)
            send.regions = [await self._registrations[channel.name].use(*whole)]
            address, handle = whole[0], send.regions[0].handle
        await engine.packet(rank, Header(Packet.REQUEST, send.context, source, send.tag,
                                         data.length, send.number, int(send.ready), address,
                                         handle))

    async def _whole(self, send: Send) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """The data in one piece, and what is to be freed behind."""
        data = send.data
        if len(data.pieces) == 1:
            return data.pieces[0], None
        place = self._store.take(data.length)
        await copy(self._process, data.pieces, [(place, data.length)])
        return (place, data.length), (place, data.length)

    # Packets

    async def replied(self, packet: Arrived, header: Header) -> None:
        """REPLY: the receiver is ready."""
        send = self._open[header.send]
        self._port.spend(self._prices.protocol)
        if header.address:
            await self._write(send, header)
        else:
            await self._bounce(send, header)

    async def _write(self, send: Send, header: Header) -> None:
        rank, engine = send.world, self._engine
        channel = engine.channel(rank)
        registration = self._registrations[channel.name]
        pieces = send.data.pieces
        if len(pieces) > 1 and (self._derived == "pack" or len(pieces) > channel.segments):
            whole, send.temporary = await self._whole(send)
            pieces = [whole]
        send.regions = [await registration.use(*piece) for piece in pieces]
        await engine.write(rank, pieces, [region.handle for region in send.regions],
                           header.address, header.handle, lambda: self._end(send))
        await engine.packet(rank, Header(Packet.FINISH, receive=header.receive))

    async def _bounce(self, send: Send, header: Header) -> None:
        rank, engine, data = send.world, self._engine, send.data
        most = engine.channel(rank).eager_bytes
        del self._open[send.number]
        for at in range(0, data.length, most):
            part = min(most, data.length - at)
            last = at + part == data.length
            await engine.packet(rank, Header(Packet.DATA, tag=at, length=part,
                                             receive=header.receive),
                                cut(data.pieces, at, part), send.ended if last else None)

    async def synced(self, packet: Arrived, header: Header) -> None:
        """SYNCED: the receiver has matched the message."""
        self._port.spend(self._prices.protocol)
        self._open.pop(header.send).ended()

    async def fetched(self, header: Header) -> None:
        """FINISH: the receiver has read the data, or does not want them."""
        self._port.spend(self._prices.protocol)
        await self._end(self._open[header.send])

    async def _end(self, send: Send) -> None:
        del self._open[send.number]
        registration = self._registrations[self._engine.channel(send.world).name]
        for region in send.regions:
            await registration.leave(region)
        if send.temporary is not None:
            self._store.give(*send.temporary)
        send.ended()
