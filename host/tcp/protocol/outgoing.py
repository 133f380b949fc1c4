"""Bytes to be sent, and sent ones until they are acknowledged.

A *chunk* is what one segment carries. Once it has been sent it does not change, so that it is sent
again as it was.
"""

from collections import deque

from .sequence import HALF, MASK, distance

__all__ = ["Chunk", "Outgoing"]


class Chunk:
    """Bytes, or a SYN or FIN, from ``sequence`` on.

    ``sent``: how often so far. ``place`` and ``posted`` belong to whoever transmits: where the
    bytes are, and since when they are on their way.
    """

    __slots__ = ("sequence", "data", "syn", "fin", "sent", "place", "posted")

    def __init__(self, sequence: int, syn: bool = False, fin: bool = False) -> None:
        self.sequence = sequence
        self.data: bytes | memoryview = b""
        self.syn = syn
        self.fin = fin
        self.sent = 0
        self.place = 0
        self.posted = 0

    @property
    def end(self) -> int:
        """The sequence number behind it."""
        return self.sequence + len(self.data) + self.syn + self.fin & MASK


class Outgoing:
    """A socket's send buffer: ``size`` bytes in at most ``most`` chunks.

    Attributes
    ----------
    waiting, flight
        Chunks to be sent, and sent ones that are not acknowledged, in order.
    held
        Bytes of both.
    first, next, highest
        Sequence numbers: of the first byte that is not acknowledged, of the next one to be sent,
        and behind the last one that ever was.
    """

    __slots__ = ("size", "most", "waiting", "flight", "held", "first", "next", "highest", "_end")

    def __init__(self, size: int, most: int, first: int) -> None:
        self.size = size
        self.most = most
        self.waiting: deque[Chunk] = deque()
        self.flight: deque[Chunk] = deque()
        self.held = 0
        self.first = self.next = self.highest = self._end = first

    @property
    def under_way(self) -> int:
        """Sequence numbers sent and not acknowledged."""
        return distance(self.first, self.next)

    def room(self, mss: int) -> int:
        """Bytes that can be appended."""
        free = self.size - self.held
        found = (self.most - len(self.waiting) - len(self.flight)) * mss
        if self.waiting:
            tail = self._tail(mss)
            if tail is not None:
                found += mss - len(tail.data)
        return max(0, min(free, found))

    def _tail(self, mss: int) -> Chunk | None:
        """The last chunk, if bytes can be added to it."""
        if self.waiting:
            tail = self.waiting[-1]
            if not (tail.sent or tail.syn or tail.fin) and len(tail.data) < mss:
                return tail
        return None

    def append(self, data: bytes | memoryview, mss: int) -> list[tuple[Chunk, int, int]]:
        """Append ``data``, for which there is room: the chunks that they are in, the offset in
        each and the number of bytes. They are not copied where they begin a chunk."""
        found = []
        begin, end = 0, len(data)
        while begin < end:
            chunk = self._tail(mss)
            if chunk is None:
                chunk = self.control()
            offset = len(chunk.data)
            length = min(mss - offset, end - begin)
            part = data if length == end else data[begin:begin + length]
            chunk.data = b"".join((chunk.data, part)) if offset else part
            found.append((chunk, offset, length))
            begin += length
            self._end = self._end + length & MASK
        self.held += end
        return found

    def control(self, syn: bool = False, fin: bool = False) -> Chunk:
        """Append a chunk without bytes."""
        chunk = Chunk(self._end, syn=syn, fin=fin)
        self.waiting.append(chunk)
        self._end = chunk.end
        return chunk

    def take(self) -> Chunk:
        """The next chunk is sent."""
        chunk = self.waiting.popleft()
        self.flight.append(chunk)
        end = self.next = chunk.end
        if 0 < end - self.highest & MASK < HALF:
            self.highest = end
        return chunk

    def acknowledged(self, number: int) -> list[Chunk]:
        """All before ``number`` have arrived: the chunks that are over."""
        self.first = number
        if distance(number, self.next) < 0:
            self.next = number
        over = []
        for chunks in (self.flight, self.waiting):
            while chunks and chunks[0].sent and number - chunks[0].end & MASK < HALF:
                chunk = chunks.popleft()
                over.append(chunk)
                self.held -= len(chunk.data)
        return over

    def back(self) -> None:
        """All that is not acknowledged is to be sent again."""
        while self.flight:
            self.waiting.appendleft(self.flight.pop())
        self.next = self.first

    def clear(self) -> list[Chunk]:
        """Nothing is to be sent any more: the chunks that were there."""
        over = [*self.flight, *self.waiting]
        self.flight.clear()
        self.waiting.clear()
        self.held = 0
        return over
