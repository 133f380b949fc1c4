"""Collective calls, over messages in a context of their own.

- Barrier: dissemination, ⌈log2 P⌉ rounds without data.
- Bcast: a binomial tree. Reduce: the same tree the other way, in the order of the ranks.
- Allreduce: recursive doubling; ranks beyond a power of two give theirs to a neighbour first. For
  operations that do not commute: Reduce and Bcast.
- Alltoall and its v and w forms: a pairwise exchange in P - 1 steps.
- Allgather, Allgatherv: a ring.
- Gather, Scatter and their v forms: the root receives from, or sends to, one after the other.
- Scan, Exscan: along the ranks. Reduce_scatter: Reduce and Scatterv.

``ALGORITHMS`` has these as names.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..calls import Call, called
from ..communicators.groups import Group
from ..data.copies import copy, cut
from ..data.datatypes import BYTE, of_dtype
from ..data.message_data import Data, Parts
from ..data.operands import Operand
from ..data.operators import SUM, Op
from ..data.overlap import apart
from ..errors import ErrorClass, MpiError
from ..point_to_point.requests import Request

__all__ = ["ALGORITHMS", "Collectives", "IN_PLACE", "divided"]

ALGORITHMS = {"barrier": "dissemination", "bcast": "binomial tree",
              "reduce": "binomial tree", "allreduce": "recursive doubling",
              "alltoall": "pairwise exchange", "allgather": "ring"}

BARRIER, BCAST, REDUCE, ALLREDUCE, ALLTOALL, ALLGATHER, GATHER, SCATTER, SCAN = range(9)
"""Tags."""
TOGETHER = 1024
"""Bytes of an operand that an operation loads before those of the other: what of both is in the
cache stays there until the result is stored."""


class _InPlace:
    def __repr__(self) -> str:
        return "IN_PLACE"


IN_PLACE = _InPlace()
"""As a send buffer: the data are in the receive buffer."""


class Collectives:
    """The collective calls of a communicator."""

    library: Any
    group: Group
    calls: Any
    name: str
    context: int
    rank: int
    size: int
    tags: int
    begun: int
    talks: bool
    _data: Callable[[Any, str], Data]

    # Messages in the collective context

    async def _isend(self, call: str, data: Data, rank: int, tag: int) -> Request:
        self.talks = True
        request, begun = self.library.send(
            call, self, self.context + 1, data,  # type: ignore[arg-type]
            rank, tag + self.tags)
        await begun
        return request

    async def _irecv(self, call: str, data: Data, rank: int, tag: int) -> Request:
        self.talks = True
        request, begun = self.library.receive(
            call, self, self.context + 1, data,  # type: ignore[arg-type]
            rank, tag + self.tags)
        await begun
        return request

    async def _send(self, call: str, data: Data, rank: int, tag: int) -> None:
        await self._until(await self._isend(call, data, rank, tag))

    async def _recv(self, call: str, data: Data, rank: int, tag: int) -> None:
        await self._until(await self._irecv(call, data, rank, tag))

    async def _exchange(self, call: str, out: Data, to: int, into: Data, source: int, tag: int
                        ) -> None:
        receive = await self._irecv(call, into, source, tag)
        send = await self._isend(call, out, to, tag)
        await self._until(receive)
        await self._until(send)

    async def _until(self, request: Request) -> None:
        await self.library.until_done(request)

    async def _move(self, out: Data, into: Data) -> None:
        """Copy this rank's own part."""
        out.save()
        await copy(self.library.process, out.pieces, into.part(0, out.length))
        into.fill(out.length)
        out.free()
        into.free()

    async def pack(self, source: Any, target: Any, call: str) -> None:
        """Copy the data of a buffer to the beginning of another: Pack, and Unpack."""
        await self._move(self._data(source, call), self._data(target, call))

    async def _copied(self, buffer: Any, call: str) -> Any:
        """A copy of a buffer's bytes, without a place of its own."""
        data = self._data(buffer, call)
        copied = np.empty(data.length, np.uint8)
        await self._move(data, self._data(copied, call))
        return copied

    def _enter(self, call: str, root: int | None = None) -> None:
        library = self.library
        library.port.spend(library.prices.collective)
        if root is not None and not 0 <= root < self.size:
            raise MpiError(ErrorClass.ERR_ROOT, f"rank {self.rank}: {call}: there is no root "
                           f"{root} in {self.name}, which has 0 to {self.size - 1}")

    def _apart(self, call: str, out: Any, into: Any) -> None:
        """Refuse buffers of a call that overlap."""
        if out is not IN_PLACE and into is not IN_PLACE:
            apart(out, into, f"rank {self.rank}: {call}")

    # Synchronisation and broadcast

    @called(Call.Barrier)
    async def Barrier(self) -> None:
        """Wait until all have called it."""
        self._enter("Barrier")
        step = 1
        while step < self.size:
            await self._exchange("Barrier", self._data(None, "Barrier"),
                                 (self.rank + step) % self.size, self._data(None, "Barrier"),
                                 (self.rank - step) % self.size, BARRIER)
            step *= 2

    @called(Call.Bcast)
    async def Bcast(self, buf: Any, root: int = 0) -> None:
        """``buf`` of ``root`` to all."""
        self._enter("Bcast", root)
        relative = (self.rank - root) % self.size
        mask = 1
        while mask < self.size:
            if relative & mask:
                await self._recv("Bcast", self._data(buf, "Bcast"),
                                 (self.rank - mask) % self.size, BCAST)
                break
            mask *= 2
        mask //= 2
        while mask:
            if relative + mask < self.size:
                await self._send("Bcast", self._data(buf, "Bcast"), (self.rank + mask) % self.size,
                                 BCAST)
            mask //= 2

    # Reductions

    def _values(self, buffer: Any, call: str, op: Op) -> Operand:
        """A buffer's elements to compute with. What a library would copy first, :meth:`_result`
        copies last, and is charged there."""
        values = self.library.buffers.operand(buffer, f"rank {self.rank}: {call}")
        op.check(values, f"rank {self.rank}: {call}")
        return values

    async def _combine(self, call: str, op: Op, lower: Operand, higher: Operand, into: Operand
                       ) -> None:
        """``op`` on two operands ``into`` one of them, all of them with places of their own:
        charged, through the cache."""
        library = self.library
        library.port.spend(library.prices.reduce)
        library.port.work("load", 2 * lower.elements)
        library.port.work("alu", lower.elements)
        library.port.work("store", lower.elements)
        first, second, target = (self._held(one, call).pieces for one in (lower, higher, into))
        for at in range(0, lower.nbytes, TOGETHER):
            for pieces, store in ((first, False), (second, False), (target, True)):
                for piece in cut(pieces, at, TOGETHER):
                    await library.process.touch(*piece, store=store)
        op.combine(lower, higher, into)

    async def _result(self, values: Operand, buffer: Any, call: str) -> None:
        """The result into the program's buffer."""
        data = self._data(self.library.buffers.dense(buffer, call), call)
        if values.nbytes > data.length:
            raise MpiError(ErrorClass.ERR_TRUNCATE, f"rank {self.rank}: {call}: {values.nbytes} "
                           f"bytes, {self.name}, and the receive buffer has {data.length}")
        await self._move(self._held(values, call), data)

    @called(Call.Reduce)
    async def Reduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> None:
        """``op`` over all, element by element, to ``root``."""
        self._enter("Reduce", root)
        if self.rank == root:
            self._apart("Reduce", sendbuf, recvbuf)
        values = self._values(recvbuf if sendbuf is IN_PLACE else sendbuf, "Reduce", op)
        with self._placed(values):
            await self._reduced("Reduce", values, op, root)
            if self.rank == root:
                await self._result(values, recvbuf, "Reduce")

    def _placed(self, *operands: Operand) -> AbstractContextManager[None]:
        return self.library.buffers.placed(*(one.array for one in operands))

    def _held(self, operand: Operand, call: str) -> Data:
        return self.library.buffers.held(operand, call)

    async def _reduced(self, call: str, values: Operand, op: Op, root: int) -> None:
        """``values``, which have a place, become the result at ``root``."""
        first = root if op.commutes else 0
        relative = (self.rank - first) % self.size
        mask = 1
        with self._placed(other := values.empty_like()):
            while mask < self.size:
                if relative & mask:
                    await self._send(call, self._held(values, call), (self.rank - mask) % self.size,
                                     REDUCE)
                    break
                if relative + mask < self.size:
                    await self._recv(call, self._held(other, call), (self.rank + mask) % self.size,
                                     REDUCE)
                    await self._combine(call, op, values, other, values)
                mask *= 2
        if first != root:
            if self.rank == first:
                await self._send(call, self._held(values, call), root, REDUCE)
            elif self.rank == root:
                await self._recv(call, self._held(values, call), first, REDUCE)

    @called(Call.Allreduce)
    async def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """``op`` over all, to all."""
        self._enter("Allreduce")
        self._apart("Allreduce", sendbuf, recvbuf)
        values = self._values(recvbuf if sendbuf is IN_PLACE else sendbuf, "Allreduce", op)
        with self._placed(values):
            if op.commutes:
                await self._doubled("Allreduce", values, op)
            else:
                await self._reduced("Allreduce", values, op, 0)
            if op.commutes or self.rank == 0:
                await self._result(values, recvbuf, "Allreduce")
        if not op.commutes:
            await self.Bcast(recvbuf, 0)

    async def _doubled(self, call: str, values: Operand, op: Op) -> None:
        """Recursive doubling; ``values``, which have a place, become the result. Of ranks beyond a
        power of two, each even one gives its values to the next and gets the result from it."""
        size, rank = self.size, self.rank
        whole = 1 << size.bit_length() - 1
        rest = size - whole
        if rank < 2 * rest and rank % 2 == 0:
            await self._send(call, self._held(values, call), rank + 1, ALLREDUCE)
            await self._recv(call, self._held(values, call), rank + 1, ALLREDUCE)
            return
        with self._placed(other := values.empty_like()):
            if rank < 2 * rest:
                await self._recv(call, self._held(other, call), rank - 1, ALLREDUCE)
                await self._combine(call, op, other, values, values)
                place = rank // 2
            else:
                place = rank - rest
            mask = 1
            while mask < whole:
                partner = place ^ mask
                peer = 2 * partner + 1 if partner < rest else partner + rest
                await self._exchange(call, self._held(values, call), peer, self._held(other, call),
                                     peer, ALLREDUCE)
                await self._combine(call, op, values, other, values)
                mask *= 2
        if rank < 2 * rest:
            await self._send(call, self._held(values, call), rank - 1, ALLREDUCE)

    @called(Call.Scan)
    async def Scan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """``op`` over the ranks up to this one."""
        self._enter("Scan")
        await self._scan("Scan", sendbuf, recvbuf, op, own=True)

    @called(Call.Exscan)
    async def Exscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """``op`` over the ranks before this one; rank 0's buffer stays as it is."""
        self._enter("Exscan")
        await self._scan("Exscan", sendbuf, recvbuf, op, own=False)

    async def _scan(self, call: str, sendbuf: Any, recvbuf: Any, op: Op, own: bool) -> None:
        if own or self.rank:
            self._apart(call, sendbuf, recvbuf)
        values = self._values(recvbuf if sendbuf is IN_PLACE else sendbuf, call, op)
        with self._placed(values, before := values.empty_like()):
            if self.rank:
                await self._recv(call, self._held(before, call), self.rank - 1, SCAN)
                await self._combine(call, op, before, values, values)
            if self.rank + 1 < self.size:
                await self._send(call, self._held(values, call), self.rank + 1, SCAN)
            if own or self.rank:
                await self._result(values if own else before, recvbuf, call)

    @called(Call.Reduce_scatter)
    async def Reduce_scatter(self, sendbuf: Any, recvbuf: Any,
                             recvcounts: Sequence[int] | None = None, op: Op = SUM) -> None:
        """``op`` over all; each rank gets its part of the result, ``recvcounts[rank]``
        elements: in place, at the beginning of the buffer."""
        self._enter("Reduce_scatter")
        self._apart("Reduce_scatter", sendbuf, recvbuf)
        source = recvbuf if sendbuf is IN_PLACE else sendbuf
        if recvcounts is None:
            mine = np.array([self._values(recvbuf, "Reduce_scatter", op).count], np.int64)
            every = np.zeros(self.size, np.int64)
            await self.Allgather(mine, every)
            recvcounts = every.tolist()
        values = self._values(source, "Reduce_scatter", op)
        with self._placed(values):
            await self._reduced("Reduce_scatter", values, op, 0)
            if sendbuf is IN_PLACE and isinstance(recvbuf, list) and len(recvbuf) == 3:
                recvbuf = [recvbuf[0], recvcounts[self.rank], recvbuf[2]]
            await self.Scatterv(divided(values, recvcounts),
                                self.library.buffers.dense(recvbuf, "Reduce_scatter"), 0)

    # Exchanges

    def _parts(self, buffer: Any, call: str, ranks: int) -> Any:
        """``buffer`` in as many equal parts."""
        library = self.library
        if isinstance(buffer, list | tuple) and len(buffer) > 1:
            array, count, datatype = library.buffers.spec(buffer, call)
        else:
            array = next(iter(buffer), None) if isinstance(buffer, list | tuple) else buffer
            count = datatype = None
        if datatype is None:
            datatype = of_dtype(library.buffers.flat(array, call)[1].dtype)
        if count is None:
            flat, _ = library.buffers.flat(array, call)
            whole, rest = divmod(len(flat) // datatype.extent, ranks)
            if rest:
                raise MpiError(ErrorClass.ERR_COUNT, f"rank {self.rank}: {call}: "
                               f"{whole * ranks + rest} elements in {ranks} parts, {self.name}")
            count = whole
        return library.buffers.parts([array, [count] * ranks, datatype], ranks, call)

    @called(Call.Alltoall)
    async def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """A part of each buffer to and from each rank, all alike."""
        self._enter("Alltoall")
        into = self._parts(recvbuf, "Alltoall", self.size)
        if sendbuf is IN_PLACE:
            sendbuf = await self._copied([into.buffer, sum(into.counts), into.datatype],
                                         "Alltoall")
        await self._alltoall("Alltoall", self._parts(sendbuf, "Alltoall", self.size), into)

    @called(Call.Alltoallv)
    async def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """The same with [array, counts, displacements]."""
        self._enter("Alltoallv")
        buffers = self.library.buffers
        into = buffers.parts(recvbuf, self.size, "Alltoallv")
        out = (await self._packed(into, "Alltoallv") if sendbuf is IN_PLACE
               else buffers.parts(sendbuf, self.size, "Alltoallv"))
        await self._alltoall("Alltoallv", out, into)

    @called(Call.Alltoallw)
    async def Alltoallw(self, sendbuf: Any, recvbuf: Any) -> None:
        """The same with [array, counts, displacements in bytes, datatypes]."""
        self._enter("Alltoallw")
        buffers = self.library.buffers
        into = buffers.typed_parts(recvbuf, self.size, "Alltoallw")
        out = (await self._packed(into, "Alltoallw") if sendbuf is IN_PLACE
               else buffers.typed_parts(sendbuf, self.size, "Alltoallw"))
        await self._alltoall("Alltoallw", out, into)

    async def _packed(self, parts: Parts, call: str) -> Parts:
        """A copy of all parts, one behind the other."""
        lengths = [parts.counts[rank] * parts.type_of(rank).size for rank in range(self.size)]
        copied = np.empty(sum(lengths), np.uint8)
        packed = Parts(copied, lengths, None, BYTE)
        for rank in range(self.size):
            await self._move(self.library.buffers.part(parts, rank, call),
                             self.library.buffers.part(packed, rank, call))
        return packed

    async def _alltoall(self, call: str, out: Any, into: Any) -> None:
        self._apart(call, out, into)
        buffers, size, rank = self.library.buffers, self.size, self.rank
        await self._move(buffers.part(out, rank, call), buffers.part(into, rank, call))
        for step in range(1, size):
            if size & size - 1:
                to, source = (rank + step) % size, (rank - step) % size
            else:
                to = source = rank ^ step
            await self._exchange(call, buffers.part(out, to, call), to,
                                 buffers.part(into, source, call), source, ALLTOALL)

    @called(Call.Allgather)
    async def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """Each rank's buffer to all, in the order of the ranks."""
        self._enter("Allgather")
        await self._allgather("Allgather", sendbuf, self._parts(recvbuf, "Allgather", self.size))

    @called(Call.Allgatherv)
    async def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        """The same with a receive buffer of [array, counts, displacements]."""
        self._enter("Allgatherv")
        into = self.library.buffers.parts(recvbuf, self.size, "Allgatherv")
        await self._allgather("Allgatherv", sendbuf, into)

    async def _allgather(self, call: str, sendbuf: Any, into: Any) -> None:
        self._apart(call, sendbuf, into)
        buffers, size, rank = self.library.buffers, self.size, self.rank
        if sendbuf is not IN_PLACE:
            await self._move(self._data(sendbuf, call), buffers.part(into, rank, call))
        for step in range(size - 1):
            out, came = (rank - step) % size, (rank - step - 1) % size
            await self._exchange(call, buffers.part(into, out, call), (rank + 1) % size,
                                 buffers.part(into, came, call), (rank - 1) % size, ALLGATHER)

    # To and from a root

    @called(Call.Gather)
    async def Gather(self, sendbuf: Any, recvbuf: Any = None, root: int = 0) -> None:
        """Each rank's buffer to ``root``."""
        self._enter("Gather", root)
        into = self._parts(recvbuf, "Gather", self.size) if self.rank == root else None
        await self._gather("Gather", sendbuf, into, root)

    @called(Call.Gatherv)
    async def Gatherv(self, sendbuf: Any, recvbuf: Any = None, root: int = 0) -> None:
        """The same with [array, counts, displacements] at ``root``."""
        self._enter("Gatherv", root)
        into = None
        if self.rank == root:
            into = self.library.buffers.parts(recvbuf, self.size, "Gatherv")
        await self._gather("Gatherv", sendbuf, into, root)

    async def _gather(self, call: str, sendbuf: Any, into: Any, root: int) -> None:
        buffers = self.library.buffers
        if self.rank != root:
            await self._send(call, self._data(sendbuf, call), root, GATHER)
            return
        self._apart(call, sendbuf, into)
        requests = [await self._irecv(call, buffers.part(into, rank, call), rank, GATHER)
                    for rank in range(self.size) if rank != root]
        if sendbuf is not IN_PLACE:
            await self._move(self._data(sendbuf, call), buffers.part(into, root, call))
        for request in requests:
            await self._until(request)

    @called(Call.Scatter)
    async def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """A part of ``root``'s buffer to each rank."""
        self._enter("Scatter", root)
        out = self._parts(sendbuf, "Scatter", self.size) if self.rank == root else None
        await self._scatter("Scatter", out, recvbuf, root)

    @called(Call.Scatterv)
    async def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """The same with [array, counts, displacements] at ``root``."""
        self._enter("Scatterv", root)
        out = None
        if self.rank == root:
            out = self.library.buffers.parts(sendbuf, self.size, "Scatterv")
        await self._scatter("Scatterv", out, recvbuf, root)

    async def _scatter(self, call: str, out: Any, recvbuf: Any, root: int) -> None:
        buffers = self.library.buffers
        if self.rank != root:
            await self._recv(call, self._data(recvbuf, call), root, SCATTER)
            return
        self._apart(call, out, recvbuf)
        requests = [await self._isend(call, buffers.part(out, rank, call), rank, SCATTER)
                    for rank in range(self.size) if rank != root]
        if recvbuf is not IN_PLACE:
            await self._move(buffers.part(out, root, call), self._data(recvbuf, call))
        for request in requests:
            await self._until(request)


def divided(operand: Operand, counts: Sequence[int]) -> Parts:
    """So many elements of ``operand`` for each rank, one part behind the other."""
    if operand.places is not None:
        return Parts(operand.array, counts, None, operand.type, operand.origin)
    each = operand.array.nbytes // max(operand.count, 1)
    return Parts(operand.array, [each * count for count in counts], None, BYTE)
