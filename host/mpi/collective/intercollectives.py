"""Collective calls between two groups.

A root is in one group: there it says ROOT, and the others PROC_NULL; in the other group all say its
rank. In calls without a root each group gets what the other one gives.

- Barrier, Allreduce, Reduce_scatter: within each group to its leader, an exchange of the leaders,
  and within each group from its leader.
- Bcast: to the other group's leader, and there by the tree. Reduce: the other way.
- Gather, Scatter and their v forms: the root receives from, or sends to, one after the other.
- Allgather, Alltoall and their v and w forms: an exchange with one process of the other group after
  the other.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..calls import Call, called
from ..communicators.intercommunicators import ACROSS
from ..constants import PROC_NULL, ROOT
from ..data.buffers import Data
from ..data.operands import Operand
from ..data.operators import SUM, Op
from ..errors import ErrorClass, MpiError
from .collectives import IN_PLACE, divided

__all__ = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "allreduce", "barrier",
           "bcast", "gather", "gatherv", "reduce", "reduce_scatter", "scan", "scatter", "scatterv"]


def _enter(comm: Any, call: str, *buffers: Any, root: int | None = None) -> None:
    library = comm.library
    library.port.spend(library.prices.collective)
    if root is not None and root not in (ROOT, PROC_NULL) and not 0 <= root < comm.reach:
        raise MpiError(ErrorClass.ERR_ROOT, f"rank {comm.rank}: {call}: there is no root {root} in "
                       f"the other group of {comm.name}, which has 0 to {comm.reach - 1}")
    if any(one is IN_PLACE for one in buffers):
        raise MpiError(ErrorClass.ERR_BUFFER, f"rank {comm.rank}: {call}: MPI_IN_PLACE, and "
                       f"{comm.name} has two groups")


async def _meet(comm: Any, call: str, out: Any = None, into: Any = None) -> None:
    """The leaders exchange messages."""
    await comm._exchange(call, comm._data(out, call), 0, comm._data(into, call), 0, ACROSS)


async def _reduced(comm: Any, call: str, values: Operand, op: Op) -> None:
    """``values``, which have a place, become the group's result at its leader."""
    comm.within._enter(call, 0)
    await comm.within._reduced(call, values, op, 0)


@called(Call.Barrier)
async def barrier(comm: Any) -> None:
    """Wait until all of the other group have called it."""
    _enter(comm, "Barrier")
    await comm.within.Barrier()
    if comm.rank == 0:
        await _meet(comm, "Barrier")
    await comm.within.Barrier()


@called(Call.Bcast)
async def bcast(comm: Any, buf: Any, root: int = 0) -> None:
    """``buf`` of the root to the other group."""
    _enter(comm, "Bcast", root=root)
    if root == ROOT:
        await comm._send("Bcast", comm._data(buf, "Bcast"), 0, ACROSS)
    elif root != PROC_NULL:
        if comm.rank == 0:
            await comm._recv("Bcast", comm._data(buf, "Bcast"), root, ACROSS)
        await comm.within.Bcast(buf, 0)


