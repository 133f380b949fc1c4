"""Blocking calls: each rank on a stack of its own, whose end is told in one line."""

import numpy as np
import pytest
from nicbed.host.mpi import Mpi
from nicbed.host.mpi.sync import Ended, RankError, current, program, wait

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe


def run(body, nodes=2, **knobs):
    """``body(rank)`` between Init and Finalize on all ranks."""
    def whole(rank):
        rank.init()
        result = body(rank)
        rank.finalize()
        return result
    model = Model(describe(nodes=nodes, **knobs))
    return model.run([program(whole)] * nodes, limit=LIMIT).results, model.now


def told(body, nodes=2, **knobs):
    with pytest.raises(RankError) as found:
        run(body, nodes, **knobs)
    assert "\n" not in str(found.value)
    return str(found.value)


def ring(rank):
    comm, size = rank.mpi.COMM_WORLD, rank.mpi.size
    data = np.full(3000, rank.number)
    rank.wait(comm.Sendrecv_replace(data, (rank.number + 1) % size, 0,
                                    (rank.number - 1) % size, 0))
    return int(data[0])


def test_calls_block():
    assert run(ring, 3)[0] == [2, 0, 1]


def test_as_many_cycles_as_with_coroutines():
    async def main(node):
        async with Mpi(node) as mpi:
            data, size = np.full(3000, mpi.rank), mpi.size
            await mpi.COMM_WORLD.Sendrecv_replace(data, (mpi.rank + 1) % size, 0,
                                                  (mpi.rank - 1) % size, 0)
    model = Model(describe(nodes=3))
    model.run([main] * 3, limit=LIMIT)
    assert run(ring, 3)[1] == model.now


def test_equal_runs_take_equal_cycles():
    assert run(ring, 4) == run(ring, 4)


def test_what_a_program_computes_takes_the_time_it_says():
    def body(rank):
        before = rank.time()
        rank.compute(1e6)
        return rank.time() - before

    results, _ = run(body)
    clock = float(describe().cpu.clock_mhz) * 1e6
    assert all(1e6 / clock <= one < 1.01e6 / clock for one in results)


def test_cycles_before_each_call():
    plain, charged = run(ring)[1], run(ring, mpi__program_cycles=100000)[1]
    scale = float(describe().nic.clock_mhz / describe().cpu.clock_mhz)
    calls = 3 * 100000 * scale  # Init, one, Finalize
    assert .95 * calls < charged - plain < 1.05 * calls


def test_waiting_for_a_time_ends():
    def body(rank):
        end = rank.time() + 1e-5
        return any(rank.time() >= end for _ in range(5000))

    assert run(body)[0] == [True, True]


def test_negative_work_is_refused():
    def body(rank):
        with pytest.raises(ValueError, match="cycles must not be negative"):
            rank.compute(-1)
        return True

    assert run(body)[0] == [True, True]


def test_abort():
    def body(rank):
        if rank.number:
            rank.abort("COMM_WORLD", 7)
        rank.wait(rank.mpi.COMM_WORLD.Barrier())

    assert told(body) == "rank 1: MPI_Abort(COMM_WORLD, 7)"


def test_a_deadlock_names_all():
    def body(rank):
        try:
            rank.wait(rank.mpi.COMM_WORLD.Recv(np.zeros(1), 1 - rank.number, 3))
        except Exception:  # noqa: BLE001
            return "a program cannot go on after a deadlock"

    assert told(body) == ("MPI_ERR_PENDING: deadlock, no rank can go on: rank 0: Recv from rank 1, "
                          "tag 3, COMM_WORLD; rank 1: Recv from rank 0, tag 3, COMM_WORLD")


def test_a_deadlock_after_a_call_from_elsewhere_names_that():
    ranks = {}

    def body(rank):
        ranks[rank.number] = rank
        if rank.number == 0:
            end = rank.time() + 1e-5
            while rank.time() < end:  # meanwhile the other one waits
                pass
            ranks[1].misused("rank 1: another thread")
        rank.wait(rank.mpi.COMM_WORLD.Recv(np.zeros(1), 1 - rank.number, 3))

    assert told(body) == "rank 1: another thread"


def test_an_end_without_finalize():
    def whole(rank):
        rank.init()
        if rank.number == 0:
            rank.finalize()

    with pytest.raises(RankError, match="^rank 1 ended without MPI_Finalize"):
        Model(describe()).run([program(whole)] * 2, limit=LIMIT)


@pytest.mark.parametrize("first", [0, 1])
def test_an_end_without_init(first):
    def whole(rank):
        if rank.number == first:
            rank.init()
            rank.finalize()

    with pytest.raises(RankError, match=f"^rank {1 - first} ended without MPI_Init, which rank "
                                        f"{first} has called"):
        Model(describe()).run([program(whole)] * 2, limit=LIMIT)


def test_no_rank_calls_init():
    assert Model(describe()).run([program(lambda rank: rank.number)] * 2,
                                 limit=LIMIT).results == [0, 1]


def test_the_others_end_with_the_run():
    ended = []

    def body(rank):
        if rank.number == 2:
            raise RuntimeError("of one")
        try:
            rank.wait(rank.mpi.COMM_WORLD.Barrier())
        except Ended:
            ended.append(rank.number)
            rank.wait(rank.mpi.COMM_WORLD.Barrier())  # the run has ended for good

    with pytest.raises(RuntimeError, match="of one"):
        run(body, 3)
    assert sorted(ended) == [0, 1]


def test_outside_of_a_rank():
    async def call():
        return 1

    with pytest.raises(RuntimeError, match="outside of a rank"):
        wait(call())
    with pytest.raises(RuntimeError, match="no rank is running"):
        current()


def test_a_program_that_catches_everything_ends_nevertheless():
    def stubborn(rank):
        while True:
            try:
                rank.wait(rank.mpi.COMM_WORLD.Recv(np.zeros(1), 1 - rank.number))
            except BaseException:  # noqa: BLE001
                pass

    assert told(stubborn).startswith("MPI_ERR_PENDING: deadlock, no rank can go on: rank 0: Recv")


def test_and_so_when_another_rank_ends_the_run():
    def body(rank):
        if rank.number == 0:
            rank.compute(1e5)
            rank.abort("COMM_WORLD", 3)
        while True:
            try:
                rank.wait(rank.mpi.COMM_WORLD.Recv(np.zeros(1), 0))
            except BaseException:  # noqa: BLE001
                pass

    assert told(body) == "rank 0: MPI_Abort(COMM_WORLD, 3)"
