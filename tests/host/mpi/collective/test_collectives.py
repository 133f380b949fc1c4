"""Collective calls against numpy; communicators; derived types."""

import numpy as np
import pytest
from nicbed.host.mpi import (
    DOUBLE,
    IN_PLACE,
    INT,
    MAX,
    MIN,
    PROD,
    SUM,
    UNDEFINED,
    Group,
    Op,
)
from nicbed.host.mpi.data.datatypes import INT8, INT16, LONG, Datatype

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks

NODES = [1, 2, 3, 4, *map(more, (5, 8))]


def run(main, channel="via", nodes=2, **knobs):
    there = max(2, nodes)
    programs = ranks(main, nodes, channel)
    some = programs[0] if channel == "shm" else programs
    some += [None] * (there - nodes)
    found = Model(describe(channel, there, **knobs)).run(programs, limit=LIMIT).results
    return by_rank(found, channel)[:nodes]


def values(rank, count, kind=np.float64):
    return (np.random.default_rng(rank).integers(1, 50, count)).astype(kind)


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("count", [1, 1000])
def test_reductions(nodes, count):
    every = [values(rank, count) for rank in range(nodes)]

    async def main(mpi):
        comm = mpi.COMM_WORLD
        mine = every[comm.rank].copy()
        for op, wanted in ((SUM, sum(every)), (MAX, np.max(every, 0)), (MIN, np.min(every, 0))):
            found = np.zeros(count)
            await comm.Allreduce(mine, found, op)
            assert np.array_equal(found, wanted)
            for root in {0, nodes - 1}:
                found[:] = 0
                await comm.Reduce(mine, found, op, root)
                assert np.array_equal(found, wanted if comm.rank == root else np.zeros(count))
        await comm.Scan(mine, found)
        assert np.array_equal(found, sum(every[:comm.rank + 1]))
        found[:] = -1
        await comm.Exscan(mine, found)
        assert np.array_equal(found, sum(every[:comm.rank]) if comm.rank else np.full(count, -1.0))
        part = np.zeros(count)
        await comm.Reduce_scatter(np.tile(mine, nodes), part, [count] * nodes)
        assert np.array_equal(part, sum(every))
        await comm.Allreduce(IN_PLACE, mine)
        assert np.array_equal(mine, sum(every))
        return True

    assert all(run(main, nodes=nodes))


@pytest.mark.parametrize("nodes", NODES)
def test_operations_that_do_not_commute_keep_the_order_of_the_ranks(nodes):
    def compose(lower, higher):
        """Of two maps x -> a x + b, the first and then the second."""
        first, second = lower.reshape(-1, 2), higher.reshape(-1, 2)
        return np.stack((first[:, 0] * second[:, 0] % 97,
                         (second[:, 0] * first[:, 1] + second[:, 1]) % 97), 1).reshape(-1)

    every = [values(rank, 8, np.int64) for rank in range(nodes)]
    wanted = every[0]
    for one in every[1:]:
        wanted = compose(wanted, one)

    async def main(mpi):
        comm, found = mpi.COMM_WORLD, np.zeros(8, np.int64)
        await comm.Allreduce(every[comm.rank], found, Op.Create(compose))
        assert np.array_equal(found % 97, wanted % 97)
        await comm.Reduce(every[comm.rank], found, Op.Create(compose), nodes - 1)
        return comm.rank < nodes - 1 or np.array_equal(found % 97, wanted % 97)

    assert all(run(main, nodes=nodes))


