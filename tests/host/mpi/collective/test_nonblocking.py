"""Calls that have only begun: what they give, what may be under way, and what goes wrong."""

import numpy as np
import pytest
from nicbed.host.mpi import (
    BYTE,
    IN_PLACE,
    INT,
    MAX,
    ErrorClass,
    MpiError,
    Op,
    Request,
    RequestError,
    Status,
)
from nicbed.host.mpi.collective import nonblocking as background
from nicbed.host.mpi.constants import MAX_TAG

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks


def run(main, channel="via", nodes=2, **knobs):
    found = Model(describe(channel, nodes, **knobs)).run(ranks(main, nodes, channel), limit=LIMIT)
    return by_rank(found.results, channel)


async def everything(mpi, waits):
    """Results of all collective calls; ``waits``: by those that block."""
    comm = mpi.COMM_WORLD
    size, rank = comm.size, comm.rank
    many = np.arange(size * 3, dtype=np.int32) + 100 * rank
    counts = list(range(1, size + 1))
    jobs = [
        ("barrier", (), None),
        ("bcast", (many.copy(), size - 1), 0),
        ("reduce", (many, np.zeros_like(many), MAX, size - 1), 1),
        ("allreduce", (many, np.zeros_like(many)), 1),
        ("scan", (many, np.zeros_like(many)), 1),
        ("exscan", (many, np.zeros_like(many)), 1),
        ("reduce_scatter", (many, np.zeros(3, np.int32), [3] * size), 1),
        ("alltoall", (many, np.zeros_like(many)), 1),
        ("alltoallv", ([np.full(sum(counts), rank, np.int32), counts],
                       [np.zeros(size * (rank + 1), np.int32), [rank + 1] * size]), 1),
        ("alltoallv", (IN_PLACE, [many.copy(), [3] * size]), 1),
        ("alltoallw", ([many, [1] * size, [12 * one for one in range(size)],
                        [INT if one % 2 else BYTE for one in range(size)]],
                       [np.zeros_like(many), [1] * size, [12 * one for one in range(size)],
                        [INT if rank % 2 else BYTE] * size]), 1),
        ("allgather", (many, np.zeros(size * len(many), np.int32)), 1),
        ("allgatherv", (many[:rank + 1], [np.zeros(sum(counts), np.int32), counts]), 1),
        ("gather", (many, np.zeros(size * len(many), np.int32), 1), 1),
        ("gatherv", (many[:rank + 1], [np.zeros(sum(counts), np.int32), counts], 1), 1),
        ("scatter", (many, np.zeros(3, np.int32), 1), 1),
        ("scatterv", ([np.arange(sum(counts), dtype=np.int32), counts],
                      np.zeros(rank + 1, np.int32), 1), 1),
    ]
    if waits:
        for name, arguments, _ in jobs:
            await getattr(comm, name.capitalize())(*arguments)
    else:
        begun = [await getattr(comm, f"I{name}")(*arguments) for name, arguments, _ in jobs]
        await Request.Waitall(begun[::-1])
    results = [None if place is None else arguments[place] for _, arguments, place in jobs]
    return [(one[0] if isinstance(one, list) else one).tolist() for one in results
            if one is not None]


@pytest.mark.parametrize("nodes, channel", [(2, "via"), *(
    more(nodes, channel) for nodes, channel in
    ((3, "via"), (4, "via"), (5, "via"), (2, "gm"), (2, "tcp"), (2, "shm")))])
def test_all_at_once_give_what_those_that_block_give(nodes, channel):
    wanted = run(lambda mpi: everything(mpi, True), channel, nodes)
    assert run(lambda mpi: everything(mpi, False), channel, nodes) == wanted


def test_calls_of_one_kind_and_other_roots_do_not_mix():
    """Rank 2 sends to rank 3 in both trees, and has the second one's data first."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        first, second = (np.full(4, 10 * one + comm.rank) for one in (1, 2))
        if comm.rank == 0:
            await mpi.port.delay(200_000)
        begun = [await comm.Ibcast(first, 0), await comm.Ibcast(second, 2)]
        await begun[1].Wait()
        await begun[0].Wait()
        return first[0], second[0]

    assert run(main, nodes=4) == [(10, 22)] * 4


@pytest.mark.parametrize("length", [8, 100_000])
def test_they_go_on_in_other_calls(length):
    """A rank that only waits for messages of others serves the tree of a broadcast."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        data = np.full(length, comm.rank, np.uint8)
        request = await comm.Ibcast(data, 0)
        if comm.rank == 3:
            await request.Wait()
            await comm.Send(data[:1], 2, 5)
        if comm.rank == 2:  # rank 3's parent in the tree
            await comm.Recv(np.zeros(1, np.uint8), 3, 5)
        await request.Wait()
        return int(data[-1])

    assert run(main, nodes=4) == [0] * 4


