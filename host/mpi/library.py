"""The MPI library of one process, on which its communicators and requests are built."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from ..kernel.process import Process
from ..port.node import Node
from ..port.suspension import NOTHING
from .calls import Call, Calls, called
from .channels import Itself, Places, channels_to_others
from .channels.both import Both
from .communicators.communicator import Comm
from .communicators.contexts import Contexts
from .communicators.groups import Group
from .communicators.intercomm import Intercomm
from .constants import ANY_SOURCE, ANY_TAG, MAX_TAG, PROC_NULL, UNDEFINED
from .costs import Prices
from .data.buffers import Buffers
from .data.copies import copy
from .data.memory_store import MemoryStore
from .data.message_data import Data
from .data.operators import Op
from .data.overlap import apart
from .data.registration import Registration
from .errors import ErrorClass, MpiError, RequestError
from .point_to_point.attached_buffer import AttachedBuffer
from .point_to_point.generalised_request import GeneralisedRequest
from .point_to_point.long_messages import LongMessages
from .point_to_point.matching import Unexpected
from .point_to_point.receiving import Receiving
from .point_to_point.requests import Receive, Request, Send, given
from .point_to_point.sending import Sending
from .point_to_point.status import Status
from .progress.channel import Channel
from .progress.packets import Header, Packet
from .progress.progress import Progress
from .progress.standstill import Standstill
from .windows import Windows

__all__ = ["Mpi"]


class Mpi:
    """``async with Mpi(node) as mpi: await mpi.COMM_WORLD.Send(array, 1)``.

    Ranks are the nodes that run a program, in their order; where nodes have several CPUs, the CPUs
    that do, node by node. A program that breaks a rule of MPI gets an
    :class:`~.errors.MpiError` from the call that finds it.

    Attributes
    ----------
    node, process
        Where it runs; its memory.
    COMM_WORLD, COMM_SELF
        Communicators of all processes, and of this one.
    calls
        Counts of calls and messages.
    buffers
        The arrays of the process.
    registrations
        Registered memory of each channel.
    windows
        Its windows.
    """

    def __init__(self, node: Node, nodes: Collection[int] | None = None) -> None:
        """``nodes``: those whose programs are ranks; by default all. All give the same.

        Raises
        ------
        MpiError
            The node is none of them; or several ranks of the node cannot share its NIC.
        """
        self.node = node
        self.port = node.port
        settings = node.description.mpi
        self.process = process = Process(node, 1 + node.cpu)
        self.prices = prices = node.service(Prices)
        self.calls = Calls(node.port)
        places = [(one, cpu) for one, cpu in node.programs if nodes is None or one in nodes]
        if (node.number, node.cpu) not in places:
            raise MpiError(ErrorClass.ERR_OTHER, f"Mpi on node {node.number}, which is none of "
                           f"nodes = {sorted(nodes or ())}")
        self.rank = places.index((node.number, node.cpu))
        self.size = len(places)
        self._world = world = node.run_service(Standstill)
        world.consists_of(places)
        self._store = MemoryStore(process)
        self.buffers = Buffers(process, self._store)
        itself = Itself(process, self._store, self.rank, settings.eager_of(Itself.name))
        self.channels: list[Channel] = []
        to: list[Channel] = [itself] * self.size
        where = Places(self.rank, places)
        for channel, others in channels_to_others(settings.channel, node, process, where):
            self.channels.append(channel)
            for rank in others:
                to[rank] = channel
        looks: list[Any] = ([Both(node, *self.channels)] if len(self.channels) == 2
                            else [*self.channels])
        self.channels.append(itself)
        self.registrations = {one.name: Registration(process, one, prices,
                                                     settings.registration_cache)
                              for one in self.channels}
        self.engine = engine = Progress(node.port, self.rank, [*looks, itself], to, prices, world)
        ends = LongMessages(process, engine, self._store, prices, settings, self.registrations)
        self.sending = sending = Sending(ends)
        self.receiving = receiving = Receiving(
            ends, lambda context: self._comms.get(context, self.COMM_WORLD))
        self.windows = Windows(self, ends, where)
        engine.handle_by({
            **self.windows.handlers,
            Packet.EAGER: receiving.arrived, Packet.EAGER_SYNC: receiving.arrived,
            Packet.EAGER_READY: receiving.arrived, Packet.REQUEST: receiving.requested,
            Packet.REPLY: sending.replied, Packet.DATA: receiving.part,
            Packet.FINISH: self._finished, Packet.SYNCED: sending.synced})
        self._numbers = itertools.count(1)
        self.contexts = Contexts(self.rank, self.size)
        self._leaving: list[Comm] = []
        self._attached: AttachedBuffer | None = None
        self._comms: dict[int, Comm] = {}
        self.COMM_WORLD = self.new_comm(Group(range(self.size), self.rank), "COMM_WORLD", 0)
        self.COMM_SELF = self.new_comm(Group([self.rank], self.rank), "COMM_SELF", 2)
        self.COMM_WORLD.title, self.COMM_SELF.title = "MPI_COMM_WORLD", "MPI_COMM_SELF"
        self._open = False

    # Beginning and end

    async def __aenter__(self) -> "Mpi":
        await self.Init()
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            await self.Finalize()

    @called(Call.Init)
    async def Init(self) -> None:
        """Open all channels. The first call of all processes."""
        if self._open:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {self.rank}: Init was called before")
        self.port.spend(self.prices.open)
        for _ in range(self.size):
            self.port.spend(self.prices.open_rank)
        self._world.opens(self.rank)
        for channel in self.channels:
            await channel.open()
        self._world.opened(self.rank)
        self._open = True
        await self.COMM_WORLD.Barrier()

    @called(Call.Finalize)
    async def Finalize(self) -> None:
        """Wait for all processes and for all that has begun, and end.

        Raises
        ------
        MpiError
            A receive, or a call that has only begun, will never end.
        """
        engine = self.engine
        await self.COMM_WORLD.Barrier()
        await engine.until(lambda: not (self.sending.open or engine.tasks or self.receiving.open)
                           and engine.sent_all, self._not_ended)
        self.port.spend(self.prices.open)
        await self.COMM_WORLD.Barrier()
        self._world.closed(self.rank)
        for channel in self.channels:
            await channel.close()
        self._open = False

    def _not_ended(self) -> str:
        """What Finalize waits for."""
        tasks, receives = self.engine.tasks, self.receiving.open
        text = f"rank {self.rank}: Finalize"
        if tasks:
            text += ", and a call has not ended: " + ", ".join(one.describe() for one in tasks)
        elif receives:
            text += f" with {receives} receives that have not ended"
        return text

    async def Wtime(self) -> float:
        """Seconds of target time."""
        return await self.port.flush() / (float(self.node.description.nic.clock_mhz) * 1e6)

    async def compute(self, item: str, count: int) -> None:
        """Compute ``count`` of ``item``, one of the knobs ``[apps]``."""
        async with self.computing():
            self.port.compute(item, count)
        await self.port.flush()

    @asynccontextmanager
    async def computing(self) -> AsyncIterator[None]:
        """Charges what is inside (``port``) as the program's computation; there may be no operation
        inside. Where a kernel carries the packets of a channel, packets and timers interrupt the
        computation, and what they take comes on top."""
        found = [one.compute for one in self.channels if one.compute is not None]
        if found:
            await self.port.flush()
        yield
        for compute in found:
            await compute(self.port.take())

    # Memory

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        """An array of zeros in the process's memory."""
        return self.buffers.empty(shape, dtype)

    zeros = empty

    def Alloc_mem(self, length: int) -> int:
        """Address of ``length`` bytes of the process's memory, for buffers of [address, count,
        datatype]."""
        return self.process.allocate(length, 64)

    def Attach_buffer(self, length: int) -> None:
        """Give buffered sends ``length`` bytes."""
        if self._attached is not None:
            raise MpiError(ErrorClass.ERR_BUFFER, f"rank {self.rank}: a buffer is attached")
        room = self._store.take(AttachedBuffer.room(length), exact=True)
        self._attached = AttachedBuffer(room, length)

    @called(Call.Detach_buffer)
    async def Detach_buffer(self) -> int:
        """Wait until all buffered messages have left, and take the buffer back; its bytes."""
        attached = self._attached
        if attached is None:
            raise MpiError(ErrorClass.ERR_BUFFER, f"rank {self.rank}: no buffer is attached")
        await self.engine.until(lambda: attached.free, lambda: f"rank {self.rank}: Detach_buffer")
        self._store.give(attached.address, AttachedBuffer.room(attached.size), exact=True)
        self._attached = None
        return attached.size

    # Messages

    def send(self, call: str, comm: Comm, context: int, data: Data, rank: int, tag: int,
             kind: Packet = Packet.EAGER, buffered: bool = False
             ) -> tuple[Request, Awaitable[None]]:
        """A send (``kind``: :class:`~.point_to_point.requests.Send`), and what is awaited at once
        for it to begin."""
        self.port.spend(self.prices.send)
        if rank == PROC_NULL:
            return self._nobody(), NOTHING
        self._check(call, comm, rank, tag)
        send = Send(self, next(self._numbers), call, comm, rank, context, tag, data, kind)
        self.calls.note(send.world_rank, data.length)
        return send, self._buffered(send) if buffered else self.sending.begin(send)

    def receive(self, call: str, comm: Comm, context: int, data: Data, rank: int, tag: int,
                message: Unexpected | None = None) -> tuple[Request, Awaitable[None]]:
        """A receive, or one of ``message``, which was taken out of the queue; and what is awaited
        at once for it to begin."""
        self.port.spend(self.prices.receive)
        if rank == PROC_NULL:
            return self._nobody(), NOTHING
        if rank != ANY_SOURCE:
            self._check(call, comm, rank, 0 if tag == ANY_TAG else tag)
        elif tag != ANY_TAG:
            self._check(call, comm, 0, tag)
        receive = Receive(self, next(self._numbers), call, comm, rank, context, tag, data)
        return receive, (self.receiving.begin(receive) if message is None
                         else self.receiving.deliver(receive, message))

    async def _buffered(self, send: Send) -> None:
        """Copy the data, and send the copy; the program's send is over."""
        self.port.spend(self.prices.buffer)
        attached = self._attached
        if attached is None:
            raise MpiError(ErrorClass.ERR_BUFFER, f"{send.describe()}: no buffer is attached "
                           "(MPI_Buffer_attach)")
        data = send.data.save()
        place = attached.take(data.length, send.describe())
        pieces = [(0, data.length)] if data.length else []
        inner = Data(self.process, place, pieces)
        inner.element = data.element
        await copy(self.process, data.pieces, inner.pieces)
        data.free()
        later = Send(self, send.number, send.call, send.comm, send.rank, send.context, send.tag,
                     inner, send.kind)
        later.after = lambda: attached.give(place)
        await self.sending.begin(later)
        send.done = True

    def _nobody(self) -> Request:
        request = Request(self)
        request.done = True
        request.status = Status(PROC_NULL, ANY_TAG, 0)
        return request

    def _check(self, call: str, comm: Comm, rank: int, tag: int) -> None:
        if not self._open and self.calls.current is not Call.Init:
            raise MpiError(ErrorClass.ERR_OTHER, f"rank {comm.rank}: {call} outside of Init and "
                           "Finalize")
        if comm.freed:
            raise MpiError(ErrorClass.ERR_COMM, f"rank {comm.rank}: {call} on {comm.name}, which "
                           "was freed")
        if not 0 <= rank < comm.reach:
            raise MpiError(ErrorClass.ERR_RANK, f"rank {comm.rank}: {call}: there is no rank "
                           f"{rank} in {comm.name}, which has 0 to {comm.reach - 1}")
        if not 0 <= tag <= MAX_TAG:
            raise MpiError(ErrorClass.ERR_TAG, f"rank {comm.rank}: {call}: tag {tag}, "
                           f"{comm.name}: must be 0 to {MAX_TAG}")

    async def _finished(self, packet: Any, header: Header) -> None:
        if header.send:
            await self.sending.fetched(header)
        else:
            await self.receiving.finished(packet, header)

    # Requests

    async def until_done(self, request: Request) -> Status:
        """Wait for ``request`` inside a call; its status."""
        if not request.done:
            await self.engine.until_done(request, request.describe)
        return self.taken(request)

    @staticmethod
    def taken(request: Request) -> Status:
        """The status of ``request``, which has ended; it is completed by this.

        Raises
        ------
        RequestError
            It has failed.
        """
        request.taken = True
        if request.error is not None:
            raise RequestError([request.error], False, [request.comm], request.status)
        return request.status

    @called(Call.Wait)
    async def wait(self, request: Request) -> Status:
        """Request.Wait."""
        self.port.spend(self.prices.complete)
        if request.taken:
            return Status()
        return await self.until_done(request)

    @called(Call.Test)
    async def test(self, request: Request) -> bool:
        """Request.Test."""
        self.port.spend(self.prices.complete)
        if not request.done:
            await self.progress()
        if request.done and not request.taken:
            return given(True, [request])
        return request.done

    @called(Call.Waitall)
    async def wait_all(self, requests: Sequence[Request]) -> list[Status]:
        """Request.Waitall."""
        self._complete(requests)
        open_ = [one for one in requests if not one.taken]
        for request in open_:
            if not request.done:
                await self.engine.until_done(request, lambda one=request: _among(one, open_))
        return self._all(requests)

    @called(Call.Waitany)
    async def wait_any(self, requests: Sequence[Request]) -> tuple[int, Status]:
        """Request.Waitany."""
        self.port.spend(self.prices.complete)
        open_ = [(index, one) for index, one in enumerate(requests) if not one.taken]
        if not open_:
            return UNDEFINED, Status()
        await self.engine.until(lambda: any(one.done for _, one in open_),
                                lambda: " or ".join(one.describe() for _, one in open_))
        return self._any(requests)

    @called(Call.Testall)
    async def test_all(self, requests: Sequence[Request]) -> list[Status] | None:
        """Request.Testall."""
        await self._look_for(requests)
        if not all(one.done for one in requests):
            return None
        return self._all(requests)

    @called(Call.Testany)
    async def test_any(self, requests: Sequence[Request]) -> tuple[int, Status] | None:
        """Request.Testany."""
        await self._look_for(requests)
        if all(one.taken for one in requests):
            return UNDEFINED, Status()
        if not any(one.done and not one.taken for one in requests):
            return None
        return self._any(requests)

    @called(Call.Waitsome)
    async def wait_some(self, requests: Sequence[Request]) -> list[tuple[int, Status]] | None:
        """Request.Waitsome."""
        open_ = [one for one in requests if not one.taken]
        if not open_:
            return None
        self._complete(requests)
        await self.engine.until(lambda: any(one.done for one in open_),
                                lambda: " or ".join(one.describe() for one in open_))
        return self._some(requests)

    @called(Call.Testsome)
    async def test_some(self, requests: Sequence[Request]) -> list[tuple[int, Status]] | None:
        """Request.Testsome."""
        if all(one.taken for one in requests):
            return None
        await self._look_for(requests)
        return self._some(requests)

    @staticmethod
    def _any(requests: Sequence[Request]) -> tuple[int, Status]:
        """The first that has ended and was not completed."""
        index, found = next((index, one) for index, one in enumerate(requests)
                            if one.done and not one.taken)
        return given((index, found.status), [found])

    @staticmethod
    def _some(requests: Sequence[Request]) -> list[tuple[int, Status]]:
        """All that have ended and were not completed."""
        ended = [(index, one) for index, one in enumerate(requests) if one.done and not one.taken]
        return given([(index, one.status) for index, one in ended], [one for _, one in ended],
                     several=True)

    @staticmethod
    def _all(requests: Sequence[Request]) -> list[Status]:
        """All, which have ended; those that were completed before have an empty status."""
        return given([Status() if one.taken else one.status for one in requests],
                     [one for one in requests if not one.taken], several=True)

    def _complete(self, requests: Sequence[Request]) -> None:
        for _ in requests:
            self.port.spend(self.prices.complete)

    async def _look_for(self, requests: Sequence[Request]) -> None:
        self._complete(requests)
        if not all(one.done for one in requests):
            await self.progress()

    @called(Call.Test)
    async def progress(self) -> None:
        """Handle what has arrived; inside another call, or alone, as a Test that completes
        nothing."""
        await self.engine.look()
        await self.spend()

    @called(Call.Cancel)
    async def cancel(self, request: Request) -> None:
        """Request.Cancel."""
        self.port.spend(self.prices.complete)
        if isinstance(request, Receive) and await self.receiving.withdraw(request):
            request.status.cancelled = True
            request.ended()
        elif isinstance(request, GeneralisedRequest):
            request.cancel()

    def reduce_local(self, op: Op, first: Any, second: Any) -> None:
        """``first`` op ``second`` into ``second``, in no time: what a program computes alone.

        Raises
        ------
        MpiError
            They overlap, or ``op`` is not for them.
        """
        apart(first, second, "Reduce_local")
        self.buffers.reduce(op, first, second, "Reduce_local")

    async def spend(self) -> None:
        """Spend the time that a call has taken, and at least one cycle, so that a program that
        looks again and again advances target time."""
        before = self.port.cycle
        if await self.port.flush() == before:
            await self.port.delay(1)
            await self.port.flush()

    # Communicators

    def new_comm(self, group: Group, name: str, context: int) -> Comm:
        """A communicator whose contexts are ``context`` and the next one."""
        comm = Comm(self, group, name, context)
        self.adopt(comm)
        return comm

    def new_inter(self, group: Group, remote: Group, name: str, context: int) -> Intercomm:
        """A communicator of two groups, whose contexts are the same on both sides."""
        comm = Intercomm(self, group, remote, name, context)
        self.adopt(comm)
        return comm

    def adopt(self, comm: Comm) -> None:
        """``comm`` has been made."""
        self.contexts.use(comm.context)
        self._comms[comm.context] = self._comms[comm.context + 1] = comm

    def dismiss(self, comm: Comm) -> None:
        """``comm`` has been freed. What it has begun goes on; when that has ended others may have
        its contexts."""
        self._leaving.append(comm)
        matching, tasks = self.receiving.matching, {id(one.comm) for one in self.engine.tasks}
        for one in list(self._leaving):
            contexts = one.context, one.context + 1
            if id(one) in tasks or any(matching.posted.get(context)
                                       or matching.unexpected.get(context)
                                       for context in contexts):
                continue
            self._leaving.remove(one)
            for context in contexts:
                self._comms.pop(context, None)
            self.contexts.free(one.context)


def _among(request: Request, others: Sequence[Request]) -> str:
    """``request``, for which a call waits that completes ``others``, too, in words."""
    failed = [str(one.error) for one in others if one.error is not None]
    return ", after ".join([request.describe(), *failed])