@pytest.mark.parametrize("channel", ["via", "gm", "tcp", "shm"])
@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("count", [1, 700])
def test_exchanges(channel, nodes, count):
    async def main(mpi):
        comm = mpi.COMM_WORLD
        size, rank = comm.size, comm.rank
        out = mpi.empty(size * count, np.int32)
        out[:] = np.arange(size * count) + 1000 * rank
        into = mpi.empty(size * count, np.int32)
        await comm.Alltoall(out, into)
        whole = [np.arange(size * count) + 1000 * other for other in range(size)]
        assert np.array_equal(into, np.concatenate([one[rank * count:(rank + 1) * count]
                                                    for one in whole]))
        await comm.Alltoall(IN_PLACE, out)
        assert np.array_equal(out, into)
        counts = [(rank + other) % 3 * count for other in range(size)]
        places = np.concatenate(([0], np.cumsum(counts)))[:-1]
        data = np.concatenate([np.full(n, 10 * rank + other) for other, n in enumerate(counts)]
                              or [[]]).astype(np.int32)
        took = np.zeros(sum(counts), np.int32)
        await comm.Alltoallv([data, counts, places], [took, counts, places])
        assert np.array_equal(took, np.concatenate([np.full(n, 10 * other + rank)
                                                    for other, n in enumerate(counts)]))
        mine = np.arange(count, dtype=np.int32) + 100 * rank
        every = np.concatenate([np.arange(count) + 100 * other for other in range(size)])
        found = np.zeros(size * count, np.int32)
        await comm.Allgather(mine, found)
        assert np.array_equal(found, every)
        root = size - 1
        found[:] = 0
        await comm.Gather(mine, found if rank == root else None, root)
        assert rank != root or np.array_equal(found, every)
        part = np.zeros(count, np.int32)
        await comm.Scatter(every.astype(np.int32) if rank == root else None, part, root)
        assert np.array_equal(part, mine)
        lengths = [other % 2 + 1 for other in range(size)]
        some = np.full(lengths[rank], rank, np.int32)
        gathered = np.zeros(sum(lengths), np.int32)
        await comm.Allgatherv(some, [gathered, lengths])
        assert np.array_equal(gathered, np.repeat(np.arange(size), lengths))
        gathered[:] = 0
        await comm.Gatherv(some, [gathered, lengths] if rank == 0 else None)
        assert rank or np.array_equal(gathered, np.repeat(np.arange(size), lengths))
        some[:] = -1
        await comm.Scatterv([gathered, lengths] if rank == 0 else None, some)
        assert np.all(some == rank)
        data = np.arange(count, dtype=np.float64) * (rank == root)
        await comm.Bcast(data, root)
        assert np.array_equal(data, np.arange(count))
        return True

    assert all(run(main, channel, nodes))


@pytest.mark.parametrize("nodes", [2, 4, 5])
def test_a_barrier_waits_for_all(nodes):
    async def main(mpi):
        await mpi.port.delay(10_000 * mpi.COMM_WORLD.rank)
        await mpi.port.flush()
        before = mpi.port.cycle
        await mpi.COMM_WORLD.Barrier()
        await mpi.port.flush()
        return before, mpi.port.cycle

    found = run(main, nodes=nodes)
    assert max(before for before, _ in found) < min(after for _, after in found)


def test_communicators_are_apart():
    async def main(mpi):
        world = mpi.COMM_WORLD
        half = await world.Split(world.rank % 2, -world.rank)
        assert half.size == 2 and half.group.world_ranks == ((2, 0), (3, 1))[world.rank % 2]
        other = await world.Dup()
        data, into = np.array([world.rank]), np.zeros(1, np.int64)
        # The same rank and tag in three communicators, received in another order.
        peer = half.group.world_ranks[1 - half.rank]
        requests = [await world.Isend(data, peer, 1), await other.Isend(data + 10, peer, 1),
                    await half.Isend(data + 20, 1 - half.rank, 1)]
        found = []
        for comm, rank in ((half, 1 - half.rank), (other, peer), (world, peer)):
            await comm.Recv(into, rank, 1)
            found.append(int(into[0]) - peer)
        for request in requests:
            await request.Wait()
        none = await world.Split(UNDEFINED if world.rank else 1, 0)
        assert (none is None) == bool(world.rank)
        group = await world.Create(world.Get_group().Incl([3, 1]))
        assert (group is None) == (world.rank in (0, 2))
        if group is not None:
            await group.Barrier()
            assert group.group.world_ranks == (3, 1)
        return found

    assert run(main, nodes=4) == [[20, 10, 0]] * 4


