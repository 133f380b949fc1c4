"""Topologies, and the collective calls among neighbours, against plain models."""

import itertools
import math
import random

import numpy as np
import pytest
from nicbed.host.mpi import INT, PROC_NULL, MpiError
from nicbed.host.mpi.communicators import contexts
from nicbed.host.mpi.constants import COMM_TYPE_SHARED
from nicbed.host.mpi.topologies import Cartesian, Graph, dims_create

from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks


def run(main, nodes, cpus=1):
    found = Model(describe(nodes=nodes, cpus=cpus)).run(ranks(main, nodes, cpus=cpus), limit=LIMIT)
    return by_rank(found.results)


@pytest.mark.parametrize("nodes, dims, found", [
    (6, [0, 0], [3, 2]), (6, [0, 0, 0], [3, 2, 1]), (7, [0, 0], [7, 1]), (6, [0, 3, 0], [2, 3, 1]),
    (12, [0, 0], [4, 3]), (60, [0, 0, 0], [5, 4, 3]), (16, [2, 0, 0], [2, 4, 2]),
    (1, [], []), (1, [0, 0], [1, 1]), (4096, [0] * 4, [8] * 4), (100003 * 2, [0, 0], [100003, 2])])
def test_dims(nodes, dims, found):
    assert dims_create(nodes, dims) == found


@pytest.mark.parametrize("nodes", range(1, 65))
def test_dims_are_as_equal_as_can_be(nodes):
    for count in (2, 3):
        found = dims_create(nodes, [0] * count)
        assert math.prod(found) == nodes and found == sorted(found, reverse=True)
        assert found[0] - found[-1] == min(
            max(some) - min(some) for some in itertools.product(range(1, nodes + 1), repeat=count)
            if math.prod(some) == nodes) if count == 2 or nodes < 20 else True


@pytest.mark.parametrize("nodes, dims", [(6, [4, 0]), (6, [-1, 0]), (6, [2, 2]), (0, [0])])
def test_dims_that_there_are_not(nodes, dims):
    with pytest.raises(MpiError, match="MPI_ERR_DIMS"):
        dims_create(nodes, dims)


def test_a_grid():
    grid = Cartesian([3, 4], [True, False])
    assert [grid.rank(grid.coords(rank)) for rank in range(12)] == list(range(12))
    assert grid.coords(7) == [1, 3] and grid.rank([-1, 2]) == 10 and grid.rank([4, 0]) == 4
    assert grid.shift(0, 0, 1) == (8, 4) and grid.shift(0, 1, 1) == (PROC_NULL, 1)
    assert grid.shift(3, 1, -2) == (PROC_NULL, 1) and grid.shift(5, 0, 3) == (5, 5)
    assert grid.sources(3) == [11, 7, 2, PROC_NULL]
    for wrong, error in ((lambda: grid.rank([0, 4]), "ARG"), (lambda: grid.coords(12), "RANK"),
                         (lambda: grid.shift(0, 2, 1), "ARG"),
                         (lambda: Cartesian([0], [0]), "DIMS"),
                         (lambda: Graph([1, 0], [0]), "ARG"), (lambda: Graph([1], [1]), "ARG")):
        with pytest.raises(MpiError, match=f"MPI_ERR_{error}"):
            wrong()


def test_communicators_with_a_topology():
    async def main(mpi):
        world = mpi.COMM_WORLD
        cart = await world.Create_cart([2, 2], [1, 0])
        graph = await world.Create_graph([2, 3, 4], [1, 2, 0, 0])
        with pytest.raises(MpiError, match="MPI_ERR_TOPOLOGY"):
            await world.Create_cart([3, 2], [0, 0])
        with pytest.raises(MpiError, match="MPI_ERR_TOPOLOGY"):
            await world.Neighbor_allgather(np.zeros(1), np.zeros(1))
        if cart is None:
            assert world.rank == 4 and graph is None
            return None
        assert (graph is None) == (world.rank == 3)
        again = await cart.Dup()
        assert again.topology is cart.topology
        assert (await cart.Split(0)).topology is None
        column = await cart.Cart_sub([1, 0])
        point = await cart.Cart_sub([0, 0])
        assert point.size == 1 and point.topology.dims == []
        return column.group.world_ranks, column.topology.dims, column.topology.periods

    assert run(main, 5) == [((0, 2), [2], [True]), ((1, 3), [2], [True])] * 2 + [None]


