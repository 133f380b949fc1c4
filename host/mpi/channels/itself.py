"""The channel of a process to itself: copies through its memory."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ...kernel.process import Process
from ...port.port import Watch
from ...port.suspension import NOTHING
from ..data.copies import Pieces, copy, total
from ..data.memory_store import MemoryStore
from ..progress.channel import Compute

__all__ = ["Itself"]


class _Packet:
    """A packet of this process to itself; its data wait at ``place``."""

    def __init__(self, channel: "Itself", rank: int, header: bytes, place: int, length: int
                 ) -> None:
        self._channel = channel
        self.rank, self.header, self.place, self.length = rank, header, place, length

    async def take(self, pieces: Pieces) -> None:
        if self.length:
            await copy(self._channel.process, [(self.place, self.length)], pieces)

    async def release(self) -> None:
        if self.length:
            self._channel.store.give(self.place, self.length)


class Itself:
    """Packets from ``rank`` to ``rank``."""

    name = "self"
    can_write = True
    can_read = False
    segments = 1 << 30
    compute: Compute | None = None

    def __init__(self, process: Process, store: MemoryStore, rank: int, eager_bytes: int) -> None:
        self.process = process
        self.store = store
        self.eager_bytes = eager_bytes
        self._rank = rank
        self._packets: deque[_Packet] = deque()
        self._done: deque[Callable[[], Any]] = deque()
        self._busy = False

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def ready(self, rank: int) -> bool:
        return True

    def generous(self, rank: int) -> bool:
        return True

    async def send(self, rank: int, header: bytes, pieces: Pieces) -> None:
        length = total(pieces)
        place = 0
        if length:
            place = self.store.take(length)
            await copy(self.process, pieces, [(place, length)])
        self._packets.append(_Packet(self, rank, header, place, length))
        self._busy = True

    def look(self) -> Awaitable[_Packet | None]:
        return self._look() if self._busy else NOTHING

    async def _look(self) -> _Packet | None:
        while self._done:
            result = self._done.popleft()()
            if result is not None and hasattr(result, "__await__"):
                await result
        packet = self._packets.popleft() if self._packets else None
        self._busy = bool(self._packets)
        return packet

    def wait(self) -> Awaitable[_Packet | None]:
        return self.look()

    def awaits(self) -> tuple[list[Watch], int] | None:
        return None if self._busy else ([], 0)

    async def register(self, address: int, length: int) -> int:
        return 0

    async def deregister(self, address: int, length: int, handle: int) -> None:
        pass

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        await copy(self.process, pieces, [(address, total(pieces))])
        self._done.append(done)
        self._busy = True

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        await copy(self.process, [(address, total(pieces))], pieces)
        self._done.append(done)
        self._busy = True