def test_groups():
    whole = Group(range(6), 2)
    assert whole.Excl([0, 2]).world_ranks == (1, 3, 4, 5)
    assert whole.Excl([2]).rank == UNDEFINED
    assert whole.Range_incl([(4, 0, -2)]).world_ranks == (4, 2, 0)
    some, others = whole.Incl([5, 1]), whole.Incl([1, 2])
    assert Group.Union(some, others).world_ranks == (5, 1, 2)
    assert Group.Intersection(some, others).world_ranks == (1,)
    assert Group.Difference(some, others).world_ranks == (5,)
    assert some.Translate_ranks([0, 1], others) == [UNDEFINED, 0]
    assert [Group.Compare(some, one) for one in (some, whole.Incl([1, 5]), others)] == [0, 2, 3]


TYPES: list[tuple[Datatype, list[int]]] = [
    (INT.Create_contiguous(3), [0, 1, 2]),
    (INT.Create_vector(3, 2, 5), [0, 1, 5, 6, 10, 11]),
    (INT.Create_indexed([2, 1, 3], [7, 3, 12]), [7, 8, 3, 12, 13, 14]),
    (INT.Create_vector(2, 1, 3).Create_contiguous(2), [0, 3, 4, 7]),
    (INT.Create_hvector(2, 1, 8).Create_resized(0, 20), [0, 2]),
]


@pytest.mark.parametrize("number", range(len(TYPES)))
@pytest.mark.parametrize("rendezvous", ["write", "read", "bounce"])
@pytest.mark.parametrize("derived", ["pack", "segments"])
@pytest.mark.parametrize("eager", [1, 1024])
def test_derived_types(number, rendezvous, derived, eager):
    """The bytes of a type, in its order, and no others; against numpy's indexing."""
    datatype, places = TYPES[number]
    count = 4
    step = datatype.extent // 4
    where = np.concatenate([np.array(places) + step * one for one in range(count)])

    async def main(mpi):
        comm = mpi.COMM_WORLD
        data, plain = mpi.empty(200, np.int32), mpi.empty(len(where), np.int32)
        if comm.rank == 0:
            data[:] = np.arange(200)
            await comm.Send([data, count, datatype], 1, 1)
            await comm.Send([data, count, datatype], 1, 2)
            plain[:] = -np.arange(len(where))
            await comm.Send(plain, 1, 3)
            return True
        data[:] = -5
        status = await comm.Recv([data, count, datatype], 0, 1)
        assert status.Get_count(datatype) == count and status.Get_elements(datatype) == len(where)
        wanted = np.full(200, -5)
        wanted[where] = where
        assert np.array_equal(data, wanted)
        await comm.Recv(plain, 0, 2)
        assert np.array_equal(plain, where)
        await comm.Recv([data, count, datatype], 0, 3)
        wanted[where] = -np.arange(len(where))
        return np.array_equal(data, wanted)

    assert all(run(main, mpi__rendezvous=rendezvous, mpi__derived=derived, mpi__eager=eager))


def test_product_of_whole_numbers():
    async def main(mpi):
        found = np.zeros(3, np.int64)
        await mpi.COMM_WORLD.Allreduce(np.arange(1, 4) + mpi.COMM_WORLD.rank, found, PROD)
        return found.tolist()

    assert run(main, nodes=3) == [[1 * 2 * 3, 2 * 3 * 4, 3 * 4 * 5]] * 3


def test_a_double_is_eight_bytes():
    assert (DOUBLE.Get_size(), DOUBLE.Create_vector(2, 1, 3).Get_extent()) == (8, (0, 32))


@pytest.mark.parametrize("types, extent", [
    ([DOUBLE, INT], 16), ([INT, INT], 12), ([LONG, INT.Create_vector(2, 1, 2)], 24),
    ([INT16.Dup(), INT8], 10),
])
def test_a_struct_is_as_long_as_in_c(types, extent):
    assert Datatype.Create_struct([1, 1], [0, 8], types).Get_extent() == (0, extent)