def test_nothing_goes_on_outside_of_calls():
    """Rank 2 computes, and rank 3 waits for it, until it looks."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        data = np.full(8, comm.rank, np.uint8)
        request = await comm.Ibcast(data, 0)
        if comm.rank == 2:
            await mpi.port.delay(500_000)
        await request.Wait()
        return await mpi.Wtime() * 66e6

    ended = run(main, nodes=4)
    assert ended[1] < 200_000 and ended[3] > 500_000


def test_exchanges():
    async def main(mpi):
        comm = mpi.COMM_WORLD
        out, into = np.full(3000, comm.rank), np.zeros(3000, int)
        request = await comm.Isendrecv(out, 1 - comm.rank, 7, into, 1 - comm.rank, 7)
        status = await request.Wait()
        again = await comm.Isendrecv_replace(out, 1 - comm.rank, 8, 1 - comm.rank, 8)
        assert not await again.Test() or comm.rank
        await again.Wait()
        return into[-1], out[-1], status.source, status.tag

    assert run(main) == [(1, 1, 1, 7), (0, 0, 0, 7)]


async def total(comm, begin):
    found = np.zeros(1, int)
    await (await begin(np.full(1, comm.rank), found)).Wait()
    return int(found[0])


def test_exchanges_of_some_ranks_leave_the_tags_of_collective_calls_alone():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(1)
        if comm.rank < 2:
            other = 1 - comm.rank
            await (await comm.Isendrecv(np.zeros(1), other, 0, data, other, 0)).Wait()
            await (await comm.Isendrecv_replace(data, other, 0, other, 0)).Wait()
        return await total(comm, comm.Iallreduce)

    assert run(main, nodes=3) == [3] * 3


def test_a_call_that_fails_at_once_leaves_the_tags_of_the_next_alone():
    async def main(mpi):
        comm = mpi.COMM_WORLD
        if comm.rank == 0:
            for wrong in (comm.Ibcast(np.zeros(1), 7), comm.Iallgather(np.zeros(1), None)):
                with pytest.raises(MpiError):
                    await wrong
        return await total(comm, comm.Iallreduce)

    assert run(main) == [1] * 2


def test_a_call_that_fails_by_what_has_come_fails_when_it_is_waited_for():
    """It has begun, for all ranks, and keeps its tags."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        if comm.rank == 0:
            await (await comm.Ibcast(np.zeros(5), 0)).Wait()
            await comm.Send(np.zeros(1), 1)
        else:
            await comm.Recv(np.zeros(1), 0)
            request = await comm.Ibcast(np.zeros(2), 0)
            with pytest.raises(MpiError, match="MPI_ERR_TRUNCATE"):
                await request.Wait()
        return await total(comm, comm.Iallreduce)

    assert run(main) == [1] * 2


