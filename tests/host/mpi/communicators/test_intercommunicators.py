"""Communicators of two groups, against what MPI says of each call."""

import random

import numpy as np
import pytest
from nicbed.host.mpi import PROC_NULL, PROD, SUM, UNDEFINED, MpiError, Op
from nicbed.host.mpi.constants import CONGRUENT, IDENT, ROOT, UNEQUAL

from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks


def run(main, nodes):
    return by_rank(Model(describe(nodes=nodes)).run(ranks(main, nodes), limit=LIMIT).results)


async def two(mpi, first):
    """The communicator of ranks 0 to ``first`` and of the others, and the intracommunicator of this
    side."""
    world = mpi.COMM_WORLD
    low = world.rank < first
    local = await world.Split(int(low), 0)
    return await local.Create_intercomm(0, world, first if low else 0, 5), local, low


@pytest.mark.parametrize("nodes, first", [(2, 1), (5, 2), (5, 4)])
def test_messages_go_to_the_other_group(nodes, first):
    async def main(mpi):
        comm, _, low = await two(mpi, first)
        sizes = first, nodes - first
        assert (comm.size, comm.reach) == (sizes if low else sizes[::-1])
        got = []
        for rank in range(comm.reach):
            mine, other = np.array([100 * low + comm.rank]), np.zeros(1, np.int64)
            status = await comm.Sendrecv(mine, rank, 3, other, rank, 3)
            assert status.source == rank
            got.append(int(other[0]))
        with pytest.raises(MpiError, match="there is no rank"):
            await comm.Send(np.zeros(1), comm.reach)
        return got

    found = run(main, nodes)
    assert found == ([list(range(nodes - first))] * first
                     + [[100 + rank for rank in range(first)]] * (nodes - first))


