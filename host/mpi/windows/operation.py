"""An operation at its origin: the data that it moves, and the answers that it waits for."""

from collections.abc import Sequence
from typing import Any

from ..data.buffers import Data
from ..data.copies import Piece
from ..point_to_point.requests import Request

__all__ = ["Operation", "Peer"]


class Peer:
    """A window at ``rank``, ``world`` among all, as this process knows it, with what is between
    them.

    Attributes
    ----------
    size, unit, address, handle
        Of the other's window: its bytes, those of a unit of displacements, its place in the memory
        of its process, and what registered it.
    writes, reads
        Whether RDMA reaches it.
    open
        Operations of this process there that have not ended.
    behind
        Whether there may be some there that have not been done.
    asked
        How many answers are to come (FLUSHED).
    granted
        Whether it has given this process its lock.
    moving
        Writes and reads by RDMA that have not ended.
    posts, completes, fences
        Packets of it that have come and have not been used.
    """

    def __init__(self, rank: int, world: int) -> None:
        self.rank = rank
        self.world = world
        self.size = self.address = self.handle = 0
        self.unit = 1
        self.writes = self.reads = False
        self.open: set[Operation] = set()
        self.behind = False
        self.asked = self.moving = 0
        self.granted = False
        self.posts = self.completes = self.fences = 0

    @property
    def quiet(self) -> bool:
        """Tells whether all has ended that was begun, and every answer has come."""
        return not self.open and not self.asked


class Operation(Request):
    """``call`` of ``window``, with data ``out`` to ``peer`` and ``into`` back from there."""

    temporary: Piece | None = None
    regions: Sequence[Any] = ()

    def __init__(self, window: Any, number: int, call: str, peer: Peer, out: Data | None,
                 into: Data | None) -> None:
        super().__init__(window.library, window, number)
        self.call = call
        self.window = window
        self.peer = peer
        self.out = out
        self.into = into
        self.coming = into.length if into is not None else 0
        """Bytes that have not come back."""
        self._leaving = 1
        """Parts that have not left; itself is one while it begins."""
        peer.open.add(self)

    def describe(self) -> str:
        return (f"rank {self.window.rank}: {self.call} to rank {self.peer.rank}, "
                f"{self.window.name}")

    def leaves(self) -> None:
        """One more part goes."""
        self._leaving += 1

    def left(self) -> None:
        """A part has left: its data may be changed."""
        self._leaving -= 1
        self._look()

    def got(self, length: int) -> None:
        """So many bytes have come."""
        self.coming -= length
        self._look()

    def drop(self) -> None:
        """It has not begun."""
        self._free()

    def _look(self) -> None:
        if self._leaving or self.coming or self.done:
            return
        if self.into is not None:
            self.into.fill(self.into.length)
        self._free()
        self.done = True

    def _free(self) -> None:
        self.peer.open.discard(self)
        for data in (self.out, self.into):
            if data is not None:
                data.free()
