"""Buffers of collective calls that overlap are refused, where the data would; others are not."""

import random

import numpy as np
import pytest
from nicbed.host.mpi import BYTE, DOUBLE, INT, Comm, ErrorClass, MpiError
from nicbed.host.mpi.data.datatypes import Datatype
from nicbed.host.mpi.data.memory import Memory
from nicbed.host.mpi.data.message_data import Parts
from nicbed.host.mpi.data.overlap import apart

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe, ranks

CALLS = {
    "Reduce": lambda comm, a, b: comm.Reduce(a[:4], b[:4]),
    "Allreduce": lambda comm, a, b: comm.Allreduce(a[:4], b[:4]),
    "Scan": lambda comm, a, b: comm.Scan(a[:4], b[:4]),
    "Exscan": lambda comm, a, b: comm.Exscan(a[:4], b[:4]),
    "Reduce_scatter": lambda comm, a, b: comm.Reduce_scatter(a[:4], b[:2], [2, 2]),
    "Alltoall": lambda comm, a, b: comm.Alltoall(a[:4], b[:4]),
    "Alltoallv": lambda comm, a, b: comm.Alltoallv([a, [2, 2]], [b, [2, 2]]),
    "Alltoallw": lambda comm, a, b: comm.Alltoallw([a, [2, 2], [0, 8], [INT, INT]],
                                                   [b, [2, 2], [0, 8], [INT, INT]]),
    "Allgather": lambda comm, a, b: comm.Allgather(a[:2], b[:4]),
    "Allgatherv": lambda comm, a, b: comm.Allgatherv(a[:2], [b, [2, 2]]),
    "Gather": lambda comm, a, b: comm.Gather(a[:2], b[:4]),
    "Gatherv": lambda comm, a, b: comm.Gatherv(a[:2], [b, [2, 2]]),
    "Scatter": lambda comm, a, b: comm.Scatter(a[:4], b[:2]),
    "Scatterv": lambda comm, a, b: comm.Scatterv([a, [2, 2]], b[:2]),
}
AT_THE_ROOT = {"Reduce", "Gather", "Gatherv", "Scatter", "Scatterv"}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("begins", [False, True])
def test_calls(name, begins):
    """With the same memory, and with a part of it: nothing was sent, so the call can be made again
    with other memory, beside it."""
    async def main(mpi):
        comm = Begins(mpi.COMM_WORLD) if begins else mpi.COMM_WORLD
        memory = np.arange(20, dtype=np.int32)
        if (name not in AT_THE_ROOT or mpi.rank == 0) and (name != "Exscan" or mpi.rank):
            for at in (0, 1):
                with pytest.raises(MpiError) as found:
                    await CALLS[name](comm, memory, memory[at:])
                assert found.value.code == ErrorClass.ERR_BUFFER
                assert "the send buffer and the receive buffer overlap" in str(found.value)
        made = await CALLS[name](comm, memory[:4], memory[4:])
        if begins:
            await made.Wait()

    Model(describe()).run(ranks(main), limit=LIMIT)


class Begins:
    """A communicator's calls, which only begin."""

    def __init__(self, comm: Comm) -> None:
        self._comm = comm

    def __getattr__(self, name):
        return getattr(self._comm, f"I{name.lower()}")


def test_what_is_no_part_of_a_call_may_overlap():
    """Exscan's receive buffer at rank 0, and what a topology has nobody for."""
    async def main(mpi):
        comm, memory = mpi.COMM_WORLD, np.arange(20, dtype=np.int32)
        await comm.Exscan(memory[:4], memory[4 * (comm.rank > 0):][:4])
        grid = await comm.Create_cart([2], [False])
        to = 1 if comm.rank == 0 else 0  # the neighbour that is there
        counts = [1, 1]
        await grid.Neighbor_alltoallv([memory, counts, [10, 11]],
                                      [memory, counts, [11 - to, 12] if to else [12, 11]])
        one_way = await comm.Create_dist_graph_adjacent(
            [1] if comm.rank == 0 else [], [0] if comm.rank else [], None, None)
        await one_way.Neighbor_allgather(memory[:1], memory[:1])
        with pytest.raises(MpiError, match="ERR_COUNT: count -1: must not be negative"):
            await comm.Alltoallv([memory, [-1, 1]], [memory[4:], [-1, 1]])

    Model(describe()).run(ranks(main), limit=LIMIT)


def test_elements_between_others():
    """Columns of a matrix are sent, and received into those beside them."""
    async def main(mpi):
        matrix = np.arange(20, dtype=np.int32).reshape(5, 4) + 100 * mpi.rank
        columns = [INT.Create_vector(5, 1, 4)] * 2
        await mpi.COMM_WORLD.Alltoallw([matrix, [1, 1], [0, 4], columns],
                                       [matrix, [1, 1], [8, 12], columns])
        assert np.array_equal(matrix[:, 3] - matrix[:, 2], np.full(5, 100))
        with pytest.raises(MpiError, match="overlap"):
            await mpi.COMM_WORLD.Alltoallw([matrix, [1, 1], [0, 4], columns],
                                           [matrix, [1, 1], [4, 12], columns])

    Model(describe()).run(ranks(main), limit=LIMIT)


def test_as_much_of_an_array_as_its_count_says():
    memory = np.zeros(10)
    apart([memory, 4], [memory[4:], 4], "call")
    apart([memory, 4, DOUBLE], memory[4:], "call")
    with pytest.raises(MpiError, match="overlap"):
        apart([memory, 5], [memory[4:], 1], "call")
    with pytest.raises(MpiError, match="overlap"):
        apart([memory, DOUBLE], memory[9:], "call")
    apart([memory, 0], memory, "call")
    apart(None, memory, "call")


@pytest.mark.parametrize("seed", range(200))
def test_regions_against_sets_of_bytes(seed):
    rng = random.Random(seed)
    first, second = _buffer(rng), _buffer(rng)
    if first[1] & second[1]:
        with pytest.raises(MpiError, match="ERR_BUFFER: call: the send buffer"):
            apart(first[0], second[0], "call")
    else:
        apart(first[0], second[0], "call")


def _buffer(rng):
    """A buffer in a memory of some hundred bytes, and the set of its bytes."""
    at = 4096 + rng.randrange(200)
    if rng.random() < 0.4:
        count, datatype = rng.randrange(4), _datatype(rng)
        return [Memory(at), count, datatype], {at + byte for byte in _bytes(datatype, count)}
    ranks = rng.randint(1, 3)
    counts = [rng.randrange(3) for _ in range(ranks)]
    places = [rng.randrange(-10, 40) for _ in range(ranks)]
    types = [_datatype(rng) for _ in range(ranks)] if rng.random() < 0.5 else _datatype(rng)
    one = types if isinstance(types, Datatype) else None
    found = {at + place * (one.extent if one else 1) + byte for rank, place in enumerate(places)
             for byte in _bytes(one or types[rank], counts[rank])}
    return Parts(Memory(at), counts, places, types), found


def _datatype(rng):
    return rng.choice([INT, BYTE]).Create_vector(rng.randint(1, 4), rng.randint(1, 2),
                                                 rng.randint(-3, 5))


def _bytes(datatype, count):
    return {at + byte for at, length in datatype.pieces(count) for byte in range(length)}
