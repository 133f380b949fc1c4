"""Collective calls among neighbours, which wait, or only begin."""

from collections.abc import Callable
from typing import Any

from ..datatypes import Datatype
from ..neighbours import neighbours
from .calls import State
from .memory import Pointer, array, buffer, integers, longs, put_int
from .request import CRequest

__all__ = ["Neighbours"]

Described = Callable[..., tuple[Any, Any]]


# What a call asks of the library. Its communicator is its last argument.

def _equal(address: Pointer, count: int, datatype: Datatype, ranks: int) -> Any:
    call = "a call among neighbours"
    return [buffer(address, count * ranks, datatype, call)[0], count, datatype]


def _parts(address: Pointer, counts: Pointer, places: Pointer, datatype: Datatype, ranks: int
           ) -> Any:
    numbers, displacements = integers(counts, ranks), integers(places, ranks)
    last = max((at + number for at, number in zip(displacements, numbers, strict=True) if number),
               default=0)
    return [buffer(address, last, datatype, "a call among neighbours")[0], numbers, displacements,
            datatype]


def _gather(state: State, sendbuf: Pointer, sendcount: int, sendtype: Datatype, recvbuf: Pointer,
            recvcount: int, recvtype: Datatype, comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_allgather")
    out = buffer(sendbuf, sendcount, sendtype, "Neighbor_allgather") if destinations else None
    return out, _equal(recvbuf, recvcount, recvtype, len(sources))


def _gatherv(state: State, sendbuf: Pointer, sendcount: int, sendtype: Datatype, recvbuf: Pointer,
             recvcounts: Pointer, displs: Pointer, recvtype: Datatype, comm: Any
             ) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_allgatherv")
    out = buffer(sendbuf, sendcount, sendtype, "Neighbor_allgatherv") if destinations else None
    return out, _parts(recvbuf, recvcounts, displs, recvtype, len(sources))


def _all(state: State, sendbuf: Pointer, sendcount: int, sendtype: Datatype, recvbuf: Pointer,
         recvcount: int, recvtype: Datatype, comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_alltoall")
    return (_equal(sendbuf, sendcount, sendtype, len(destinations)),
            _equal(recvbuf, recvcount, recvtype, len(sources)))


def _allv(state: State, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
          sendtype: Datatype, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
          recvtype: Datatype, comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_alltoallv")
    return (_parts(sendbuf, sendcounts, sdispls, sendtype, len(destinations)),
            _parts(recvbuf, recvcounts, rdispls, recvtype, len(sources)))


def _typed(state: State, address: Pointer, counts: Pointer, places: Pointer, types: Pointer,
           ranks: int) -> Any:
    numbers, displacements = integers(counts, ranks), longs(places, ranks)
    datatypes = [state.handles.types[one] for one in integers(types, ranks)]
    last = max((at + begin + length for number, at, datatype
                in zip(numbers, displacements, datatypes, strict=True)
                for begin, length in datatype.pieces(number)), default=0)
    return [array(address, last), numbers, displacements, datatypes]


def _allw(state: State, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
          sendtypes: Pointer, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
          recvtypes: Pointer, comm: Any) -> tuple[Any, Any]:
    sources, destinations = neighbours(comm, "Neighbor_alltoallw")
    return (_typed(state, sendbuf, sendcounts, sdispls, sendtypes, len(destinations)),
            _typed(state, recvbuf, recvcounts, rdispls, recvtypes, len(sources)))


# The methods

def _both(call: str, described: Described) -> tuple[Callable[..., None], Callable[..., None]]:
    def waits(self: "Neighbours", *arguments: Any) -> None:
        asked = described(self.state, *arguments)
        self.state.wait(getattr(arguments[-1], call)(*asked))

    def begins(self: "Neighbours", *arguments: Any) -> None:
        *given, place = arguments
        asked = described(self.state, *given)
        request = self.state.wait(getattr(given[-1], f"I{call.lower()}")(*asked))
        put_int(place, self.state.handles.requests.add(CRequest(request)))

    waits.__annotations__ = begins.__annotations__ = described.__annotations__
    return waits, begins


class Neighbours:
    """Collective calls among neighbours."""

    def __init__(self, state: State) -> None:
        self.state = state

    MPI_Neighbor_allgather, MPI_Ineighbor_allgather = _both("Neighbor_allgather", _gather)
    MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv = _both("Neighbor_allgatherv", _gatherv)
    MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall = _both("Neighbor_alltoall", _all)
    MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv = _both("Neighbor_alltoallv", _allv)
    MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw = _both("Neighbor_alltoallw", _allw)