@pytest.mark.parametrize("nodes, seed", [(4, 1), (5, 2), (2, 3)])
def test_neighbours_exchange(nodes, seed):
    """Random grids and graphs, with several edges between two ranks and edges to oneself."""
    order = random.Random(seed)
    grids = [[2, 2], [4, 1], [2], [1, 3]]
    edges = [(order.randrange(nodes), order.randrange(nodes)) for _ in range(3 * nodes)]
    cart = next(dims for dims in grids if math.prod(dims) <= nodes)
    length = order.choice([1, 40, 2000])

    async def exchange(comm, number):
        """What came, of both calls; the values say who sent them, and from which place."""
        sources = comm.topology.sources(comm.rank)
        destinations = comm.topology.destinations(comm.rank)
        out = np.array([[1000 * comm.rank + place] * length for place in range(len(destinations))])
        every, all_ = np.full((2, len(sources), length), -1)
        if number % 2:
            await (await comm.Ineighbor_alltoall(out, all_)).Wait()
            await (await comm.Ineighbor_allgather(np.full(length, comm.rank), every)).Wait()
        else:
            await comm.Neighbor_alltoallv([out.reshape(-1), [length] * len(destinations)],
                                          [all_.reshape(-1), [length] * len(sources)])
            await comm.Neighbor_allgatherv(np.full(length, comm.rank),
                                           [every.reshape(-1), [length] * len(sources)])
        assert (all_ == all_[:, :1]).all() and (every == every[:, :1]).all()
        assert [one if one >= 0 else PROC_NULL for one in every[:, 0].tolist()] == sources
        return all_[:, 0].tolist()

    async def main(mpi):
        world = mpi.COMM_WORLD
        mine = [edge for edge in edges if edge[0] == world.rank]
        came = [edge for edge in edges if edge[1] == world.rank]
        graph = await world.Create_dist_graph_adjacent([one for one, _ in came],
                                                       [one for _, one in mine], None, None)
        told = [edge for place, edge in enumerate(edges) if place % nodes == world.rank]
        again = await world.Create_dist_graph([one for one, _ in told], [1] * len(told),
                                              [one for _, one in told], [2] * len(told))
        assert sorted(again.topology.sources(world.rank)) == sorted(one for one, _ in came)
        assert sorted(again.topology.destinations(world.rank)) == sorted(one for _, one in mine)
        assert again.topology.weights == ([2] * len(came), [2] * len(mine))
        grid = await world.Create_cart(cart, [1] * len(cart))
        found = [await exchange(graph, 0), await exchange(graph, 1)]
        if grid is not None:
            found.append(await exchange(grid, seed))
            types = [INT] * (2 * len(cart))
            small = np.arange(2 * len(cart), dtype=np.int32)
            into = np.zeros_like(small)
            await grid.Neighbor_alltoallw([small, [1] * len(types), small * 4, types],
                                          [into, [1] * len(types), small * 4, types])
            assert into.tolist() == [place ^ 1 for place in range(len(into))]
        return found

    def wanted(rank):
        """Of each edge to ``rank``, in the order of those of one sender."""
        places = {}
        found = []
        for source, to in edges:
            if to == rank:
                places[source] = places.get(source, -1) + 1
                own = [place for place, edge in enumerate(
                    [edge for edge in edges if edge[0] == source]) if edge[1] == rank]
                found.append(1000 * source + own[places[source]])
        return found

    for rank, found in enumerate(run(main, nodes)):
        assert found[0] == found[1] == wanted(rank)
        for direction, one in enumerate(found[2] if len(found) > 2 else ()):
            source = Cartesian(cart, [1] * len(cart)).sources(rank)[direction]
            assert one == 1000 * source + (direction ^ 1)


def test_ranks_of_a_node():
    async def main(mpi):
        node = await mpi.COMM_WORLD.Split_type(COMM_TYPE_SHARED)
        with pytest.raises(MpiError, match="no kind by which"):
            await mpi.COMM_WORLD.Split_type(99)
        return node.group.world_ranks

    assert run(main, 2, cpus=2) == [[(0, 1)] * 2, [(2, 3)] * 2]


def test_contexts():
    """Duplicates that are made at once have contexts of their own, whatever the order; those that
    were freed are used again, but not while a message may come by them."""
    async def main(mpi):
        world = mpi.COMM_WORLD
        other = await world.Dup()
        made, others = [], []
        pair = [world, made], [other, others]
        requests = [await comm.Idup(into) for comm, into in (pair if world.rank else pair[::-1])]
        blocking = await world.Dup()
        for one in requests:
            await one.Wait()
        few = None
        if world.rank < 2:
            few = await world.Create_group(world.group.Incl([1, 0]))
            assert few.rank == 1 - world.rank
        contexts = [one.context for one in (world, other, blocking, *made, *others)]
        assert len(set(contexts)) == 5
        blocking.Free()
        highest = (await world.Dup()).context
        assert highest == blocking.context
        late = await world.Dup()
        into = np.zeros(1)
        request = await late.Irecv(into, (world.rank - 1) % world.size)
        late.Free()
        assert (await world.Dup()).context != late.context
        with pytest.raises(MpiError, match="which was freed"):
            await late.Send(into, 0)
        await request.Cancel()
        await request.Wait()
        return contexts

    first, *rest = run(main, 3)
    assert all(one == first for one in rest)


@pytest.mark.parametrize("call", ["Idup", "Create_group", "Create_intercomm", "Merge"])
def test_no_context_is_left(call, monkeypatch):
    """Of the one rank that gives them: all ranks are told, and one that is freed is given again."""
    monkeypatch.setattr(contexts, "END", contexts.OWN + 4 * 2)

    async def main(mpi):
        world, made = mpi.COMM_WORLD, []
        alone = await world.Split(world.rank)
        pair = await alone.Create_intercomm(0, world, 1 - world.rank)
        await (await world.Idup(made)).Wait()

        async def make():
            if call == "Idup":
                await (await world.Idup(made)).Wait()
            elif call == "Create_group":
                await world.Create_group(world.group)
            elif call == "Merge":
                await pair.Merge(bool(world.rank))
            else:
                await alone.Create_intercomm(0, world, 1 - world.rank)

        with pytest.raises(MpiError, match="no more than 2 communicators may be in use whose"):
            await make()
        made[0].Free()
        await make()

    run(main, 2)
