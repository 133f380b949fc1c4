"""Collective calls among neighbours, which wait, or only begin."""

from typing import Any

from ..collective.neighbours import neighbours
from .arguments import Arguments
from .calls import State
from .memory import Pointer, longs
from .ways import both

__all__ = ["Neighbours"]


# What a call asks of the library. Its communicator is its last argument. Datatypes are numbers, as
# they may not count.

def _gather(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
            recvcount: int, recvtype: int, comm: Any) -> tuple[Any, Any]:
    _, destinations = neighbours(comm, "Neighbor_allgather")
    out = given.plain(sendbuf, sendcount, sendtype, "Neighbor_allgather") if destinations else None
    return out, given.typed(recvbuf, recvcount, recvtype, "Neighbor_allgather")


def _gatherv(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
             recvcounts: Pointer, displs: Pointer, recvtype: int, comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_allgatherv")
    out = given.plain(sendbuf, sendcount, sendtype, "Neighbor_allgatherv") if destinations else None
    return out, given.parts(recvbuf, recvcounts, displs, recvtype, len(sources))


def _all(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
         recvcount: int, recvtype: int, comm: Any) -> tuple[Any, Any]:
    return (given.typed(sendbuf, sendcount, sendtype, "Neighbor_alltoall"),
            given.typed(recvbuf, recvcount, recvtype, "Neighbor_alltoall"))


def _allv(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
          sendtype: int, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer, recvtype: int,
          comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_alltoallv")
    return (given.parts(sendbuf, sendcounts, sdispls, sendtype, len(destinations)),
            given.parts(recvbuf, recvcounts, rdispls, recvtype, len(sources)))


def _allw(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
          sendtypes: Pointer, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
          recvtypes: Pointer, comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_alltoallw")
    return (given.each(sendbuf, sendcounts, sdispls, sendtypes, len(destinations), longs),
            given.each(recvbuf, recvcounts, rdispls, recvtypes, len(sources), longs))


class Neighbours:
    """Collective calls among neighbours."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.arguments = Arguments(state.handles)

    MPI_Neighbor_allgather, MPI_Ineighbor_allgather = both("Neighbor_allgather", _gather)
    MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv = both("Neighbor_allgatherv", _gatherv)
    MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall = both("Neighbor_alltoall", _all)
    MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv = both("Neighbor_alltoallv", _allv)
    MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw = both("Neighbor_alltoallw", _allw)
