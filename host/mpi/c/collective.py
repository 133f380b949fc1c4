"""Calls of all ranks of a communicator, which wait, or only begin."""

from typing import Any

from ..collective.collectives import IN_PLACE
from ..data.operators import Op
from .arguments import Arguments
from .calls import State
from .memory import Pointer, integers
from .ways import both

__all__ = ["Collective"]


# What a call asks of the library. Its communicator is its last argument. Datatypes are numbers, as
# they may not count.

def _barrier(_: Arguments, comm: Any) -> tuple[Any, ...]:
    return ()


def _bcast(given: Arguments, buffer: Pointer, count: int, datatype: int, root: int, comm: Any
           ) -> tuple[Any, ...]:
    counts = comm.takes_part(root) or comm.is_root(root)
    return given.plain(buffer, count, datatype, "Bcast") if counts else None, root


def _mine(given: Arguments, address: Pointer, count: int, datatype: int, call: str, comm: Any,
          root: int) -> Any:
    """This rank's part; None where it does not count."""
    return given.own(address, count, datatype, call) if comm.takes_part(root) else None


def _gather(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
            recvcount: int, recvtype: int, root: int, comm: Any) -> tuple[Any, ...]:
    into = given.typed(recvbuf, recvcount, recvtype, "Gather") if comm.is_root(root) else None
    return _mine(given, sendbuf, sendcount, sendtype, "Gather", comm, root), into, root


def _gatherv(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
             recvcounts: Pointer, displs: Pointer, recvtype: int, root: int, comm: Any
             ) -> tuple[Any, ...]:
    into = None
    if comm.is_root(root):
        into = given.parts(recvbuf, recvcounts, displs, recvtype, comm.reach)
    return _mine(given, sendbuf, sendcount, sendtype, "Gatherv", comm, root), into, root


def _scatter(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
             recvcount: int, recvtype: int, root: int, comm: Any) -> tuple[Any, ...]:
    out = given.typed(sendbuf, sendcount, sendtype, "Scatter") if comm.is_root(root) else None
    return out, _mine(given, recvbuf, recvcount, recvtype, "Scatter", comm, root), root


def _scatterv(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, displs: Pointer,
              sendtype: int, recvbuf: Pointer, recvcount: int, recvtype: int, root: int, comm: Any
              ) -> tuple[Any, ...]:
    out = None
    if comm.is_root(root):
        out = given.parts(sendbuf, sendcounts, displs, sendtype, comm.reach)
    return out, _mine(given, recvbuf, recvcount, recvtype, "Scatterv", comm, root), root


def _allgather(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int,
               recvbuf: Pointer, recvcount: int, recvtype: int, comm: Any) -> tuple[Any, ...]:
    return (given.own(sendbuf, sendcount, sendtype, "Allgather"),
            given.typed(recvbuf, recvcount, recvtype, "Allgather"))


def _allgatherv(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int,
                recvbuf: Pointer, recvcounts: Pointer, displs: Pointer, recvtype: int, comm: Any
                ) -> tuple[Any, ...]:
    return (given.own(sendbuf, sendcount, sendtype, "Allgatherv"),
            given.parts(recvbuf, recvcounts, displs, recvtype, comm.reach))


def _alltoall(given: Arguments, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
              recvcount: int, recvtype: int, comm: Any) -> tuple[Any, ...]:
    return (given.typed(sendbuf, sendcount, sendtype, "Alltoall", in_place=True),
            given.typed(recvbuf, recvcount, recvtype, "Alltoall"))


def _alltoallv(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
               sendtype: int, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
               recvtype: int, comm: Any) -> tuple[Any, ...]:
    return (given.parts(sendbuf, sendcounts, sdispls, sendtype, comm.reach),
            given.parts(recvbuf, recvcounts, rdispls, recvtype, comm.reach))


def _alltoallw(given: Arguments, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
               sendtypes: Pointer, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
               recvtypes: Pointer, comm: Any) -> tuple[Any, ...]:
    return (given.each(sendbuf, sendcounts, sdispls, sendtypes, comm.reach),
            given.each(recvbuf, recvcounts, rdispls, recvtypes, comm.reach))


def _reduce(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: int,
            op: Op, root: int, comm: Any) -> tuple[Any, ...]:
    into = given.typed(recvbuf, count, datatype, "Reduce") if comm.is_root(root) else None
    out = None
    if comm.takes_part(root):
        out = given.typed(sendbuf, count, datatype, "Reduce", in_place=comm.is_root(root))
    return out, into, op, root


def _reduce_all(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: int,
                op: Op, comm: Any) -> tuple[Any, ...]:
    return (given.typed(sendbuf, count, datatype, "Allreduce", in_place=True),
            given.typed(recvbuf, count, datatype, "Allreduce"), op)


def _reduce_scatter(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, recvcounts: Pointer,
                    datatype: int, op: Op, comm: Any) -> tuple[Any, ...]:
    return _divided(given, sendbuf, recvbuf, integers(recvcounts, comm.size), datatype, op, comm)


def _reduce_scatter_block(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, recvcount: int,
                          datatype: int, op: Op, comm: Any) -> tuple[Any, ...]:
    return _divided(given, sendbuf, recvbuf, [recvcount] * comm.size, datatype, op, comm)


def _divided(given: Arguments, sendbuf: Pointer, recvbuf: Pointer, counts: list[int],
             datatype: int, op: Op, comm: Any) -> tuple[Any, ...]:
    out = given.typed(sendbuf, sum(counts), datatype, "Reduce_scatter", in_place=True)
    if out is IN_PLACE:
        into = given.typed(recvbuf, sum(counts), datatype, "Reduce_scatter")
    else:
        into = given.plain(recvbuf, counts[comm.rank], datatype, "Reduce_scatter")
    return out, into, counts, op


class Collective:
    """Collective calls."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.arguments = Arguments(state.handles)

    MPI_Barrier, MPI_Ibarrier = both("Barrier", _barrier)
    MPI_Bcast, MPI_Ibcast = both("Bcast", _bcast)
    MPI_Gather, MPI_Igather = both("Gather", _gather)
    MPI_Gatherv, MPI_Igatherv = both("Gatherv", _gatherv)
    MPI_Scatter, MPI_Iscatter = both("Scatter", _scatter)
    MPI_Scatterv, MPI_Iscatterv = both("Scatterv", _scatterv)
    MPI_Allgather, MPI_Iallgather = both("Allgather", _allgather)
    MPI_Allgatherv, MPI_Iallgatherv = both("Allgatherv", _allgatherv)
    MPI_Alltoall, MPI_Ialltoall = both("Alltoall", _alltoall)
    MPI_Alltoallv, MPI_Ialltoallv = both("Alltoallv", _alltoallv)
    MPI_Alltoallw, MPI_Ialltoallw = both("Alltoallw", _alltoallw)
    MPI_Reduce, MPI_Ireduce = both("Reduce", _reduce)
    MPI_Allreduce, MPI_Iallreduce = both("Allreduce", _reduce_all)
    MPI_Scan, MPI_Iscan = both("Scan", _reduce_all)
    MPI_Exscan, MPI_Iexscan = both("Exscan", _reduce_all)
    MPI_Reduce_scatter, MPI_Ireduce_scatter = both("Reduce_scatter", _reduce_scatter)
    MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block = both("Reduce_scatter",
                                                               _reduce_scatter_block)
