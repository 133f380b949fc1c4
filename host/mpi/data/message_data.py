"""The bytes of a message, and those of all ranks' parts: where they are in memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...kernel.process import Process
from ..errors import ErrorClass, MpiError
from .copies import Piece, cut
from .datatypes import Datatype, element_of
from .memory_store import MemoryStore

__all__ = ["Data", "Parts"]


class Data:
    """The bytes of a message at one end. All requests on a whole array of :meth:`Buffers.empty`
    share one, so it has nothing of a request's.

    Attributes
    ----------
    pieces
        Where they are in the process's memory.
    length
        Their number.
    element
        The kind of its basic elements, 0 if nobody says (:func:`~.datatypes.element_of`).
    """

    __slots__ = ("pieces", "length", "element", "_near", "_parts", "_process", "_staging")

    def __init__(self, process: Process, base: int, places: list[Piece], flat: Any = None,
                 staging: tuple[MemoryStore, int, int] | None = None) -> None:
        if len(places) == 1:
            at, self.length = places[0]
            self.pieces = [(base + at, self.length)]
        else:
            self.pieces = [(base + at, length) for at, length in places]
            self.length = sum([length for _, length in places])
        self.element = 0
        self._process = process
        self._parts: list[tuple[int, memoryview]] = []
        """Where each piece is in memory, and in the array."""
        self._near = 0
        """The physical address of a message of one piece in one page."""
        if flat is not None:
            view = flat.data
            for at, length in places:
                self._parts.append((base + at, view[at:at + length]))
            if len(places) == 1:
                self._near = process.near(*self.pieces[0])
        self._staging = staging

    @classmethod
    def of_parts(cls, process: Process, parts: list[tuple[int, Any]],
                 staging: tuple[MemoryStore, int, int]) -> "Data":
        """Data in parts: each one's address in the process's memory, and its bytes."""
        made = cls(process, 0, [(address, len(view)) for address, view in parts], staging=staging)
        made._parts = [(address, memoryview(view)) for address, view in parts]
        return made

    def of(self, dtype: np.dtype[Any] | None) -> "Data":
        """It is made of ``dtype``."""
        self.element = element_of(dtype)
        return self

    def save(self) -> "Data":
        """Put the array's bytes into memory, in no time."""
        if self._near:
            self._process.memory.write(self._near, self._parts[0][1])
            return self
        for address, part in self._parts:
            self._process.write(address, part)
        return self

    def fill(self, length: int) -> None:
        """Take the first ``length`` bytes from memory into the array, in no time."""
        for address, part in self._parts:
            if length < len(part):
                part = part[:max(length, 0)]
            if self._near:
                part[:] = self._process.memory.view(self._near, len(part))
                return
            self._process.read_into(address, part)
            length -= len(part)

    def part(self, first: int, length: int) -> list[Piece]:
        """Pieces of ``length`` bytes from byte ``first`` on."""
        return cut(self.pieces, first, length)

    def free(self) -> None:
        """The message has ended: a place that was given for it alone is free again."""
        if self._staging is not None:
            store, address, length = self._staging
            store.give(address, length)
            self._staging = None


class Parts:
    """A buffer of a vector collective: for each rank so many elements, at such a displacement.
    With a list of datatypes, one for each rank, displacements are in bytes. ``origin``: the byte
    from which displacements count.

    Raises
    ------
    MpiError
        A count is negative.
    """

    __slots__ = ("buffer", "counts", "displacements", "datatype", "origin")

    def __init__(self, buffer: Any, counts: Any, displacements: Any,
                 datatype: Datatype | Sequence[Datatype], origin: int = 0) -> None:
        self.buffer = buffer
        self.origin = origin
        self.counts = [int(one) for one in counts]
        for count in self.counts:
            if count < 0:
                raise MpiError(ErrorClass.ERR_COUNT, f"count {count}: must not be negative")
        if displacements is None:
            displacements = np.concatenate(([0], np.cumsum(self.counts)))[:-1]
        self.displacements = [int(one) for one in displacements]
        self.datatype = datatype

    def type_of(self, rank: int) -> Datatype:
        """The datatype of ``rank``'s part."""
        return self.datatype if isinstance(self.datatype, Datatype) else self.datatype[rank]

    def begin(self, rank: int) -> int:
        """The byte of the buffer from which ``rank``'s part counts."""
        datatype, begin = self.type_of(rank), self.displacements[rank]
        if datatype is self.datatype:
            begin *= datatype.extent
        return begin + self.origin

    def places(self, rank: int) -> list[Piece]:
        """Tells where ``rank``'s part is in the buffer."""
        begin = self.begin(rank)
        return [(begin + at, length)
                for at, length in self.type_of(rank).pieces(self.counts[rank])]
