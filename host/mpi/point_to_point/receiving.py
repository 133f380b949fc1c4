"""Receives: messages that arrive, matched or kept, and the receiver's part of long ones."""

from collections.abc import Awaitable
from typing import Any

from ...port.suspension import NOTHING
from ..data.copies import copy
from ..data.datatypes import element_name, element_size
from ..errors import ErrorClass, MpiError
from ..progress.channel import Arrived, NoRoom
from ..progress.packets import EAGER_SYNC, Header, Packet
from .long_messages import BOUNCE, LongMessages
from .matching import Matching, Unexpected
from .requests import Receive

__all__ = ["Receiving"]


class Receiving:
    """The receives of a process. ``name_of`` tells a context's communicator."""

    def __init__(self, ends: LongMessages, name_of: Any) -> None:
        self._ends = ends
        self._process = ends.process
        self._port = ends.port
        self._engine = ends.engine
        self._store = ends.store
        self._prices = prices = ends.prices
        self._name_of = name_of
        self.matching = Matching(ends.port, prices.search, prices.match)
        self._expects = [getattr(channel, "expect", None) for channel in ends.engine.to]
        self._redirects = any(self._expects)
        """Whether a channel is told of receives."""
        self._open: dict[int, Receive] = {}
        """Receives whose data are on the way, by number."""

    @property
    def open(self) -> int:
        """Receives that are posted or under way."""
        return len(self._open) + sum(map(len, self.matching.posted.values()))

    def begin(self, receive: Receive) -> Awaitable[None]:
        """Post ``receive``, or give it a message that was kept."""
        message = self.matching.post(receive)
        if message is not None:
            return self.deliver(receive, message)
        self._port.spend(self._prices.post)
        return self._expect(receive) if self._redirects else NOTHING

    def _expect(self, receive: Receive) -> Awaitable[None]:
        """Tell the channel of a receive that no other takes a message from, so that it may put the
        data where they belong."""
        if receive.rank < 0 or receive.tag < 0:
            return NOTHING
        rank = receive.comm.peers.world_ranks[receive.rank]
        expect = self._expects[rank]
        if expect is None or len(receive.data.pieces) != 1 or any(
                other.takes(receive.rank, receive.tag)
                for other in self.matching.posted[receive.context] if other is not receive):
            return NOTHING
        return expect(rank, receive.context, receive.tag, receive.data.pieces[0])

    async def withdraw(self, receive: Receive) -> bool:
        """``receive`` is no longer posted; whether it was."""
        if not self.matching.withdraw(receive):
            return False
        if receive.rank >= 0 and len(receive.data.pieces) == 1:
            rank = receive.comm.peers.world_ranks[receive.rank]
            unexpect = getattr(self._engine.to[rank], "unexpect", None)
            if unexpect is not None:
                await unexpect(rank, receive.data.pieces[0])
        return True

    async def deliver(self, receive: Receive, message: Unexpected) -> None:
        """Give ``receive`` a message that was kept."""
        header = message.header
        self._port.spend(self._prices.match)
        self._match(receive, header)
        if header.kind == Packet.REQUEST:
            await self._reply(receive, header, message.world_rank)
            return
        if header.kind == EAGER_SYNC:
            await self._synced(message.world_rank, header)
        if receive.error is None:
            self._ends.charge_blocks(receive.data)
            await copy(self._process, [(message.place, header.length)] if header.length else [],
                       receive.data.pieces)
        self._store.give(message.place, header.length)
        receive.ended()

    # Packets

    async def arrived(self, packet: Arrived, header: Header) -> None:
        """A message with its data."""
        receive = self.matching.arrived(header)
        if receive is None:
            if header.kind == Packet.EAGER_READY:
                raise self._not_ready(header)
            self._port.spend(self._prices.keep)
            place = self._store.take(header.length)
            await packet.take([(place, header.length)] if header.length else [])
            self.matching.keep(Unexpected(header, packet.rank, place))
            return
        self._match(receive, header)
        if header.kind == EAGER_SYNC:
            await self._synced(packet.rank, header)
        if receive.error is None:
            if len(receive.data.pieces) > 1:
                self._ends.charge_blocks(receive.data)
            await packet.take(receive.data.pieces)
        receive.ended()

    async def requested(self, packet: Arrived, header: Header) -> None:
        """REQUEST: a message whose data wait for a receive."""
        receive = self.matching.arrived(header)
        if receive is None:
            if header.receive:
                raise self._not_ready(header)
            self._port.spend(self._prices.keep)
            self.matching.keep(Unexpected(header, packet.rank))
            return
        self._match(receive, header)
        await self._reply(receive, header, packet.rank)

    async def part(self, packet: Arrived, header: Header) -> None:
        """DATA: a part of the data."""
        receive = self._open[header.receive]
        self._port.spend(self._prices.protocol)
        await packet.take(receive.data.part(header.tag, header.length))
        receive.arrived += header.length
        if receive.arrived == receive.length:
            del self._open[header.receive]
            await self._back(receive, packet.rank)
            receive.ended()

    async def finished(self, packet: Arrived, header: Header) -> None:
        """FINISH: the data have been written."""
        self._port.spend(self._prices.protocol)
        await self._end(self._open.pop(header.receive), packet.rank)

    # Long messages

    async def _reply(self, receive: Receive, header: Header, rank: int) -> None:
        """The message may come: read it, or say where it goes."""
        self._port.spend(self._prices.protocol)
        engine, channel = self._engine, self._engine.to[rank]
        if receive.error is not None or not header.length:
            await engine.packet(rank, Header(Packet.FINISH, send=header.send).pack())
            receive.ended()
            return
        self._open[receive.number] = receive
        reads = bool(header.address)
        if not reads and self._ends.way(channel) == BOUNCE:
            await self._bounced(receive, header, rank)
            return
        pieces = receive.data.part(0, header.length)
        if len(pieces) > 1 and not (reads and self._ends.in_segments(channel, pieces)):
            receive.temporary = self._store.take(header.length), header.length
            pieces = [receive.temporary]
        try:
            receive.regions = await self._ends.use(channel, pieces)
        except NoRoom:
            await self._bounced(receive, header, rank)
            return
        handles = [region.handle for region in receive.regions]
        if reads:
            async def done() -> None:
                del self._open[receive.number]
                await self._end(receive, rank)
                await engine.packet(rank, Header(Packet.FINISH, send=header.send).pack())

            await engine.read(rank, pieces, handles, header.address, header.handle, done)
        else:
            await engine.packet(rank, Header(Packet.REPLY, send=header.send,
                                             receive=receive.number, address=pieces[0][0],
                                             handle=handles[0]).pack())

    async def _bounced(self, receive: Receive, header: Header, rank: int) -> None:
        """The data may come in parts."""
        self._ends.charge_blocks(receive.data)
        await self._engine.packet(rank, Header(Packet.REPLY, send=header.send,
                                               receive=receive.number).pack())

    async def _end(self, receive: Receive, rank: int) -> None:
        if receive.temporary is not None:
            self._ends.charge_blocks(receive.data)
            await copy(self._process, [receive.temporary], receive.data.pieces)
        await self._back(receive, rank)
        receive.ended()

    async def _back(self, receive: Receive, rank: int) -> None:
        """Give back what was taken for the data's way by RDMA."""
        if receive.temporary is not None:
            self._store.give(*receive.temporary)
        await self._ends.leave(self._engine.to[rank], receive.regions)

    # Both

    def _synced(self, rank: int, header: Header) -> Awaitable[None]:
        """Tell the sender that its message is matched."""
        return self._engine.packet(rank, Header(Packet.SYNCED, send=header.send).pack())

    def _match(self, receive: Receive, header: Header) -> None:
        """``receive`` gets the message, which has been charged."""
        length, element = header.length, receive.data.element
        receive.matched(header.source, header.tag, length)
        if length > receive.data.length:
            self._fail(receive, ErrorClass.ERR_TRUNCATE, header, f"has room for "
                       f"{receive.data.length}")
        elif length and element and (header.element not in (0, element)
                                     or length % element_size(element)):
            self._fail(receive, ErrorClass.ERR_TYPE, header, f"is of {element_name(element)}")

    @staticmethod
    def _fail(receive: Receive, error: ErrorClass, header: Header, why: str) -> None:
        """``receive`` will not get the message's data."""
        of = f" of {element_name(header.element)}" \
            if error is ErrorClass.ERR_TYPE and header.element else ""
        receive.fail(MpiError(
            error, f"rank {receive.comm.rank}: {header.length} bytes{of} from rank "
            f"{header.source}, tag {header.tag}, {receive.comm.name}, and {receive.call} {why}"))
        receive.length = 0

    def _not_ready(self, header: Header) -> MpiError:
        comm = self._name_of(header.context)
        return MpiError(ErrorClass.ERR_OTHER, f"rank {comm.rank}: Rsend of rank {header.source}, "
                        f"tag {header.tag}, {comm.name}, and no receive was posted", [comm])
