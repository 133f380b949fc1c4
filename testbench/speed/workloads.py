"""The host programs of `nicbed speed`. Each runs until a given cycle and returns the number of
one-way messages of its node."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...host.via import descriptors
from ...host.via.returns import VIP_INFINITE, VIP_RETURN
from ...host.via.session import Session

__all__ = ["BUSY_CYCLES", "LARGER", "SETTINGS", "WORKLOADS", "Larger", "programs"]

BUSY_CYCLES = 2000
"""Target cycles of computation between two requests of the busy workload."""
SPARSE = 8
"""Of so many pairs of the sparse workload one is active."""
SIZE, END = 8, 4
"""Bytes of a message on a VI or over MPI, and of the last message."""
BULK = 64 << 10
"""Bytes of a message of the bulk workload."""
BULKIER = 4 * BULK
"""Bytes of one of the same workload where it is measured what each KB takes."""
RECEIVES, CREDIT, SENDS = 32, 16, 8
"""For the stream: receives posted, messages reported at a time, sends not reaped."""

SETTINGS = {"via.spin": 1 << 24}
"""Waiting calls of VIPL spin in the host port, because a program that polls by VipRecvDone is woken
at each poll, 64 times for each message."""

SUCCESS = VIP_RETURN.SUCCESS

Program = Callable[[Any], Any]


def _exchange(until: int, compute: int) -> Program:
    """Active Messages: each even node sends requests to the odd node beside it."""
    async def program(node: Any) -> int:
        from ...host.am import Gam
        replies = requests = 0

        def on_request(am: Any, source: int, word: int) -> Any:
            return am.reply(1, word)

        def on_reply(am: Any, source: int, word: int) -> None:
            nonlocal replies
            replies += 1

        def answered() -> bool:
            return replies == requests

        gam = Gam(node, [on_request, on_reply])
        await gam.enable()
        port = node.port
        if node.number % 2 == 0 and node.number + 1 < node.nodes:
            peer = node.number + 1
            while port.cycle < until:
                await gam.request(peer, 0, requests & 0xFFFF_FFFF)
                requests += 1
                if compute:
                    await port.delay(compute)
                await gam.wait(answered)
        await gam.disable()
        return 2 * requests
    return program


def _dense(until: int) -> Program:
    return _exchange(until, 0)


def _busy(until: int) -> Program:
    return _exchange(until, BUSY_CYCLES)


def _idle(until: int) -> Program:
    """Compute only."""
    async def program(node: Any) -> int:
        while node.port.cycle < until:
            await node.port.delay(BUSY_CYCLES)
            await node.port.flush()
        return 0
    return program


class _End(Session):
    """One end of a VI of Reliable Delivery between an even node and the odd one beside it."""

    def __init__(self, node: Any, receives: int) -> None:
        super().__init__(node)
        self.peer = node.number ^ 1
        self.first = node.number % 2 == 0
        self.receives = receives
        self.vi: Any = None
        self.place: Any = None
        self.sends: list[int] = []
        self.last = 0
        """The last send, of END bytes."""

    async def set_up(self) -> None:
        await self.open()
        self.vi = await self.endpoint()
        self.place = await self.arena(self.receives + SENDS + 1)
        data = await self.memory(64)
        for _ in range(self.receives):
            await self.give(await self.descriptor(self.place, [data.segment(SIZE)]))
        self.sends = [await self.descriptor(self.place, [data.segment(SIZE, 16)])
                      for _ in range(SENDS)]
        self.last = await self.descriptor(self.place, [data.segment(END, 32)])
        await self.connect(self.vi)

    async def give(self, receive: int) -> None:
        await self.post_receive(self.vi, receive, self.place)

    async def send(self, descriptor: int) -> None:
        await self.post_send(self.vi, descriptor, self.place)

    async def reap(self) -> None:
        """Wait until the oldest send is done."""
        found = await self.vipl.VipSendWait(self.vi, VIP_INFINITE)
        if found[0] is not SUCCESS:
            self.sound("VipSendWait", found)

    async def take(self) -> bool:
        """Wait for a message and post its receive again; return whether it is not the last
        message."""
        code, receive = await self.vipl.VipRecvWait(self.vi, VIP_INFINITE)
        if code is not SUCCESS:
            self.sound("VipRecvWait", code)
        assert receive is not None
        more = descriptors.length_of(self.process, receive) == SIZE
        await self.give(receive)
        return more


def _pingpong(until: int) -> Program:
    """One VI for each pair: a message there, one back."""
    async def program(node: Any) -> int:
        if node.number ^ 1 >= node.nodes:
            return 0
        end = _End(node, 2)
        await end.set_up()
        send, trips = end.sends[0], 0
        if end.first:
            while node.port.cycle < until:
                await end.send(send)
                await end.take()
                await end.reap()
                trips += 1
            await end.send(end.last)
            await end.reap()
            return 2 * trips
        while await end.take():
            await end.send(send)
            await end.reap()
        return 0
    return program


def _stream(until: int) -> Program:
    """One VI for each pair: the even node sends, and the odd one reports every CREDIT messages, so
    that never more than RECEIVES are under way."""
    async def source(end: _End) -> int:
        count = reaped = credited = 0
        while end.port.cycle < until:
            if count - credited == RECEIVES:
                await end.take()
                credited += CREDIT
            if count - reaped == SENDS:
                await end.reap()
                reaped += 1
            await end.send(end.sends[count % SENDS])
            count += 1
        for _ in range(count - reaped):
            await end.reap()
        await end.send(end.last)
        await end.reap()
        return count + count // CREDIT

    async def sink(end: _End) -> int:
        count = reports = 0
        while await end.take():
            count += 1
            if count % CREDIT == 0:
                if reports:
                    await end.reap()
                await end.send(end.sends[0])
                reports += 1
        if reports:
            await end.reap()
        return 0

    async def program(node: Any) -> int:
        if node.number ^ 1 >= node.nodes:
            return 0
        end = _End(node, RECEIVES)
        await end.set_up()
        return await (source if end.first else sink)(end)
    return program


def _over_mpi(first: Callable[[Any, int], Any], second: Callable[[Any, int], Any]) -> Program:
    """MPI: ``first`` on even ranks, ``second`` on the odd ones beside them, each with its
    communicator and the other's rank."""
    async def program(node: Any) -> int:
        from ...host.mpi import Mpi
        async with Mpi(node) as mpi:
            comm = mpi.COMM_WORLD
            peer = comm.rank ^ 1
            if peer >= comm.size:
                return 0
            return await (second if comm.rank % 2 else first)(mpi, peer)
    return program


