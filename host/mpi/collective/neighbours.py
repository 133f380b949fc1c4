"""Collective calls among neighbours: each rank exchanges with the ranks that the communicator's
topology gives it.

All receives are posted, then all sends; then they are waited for. Parts of a buffer are in the
order of the neighbours; where there is none (PROC_NULL) the part stays as it is.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..calls import Call, called
from ..constants import PROC_NULL
from ..data.buffers import Data
from ..errors import ErrorClass, MpiError

__all__ = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "neighbours"]

NEIGHBOUR = 10
"""Tag."""


def neighbours(comm: Any, call: str) -> tuple[list[int], list[int]]:
    """The ranks from which this one receives, and those to which it sends.

    Raises
    ------
    MpiError
        The communicator has no topology.
    """
    topology = comm.topology
    if topology is None:
        raise MpiError(ErrorClass.ERR_TOPOLOGY, f"rank {comm.rank}: {call}: {comm.name} has no "
                       "topology", [comm])
    return topology.sources(comm.rank), topology.destinations(comm.rank)


async def _exchange(comm: Any, call: str, ranks: tuple[Sequence[int], Sequence[int]],
                    into: Callable[[int], Data], out: Callable[[int], Data]) -> None:
    """Receive ``into`` each source's place, and send what is ``out`` at each destination's."""
    sources, destinations = ranks
    requests = []
    # Several messages of one process come in the order of its destinations.
    for place in comm.topology.order(len(sources)):
        if sources[place] != PROC_NULL:
            requests.append(await comm._irecv(call, into(place), sources[place], NEIGHBOUR))
    for place, rank in enumerate(destinations):
        if rank != PROC_NULL:
            requests.append(await comm._isend(call, out(place), rank, NEIGHBOUR))
    for request in requests:
        await comm._until(request)


def _parts(buffer: Any, ranks: int, call: str, divide: Callable[..., Any]) -> Any:
    """The parts of ``buffer``, one for each place; None without any."""
    return divide(buffer, ranks, call) if ranks else None


def _in(comm: Any, parts: Any, call: str) -> Callable[[int], Data]:
    """The part at each place."""
    return lambda place: comm.library.buffers.part(parts, place, call)


def _apart(comm: Any, call: str, ranks: tuple[Sequence[int], Sequence[int]], out: Any, into: Any
           ) -> None:
    """Refuse buffers that overlap, where all of them is sent and received."""
    if all(ranks) and not any(PROC_NULL in some for some in ranks):
        comm._apart(call, out, into)


def _equal(comm: Any) -> Callable[..., Any]:
    return lambda buffer, ranks, call: comm._parts(buffer, call, ranks)


@called(Call.Neighbor_allgather)
async def allgather(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The buffer to each destination, a part from each source, all alike."""
    await _gather(comm, "Neighbor_allgather", sendbuf, recvbuf, _equal(comm))


@called(Call.Neighbor_allgatherv)
async def allgatherv(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The same with a receive buffer of [array, counts, displacements]."""
    await _gather(comm, "Neighbor_allgatherv", sendbuf, recvbuf, comm.library.buffers.parts)


async def _gather(comm: Any, call: str, sendbuf: Any, recvbuf: Any, divide: Callable[..., Any]
                  ) -> None:
    ranks = neighbours(comm, call)
    comm._enter(call)
    into = _parts(recvbuf, len(ranks[0]), call, divide)
    _apart(comm, call, ranks, sendbuf, into)
    await _exchange(comm, call, ranks, _in(comm, into, call), lambda _: comm._data(sendbuf, call))


@called(Call.Neighbor_alltoall)
async def alltoall(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """A part of the buffer to each destination, one from each source, all alike."""
    await _all(comm, "Neighbor_alltoall", sendbuf, recvbuf, _equal(comm))


@called(Call.Neighbor_alltoallv)
async def alltoallv(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The same with [array, counts, displacements]."""
    await _all(comm, "Neighbor_alltoallv", sendbuf, recvbuf, comm.library.buffers.parts)


@called(Call.Neighbor_alltoallw)
async def alltoallw(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The same with [array, counts, displacements in bytes, datatypes]."""
    await _all(comm, "Neighbor_alltoallw", sendbuf, recvbuf, comm.library.buffers.typed_parts)


async def _all(comm: Any, call: str, sendbuf: Any, recvbuf: Any, divide: Callable[..., Any]
               ) -> None:
    ranks = neighbours(comm, call)
    comm._enter(call)
    into = _parts(recvbuf, len(ranks[0]), call, divide)
    out = _parts(sendbuf, len(ranks[1]), call, divide)
    _apart(comm, call, ranks, out, into)
    await _exchange(comm, call, ranks, _in(comm, into, call), _in(comm, out, call))
