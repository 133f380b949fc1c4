"""Random programs of MPI as hypothesis makes them, and what MPI promises of them.

A program is a list of rounds, with a barrier behind each. In a round of messages the ranks of a
communicator send to each other, and receive as much as comes to them; all receives of a rank are
alike in what they leave open (rank, tag, both or nothing), so that whatever they take, the others
find the rest. In a collective round they make a call, whose answer numpy knows.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from nicbed.host.mpi import ANY_SOURCE, ANY_TAG, BYTE, MAX, SUM, Comm, Mpi, Request

from tests.programs.mpi import Plain, pattern

__all__ = ["Collective", "Message", "Messages", "program", "rounds"]

GUARD = 0xEE


@dataclass(frozen=True)
class Message:
    source: int
    dest: int
    tag: int
    size: int
    mode: str
    spread: bool
    """Sent as a derived type, every other byte."""


@dataclass(frozen=True)
class Messages:
    """``posted``: all receives are posted before anything is sent. ``order`` is the seed of the
    orders in which receives are posted and waited for, and of how that is done."""

    comm: int
    posted: bool
    any_source: bool
    any_tag: bool
    messages: tuple[Message, ...]
    order: int


@dataclass(frozen=True)
class Collective:
    comm: int
    call: str
    count: int
    root: int


SIZES = st.sampled_from([0, 1, 8, 471, 472, 473, 600, 2000, 2001, 5000, 20000])
COMMS = 3
CALLS = ("Bcast", "Reduce", "Allreduce", "Allgather", "Alltoall", "Gather", "Scatter", "Scan")


@st.composite
def _messages(draw: Any, nodes: int) -> Messages:
    comm = draw(st.integers(0, COMMS - 1))
    posted = draw(st.booleans())
    # Ready and blocking sends are for receives that are posted.
    modes = ["Isend", "Issend", "Ibsend", *(["Send", "Ssend", "Rsend", "Irsend", "Bsend"]
                                            if posted else [])]
    ranks = st.integers(0, _size(comm, nodes) - 1)
    some = st.lists(st.builds(Message, ranks, ranks, st.integers(0, 2), SIZES,
                              st.sampled_from(modes), st.booleans()), min_size=1, max_size=10)
    return Messages(comm, posted, draw(st.booleans()), draw(st.booleans()), tuple(draw(some)),
                    draw(st.integers(0, 99)))


def rounds(nodes: int) -> Any:
    """Programs for so many ranks."""
    together = st.builds(Collective, st.integers(0, COMMS - 1), st.sampled_from(CALLS),
                         st.sampled_from([1, 7, 300, 1500]), st.integers(0, 7))
    return st.lists(st.one_of(_messages(nodes), together), min_size=1, max_size=5)


def _size(comm: int, nodes: int) -> int:
    """Ranks of communicator ``comm``; of the halves, of the smaller one."""
    return nodes // 2 if comm == 2 else nodes


async def _comms(mpi: Mpi) -> list[Comm]:
    """The world, a copy of it, and the ranks of one parity, the last one first."""
    world = mpi.COMM_WORLD
    half = await world.Split(world.rank % 2, -world.rank)
    assert half is not None
    return [world, await world.Dup(), half]


def program(plan: list[Any]) -> Callable[[Mpi], Any]:
    """What each rank does; returns how many messages it has received and checked."""
    async def main(mpi: Mpi) -> int:
        comms, received = await _comms(mpi), 0
        for one in plan:
            if isinstance(one, Messages):
                received += await _Round(mpi, comms[one.comm], one).run()
            else:
                await _together(mpi, comms[one.comm], one)
            await mpi.COMM_WORLD.Barrier()
        return received
    return main


class _Round:
    """A round of messages at one rank."""

    def __init__(self, mpi: Mpi, comm: Comm, plan: Messages) -> None:
        self.mpi = mpi
        self.comm = comm
        self.plan = plan
        self.random = random.Random(plan.order * 10 + comm.rank)
        self.plain = Plain()
        self.coming: list[tuple[int, int]] = []
        for number, one in enumerate(plan.messages):
            if one.dest == comm.rank:
                self.plain.sent(one.source, one.tag, one.size, number)
                self.coming.append((one.source, one.tag))
        self.random.shuffle(self.coming)
        self.most = max(one.size for one in plan.messages)
        self.posted: list[tuple[int, Any, Any]] = []
        """Tag asked for, array, and status or request of each receive, in the order of posting."""

    async def run(self) -> int:
        plan, mpi = self.plan, self.mpi
        mpi.Attach_buffer(sum(one.size + 128 for one in plan.messages))
        if plan.posted:
            await self.post(len(self.coming))
            await self.comm.Barrier()
        sends = [request for number, one in enumerate(plan.messages) if one.source == self.comm.rank
                 if (request := await self.send(number, one)) is not None]
        if self.random.random() < 0.5:
            await mpi.port.delay(self.random.randrange(20_000))
        await self.post(self.random.randrange(len(self.coming) + 1))
        while self.coming:
            await self.take()
        await self.finish(sends)
        await mpi.Detach_buffer()
        self.judge()
        return len(self.posted)

    async def send(self, number: int, one: Message) -> Any:
        array = self.mpi.empty(2 * one.size, np.uint8)
        if one.spread:
            array[::2] = pattern(one.size, number)
            what: Any = [array, 1, BYTE.Create_vector(one.size, 1, 2)]
        else:
            array[:one.size] = pattern(one.size, number)
            what = array[:one.size]
        request = await getattr(self.comm, one.mode)(what, one.dest, one.tag)
        if not one.mode.startswith("I") or one.mode == "Ibsend":
            array[:] = 0  # the program may do that
        return request

    def spec(self) -> tuple[int, int, Any]:
        source, tag = self.coming.pop()
        array = self.mpi.empty(self.most + 8, np.uint8)
        array[:] = GUARD
        return (ANY_SOURCE if self.plan.any_source else source,
                ANY_TAG if self.plan.any_tag else tag, array)

    async def post(self, count: int) -> None:
        for _ in range(count):
            source, tag, array = self.spec()
            self.posted.append((tag, array, await self.comm.Irecv(array, source, tag)))

    async def take(self) -> None:
        """Receive one message, after a probe or without."""
        source, tag, array = self.spec()
        how = self.random.choice(["Recv", "Probe", "Mprobe", "Iprobe"])
        if how == "Mprobe":
            message, found = await self.comm.Mprobe(source, tag)
            status = await self.comm.Mrecv(array, message)
        else:
            found = None
            if how == "Probe":
                found = await self.comm.Probe(source, tag)
            elif how == "Iprobe":
                found = await self.comm.Iprobe(source, tag)
            if found is not None:  # what was found is what is received
                source, tag = found.source, found.tag
            status = await self.comm.Recv(array, source, tag)
        if found is not None:
            assert (found.source, found.tag, found.count) == (status.source, status.tag,
                                                              status.count)
        self.posted.append((tag, array, status))

    async def finish(self, sends: list[Any]) -> None:
        """Complete all requests, in some order and way."""
        places = [index for index, (*_, one) in enumerate(self.posted) if isinstance(one, Request)]
        way = self.random.choice(["Wait", "Waitall", "Waitany", "Test"])
        requests = [self.posted[index][2] for index in places]
        statuses: list[Any] = [None] * len(requests)
        if way == "Waitall":
            statuses = await Request.Waitall(requests)
        elif way == "Waitany":
            for _ in requests:
                index, status = await Request.Waitany(requests)
                statuses[index] = status
        else:
            order = list(range(len(requests)))
            self.random.shuffle(order)
            for index in order:
                if way == "Test":
                    while not await requests[index].Test():
                        pass
                    statuses[index] = requests[index].status
                else:
                    statuses[index] = await requests[index].Wait()
        for index, status in zip(places, statuses, strict=True):
            self.posted[index] = (*self.posted[index][:2], status)
        await Request.Waitall(sends)

    def judge(self) -> None:
        """Of each sender, receives get what they may take in the order of sending; nothing else
        is written."""
        for tag, array, status in self.posted:
            wanted = self.plain.takes(status.source, tag)
            assert wanted[:2] == (status.tag, status.count), (wanted, status, tag)
            assert np.array_equal(array[:status.count], pattern(status.count, wanted[2]))
            assert np.all(array[status.count:] == GUARD)


async def _together(mpi: Mpi, comm: Comm, plan: Collective) -> None:
    """A collective call, and its answer."""
    size, rank, count, root = comm.size, comm.rank, plan.count, plan.root % comm.size

    def of(one: int, length: int = count) -> Any:
        return np.random.default_rng(one).integers(0, 1000, length)

    mine, every = of(rank), [of(one) for one in range(size)]
    wide = [of(one, count * size) for one in range(size)]
    part = slice(rank * count, (rank + 1) * count)
    into = mpi.empty(count * size, np.int64)
    wanted: Any
    if plan.call == "Bcast":
        into[:count] = mine
        await comm.Bcast(into[:count], root)
        wanted = every[root]
    elif plan.call == "Reduce":
        await comm.Reduce(mine, into[:count], MAX, root)
        wanted = np.max(every, 0) if rank == root else np.zeros(count)
    elif plan.call == "Allreduce":
        await comm.Allreduce(mine, into[:count], SUM)
        wanted = sum(every)
    elif plan.call == "Scan":
        await comm.Scan(mine, into[:count], SUM)
        wanted = sum(every[:rank + 1])
    elif plan.call == "Allgather":
        await comm.Allgather(mine, into)
        wanted = np.concatenate(every)
    elif plan.call == "Alltoall":
        await comm.Alltoall(wide[rank], into)
        wanted = np.concatenate([one[part] for one in wide])
    elif plan.call == "Gather":
        await comm.Gather(mine, into if rank == root else None, root)
        wanted = np.concatenate(every) if rank == root else np.zeros(count * size)
    else:
        await comm.Scatter(wide[root] if rank == root else None, into[:count], root)
        wanted = wide[root][part]
    assert np.array_equal(into[:len(wanted)], wanted), plan
