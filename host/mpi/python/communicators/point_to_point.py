"""Prepares messages of buffers and of objects for the library: buffers, ranks and tags. The buffers
of a message to or from nobody are not looked at."""

from operator import index
from typing import Any, SupportsIndex

from ...constants import ANY_SOURCE, ANY_TAG, PROC_NULL
from .. import python_objects
from ..messages import simple

__all__ = ["IRECV_BYTES", "exchanged", "loads", "pickled", "received", "replaced", "room", "sent"]

IRECV_BYTES = 1 << 15
"""Longest object that irecv without a buffer receives, as mpi4py has it."""


def _place(rank: Any, tag: Any) -> tuple[int, int]:
    """Rank and tag as integers, whatever the program has them in."""
    return index(rank), index(tag)


def _out(buf: Any, rank: int) -> Any:
    return None if rank == PROC_NULL else simple(buf, True)


def _into(buf: Any, rank: int) -> Any:
    return None if rank == PROC_NULL else simple(buf, False)


def sent(_: Any, buf: Any, dest: int, tag: int = 0) -> tuple[Any, ...]:
    """Send a buffer."""
    return _out(buf, dest), *_place(dest, tag)


def received(_: Any, buf: Any, source: int = ANY_SOURCE, tag: int = ANY_TAG) -> tuple[Any, ...]:
    """Receive into a buffer."""
    return _into(buf, source), *_place(source, tag)


def exchanged(_: Any, sendbuf: Any, dest: int, sendtag: int = 0, recvbuf: Any = None,
              source: int = ANY_SOURCE, recvtag: int = ANY_TAG) -> tuple[Any, ...]:
    """Send a buffer, and receive into another."""
    return (_out(sendbuf, dest), *_place(dest, sendtag), _into(recvbuf, source),
            *_place(source, recvtag))


def replaced(_: Any, buf: Any, dest: int, sendtag: int = 0, source: int = ANY_SOURCE,
             recvtag: int = ANY_TAG) -> tuple[Any, ...]:
    """Send a buffer, and receive into it."""
    nobody = dest == source == PROC_NULL
    return (_into(buf, PROC_NULL if nobody else 0), *_place(dest, sendtag),
            *_place(source, recvtag))


def pickled(_: Any, obj: Any, dest: int, tag: int = 0) -> tuple[Any, ...]:
    """Send an object."""
    return python_objects.packed(obj), *_place(dest, tag)


def room(buf: Any) -> Any:
    """Tells where irecv puts an object's bytes: ``buf``, or so many bytes, or mpi4py's number of
    them."""
    if buf is None or isinstance(buf, SupportsIndex):
        buf = bytearray(IRECV_BYTES if buf is None else index(buf))
    return simple(buf, False)


def loads(into: Any) -> Any:
    """Returns a function that gives the object that has come to ``into``."""
    return lambda status: python_objects.loaded(into[0][:status.count])
