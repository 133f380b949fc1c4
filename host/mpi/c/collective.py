"""Calls of all ranks of a communicator."""

import ctypes
from typing import Any

from ..collectives import IN_PLACE
from ..datatypes import Datatype
from ..operators import Op
from ..sync import RankError
from .calls import State
from .handles import value
from .memory import Pointer, buffer, integers, put_int

__all__ = ["Collective"]

IN_PLACE_AT = value("IN_PLACE")


class Collective:
    """Collective calls, and operations of the program's own."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._wait = state.wait
        self._handles = state.handles

    @staticmethod
    def _out(sendbuf: Pointer, count: int, datatype: Datatype, call: str) -> Any:
        """A send buffer; the data may be in the receive buffer instead."""
        if sendbuf == IN_PLACE_AT:
            return IN_PLACE
        return buffer(sendbuf, count, datatype, call)

    @staticmethod
    def _equal(address: Pointer, count: int, datatype: Datatype, ranks: int, call: str) -> Any:
        """A buffer of as many elements for each rank."""
        return [buffer(address, count * ranks, datatype, call)[0], count, datatype]

    @staticmethod
    def _parts(address: Pointer, counts: Pointer, displacements: Pointer, datatype: Datatype,
               ranks: int, call: str) -> Any:
        """A buffer with so many elements for each rank, at such displacements."""
        numbers, places = integers(counts, ranks), integers(displacements, ranks)
        last = max((at + number for at, number in zip(places, numbers, strict=True) if number),
                   default=0)
        return [buffer(address, last, datatype, call)[0], numbers, places, datatype]

    def MPI_Barrier(self, comm: Any) -> None:
        self._wait(comm.Barrier())

    def MPI_Bcast(self, place: Pointer, count: int, datatype: Datatype, root: int, comm: Any
                  ) -> None:
        counts = comm.takes_part(root) or comm.is_root(root)
        self._wait(comm.Bcast(buffer(place, count, datatype, "Bcast") if counts else None, root))

    def MPI_Gather(self, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
                   recvcount: int, recvtype: int, root: int, comm: Any) -> None:
        into = None
        if comm.is_root(root):
            into = self._equal(recvbuf, recvcount, self._handles.types[recvtype], comm.reach,
                               "Gather")
        own = self._part(comm, root, sendbuf, sendcount, sendtype, "Gather")
        self._wait(comm.Gather(own, into, root))

    def MPI_Gatherv(self, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
                    recvcounts: Pointer, displs: Pointer, recvtype: int, root: int, comm: Any
                    ) -> None:
        into = None
        if comm.is_root(root):
            into = self._parts(recvbuf, recvcounts, displs, self._handles.types[recvtype],
                               comm.reach, "Gatherv")
        own = self._part(comm, root, sendbuf, sendcount, sendtype, "Gatherv")
        self._wait(comm.Gatherv(own, into, root))

    def MPI_Scatter(self, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
                    recvcount: int, recvtype: int, root: int, comm: Any) -> None:
        out = None
        if comm.is_root(root):
            out = self._equal(sendbuf, sendcount, self._handles.types[sendtype], comm.reach,
                              "Scatter")
        own = self._part(comm, root, recvbuf, recvcount, recvtype, "Scatter")
        self._wait(comm.Scatter(out, own, root))

    def MPI_Scatterv(self, sendbuf: Pointer, sendcounts: Pointer, displs: Pointer, sendtype: int,
                     recvbuf: Pointer, recvcount: int, recvtype: int, root: int, comm: Any
                     ) -> None:
        out = None
        if comm.is_root(root):
            out = self._parts(sendbuf, sendcounts, displs, self._handles.types[sendtype],
                              comm.reach, "Scatterv")
        own = self._part(comm, root, recvbuf, recvcount, recvtype, "Scatterv")
        self._wait(comm.Scatterv(out, own, root))

    def _part(self, comm: Any, root: int, address: Pointer, count: int, datatype: int, call: str
              ) -> Any:
        """The same, in a call with a root; None where it does not count."""
        return self._own(address, count, datatype, call) if comm.takes_part(root) else None

    def _own(self, address: Pointer, count: int, datatype: int, call: str) -> Any:
        """A buffer of this rank's part, whose datatype counts only where there is one."""
        if address == IN_PLACE_AT:
            return IN_PLACE
        return buffer(address, count, self._handles.types[datatype], call)

    def MPI_Allgather(self, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
                      recvcount: int, recvtype: Datatype, comm: Any) -> None:
        self._wait(comm.Allgather(
            self._own(sendbuf, sendcount, sendtype, "Allgather"),
            self._equal(recvbuf, recvcount, recvtype, comm.reach, "Allgather")))

    def MPI_Allgatherv(self, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
                       recvcounts: Pointer, displs: Pointer, recvtype: Datatype, comm: Any
                       ) -> None:
        self._wait(comm.Allgatherv(
            self._own(sendbuf, sendcount, sendtype, "Allgatherv"),
            self._parts(recvbuf, recvcounts, displs, recvtype, comm.reach, "Allgatherv")))

    def MPI_Alltoall(self, sendbuf: Pointer, sendcount: int, sendtype: int, recvbuf: Pointer,
                     recvcount: int, recvtype: Datatype, comm: Any) -> None:
        out: Any = IN_PLACE
        if sendbuf != IN_PLACE_AT:
            out = self._equal(sendbuf, sendcount, self._handles.types[sendtype], comm.reach,
                              "Alltoall")
        self._wait(comm.Alltoall(out, self._equal(recvbuf, recvcount, recvtype, comm.reach,
                                                  "Alltoall")))

    def MPI_Alltoallv(self, sendbuf: Pointer, sendcounts: Pointer, sdispls: Pointer,
                      sendtype: Datatype, recvbuf: Pointer, recvcounts: Pointer, rdispls: Pointer,
                      recvtype: Datatype, comm: Any) -> None:
        self._wait(comm.Alltoallv(
            self._parts(sendbuf, sendcounts, sdispls, sendtype, comm.reach, "Alltoallv"),
            self._parts(recvbuf, recvcounts, rdispls, recvtype, comm.reach, "Alltoallv")))

    def MPI_Reduce(self, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: Datatype,
                   op: Op, root: int, comm: Any) -> None:
        into = None
        if comm.is_root(root):
            into = buffer(recvbuf, count, datatype, "Reduce")
        out = (self._out(sendbuf, count, datatype, "Reduce") if comm.takes_part(root) else None)
        self._wait(comm.Reduce(out, into, op, root))

    def MPI_Allreduce(self, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: Datatype,
                      op: Op, comm: Any) -> None:
        self._wait(comm.Allreduce(self._out(sendbuf, count, datatype, "Allreduce"),
                                  buffer(recvbuf, count, datatype, "Allreduce"), op))

    def MPI_Scan(self, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: Datatype, op: Op,
                 comm: Any) -> None:
        self._wait(comm.Scan(self._out(sendbuf, count, datatype, "Scan"),
                             buffer(recvbuf, count, datatype, "Scan"), op))

    def MPI_Exscan(self, sendbuf: Pointer, recvbuf: Pointer, count: int, datatype: Datatype,
                   op: Op, comm: Any) -> None:
        self._wait(comm.Exscan(self._out(sendbuf, count, datatype, "Exscan"),
                               buffer(recvbuf, count, datatype, "Exscan"), op))

    def MPI_Reduce_scatter(self, sendbuf: Pointer, recvbuf: Pointer, recvcounts: Pointer,
                           datatype: Datatype, op: Op, comm: Any) -> None:
        self._reduce_scatter(sendbuf, recvbuf, integers(recvcounts, comm.size), datatype, op, comm)

    def MPI_Reduce_scatter_block(self, sendbuf: Pointer, recvbuf: Pointer, recvcount: int,
                                 datatype: Datatype, op: Op, comm: Any) -> None:
        self._reduce_scatter(sendbuf, recvbuf, [recvcount] * comm.size, datatype, op, comm)

    def _reduce_scatter(self, sendbuf: Pointer, recvbuf: Pointer, counts: list[int],
                        datatype: Datatype, op: Op, comm: Any) -> None:
        into = buffer(recvbuf, counts[comm.rank], datatype, "Reduce_scatter")
        out: Any = buffer(recvbuf if sendbuf == IN_PLACE_AT else sendbuf, sum(counts), datatype,
                          "Reduce_scatter")
        self._wait(comm.Reduce_scatter(out, into, counts, op))

    # Operations

    def MPI_Op_create(self, function: Pointer, commute: int, op: Pointer) -> None:
        library, rank = self._state.library, self._state.rank

        def combine(lower: Any, higher: Any) -> Any:
            own, result = lower.copy(), higher.copy()
            count = ctypes.c_int(lower.size)
            kind = ctypes.c_int(self._handles.type_of(lower.dtype))
            if not library.nicbed_operate(ctypes.c_void_p(function), own.ctypes, result.ctypes,
                                          ctypes.byref(count), ctypes.byref(kind)):
                raise RankError(f"rank {rank.number} ended with exit status "
                                f"{library.nicbed_status()}")
            return result

        put_int(op, self._handles.ops.add(Op("of the program", combine, bool(commute))))

    def MPI_Op_free(self, op: Pointer) -> None:
        self._handles.ops.remove(integers(op, 1)[0])
        put_int(op, value("OP_NULL"))
