"""Sends: eager, or by a request and a reply.

- *Eager*: header and data are copied into a buffer of the channel, and the send is over.
- *Write*: a request; the receiver's reply says where the data go; they are written there, and a
  short message follows.
- *Read*: the request says where the data are, and the receiver reads them.
- *Bounce*: a request, a reply, and the data in parts through the buffers of the channel.
"""

from ...layouts.description import EAGER
from .channel import Arrived
from .copying import Piece, copy, cut
from .ends import READ, Ends
from .packets import Header, Packet
from .requests import Send

__all__ = ["Sending"]


class Sending:
    """The sends of a process."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._port = ends.port
        self._engine = ends.engine
        self._prices = ends.prices
        self._eager = {name: ends.settings.eager_of(name) for name in EAGER}
        self._open: dict[int, Send] = {}
        """Sends that wait for an answer, by number."""

    @property
    def open(self) -> int:
        """Sends that wait for an answer."""
        return len(self._open)

    async def begin(self, send: Send) -> None:
        """Begin ``send``."""
        data = send.data.save()
        engine, rank = self._engine, send.world_rank
        channel = engine.channel(rank)
        if len(data.pieces) > 1:
            self._ends.charge_blocks(data)
        source = send.comm.rank
        eager = data.length <= self._eager[channel.name] and data.length <= channel.eager_bytes
        if eager and not engine.generous(rank):
            await engine.look()  # for credits that have come meanwhile
            eager = engine.generous(rank) or not data.length
        if eager:
            kind = Packet.EAGER
            if send.sync:
                kind = Packet.EAGER_SYNC
                self._open[send.number] = send
            elif send.ready:
                kind = Packet.EAGER_READY
            await engine.packet(rank, Header(kind, send.context, source, send.tag, data.length,
                                             send.number, element=data.element), data.pieces,
                                None if send.sync else send.ended)
            return
        self._open[send.number] = send
        self._port.spend(self._prices.protocol)
        address = handle = 0
        if self._ends.way(channel) == READ:
            [whole] = await self._whole(send)
            send.regions = await self._ends.use(channel, [whole])
            address, handle = whole[0], send.regions[0].handle
        await engine.packet(rank, Header(Packet.REQUEST, send.context, source, send.tag,
                                         data.length, send.number, int(send.ready), address,
                                         handle, data.element))

    async def _whole(self, send: Send) -> list[Piece]:
        """The data in one piece: where they are, or a copy."""
        data = send.data
        if len(data.pieces) == 1:
            return data.pieces
        send.temporary = self._ends.store.take(data.length), data.length
        await copy(self._ends.process, data.pieces, [send.temporary])
        return [send.temporary]

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
        rank, engine = send.world_rank, self._engine
        channel = engine.channel(rank)
        pieces = send.data.pieces
        if not self._ends.in_segments(channel, pieces):
            pieces = await self._whole(send)
        send.regions = await self._ends.use(channel, pieces)
        await engine.write(rank, pieces, [region.handle for region in send.regions],
                           header.address, header.handle, lambda: self._end(send))
        await engine.packet(rank, Header(Packet.FINISH, receive=header.receive))

    async def _bounce(self, send: Send, header: Header) -> None:
        rank, engine, data = send.world_rank, self._engine, send.data
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
        await self._ends.leave(self._engine.channel(send.world_rank), send.regions)
        if send.temporary is not None:
            self._ends.store.give(*send.temporary)
        send.ended()
