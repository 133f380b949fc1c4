"""Sends: eager, or by a request and a reply.

- *Eager*: header and data are copied into a buffer of the channel, and the send is over.
- *Write*: a request; the receiver's reply says where the data go; they are written there, and a
  short message follows.
- *Read*: the request says where the data are, and the receiver reads them.
- *Bounce*: a request, a reply, and the data in parts through the buffers of the channel. So go the
  data of a write or a read, too, where an end finds no room to register them.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from ..data.copies import Piece, copy, cut
from ..progress.channel import Arrived, NoRoom
from ..progress.packets import EAGER_SYNC, Header, Packet, pack_short
from .long_messages import READ, LongMessages
from .requests import Send

__all__ = ["Sending"]


class Sending:
    """The sends of a process."""

    def __init__(self, ends: LongMessages) -> None:
        self._ends = ends
        self._port = ends.port
        self._engine = ends.engine
        self._prices = ends.prices
        self._eager = [min(ends.settings.eager_of(channel.name), channel.eager_bytes)
                       for channel in ends.engine.to]
        """By rank, the most data that go with the message."""
        self._open: dict[int, Send] = {}
        """Sends that wait for an answer, by number."""

    @property
    def open(self) -> int:
        """Sends that wait for an answer."""
        return len(self._open)

    def begin(self, send: Send) -> Awaitable[None]:
        """Begin ``send``."""
        data, engine, rank = send.data.save(), self._engine, send.world_rank
        if len(data.pieces) > 1:
            self._ends.charge_blocks(data)
        if data.length > self._eager[rank]:
            return self._request(send)
        if engine.generous(rank):
            return self._with_data(send, engine.send)
        return self._when_generous(send)

    async def _when_generous(self, send: Send) -> None:
        """Begin a short ``send``, for which there may be credits by now."""
        engine, rank = self._engine, send.world_rank
        await engine.look()
        if engine.generous(rank):
            await self._with_data(send, engine.send)
        elif not send.data.length:
            await self._with_data(send, engine.packet)
        else:
            await self._request(send)

    def _with_data(self, send: Send, put: Callable[..., Awaitable[None]]) -> Awaitable[None]:
        """``put`` a packet of the whole message."""
        data, number, left = send.data, send.number, send.ended
        if send.kind is EAGER_SYNC:
            self._open[number], left = send, None
        header = pack_short(send.kind, send.context, send.comm.rank, data.element, send.tag,
                            data.length, number, 0)
        return put(send.world_rank, header, data.pieces, left)

    async def _request(self, send: Send) -> None:
        """A packet that asks for the receive of ``send``."""
        engine, rank, data = self._engine, send.world_rank, send.data
        channel = engine.to[rank]
        self._open[send.number] = send
        self._port.spend(self._prices.protocol)
        address = handle = 0
        if self._ends.way(channel) == READ:
            [whole] = await self._whole(send)
            with suppress(NoRoom):
                send.regions = await self._ends.use(channel, [whole])
                address, handle = whole[0], send.regions[0].handle
        ready = int(send.kind is Packet.EAGER_READY)
        await engine.packet(rank, Header(Packet.REQUEST, send.context, send.comm.rank,
                                         data.element, send.tag, data.length, send.number, ready,
                                         address, handle).pack())

    async def _whole(self, send: Send) -> list[Piece]:
        """The data in one piece: where they are, or a copy."""
        data = send.data
        if send.temporary is not None:
            return [send.temporary]
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
        channel = engine.to[rank]
        pieces = send.data.pieces
        if not self._ends.in_segments(channel, pieces):
            pieces = await self._whole(send)
        try:
            send.regions = await self._ends.use(channel, pieces)
        except NoRoom:
            await self._bounce(send, header)
            return
        await engine.write(rank, pieces, [region.handle for region in send.regions],
                           header.address, header.handle, lambda: self._end(send))
        await engine.packet(rank, Header(Packet.FINISH, receive=header.receive).pack())

    async def _bounce(self, send: Send, header: Header) -> None:
        rank, engine, data = send.world_rank, self._engine, send.data
        most = engine.to[rank].eager_bytes
        await self._back(send)
        del self._open[send.number]
        for at in range(0, data.length, most):
            part = min(most, data.length - at)
            last = at + part == data.length
            await engine.packet(rank, Header(Packet.DATA, tag=at, length=part,
                                             receive=header.receive).pack(),
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
        await self._back(send)
        send.ended()

    async def _back(self, send: Send) -> None:
        """Give back what was taken for the data's way by RDMA."""
        await self._ends.leave(self._engine.to[send.world_rank], send.regions)
        send.regions = []
        if send.temporary is not None:
            self._ends.store.give(*send.temporary)
            send.temporary = None
