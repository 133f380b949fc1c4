"""The base of channels over registered buffers: packets in such buffers, with credits on their way.

A packet is a header and its data, one behind the other. The header's byte for the channel has the
credits that the packet tells of.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sized
from typing import Any

from ...kernel.process import Process
from ...port.suspension import NOTHING
from ..data.copies import COPY, Pieces, copy, gather, queue_traffic, total
from ..progress.packets import CHANNEL_AT, HEADER_BYTES, LONG, LONG_BYTES, Header, Packet
from .credits import Credits

__all__ = ["CREDITS", "Buffer", "Debts", "Received", "queue_packet", "received"]

CREDITS = Header(Packet.CREDITS).pack()
"""The packet that tells of credits and nothing else."""
CREDITS_ALONE = int(Packet.CREDITS)


class Buffer:
    """A buffer of a process, at a multiple of 64, so that a header is in one page.

    Attributes
    ----------
    va, at
        Its address, and the physical one.
    near
        How many of its bytes are in its first page: a packet that has no more needs no other look
        at where it is.
    """

    __slots__ = ("va", "at", "near")

    def __init__(self, process: Process, va: int) -> None:
        self.va = va
        self.at = process.physical(va)
        self.near = process.page_bytes - va % process.page_bytes


class Received:
    """A packet of ``rank`` in ``buffer``, whose data begin at byte ``first``. ``again`` gives the
    buffer back."""

    __slots__ = ("_process", "_buffer", "_first", "_again", "rank", "header", "length")

    def __init__(self, process: Process, rank: int, header: bytes, buffer: Buffer, first: int,
                 length: int, again: Callable[[], Awaitable[None]]) -> None:
        self._process = process
        self._buffer = buffer
        self._first = first
        self._again = again
        self.rank = rank
        self.header = header
        self.length = length

    def take(self, pieces: Pieces) -> Awaitable[None]:
        process, buffer, first, length = self._process, self._buffer, self._first, self.length
        if not length:
            return NOTHING
        into = process.near_piece(pieces, length)
        if not into or first + length > buffer.near:
            return copy(process, [(buffer.va + first, length)], pieces)
        place, memory = buffer.at + first, process.memory
        process.port.put_copy(COPY, place, into, length)
        memory.write(into, memory.view(place, length))
        return process.port.settle()

    def release(self) -> Awaitable[None]:
        return self._again()


class Debts:
    """Returns owed credits to peers as soon as there is a buffer for it. ``free`` are the buffers
    for sending; ``send`` sends a peer a packet of nothing else."""

    def __init__(self, free: Sized, send: Callable[[Any], Awaitable[None]]) -> None:
        self._free = free
        self._send = send
        self._due: deque[Any] = deque()

    def owe(self, peer: Any) -> Awaitable[None]:
        """A buffer for ``peer`` waits again."""
        if not peer.credits.owe():
            return NOTHING
        self._due.append(peer)
        return self.tell()

    def tell(self) -> Awaitable[None]:
        """Tell those that are to be told, as far as there are buffers."""
        return self._tell() if self._due and self._free else NOTHING

    async def _tell(self) -> None:
        while self._due and self._free:
            peer = self._due.popleft()
            if peer.credits.due:
                await self._send(peer)


def queue_packet(process: Process, buffer: Buffer, header: bytes, pieces: Pieces, credits: Credits
                 ) -> int:
    """Put a packet into ``buffer``, with the credits to tell of; its bytes. The CPU's traffic is
    queued (:meth:`Process.queue_touch`)."""
    if credits.owed:
        header = header[:CHANNEL_AT] + bytes([credits.tell()]) + header[CHANNEL_AT + 1:]
    size, length = len(header), total(pieces)
    process.port.put_touch(buffer.at, size, True)
    source = process.near_piece(pieces, length)
    if source and size + length <= buffer.near:
        process.port.put_copy(COPY, source, buffer.at + size, length)
        header += process.memory.view(source, length)
    elif length:
        queue_traffic(process, pieces, [(buffer.va + size, length)], length)
        process.write(buffer.va, header + gather(process, pieces))
        return size + length
    process.memory.write(buffer.at, header)
    return size + length


def received(process: Process, rank: int, buffer: Buffer, length: int, credits: Credits,
             again: Callable[[], Any]) -> Received | None:
    """The packet of ``length`` bytes in ``buffer``, whose credits are taken; None if it has nothing
    else. The CPU's traffic is queued."""
    header = process.memory.read(buffer.at, LONG_BYTES)
    size = LONG_BYTES if header[0] in LONG else HEADER_BYTES
    process.port.put_touch(buffer.at, size)
    credits.left += header[CHANNEL_AT]
    if header[0] == CREDITS_ALONE:
        return None
    return Received(process, rank, header, buffer, size, length - size, again)
