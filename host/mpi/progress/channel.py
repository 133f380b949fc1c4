"""The interface between the layer and its channels. A channel knows no matching, and the matching
knows no channel. Its calls are awaited where they are made; one that has nothing to wait for need
not be a coroutine."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ...port.port import Watch
from ..data.copies import Pieces

__all__ = ["SHARE", "Arrived", "Channel", "Compute", "NoRoom"]

Compute = Callable[[int], Awaitable[None]]
SHARE = 16
"""Most packets that a look takes from each of two channels: as many as a process has credits at
another one of its node. Otherwise processes that send as fast as this one receives would keep it
from the other channel, and from its program."""


class NoRoom(Exception):
    """A process cannot register more memory."""


class Arrived(Protocol):
    """A packet that has arrived. It must be given back by :meth:`release`."""

    rank: int
    """Of the sender, in the world."""
    header: bytes
    length: int
    """Bytes of data behind the header."""

    def take(self, pieces: Pieces) -> Awaitable[None]:
        """Copy the data, all of them and once, to ``pieces``: charged."""
        ...

    def release(self) -> Awaitable[None]:
        """Its buffer is free again."""
        ...


class Channel(Protocol):
    """Carries packets, and writes and reads memory, between this process and ``ranks`` others.

    Packets, and writes, of one process arrive at another in the order in which they were sent.
    """

    name: str
    eager_bytes: int
    """Most data of a packet."""
    can_write: bool
    """Whether :meth:`write` exists."""
    can_read: bool
    segments: int
    """Most pieces of one write or read at this end."""
    compute: Compute | None
    """Where a kernel carries the packets: spends so many target cycles, which packets and timers
    interrupt. None: no packet needs the CPU until the program makes a call."""

    async def open(self) -> None:
        """Connect to all others, which do the same."""
        ...

    async def close(self) -> None:
        """End: what was sent has left, and been acknowledged where the channel knows."""
        ...

    def ready(self, rank: int) -> bool:
        """Tells whether a packet could be sent to ``rank`` now."""
        ...

    def generous(self, rank: int) -> bool:
        """Tells whether a message may go to ``rank`` with its data at once, and others still after
        it: the channel is :meth:`ready`, and more."""
        ...

    def send(self, rank: int, header: bytes, pieces: Pieces) -> Awaitable[None]:
        """Send a packet, for which the channel is ready. ``pieces`` may be changed afterwards."""
        ...

    def look(self) -> Awaitable[Arrived | None]:
        """One look for what has arrived or ended: a packet, if there is one."""
        ...

    def wait(self) -> Awaitable[Arrived | None]:
        """Wait until something has arrived or ended; a packet, if it is one."""
        ...

    def awaits(self) -> tuple[list[Watch], int] | None:
        """For a process that also waits for another channel: the words of memory that tell that
        :meth:`look` has something to do, and the cycles after which it must be called whatever they
        say (0: never). None: now."""
        ...

    async def register(self, address: int, length: int) -> int:
        """Make memory known to the NIC, for writes and reads by and of all others; its handle.

        Raises
        ------
        NoRoom
            Too much is registered.
        """
        ...

    async def deregister(self, address: int, length: int, handle: int) -> None:
        """Undo it."""
        ...

    async def write(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                    done: Callable[[], Any]) -> None:
        """Write ``pieces``, each registered under one of ``handles``, to ``address`` of ``rank``,
        which it has registered under ``handle``. ``done`` is called when they may be changed."""
        ...

    async def read(self, rank: int, pieces: Pieces, handles: list[int], address: int, handle: int,
                   done: Callable[[], Any]) -> None:
        """Read the other way."""
        ...
