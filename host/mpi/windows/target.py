"""Executes operations at their target: packets, each handled by its kind.

A packet is handled from its first to its last step before the next one, so that updates of elements
are atomic, and those of one origin keep their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.copies import Piece, copy, cut, gather, scatter
from ..point_to_point.long_messages import LongMessages
from ..progress.channel import Arrived
from ..progress.packets import Header, Packet
from .atomic import apply, dtype_of
from .memory import Place, process_pieces, put_back, show

__all__ = ["Target"]

WHOLE = [(0, 1 << 40)]
"""The blocks of what is in one piece."""


class _Layout:
    """The blocks of an operation, and the bytes of its data that have not come."""

    def __init__(self, length: int) -> None:
        self.blocks: list[Piece] = []
        self.left = length


class Target:
    """Does what others ask of the windows of a process. ``window_of`` tells a number's window."""

    def __init__(self, ends: LongMessages, window_of: Callable[[int], Any]) -> None:
        self._process = ends.process
        self._port = ends.port
        self._engine = ends.engine
        self._store = ends.store
        self._prices = ends.prices
        self._window_of = window_of
        self._layouts: dict[tuple[int, int], _Layout] = {}
        """By sender and number of the operation."""

    # Where the data are

    async def layout(self, packet: Arrived, header: Header) -> None:
        """LAYOUT: some of an operation's blocks."""
        self._port.spend(self._prices.target)
        place = self._store.take(packet.length), packet.length
        await packet.take([place])
        found = self._layouts.setdefault((packet.rank, header.send), _Layout(header.length))
        table = np.frombuffer(self._process.read(*place), "<u4").reshape(-1, 2)
        found.blocks += [(at, size) for at, size in table.tolist()]
        await self._process.touch(*place)
        self._store.give(*place)

    def _places(self, packet: Arrived, header: Header) -> list[Place]:
        """The memory that a packet is for."""
        self._port.spend(self._prices.target)
        blocks = WHOLE
        if header.receive:
            key = packet.rank, header.send
            layout = self._layouts[key]
            blocks = layout.blocks
            layout.left -= header.length
            if not layout.left:
                del self._layouts[key]
        memory = self._window_of(header.context).memory
        places = [memory.place(header.address + at, length)
                  for at, length in cut(blocks, header.tag, header.length)]
        for _ in places[1:]:
            self._port.spend(self._prices.segment)
        return places

    # Operations

    async def put(self, packet: Arrived, header: Header) -> None:
        """PUT."""
        places = self._places(packet, header)
        await packet.take(process_pieces(places))
        put_back(places)

    async def get(self, packet: Arrived, header: Header) -> None:
        """GET: the data go back in parts."""
        places = self._places(packet, header)
        show(places)
        pieces = process_pieces(places)
        most = self._engine.to[packet.rank].eager_bytes
        for at in range(0, header.length, most):
            part = min(most, header.length - at)
            await self._engine.packet(packet.rank, Header(
                Packet.GOT, tag=at, length=part, receive=header.send).pack(),
                cut(pieces, at, part))

    async def accumulate(self, packet: Arrived, header: Header) -> None:
        """ACCUMULATE."""
        places = self._places(packet, header)
        await self._update(packet, header, places)

    async def fetch(self, packet: Arrived, header: Header) -> None:
        """FETCH: what was there goes back."""
        places = self._places(packet, header)
        old = await self._old(header, places)
        if packet.length:
            await self._update(packet, header, places)
        await self._give(packet, header, old)

    async def swap(self, packet: Arrived, header: Header) -> None:
        """SWAP: the new element is there if what should be there was."""
        places = self._places(packet, header)
        length = header.length
        new = self._store.take(2 * length), length
        compare = new[0] + length, length
        await packet.take([(new[0], 2 * length)])
        old = await self._old(header, places)
        self._port.work("alu", 1)
        if self._process.read(*old) == self._process.read(*compare):
            await copy(self._process, [new], process_pieces(places))
            put_back(places)
        self._store.give(new[0], 2 * length)
        await self._give(packet, header, old)

    async def _old(self, header: Header, places: list[Place]) -> Piece:
        """A copy of what is there."""
        show(places)
        old = self._store.take(header.length), header.length
        await copy(self._process, process_pieces(places), [old])
        return old

    async def _give(self, packet: Arrived, header: Header, old: Piece) -> None:
        """``old`` goes back."""
        await self._engine.packet(
            packet.rank, Header(Packet.GOT, tag=header.tag, length=header.length,
                                receive=header.send).pack(), [old],
            lambda: self._store.give(*old))

    async def _update(self, packet: Arrived, header: Header, places: list[Place]) -> None:
        """The packet's data update what is there."""
        process, port = self._process, self._port
        new = self._store.take(header.length), header.length
        await packet.take([new])
        dtype = dtype_of(header.element)
        pieces = process_pieces(places)
        show(places)
        count = header.length // dtype.itemsize
        port.spend(self._prices.reduce)
        port.work("load", 2 * count)
        port.work("alu", count)
        port.work("store", count)
        process.queue_touch(*new)
        for piece in pieces:
            process.queue_touch(*piece)
            process.queue_touch(*piece, True)
        found = apply(header.handle, dtype, bytes(gather(process, pieces)),
                      process.read(*new))
        scatter(process, pieces, found)
        put_back(places)
        await port.settle()
        self._store.give(*new)