def test_calls_one_after_another_have_other_tags_when_all_have_been_used():
    async def main(mpi):
        comm, found, begin = mpi.COMM_WORLD, [], mpi.sending.begin

        def seen(send):
            found.append(send.tag // background.TAGS * background.TAGS)
            return begin(send)

        mpi.sending.begin = seen
        for begun in (0, background.SETS - 1, background.SETS, background.SETS + 1):
            comm.nonblocking = begun
            await (await comm.Ibarrier()).Wait()
        mpi.sending.begin = begin
        return found

    last = background.TAGS * background.SETS
    assert run(main) == [[16, last, 16, 32]] * 2
    assert last + background.TAGS <= MAX_TAG + 1


@pytest.mark.parametrize("main, text", [
    (lambda comm: comm.Ibcast(np.zeros(1), 2), "Bcast: there is no root 2 in COMM_WORLD"),
    (lambda comm: comm.Igather(np.zeros(1), np.zeros(3), 0), "3 elements in 2 parts"),
])
def test_errors_of_arguments_are_those_of_the_call_that_begins(main, text):
    async def all_of_it(mpi):
        if mpi.rank == 0:
            with pytest.raises(MpiError, match=text):
                await main(mpi.COMM_WORLD)

    run(all_of_it)


def test_an_error_on_the_way_is_raised_by_the_wait():
    async def main(mpi):
        comm = mpi.COMM_WORLD
        if comm.rank == 0:
            await comm.Barrier()
            await (await comm.Ibcast(np.zeros(5), 0)).Wait()
            return
        request = await comm.Ibcast(np.zeros(2), 0)
        await comm.Barrier()
        with pytest.raises(MpiError, match="MPI_ERR_TRUNCATE: rank 1: 40 bytes from rank 0"):
            await request.Wait()
        assert request.status == Status(error=int(ErrorClass.ERR_TRUNCATE))

    run(main)


@pytest.mark.parametrize("replaces", [False, True])
def test_an_exchange_whose_receive_fails_says_what_has_come(replaces):
    async def main(mpi):
        comm, other = mpi.COMM_WORLD, 1 - mpi.rank
        if comm.rank == 0:
            await comm.Send(np.zeros(5), other, 7)
            await comm.Recv(np.zeros(2), other, 6)
            return None
        data = np.zeros(2)
        request = await (comm.Isendrecv_replace(data, other, 6, other, 7) if replaces else
                         comm.Isendrecv(np.zeros(2), other, 6, data, other, 7))
        with pytest.raises(RequestError, match="MPI_ERR_TRUNCATE: rank 1: 40 bytes") as found:
            await request.Wait()
        status = found.value.found
        return status.source, status.tag, status.error

    assert run(main)[1] == (0, 7, int(ErrorClass.ERR_TRUNCATE))


@pytest.mark.parametrize("waits", [False, True])
def test_what_a_function_of_the_program_raises_ends_its_call_alone(waits):
    """It comes out of whatever call goes on with it, and the next are as before."""
    def wrong(_, __):
        raise ValueError("wrong")

    async def main(mpi):
        comm = mpi.COMM_WORLD
        with pytest.raises(ValueError, match="wrong"):
            request = await comm.Iallreduce(np.ones(1), np.zeros(1), Op("wrong", wrong))
            await (request.Wait() if waits else comm.Barrier())
        with pytest.raises(MpiError, match=f"MPI_ERR_OTHER: rank {comm.rank}: Iallreduce, "
                           "COMM_WORLD, ended by ValueError: wrong"):
            await request.Wait()
        assert not mpi.engine.tasks
        await mpi.port.delay(100_000)
        return await total(comm, comm.Iallreduce)

    assert run(main) == [1] * 2


def test_a_deadlock_names_the_call_and_what_it_waits_for():
    async def main(mpi):
        comm = mpi.COMM_WORLD
        if comm.rank == 0:
            await (await comm.Ibarrier()).Wait()
        else:
            await comm.Recv(np.zeros(1), 0, 3)

    with pytest.raises(MpiError, match="rank 0: Ibarrier, COMM_WORLD: rank 0: Barrier from rank 1,"
                       ".* rank 1: Recv from rank 0, tag 3, COMM_WORLD"):
        run(main)


@pytest.mark.parametrize("channel", ["via", more("gm"), more("tcp"), more("shm")])
@pytest.mark.parametrize("begin, wanted", [
    (lambda comm, out, into: [comm.Isendrecv(out, 1 - comm.rank, 0, into, 1 - comm.rank, 0)],
     {0: 1, 1: 0}),
    (lambda comm, out, into: [comm.Irecv(into, 1 - comm.rank), comm.Isend(out, 1 - comm.rank)],
     {0: 1, 1: 0}),
    (lambda comm, out, into: [comm.Iallreduce(out, into, MAX)], {0: 1, 1: 1}),
], ids=["exchange", "receive", "collective"])
def test_finalize_waits_for_what_nobody_has_waited_for(begin, wanted, channel):
    arrays = {}

    async def main(mpi):
        comm = mpi.COMM_WORLD
        out, into = np.full(30000, comm.rank), mpi.zeros(30000, int)
        arrays[comm.rank] = into
        for one in begin(comm, out, into):
            await one

    run(main, channel)
    assert {rank: int(into[-1]) for rank, into in arrays.items()} == wanted


@pytest.mark.parametrize("channel", ["via", more("gm"), more("tcp"), more("shm")])
def test_finalize_finds_what_never_ends(channel):
    async def main(mpi):
        if mpi.rank == 0:
            await mpi.COMM_WORLD.Irecv(np.zeros(1), 1)

    with pytest.raises(MpiError, match="MPI_ERR_PENDING: deadlock, no rank can go on: rank 0: "
                       "Finalize with 1 receives that have not ended; rank 1: Barrier from"):
        run(main, channel)


def test_finalize_finds_what_has_not_ended():
    async def main(mpi):
        if mpi.rank == 0:
            await mpi.COMM_WORLD.Igather(np.zeros(1), np.zeros(2), 0)

    with pytest.raises(MpiError, match="Finalize, and a call has not ended: rank 0: Igather, "
                       "COMM_WORLD: rank 0: Gather from rank 1"):
        run(main)
