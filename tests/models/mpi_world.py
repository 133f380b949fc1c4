"""MPI without a target: ranks are coroutines of one Python process, and messages take no time. It
has the calls that the NAS kernels make, and counts messages as the library's algorithms send
them."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import coroutine
from typing import Any

import numpy as np
from nicbed.host.mpi import SUM
from nicbed.host.mpi.calls import Call, Sent
from nicbed.host.port.costs import Costs
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Mark

__all__ = ["Comm", "Mpi", "Request", "Stuck", "World"]


class Stuck(Exception):
    """No rank can go on."""


@coroutine
def _later():
    yield


class Request:
    """A receive that was posted, or a send, which has ended at once."""

    def __init__(self, comm: Any = None, buffer: Any = None, key: Any = None) -> None:
        self._comm, self._buffer, self._key = comm, buffer, key

    async def Wait(self) -> None:
        if self._comm is not None:
            await self._comm.take(self._buffer, self._key)
            self._comm = None

    @staticmethod
    async def Waitall(requests: Sequence["Request"]) -> None:
        for request in requests:
            await request.Wait()


class Comm:
    """All ranks."""

    def __init__(self, world: "World", rank: int, mpi: Any) -> None:
        self._world, self._mpi = world, mpi
        self.rank, self.size = rank, world.size
        self._turn = 0

    # Messages

    def _send(self, call: Call, buffer: Any, rank: int, tag: int) -> None:
        data = np.asarray(buffer)
        assert data.flags.c_contiguous
        self._mpi.calls.sent[Sent(call, rank, data.nbytes)] += 1
        self._world.queues[self.rank, rank, tag].append(data.reshape(-1).copy())
        self._world.moved = True

    async def take(self, buffer: Any, key: Any) -> None:
        while not self._world.queues[key]:
            await _later()
        self._world.moved = True
        data = self._world.queues[key].popleft()
        assert buffer.flags.c_contiguous and data.dtype == buffer.dtype
        buffer.reshape(-1)[:len(data)] = data

    async def Send(self, buffer: Any, dest: int, tag: int = 0) -> None:
        self._send(Call.Send, buffer, dest, tag)

    async def Isend(self, buffer: Any, dest: int, tag: int = 0) -> Request:
        self._send(Call.Isend, buffer, dest, tag)
        return Request()

    async def Irecv(self, buffer: Any, source: int, tag: int = 0) -> Request:
        return Request(self, buffer, (source, self.rank, tag))

    async def Recv(self, buffer: Any, source: int, tag: int = 0) -> None:
        await self.take(buffer, (source, self.rank, tag))

    # Collective calls: each rank leaves its data, and goes on when all have

    async def _meet(self, data: Any) -> list[Any]:
        turn, self._turn = self._turn, self._turn + 1
        left = self._world.meetings.setdefault(turn, {})
        left[self.rank] = data
        self._world.moved = True
        while len(left) < self.size:
            await _later()
        self._world.moved = True
        return [left[rank] for rank in range(self.size)]

    def _note(self, call: Call, rank: int, length: int) -> None:
        self._mpi.calls.sent[Sent(call, rank, length)] += 1

    async def Barrier(self) -> None:
        await self._meet(None)

    async def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = SUM) -> None:
        each = await self._meet(np.array(sendbuf).reshape(-1))
        total = each[0]
        for one in each[1:]:
            total = op.function(total, one)
        recvbuf.reshape(-1)[:] = total
        mask = 1
        while mask < self.size:
            self._note(Call.Allreduce, self.rank ^ mask, total.nbytes)
            mask *= 2

    async def Reduce(self, sendbuf: Any, recvbuf: Any, op: Any = SUM, root: int = 0) -> None:
        each = await self._meet(np.array(sendbuf).reshape(-1))
        if self.rank == root:
            recvbuf.reshape(-1)[:] = sum(each[1:], each[0])
        else:
            relative = (self.rank - root) % self.size
            parent = (self.rank - (relative & -relative)) % self.size
            self._note(Call.Reduce, parent, each[0].nbytes)

    async def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        await self._exchange(Call.Alltoall, sendbuf.reshape(self.size, -1),
                             recvbuf.reshape(self.size, -1))

    async def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        out, into = (np.split(buffer[:sum(counts)], np.cumsum(counts)[:-1])
                     for buffer, counts in (sendbuf, recvbuf))
        await self._exchange(Call.Alltoallv, out, into)

    async def _exchange(self, call: Call, out: Any, into: Any) -> None:
        each = await self._meet([part.copy() for part in out])
        for rank in range(self.size):
            into[rank][:] = each[rank][self.rank]
            if rank != self.rank:
                self._note(call, rank, out[rank].nbytes)


class Calls:
    def __init__(self) -> None:
        self.sent: Counter[Sent] = Counter()


class Port:
    """Prices of the default description. Each thing that is computed takes a tick, and nothing else
    takes time."""

    costs = Costs(Description())

    def __init__(self, rank: int) -> None:
        self.marks: list[Mark] = []
        self.ticks = 0
        self._rank = rank

    def mark(self, activity: int, kind: int, number: int) -> None:
        self.marks.append(Mark(self.ticks, self._rank, 0, activity, kind, number))


class Mpi:
    """The library of one rank. ``charged`` counts what it computed, by item."""

    def __init__(self, world: "World", rank: int, comm: type[Comm]) -> None:
        self.calls, self.port = Calls(), Port(rank)
        self.COMM_WORLD = comm(world, rank, self)
        self.charged: Counter[str] = Counter()

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        return np.zeros(shape, dtype)

    async def compute(self, item: str, count: int) -> None:
        assert count >= 0
        self.charged[item] += count
        self.port.ticks += count


class World:
    """``size`` ranks, whose communicators are of class ``comm``."""

    def __init__(self, size: int, comm: type[Comm] = Comm) -> None:
        self.size = size
        self.queues: dict[Any, deque[Any]] = _Queues()
        self.meetings: dict[int, dict[int, Any]] = {}
        self.moved = False
        self.ranks = [Mpi(self, rank, comm) for rank in range(size)]

    def run(self, program: Callable[[Mpi], Any]) -> list[Any]:
        """``program(mpi)`` on all ranks, each as far as it gets, in turn; their results.

        Raises
        ------
        Stuck
            None can go on; or messages were left.
        """
        results: list[Any] = [None] * self.size
        running = {rank: program(mpi) for rank, mpi in enumerate(self.ranks)}
        while running:
            self.moved = False
            for rank, one in list(running.items()):
                try:
                    one.send(None)
                except StopIteration as end:
                    results[rank] = end.value
                    del running[rank]
                    self.moved = True
            if not self.moved:
                for one in running.values():
                    with suppress(RuntimeError):
                        one.close()
                raise Stuck(f"ranks {sorted(running)} wait for messages")
        left = [key for key, queue in self.queues.items() if queue]
        if left:
            raise Stuck(f"messages were left: {left}")
        return results


class _Queues(dict[Any, Any]):
    def __missing__(self, key: Any) -> deque[Any]:
        self[key] = found = deque()
        return found

