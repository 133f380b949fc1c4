"""Prepares collective calls on buffers for the library. Buffers that MPI ignores, such as those
that count only at the root, are not looked at."""

from collections.abc import Sequence
from operator import index
from typing import Any

from ...collective import collectives
from ...data import operators
from ..constants import IN_PLACE
from ..messages import simple, typed, vector
from ..operators import Op

__all__ = ["DEFAULT", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "barrier",
           "bcast", "gather", "gatherv", "reduce", "reduce_all", "reduce_scatter",
           "reduce_scatter_block", "scatter", "scatterv"]

DEFAULT = Op.standing_for(operators.SUM)
"""The operation where a program names none."""


def _is_in_place(buf: Any) -> bool:
    """As in mpi4py, None says the same."""
    return buf is IN_PLACE or buf is None


def _in_place(buf: Any, readonly: bool = True) -> Any:
    return collectives.IN_PLACE if _is_in_place(buf) else simple(buf, readonly)


def _own(comm: Any, buf: Any, readonly: bool, root: int) -> Any:
    """The buffer of this rank's own part."""
    return _in_place(buf, readonly) if comm.inner.takes_part(root) else None


def _op(op: Op | None) -> Any:
    return DEFAULT.inner if op is None else op.inner


def barrier(_: Any) -> tuple[Any, ...]:
    """Wait for all."""
    return ()


def bcast(comm: Any, buf: Any, root: int = 0) -> tuple[Any, ...]:
    """``buf`` of ``root`` to all."""
    if not (comm.inner.takes_part(root) or comm.inner.is_root(root)):
        return None, index(root)
    return simple(buf, comm.inner.is_root(root)), index(root)


def gather(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> tuple[Any, ...]:
    """Each rank's buffer to ``root``."""
    into = simple(recvbuf, False, comm.inner.reach) if comm.inner.is_root(root) else None
    return _own(comm, sendbuf, True, root), into, index(root)


def gatherv(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> tuple[Any, ...]:
    """Each rank's buffer, of its own length, to ``root``."""
    into = vector(recvbuf, False, comm.inner.reach) if comm.inner.is_root(root) else None
    return _own(comm, sendbuf, True, root), into, index(root)


def scatter(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> tuple[Any, ...]:
    """A part of ``root``'s buffer to each rank."""
    out = simple(sendbuf, True, comm.inner.reach) if comm.inner.is_root(root) else None
    return out, _own(comm, recvbuf, False, root), index(root)


def scatterv(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> tuple[Any, ...]:
    """A part of its own length of ``root``'s buffer to each rank."""
    out = vector(sendbuf, True, comm.inner.reach) if comm.inner.is_root(root) else None
    return out, _own(comm, recvbuf, False, root), index(root)


def allgather(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """Each rank's buffer to all."""
    return _in_place(sendbuf), simple(recvbuf, False, comm.inner.reach)


def allgatherv(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """Each rank's buffer, of its own length, to all."""
    return _in_place(sendbuf), vector(recvbuf, False, comm.inner.reach)


def alltoall(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """A part to and from each rank."""
    out = collectives.IN_PLACE if _is_in_place(sendbuf) else simple(sendbuf, True, comm.inner.reach)
    return out, simple(recvbuf, False, comm.inner.reach)


def alltoallv(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """A part of its own length to and from each rank."""
    out = collectives.IN_PLACE if _is_in_place(sendbuf) else vector(sendbuf, True, comm.inner.reach)
    return out, vector(recvbuf, False, comm.inner.reach)


def alltoallw(comm: Any, sendbuf: Any, recvbuf: Any) -> tuple[Any, ...]:
    """A part of a datatype of its own to and from each rank."""
    out = collectives.IN_PLACE if _is_in_place(sendbuf) else typed(sendbuf, True, comm.inner.reach)
    return out, typed(recvbuf, False, comm.inner.reach)


def reduce(comm: Any, sendbuf: Any, recvbuf: Any, op: Op | None = None, root: int = 0
           ) -> tuple[Any, ...]:
    """``op`` over all, to ``root``."""
    into = simple(recvbuf, False) if comm.inner.is_root(root) else None
    out = _own(comm, sendbuf, True, root)
    _check_alike(out, into)
    return out, into, _op(op), index(root)


def _check_alike(out: Any, into: Any, count: int | None = None) -> None:
    """Refuse a reduction of other elements, or of other than ``count``, than its result has."""
    if into is None or out is None or out is collectives.IN_PLACE:
        return
    if out[2] is not into[2]:
        raise ValueError("mismatch in send and receive MPI datatypes")
    if out[1] != (into[1] if count is None else count):
        raise ValueError(f"mismatch in send count {out[1]} and receive count {into[1]}")


def reduce_all(_: Any, sendbuf: Any, recvbuf: Any, op: Op | None = None) -> tuple[Any, ...]:
    """``op`` over all, to each; or over those up to each one, or before it."""
    out, into = _in_place(sendbuf), simple(recvbuf, False)
    _check_alike(out, into)
    return out, into, _op(op)


def reduce_scatter(comm: Any, sendbuf: Any, recvbuf: Any, recvcounts: Sequence[int] | None = None,
                   op: Op | None = None) -> tuple[Any, ...]:
    """``op`` over all, a part of the result to each."""
    out, into = _in_place(sendbuf), simple(recvbuf, False)
    if recvcounts is not None and len(recvcounts) != comm.size:
        raise ValueError(f"expecting {comm.size} items, got {len(recvcounts)}")
    if _is_in_place(sendbuf):
        if recvcounts is None:
            raise ValueError("IN_PLACE needs recvcounts")
        if sum(recvcounts) > into[1]:
            raise ValueError(f"recvcounts need {sum(recvcounts)} elements, got {into[1]}")
    elif recvcounts is not None:
        _check_alike(out, into, sum(recvcounts))
        if into[1] < recvcounts[comm.rank]:
            raise ValueError(f"expecting room for {recvcounts[comm.rank]}, got {into[1]}")
    return out, into, recvcounts, _op(op)


def reduce_scatter_block(comm: Any, sendbuf: Any, recvbuf: Any, op: Op | None = None
                         ) -> tuple[Any, ...]:
    """The same in equal parts."""
    size = comm.size
    if _is_in_place(sendbuf):
        into = simple(recvbuf, False, size)
        return collectives.IN_PLACE, [into[0], into[1] * size, into[2]], [into[1]] * size, _op(op)
    into = simple(recvbuf, False)
    out = simple(sendbuf, True, size)
    out[1] *= size
    return out, into, [into[1]] * size, _op(op)
