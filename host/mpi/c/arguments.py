"""Turns the arguments of a C program's calls into the library's buffers.

Arguments that MPI says are ignored are not looked at: those of another rank, those beside
MPI_IN_PLACE, types of no elements.
"""

from collections.abc import Callable
from typing import Any

from ..collective.collectives import IN_PLACE
from ..constants import PROC_NULL
from ..data.datatypes import BYTE, Datatype
from ..data.memory import Memory
from ..errors import ErrorClass, MpiError
from .handles import Handles, value
from .memory import Pointer, integers

__all__ = ["Arguments"]

IN_PLACE_AT = value("IN_PLACE")


class Arguments:
    """The arguments of a rank's calls; datatypes are handles."""

    def __init__(self, handles: Handles) -> None:
        self._types = handles.types

    def plain(self, address: Pointer, count: int, datatype: int, call: str) -> Any:
        """A buffer of ``count`` elements."""
        if count < 0:
            raise MpiError(ErrorClass.ERR_COUNT, f"{call}: count {count}: must not be negative")
        if not count:
            return None
        self._there(address, call)
        return [Memory(address), count, self._types[datatype]]

    @staticmethod
    def _there(address: Pointer, call: str) -> None:
        if address == IN_PLACE_AT:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: MPI_IN_PLACE may not stand here")

    def of_peer(self, rank: int, address: Pointer, count: int, datatype: int, call: str) -> Any:
        """A buffer for ``rank``, which may be nobody."""
        return None if rank == PROC_NULL else self.plain(address, count, datatype, call)

    def own(self, address: Pointer, count: int, datatype: int, call: str) -> Any:
        """A buffer; the data may be in the other one of the call instead."""
        return IN_PLACE if address == IN_PLACE_AT else self.plain(address, count, datatype, call)

    def typed(self, address: Pointer, count: int, datatype: int, call: str, *,
              in_place: bool = False) -> Any:
        """A buffer with a count and a datatype even if it is empty: an operand, or a buffer of so
        many elements for each rank. ``in_place``: the data may be in the other one of the call
        instead."""
        if in_place and address == IN_PLACE_AT:
            return IN_PLACE
        self._there(address, call)
        if count < 0:
            raise MpiError(ErrorClass.ERR_COUNT, f"{call}: count {count}: must not be negative")
        return [Memory(address), count, self._types[datatype] if count else BYTE]

    def parts(self, address: Pointer, counts: Pointer, displacements: Pointer, datatype: int,
              ranks: int) -> Any:
        """A buffer with so many elements for each rank, at such displacements."""
        if address == IN_PLACE_AT:
            return IN_PLACE
        numbers = integers(counts, ranks)
        places = integers(displacements, ranks) if any(numbers) else [0] * ranks
        return [Memory(address), numbers, places,
                self._types[datatype] if any(numbers) else BYTE]

    def each(self, address: Pointer, counts: Pointer, displacements: Pointer, datatypes: Pointer,
             ranks: int, read: Callable[[Pointer, int], list[int]] = integers) -> Any:
        """The same with displacements in bytes, which ``read`` reads, and a datatype for each
        rank."""
        if address == IN_PLACE_AT:
            return IN_PLACE
        numbers = integers(counts, ranks)
        places = read(displacements, ranks) if any(numbers) else [0] * ranks
        handles = integers(datatypes, ranks) if any(numbers) else [0] * ranks
        types: list[Datatype] = [self._types[one] if number else BYTE
                                 for one, number in zip(handles, numbers, strict=True)]
        return [Memory(address), numbers, places, types]
