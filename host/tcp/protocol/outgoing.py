"""Bytes to be sent, and sent ones until they are acknowledged.

A *chunk* is what one segment carries. Once it has been sent it does not change, so that it is sent
again as it was.
"""

from collections import deque

from .sequence import distance, plus

__all__ = ["Chunk", "Outgoing"]


class Chunk:
    """Bytes, or a SYN or FIN, from ``sequence`` on.

    ``sent``: how often so far. ``place`` and ``posted`` belong to whoever transmits: where the
    bytes are, and since when they are on their way.
    """

    __slots__ = ("sequence", "data", "syn", "fin", "sent", "place", "posted")

    def __init__(self, sequence: int, data: bytes = b"", syn: bool = False, fin: bool = False
                 ) -> None:
        self.sequence = sequence
        self.data = data
        self.syn = syn
        self.fin = fin
        self.sent = 0
        self.place = 0
        self.posted = 0

    @property
    def end(self) -> int:
        """The sequence number behind it."""
        return plus(self.sequence, len(self.data) + self.syn + self.fin)


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
        tail = self._tail(mss)
        inside = 0 if tail is None else mss - len(tail.data)
        chunks = self.most - len(self.waiting) - len(self.flight)
        return max(0, min(free, inside + chunks * mss))

    def _tail(self, mss: int) -> Chunk | None:
        """The last chunk, if bytes can be added to it."""
        if self.waiting:
            tail = self.waiting[-1]
            if not (tail.sent or tail.syn or tail.fin) and len(tail.data) < mss:
                return tail
        return None

    def append(self, data: bytes, mss: int) -> list[tuple[Chunk, int, int]]:
        """Append ``data``, for which there is room: the chunks that they are in, the offset in
        each and the number of bytes."""
        found = []
        while data:
            chunk = self._tail(mss)
            if chunk is None:
                chunk = self.control()
            offset, part = len(chunk.data), data[:mss - len(chunk.data)]
            chunk.data += part
            found.append((chunk, offset, len(part)))
            data = data[len(part):]
            self.held += len(part)
            self._end = chunk.end
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
        self.next = chunk.end
        if distance(self.highest, self.next) > 0:
            self.highest = self.next
        return chunk

    def acknowledged(self, number: int) -> list[Chunk]:
        """All before ``number`` have arrived: the chunks that are over."""
        self.first = number
        if distance(number, self.next) < 0:
            self.next = number
        over = []
        for chunks in (self.flight, self.waiting):
            while chunks and chunks[0].sent and distance(chunks[0].end, number) >= 0:
                over.append(chunks.popleft())
        self.held -= sum(len(chunk.data) for chunk in over)
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
