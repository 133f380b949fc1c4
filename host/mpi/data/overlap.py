"""Finds buffers of a call that overlap. MPI forbids this for the buffers of a collective call,
because their content would be undefined."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ErrorClass, MpiError
from .buffers import Buffers
from .copies import Piece
from .datatypes import BYTE
from .memory import Memory
from .message_data import Parts

__all__ = ["apart"]


class _Region(NamedTuple):
    """Data from address ``low`` up to ``high`` of the program, in ``pieces``."""

    low: int
    high: int
    pieces: Callable[[], list[Piece]]


def apart(out: Any, into: Any, call: str) -> None:
    """Refuse ``out``, which is sent, and ``into``, which is received, that have a byte in common.
    Each is a buffer as :meth:`Buffers.data` takes it, or Parts. ``call``: with the rank.

    Raises
    ------
    MpiError
        They have.
    """
    first, second = _region(out, call), _region(into, call)
    if first is None or second is None or first.high <= second.low or second.high <= first.low:
        return
    pieces = sorted([(*piece, 0) for piece in first.pieces()]
                    + [(*piece, 1) for piece in second.pieces()])
    ends = [0, 0]
    for at, length, side in pieces:
        if length and at < ends[1 - side]:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{call}: the send buffer and the receive buffer "
                           "overlap (MPI_IN_PLACE is for that)")
        ends[side] = max(ends[side], at + length)


def _region(buffer: Any, call: str) -> _Region | None:
    """Where a buffer's data are; None: nowhere."""
    if isinstance(buffer, Parts):
        return _of_parts(buffer, call)
    if buffer is None:
        return None
    array, count, datatype = Buffers.spec(buffer, call) \
        if isinstance(buffer, list | tuple) else (buffer, None, None)
    base, length, each = _base(array, call)
    if count is None:
        datatype, count = BYTE, length
    elif datatype is None:
        datatype, count = BYTE, count * each
    low, high = datatype.span(count)
    if low == high:
        return None
    return _Region(base + low, base + high, lambda: [
        (base + at, size) for at, size in datatype.pieces(count)])


def _of_parts(parts: Parts, call: str) -> _Region | None:
    base, _, _ = _base(parts.buffer, call)
    ranks = [rank for rank, count in enumerate(parts.counts) if count and parts.type_of(rank).size]
    if not ranks:
        return None
    spans = [(parts.begin(rank), *parts.type_of(rank).span(parts.counts[rank])) for rank in ranks]
    return _Region(base + min(begin + low for begin, low, _ in spans),
                   base + max(begin + high for begin, _, high in spans),
                   lambda: [(base + at, size) for rank in ranks for at, size in parts.places(rank)])


def _base(array: Any, call: str) -> tuple[int, int, int]:
    """The address of a buffer; its bytes, and those of an element, if they are known."""
    if isinstance(array, Memory):
        return array.address, 0, 0
    if array is None or isinstance(array, int):
        return array or 0, 0, 0
    flat, array = Buffers.flat(array, call)
    return flat.__array_interface__["data"][0], len(flat), array.itemsize
