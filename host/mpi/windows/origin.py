"""Sends operations: by RDMA, or in parts through the buffers of the channel.

Where the channel has RDMA (and ``mpi.rendezvous`` is not bounce), contiguous memory of a target is
written and read by it, if both ends find room to register theirs. All else goes by packets, each
with as much data as a buffer of the channel has room for. What is not contiguous at the target is
described once, before the data (LAYOUT).
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ..data.buffers import Data
from ..data.copies import Piece, Pieces, copy, cut
from ..point_to_point.long_messages import LongMessages
from ..progress.channel import Arrived, Channel, NoRoom
from ..progress.packets import Header, Packet
from .everywhere import Everywhere
from .operation import Operation

__all__ = ["BLOCK_BYTES", "Origin"]

MOVING = 8
"""Most writes and reads by RDMA that are under way to a process: the channel has room for as many
of their completions."""
BLOCK_BYTES = 8
"""Of a block in LAYOUT."""


class Origin:
    """The operations of a process on windows of others, and of its own."""

    def __init__(self, ends: LongMessages, everywhere: Everywhere) -> None:
        self._ends = ends
        self._port = ends.port
        self._engine = ends.engine
        self._prices = ends.prices
        self._everywhere = everywhere
        self._open: dict[int, Operation] = {}
        """Those for which data come back, by number."""

    async def put(self, op: Operation, blocks: Sequence[Piece]) -> None:
        """Put the data to ``blocks`` of the target's window."""
        op.peer.behind = True
        if op.peer.writes and len(blocks) == 1:
            with suppress(NoRoom):
                await self._write(op, blocks[0][0])
                op.left()
                return
        await self.update(op, Packet.PUT, blocks, 0, 0, 1)

    async def get(self, op: Operation, blocks: Sequence[Piece]) -> None:
        """Get ``blocks`` of the target's window."""
        assert op.into is not None
        if op.peer.reads and len(blocks) == 1:
            with suppress(NoRoom):
                await self._read(op, blocks[0][0])
                op.left()
                return
        self._open[op.number] = op
        self._charge_blocks(op.into)
        layout, base = await self._layout(op, blocks, op.into.length)
        await self._packet(op, Header(Packet.GET, length=op.into.length, send=op.number,
                                      receive=layout, address=base))
        op.left()

    async def update(self, op: Operation, kind: Packet, blocks: Sequence[Piece], element: int,
                     operator: int, size: int) -> None:
        """Packets of ``kind`` with all data, for ``blocks`` of the target's window; elements of
        ``size`` bytes are not cut."""
        out, into = op.out, op.into
        if into is not None:
            self._open[op.number] = op
            self._charge_blocks(into)
        else:
            op.peer.behind = True
        if out is not None:
            out.save()
            self._charge_blocks(out)
        length = sum([one for _, one in blocks])
        layout, base = await self._layout(op, blocks, length)
        most = self._engine.to[op.peer.world].eager_bytes
        most -= most % size
        for at in range(0, length, most):
            part = min(most, length - at)
            await self._packet(op, Header(kind, element=element, tag=at, length=part,
                                          send=op.number, receive=layout, address=base,
                                          handle=operator),
                               () if out is None else cut(out.pieces, at, part))
        op.left()

    async def swap(self, op: Operation, compare: Data, at: int, element: int) -> None:
        """Compare and swap the element at ``at``; ``op.out`` is the new one."""
        assert op.out is not None
        self._open[op.number] = op
        op.out.save()
        compare.save()
        await self._packet(op, Header(Packet.SWAP, element=element, length=op.out.length,
                                      send=op.number, address=at),
                           [*op.out.pieces, *compare.pieces], compare.free)

    # RDMA

    async def _write(self, op: Operation, at: int) -> None:
        out, peer, ends = op.out, op.peer, self._ends
        assert out is not None
        pieces: Pieces = out.save().pieces
        self._charge_blocks(out)
        channel = self._engine.to[peer.world]
        if not ends.in_segments(channel, list(pieces)):
            op.temporary = ends.store.take(out.length), out.length
            await copy(ends.process, pieces, [op.temporary])
            pieces = [op.temporary]
        await self._register(op, channel, pieces)
        self._everywhere.find(op.window.number, peer.world).memory.will_write(
            op.window.comm.group.me, at, out.length)
        op.leaves()
        await self._may_move(op)
        await self._engine.write(peer.world, pieces, [one.handle for one in op.regions],
                                 peer.address + at, peer.handle, partial(self._moved, op, op.left))

    async def _read(self, op: Operation, at: int) -> None:
        into, peer, ends = op.into, op.peer, self._ends
        assert into is not None
        pieces: Pieces = into.pieces
        self._charge_blocks(into)
        channel = self._engine.to[peer.world]
        if not ends.in_segments(channel, list(pieces)):
            op.temporary = ends.store.take(into.length), into.length
            pieces = [op.temporary]
        await self._register(op, channel, pieces)

        async def done() -> None:
            if op.temporary is not None:
                await copy(ends.process, [op.temporary], into.pieces)
            await self._moved(op, partial(op.got, into.length))

        await self._may_move(op)
        await self._engine.read(peer.world, pieces, [one.handle for one in op.regions],
                                peer.address + at, peer.handle, done)

    async def _register(self, op: Operation, channel: Channel, pieces: Pieces) -> None:
        """The memory of this end of ``op``, or, if there is no room, none that was taken for
        it."""
        try:
            op.regions = await self._ends.use(channel, pieces)
        except NoRoom:
            if op.temporary is not None:
                self._ends.store.give(*op.temporary)
                op.temporary = None
            raise

    async def _may_move(self, op: Operation) -> None:
        """Wait until one more write or read may be under way."""
        peer = op.peer
        if peer.moving >= MOVING:
            await self._engine.until(lambda: peer.moving < MOVING, op.describe)
        peer.moving += 1

    async def _moved(self, op: Operation, then: Callable[[], None]) -> None:
        """A write or read has ended."""
        op.peer.moving -= 1
        await self._ends.leave(self._engine.to[op.peer.world], op.regions)
        if op.temporary is not None:
            self._ends.store.give(*op.temporary)
        then()

    # Packets

    async def _packet(self, op: Operation, header: Header, pieces: Pieces = (),
                      then: Callable[[], Any] | None = None) -> None:
        """A packet of ``op``, which has left when its ``pieces`` may be changed. If the channel has
        little room, what has come is looked at before: it may bring some."""
        engine, world = self._engine, op.peer.world
        if not engine.generous(world):
            await engine.look()
        op.leaves()

        def left() -> None:
            if then is not None:
                then()
            op.left()

        await engine.packet(world, header._replace(
            context=op.window.number, source=op.window.rank).pack(), pieces, left)

    async def _layout(self, op: Operation, blocks: Sequence[Piece], length: int
                      ) -> tuple[int, int]:
        """Tell the target of ``blocks``, unless it is one; what the header of an operation's packet
        says of it: ``receive`` and ``address``."""
        base = min([at for at, _ in blocks])
        if len(blocks) == 1:
            return 0, base
        ends = self._ends
        table = np.array([(at - base, size) for at, size in blocks], "<u4").tobytes()
        place = ends.store.take(len(table)), len(table)
        for _ in blocks:
            self._port.spend(self._prices.segment)
        await ends.process.touch(*place, store=True)
        ends.process.write(place[0], table)
        most = self._engine.to[op.peer.world].eager_bytes // BLOCK_BYTES * BLOCK_BYTES
        for at in range(0, len(table), most):
            part = min(most, len(table) - at)
            last = at + part == len(table)
            await self._packet(op, Header(Packet.LAYOUT, length=length, send=op.number),
                               cut([place], at, part),
                               partial(ends.store.give, *place) if last else None)
        return 1, base

    async def got(self, packet: Arrived, header: Header) -> None:
        """GOT: data come back."""
        self._port.spend(self._prices.protocol)
        op = self._open[header.receive]
        assert op.into is not None
        await packet.take(op.into.part(header.tag, header.length))
        if op.coming == header.length:
            del self._open[header.receive]
        op.got(header.length)

    def _charge_blocks(self, data: Data) -> None:
        if len(data.pieces) > 1:
            self._ends.charge_blocks(data)