@pytest.mark.parametrize("nodes, first, seed", [(4, 1, 1), (5, 3, 2), (3, 2, 3)])
def test_collective_calls(nodes, first, seed):
    """Each call in a random order, waiting or only begun, against numpy."""
    order = random.Random(seed)
    calls = [order.choice(["", "I"]) + name for name in
             ["bcast", "gather", "scatter", "allgather", "allgatherv", "alltoall", "reduce",
              "allreduce", "reduce_scatter", "barrier", "alltoallv"] * 2]
    order.shuffle(calls)
    sides = [first, nodes - first]
    roots = [(order.randrange(2), order.randrange(nodes)) for _ in calls]
    lengths = [order.choice([1, 7, 300]) for _ in calls]

    def data(number, side, rank, length):
        return np.random.default_rng([number, side, rank]).integers(0, 9, length)

    async def main(mpi):
        comm, _, low = await two(mpi, first)
        mine, other = (0, 1) if low else (1, 0)
        pending = []
        for number, (name, (root_side, place), length) in enumerate(
                zip(calls, roots, lengths, strict=True)):
            begun, name = name[0] == "I", name.removeprefix("I")
            root = place % sides[root_side]
            at_root = mine == root_side
            said = (ROOT if comm.rank == root else PROC_NULL) if at_root else root
            own = data(number, mine, comm.rank, length)
            every = np.array([data(number, other, rank, length) for rank in range(comm.reach)])
            into, wanted, asked = None, None, ()
            if name == "bcast":
                into = own.copy()
                wanted = own if at_root else data(number, other, root, length)
                asked = into, said
            elif name == "gather":
                into = np.zeros_like(every)
                wanted = every if said == ROOT else into.copy()
                asked = own, into if said == ROOT else None, said
            elif name == "scatter":
                whole = data(number, root_side, root, length * sides[1 - root_side])
                into = np.zeros(length, np.int64)
                wanted = into.copy() if at_root else whole.reshape(-1, length)[comm.rank]
                asked = whole, into, said
            elif name in ("allgather", "allgatherv"):
                into, wanted = np.zeros_like(every), every
                asked = own, into if name == "allgather" else [into.reshape(-1),
                                                               [length] * comm.reach]
            elif name in ("alltoall", "alltoallv"):
                out = np.array([own * rank for rank in range(comm.reach)])
                into, wanted = np.zeros_like(every), every * comm.rank
                asked = (out, into) if name == "alltoall" else (
                    [out.reshape(-1), [length] * comm.reach],
                    [into.reshape(-1), [length] * comm.reach])
            elif name == "reduce":
                into = np.zeros_like(own)
                wanted = every.sum(0) if said == ROOT else into.copy()
                asked = own, into if said == ROOT else None, SUM, said
            elif name == "allreduce":
                into, wanted = np.zeros_like(own), every.prod(0)
                asked = own, into, PROD
            elif name == "reduce_scatter":
                part = sides[0] * sides[1]
                counts = [part // comm.size] * comm.size
                every = np.array([data(number, other, rank, part) for rank in range(comm.reach)])
                into = np.zeros(counts[0], np.int64)
                wanted = every.sum(0)[counts[0] * comm.rank:counts[0] * (comm.rank + 1)]
                asked = data(number, mine, comm.rank, part), into, counts, SUM
            call = getattr(comm, f"I{name}" if begun else name.capitalize())
            found = await call(*asked)
            if begun:
                pending.append((name, found, into, wanted))
            elif into is not None:
                assert np.array_equal(into, wanted), (number, name)
        for name, request, into, wanted in pending:
            await request.Wait()
            assert into is None or np.array_equal(into, wanted), name
        with pytest.raises(MpiError, match="MPI_ERR_COMM"):
            await comm.Scan(np.zeros(1), np.zeros(1))
        with pytest.raises(MpiError, match="MPI_ERR_ROOT"):
            await comm.Bcast(np.zeros(1), comm.reach)

    run(main, nodes)


def test_what_does_not_commute_keeps_the_order_of_the_other_group():
    async def main(mpi):
        comm, _, low = await two(mpi, 3)
        last = Op("last", lambda lower, higher: 10 * lower + higher, False)
        into = np.zeros(1, np.int64)
        await comm.Allreduce(np.array([comm.rank + 1]), into, last)
        return int(into[0])

    assert run(main, 5) == [12, 12, 12, 123, 123]


def test_made_of_them():
    async def main(mpi):
        world = mpi.COMM_WORLD
        comm, local, low = await two(mpi, 2)
        assert comm.Compare(comm) == IDENT and comm.Compare(local) == UNEQUAL
        copies = [await comm.Dup()]
        requests = [await comm.Idup(copies) for _ in range(3)]
        for one in requests:
            await one.Wait()
        assert len({one.context for one in copies} | {comm.context}) == 5
        assert all(one.Compare(comm) == CONGRUENT for one in copies)
        split = await comm.Split(comm.rank % 2, -comm.rank)
        sizes = split.size, split.reach, split.group.world_ranks, split.peers.world_ranks
        alone = await comm.Split(7 if low else UNDEFINED)
        assert alone is None
        few = await comm.Create(comm.group.Incl([1]))
        merged = await comm.Merge(low)
        ranks = merged.group.world_ranks
        other = np.zeros(1, np.int64)
        await copies[-1].Sendrecv(np.array([world.rank]), 0, 1, other, 0, 1) if comm.rank == 0 \
            else None
        for one in copies:
            one.Free()
        return sizes, None if few is None else few.peers.world_ranks, ranks, int(other[0])

    merged = (2, 3, 4, 0, 1)
    assert run(main, 5) == [
        ((1, 2, (0,), (4, 2)), None, merged, 2),
        ((1, 1, (1,), (3,)), (3,), merged, 0),
        ((2, 1, (4, 2), (0,)), None, merged, 0),
        ((1, 1, (3,), (1,)), (1,), merged, 0),
        ((2, 1, (4, 2), (0,)), None, merged, 0)]
