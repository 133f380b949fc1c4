"""Calls of all ranks of a communicator, which wait, or only begin."""

from collections.abc import Callable
from typing import Any

from ..operators import Op
from .arguments import Arguments
from .calls import State
from .memory import Pointer, integers, put_int
from .request import CRequest

__all__ = ["Collective"]

Described = Callable[..., tuple[Any, ...]]


# What a call asks of the library. Its communicator is its last argument. Datatypes are numbers, as
# they may not count.

def _barrier(_: Arguments, comm: Any) -> tuple[Any, ...]:
    return ()


def _bcast(given: Arguments, buffer: Pointer, count: int, datatype: int, root: int, comm: Any
           ) -> tuple[Any, ...]:
    return given.plain(buffer, count, datatype, "Bcast"), root


def _gather(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
            recvcount: int, recvtype: int, root: int, comm: Any) -> tuple[Any, ...]:
    into = given.typed(recvbuf, recvcount, recvtype, "Gather") if comm.rank == root else None
    return given.own(sendbuf, sendcount, sendtype, "Gather"), into, root


def _gatherv(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
             recvcounts: Pointer, displs: Pointer, recvtype: int, root: int, comm: Any
             ) -> tuple[Any, ...]:
    into = None
    if comm.rank == root:
        into = given.parts(recvbuf, recvcounts, displs, recvtype, comm.size)
    return given.own(sendbuf, sendcount, sendtype, "Gatherv"), into, root


def _scatter(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
             recvcount: int, recvtype: int, root: int, comm: Any) -> tuple[Any, ...]:
    out = given.typed(sendbuf, sendcount, sendtype, "Scatter") if comm.rank == root else None
    return out, given.own(recvbuf, recvcount, recvtype, "Scatter"), root


def _scatterv(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, displs: Pointer,
              sendtype: int, recvbuf: Pointer, recvcount: int, recvtype: int, root: int, comm: Any
              ) -> tuple[Any, ...]:
    out = None
    if comm.rank == root:
        out = given.parts(sendbuf, sendcounts, displs, sendtype, comm.size)
    return out, given.own(recvbuf, recvcount, recvtype, "Scatterv"), root


def _allgather(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int,
               recvbuf: Pointer, recvcount: int, recvtype: int, comm: Any) -> tuple[Any, ...]:
    return (given.own(sendbuf, sendcount, sendtype, "Allgather"),
            given.typed(recvbuf, recvcount, recvtype, "Allgather"))


def _allgatherv(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int,
                recvbuf: Pointer, recvcounts: Pointer, displs: Pointer, recvtype: int, comm: Any
                ) -> tuple[Any, ...]:
    return (given.own(sendbuf, sendcount, sendtype, "Allgatherv"),
            given.parts(recvbuf, recvcounts, displs, recvtype, comm.size))


def _alltoall(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
              recvcount: int, recvtype: int, comm: Any) -> tuple[Any, ...]:
    return (given.typed(sendbuf, sendcount, sendtype, "Alltoall"),
            given.typed(recvbuf, recvcount, recvtype, "Alltoall"))


def _alltoallv(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
               sendtype: int, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
               recvtype: int, comm: Any) -> tuple[Any, ...]:
    return (given.parts(sendbuf, sendcounts, sdispls, sendtype, comm.size),
            given.parts(recvbuf, recvcounts, rdispls, recvtype, comm.size))


def _alltoallw(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
               sendtypes: Pointer, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
               recvtypes: Pointer, comm: Any) -> tuple[Any, ...]:
    return (given.each(sendbuf, sendcounts, sdispls, sendtypes, comm.size),
            given.each(recvbuf, recvcounts, rdispls, recvtypes, comm.size))


def _reduce(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: int,
            op: Op, root: int, comm: Any) -> tuple[Any, ...]:
    into = given.typed(recvbuf, count, datatype, "Reduce") if comm.rank == root else None
    return given.typed(sendbuf, count, datatype, "Reduce"), into, op, root


def _reduce_all(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: int,
                op: Op, comm: Any) -> tuple[Any, ...]:
    return (given.typed(sendbuf, count, datatype, "Allreduce"),
            given.typed(recvbuf, count, datatype, "Allreduce"), op)


def _reduce_scatter(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, recvcounts: Pointer,
                    datatype: int, op: Op, comm: Any) -> tuple[Any, ...]:
    return _divided(given, sendbuf, recvbuf, integers(recvcounts, comm.size), datatype, op, comm)


def _reduce_scatter_block(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, recvcount: int,
                          datatype: int, op: Op, comm: Any) -> tuple[Any, ...]:
    return _divided(given, sendbuf, recvbuf, [recvcount] * comm.size, datatype, op, comm)


def _divided(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, counts: list[int],
             datatype: int, op: Op, comm: Any) -> tuple[Any, ...]:
    into = given.plain(recvbuf, counts[comm.rank], datatype, "Reduce_scatter")
    whole = sum(counts)
    out = given.typed(sendbuf, whole, datatype, "Reduce_scatter")
    if not isinstance(out, list):
        out = given.typed(recvbuf, whole, datatype, "Reduce_scatter")
    return out, into, counts, op


# The methods

def _waits(call: str, described: Described) -> Callable[..., None]:
    def method(self: "Collective", *arguments: Any) -> None:
        asked = described(self.arguments, *arguments)
        self.state.wait(getattr(arguments[-1], call)(*asked))
    method.__annotations__ = described.__annotations__
    return method


def _begins(call: str, described: Described) -> Callable[..., None]:
    def method(self: "Collective", *arguments: Any) -> None:
        *given, place = arguments
        asked = described(self.arguments, *given)
        request = self.state.wait(getattr(given[-1], f"I{call.lower()}")(*asked))
        put_int(place, self.state.handles.requests.add(CRequest(request)))
    method.__annotations__ = described.__annotations__
    return method


def _both(call: str, described: Described) -> tuple[Callable[..., None], Callable[..., None]]:
    return _waits(call, described), _begins(call, described)


class Collective:
    """Collective calls."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.arguments = Arguments(state.handles)

    MPI_Barrier, MPI_Ibarrier = _both("Barrier", _barrier)
    MPI_Bcast, MPI_Ibcast = _both("Bcast", _bcast)
    MPI_Gather, MPI_Igather = _both("Gather", _gather)
    MPI_Gatherv, MPI_Igatherv = _both("Gatherv", _gatherv)
    MPI_Scatter, MPI_Iscatter = _both("Scatter", _scatter)
    MPI_Scatterv, MPI_Iscatterv = _both("Scatterv", _scatterv)
    MPI_Allgather, MPI_Iallgather = _both("Allgather", _allgather)
    MPI_Allgatherv, MPI_Iallgatherv = _both("Allgatherv", _allgatherv)
    MPI_Alltoall, MPI_Ialltoall = _both("Alltoall", _alltoall)
    MPI_Alltoallv, MPI_Ialltoallv = _both("Alltoallv", _alltoallv)
    MPI_Alltoallw, MPI_Ialltoallw = _both("Alltoallw", _alltoallw)
    MPI_Reduce, MPI_Ireduce = _both("Reduce", _reduce)
    MPI_Allreduce, MPI_Iallreduce = _both("Allreduce", _reduce_all)
    MPI_Scan, MPI_Iscan = _both("Scan", _reduce_all)
    MPI_Exscan, MPI_Iexscan = _both("Exscan", _reduce_all)
    MPI_Reduce_scatter, MPI_Ireduce_scatter = _both("Reduce_scatter", _reduce_scatter)
    MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block = _both("Reduce_scatter",
                                                                _reduce_scatter_block)