def _mpi_pingpong(until: int) -> Program:
    """One message there, one back, each to a receive that is posted when it comes or soon after."""
    async def first(mpi: Any, peer: int) -> int:
        comm, out, into, trips = mpi.COMM_WORLD, mpi.empty(SIZE, "u1"), mpi.empty(SIZE, "u1"), 0
        while mpi.port.cycle < until:
            await comm.Send(out, peer)
            await comm.Recv(into, peer)
            trips += 1
        await comm.Send(out[:END], peer)
        return 2 * trips

    async def second(mpi: Any, peer: int) -> int:
        comm, out, into = mpi.COMM_WORLD, mpi.empty(SIZE, "u1"), mpi.empty(SIZE, "u1")
        while (await comm.Recv(into, peer)).count == SIZE:
            await comm.Send(out, peer)
        return 0
    return _over_mpi(first, second)


def _mpi_oneway(until: int, size: int) -> Program:
    """Messages of ``size`` bytes one way, as fast as they are taken."""
    async def first(mpi: Any, peer: int) -> int:
        comm, out, count = mpi.COMM_WORLD, mpi.empty(size, "u1"), 0
        while mpi.port.cycle < until:
            await comm.Send(out, peer)
            count += 1
        await comm.Send(out[:END], peer)
        return count

    async def second(mpi: Any, peer: int) -> int:
        comm, into = mpi.COMM_WORLD, mpi.empty(size, "u1")
        while (await comm.Recv(into, peer)).count == size:
            pass
        return 0
    return _over_mpi(first, second)


def _mpi_stream(until: int) -> Program:
    return _mpi_oneway(until, SIZE)


def _mpi_bulk(until: int) -> Program:
    return _mpi_oneway(until, BULK)


def _mpi_bulkier(until: int) -> Program:
    return _mpi_oneway(until, BULKIER)


WORKLOADS: dict[str, dict[str, Callable[[int], Program]]] = {
    "am": {"dense": _dense, "busy": _busy, "sparse": _dense, "idle": _idle},
    "via": {"ping-pong": _pingpong, "stream": _stream, "idle": _idle},
    "mpi": {"ping-pong": _mpi_pingpong, "stream": _mpi_stream, "bulk": _mpi_bulk, "idle": _idle},
}
"""Workloads of each layer; their argument is the cycle at which to end."""


class Larger(NamedTuple):
    """A workload whose messages have ``more`` KB more, to find the time of a KB."""

    program: Callable[[int], Program]
    more: int


LARGER = {"bulk": Larger(_mpi_bulkier, BULKIER - BULK >> 10)}
"""By the name of the workload with smaller messages."""


def programs(layer: str, name: str, until: int, nodes: int, larger: bool = False
             ) -> list[Program | None]:
    """The program of each node; None for a node without one. ``larger``: that of LARGER."""
    program = (LARGER[name].program if larger else WORKLOADS[layer][name])(until)
    return [None if name == "sparse" and node // 2 % SPARSE else program for node in range(nodes)]