@called(Call.Reduce)
async def reduce(comm: Any, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> None:
    """``op`` over the other group, element by element, to the root."""
    _enter(comm, "Reduce", sendbuf, root=root)
    if root == ROOT:
        await comm._recv("Reduce", comm._data(recvbuf, "Reduce"), 0, ACROSS)
    elif root != PROC_NULL:
        values = comm._values(sendbuf, "Reduce", op)
        with comm._placed(values):
            await _reduced(comm, "Reduce", values, op)
            if comm.rank == 0:
                await comm._send("Reduce", comm._held(values, "Reduce"), root, ACROSS)


@called(Call.Allreduce)
async def allreduce(comm: Any, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
    """``op`` over each group, to all of the other one."""
    _enter(comm, "Allreduce", sendbuf)
    values = comm._values(sendbuf, "Allreduce", op)
    with comm._placed(values):
        await _reduced(comm, "Allreduce", values, op)
        if comm.rank == 0:
            await comm._exchange("Allreduce", comm._held(values, "Allreduce"), 0,
                                 comm._data(recvbuf, "Allreduce"), 0, ACROSS)
    await comm.within.Bcast(recvbuf, 0)


@called(Call.Reduce_scatter)
async def reduce_scatter(comm: Any, sendbuf: Any, recvbuf: Any,
                         recvcounts: Sequence[int] | None = None, op: Op = SUM) -> None:
    """``op`` over each group; the other one's processes get its parts, ``recvcounts[rank]``
    elements, as many together in one group as in the other."""
    call = "Reduce_scatter"
    _enter(comm, call, sendbuf)
    if recvcounts is None:
        mine = np.array([comm._values(recvbuf, call, op).count], np.int64)
        every = np.zeros(comm.size, np.int64)
        await comm.within.Allgather(mine, every)
        recvcounts = every.tolist()
    values, into = comm._values(sendbuf, call, op), comm.library.buffers.dense(recvbuf, call)
    with comm._placed(values, others := values.empty_like()):
        await _reduced(comm, call, values, op)
        if comm.rank == 0:
            await comm._exchange(call, comm._held(values, call), 0, comm._held(others, call), 0,
                                 ACROSS)
        await comm.within.Scatterv(divided(others, recvcounts) if comm.rank == 0 else None, into, 0)


async def scan(comm: Any, *_: Any) -> None:
    """There is no order of the processes of two groups."""
    raise MpiError(ErrorClass.ERR_COMM, f"rank {comm.rank}: Scan and Exscan: {comm.name} has two "
                   "groups")


# Exchanges

async def _all(comm: Any, call: str, out: Callable[[int], Data], into: Callable[[int], Data]
               ) -> None:
    """What is ``out`` for each process of the other group, and ``into`` from each."""
    steps = max(comm.size, comm.reach)
    for step in range(steps):
        to, source = (comm.rank + step) % steps, (comm.rank - step) % steps
        requests = []
        if source < comm.reach:
            requests.append(await comm._irecv(call, into(source), source, ACROSS))
        if to < comm.reach:
            requests.append(await comm._isend(call, out(to), to, ACROSS))
        for request in requests:
            await comm._until(request)


def _in(comm: Any, parts: Any, call: str) -> Callable[[int], Data]:
    return lambda rank: comm.library.buffers.part(parts, rank, call)


@called(Call.Allgather)
async def allgather(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """Each process's buffer to all of the other group, in the order of the ranks."""
    call = "Allgather"
    _enter(comm, call, sendbuf)
    await _all(comm, call, lambda _: comm._data(sendbuf, call),
               _in(comm, comm._parts(recvbuf, call, comm.reach), call))


@called(Call.Allgatherv)
async def allgatherv(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The same with a receive buffer of [array, counts, displacements]."""
    call = "Allgatherv"
    _enter(comm, call, sendbuf)
    await _all(comm, call, lambda _: comm._data(sendbuf, call),
               _in(comm, comm.library.buffers.parts(recvbuf, comm.reach, call), call))


@called(Call.Alltoall)
async def alltoall(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """A part of each buffer to and from each process of the other group, all alike."""
    call = "Alltoall"
    _enter(comm, call, sendbuf)
    await _all(comm, call, _in(comm, comm._parts(sendbuf, call, comm.reach), call),
               _in(comm, comm._parts(recvbuf, call, comm.reach), call))


@called(Call.Alltoallv)
async def alltoallv(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The same with [array, counts, displacements]."""
    call, parts = "Alltoallv", comm.library.buffers.parts
    _enter(comm, call, sendbuf)
    await _all(comm, call, _in(comm, parts(sendbuf, comm.reach, call), call),
               _in(comm, parts(recvbuf, comm.reach, call), call))


@called(Call.Alltoallw)
async def alltoallw(comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    """The same with [array, counts, displacements in bytes, datatypes]."""
    call, parts = "Alltoallw", comm.library.buffers.typed_parts
    _enter(comm, call, sendbuf)
    await _all(comm, call, _in(comm, parts(sendbuf, comm.reach, call), call),
               _in(comm, parts(recvbuf, comm.reach, call), call))


# To and from a root

@called(Call.Gather)
async def gather(comm: Any, sendbuf: Any, recvbuf: Any = None, root: int = 0) -> None:
    """Each buffer of the other group to the root."""
    await _gather(comm, "Gather", sendbuf, recvbuf, root,
                  lambda buffer, ranks, call: comm._parts(buffer, call, ranks))


@called(Call.Gatherv)
async def gatherv(comm: Any, sendbuf: Any, recvbuf: Any = None, root: int = 0) -> None:
    """The same with [array, counts, displacements] at the root."""
    await _gather(comm, "Gatherv", sendbuf, recvbuf, root, comm.library.buffers.parts)


async def _gather(comm: Any, call: str, sendbuf: Any, recvbuf: Any, root: int,
                  divide: Callable[..., Any]) -> None:
    _enter(comm, call, sendbuf, root=root)
    if root == ROOT:
        into = _in(comm, divide(recvbuf, comm.reach, call), call)
        requests = [await comm._irecv(call, into(rank), rank, ACROSS)
                    for rank in range(comm.reach)]
        for request in requests:
            await comm._until(request)
    elif root != PROC_NULL:
        await comm._send(call, comm._data(sendbuf, call), root, ACROSS)


@called(Call.Scatter)
async def scatter(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    """A part of the root's buffer to each process of the other group."""
    await _scatter(comm, "Scatter", sendbuf, recvbuf, root,
                   lambda buffer, ranks, call: comm._parts(buffer, call, ranks))


@called(Call.Scatterv)
async def scatterv(comm: Any, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
    """The same with [array, counts, displacements] at the root."""
    await _scatter(comm, "Scatterv", sendbuf, recvbuf, root, comm.library.buffers.parts)


async def _scatter(comm: Any, call: str, sendbuf: Any, recvbuf: Any, root: int,
                   divide: Callable[..., Any]) -> None:
    _enter(comm, call, recvbuf, root=root)
    if root == ROOT:
        out = _in(comm, divide(sendbuf, comm.reach, call), call)
        requests = [await comm._isend(call, out(rank), rank, ACROSS)
                    for rank in range(comm.reach)]
        for request in requests:
            await comm._until(request)
    elif root != PROC_NULL:
        await comm._recv(call, comm._data(recvbuf, call), root, ACROSS)
