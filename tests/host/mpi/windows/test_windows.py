"""One-sided communication: random programs against a plain model of windows, on every channel, and
what such programs cannot show."""

import numpy as np
import pytest
from nicbed.host.mpi import BYTE, INT, LONG, MpiError, Op, Win
from nicbed.host.mpi.communicators.groups import Group
from nicbed.host.mpi.data.operators import BAND, MAX, NO_OP, REPLACE, SUM
from nicbed.host.mpi.progress.packets import Packet
from nicbed.host.mpi.windows import LOCK_EXCLUSIVE, LOCK_SHARED, MODE_NOCHECK, MODE_NOSUCCEED

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import FAULTS, LIMIT, by_rank, describe, ranks
from tests.programs.mpi_windows import plan, program

LOSSY = {name.replace(".", "__"): value for name, value in FAULTS.items()}
SCARCE = {"mpi__buffer_bytes": 512, "mpi__prepost": 6, "mpi__prepost_used": 6}


def run(main, nodes=2, channel="via", limit=LIMIT, **knobs):
    model = Model(describe(channel, nodes, **knobs))
    results = model.run(ranks(main, nodes, channel), limit=limit).results
    return by_rank(results, channel), model.now


def check(seed, nodes, channel="via", most=200, **knobs):
    run(program(plan(seed, nodes, most=most)), nodes, channel, 10 * LIMIT, **knobs)


@pytest.mark.parametrize("channel, seeds", [
    ("via", range(10, 13)), ("via in the kernel", range(1)), ("shm", range(3)), ("tcp", range(2)),
    *[more(channel, range(13, 40)) for channel in (
        "via", "via in the kernel", "shm", "tcp", "gm", "via in firmware")]])
def test_programs(channel, seeds):
    for seed in seeds:
        check(seed, 3, channel)


@pytest.mark.parametrize("knobs, seeds", [
    (SCARCE, range(100, 101)), ({"mpi__rendezvous": "bounce"}, range(100, 101)),
    ({"mpi__registration_cache": 0, "mpi__derived": "segments"}, range(100, 101)),
    more(SCARCE, range(101, 130)), more({"mpi__rendezvous": "bounce"}, range(101, 130))])
def test_programs_with_other_knobs(knobs, seeds):
    for seed in seeds:
        check(seed, 4, **knobs)


@pytest.mark.parametrize("channel, seeds", [
    ("via", range(200, 202)), *[more(channel, range(202, 230)) for channel in ("via", "gm")]])
def test_programs_under_faults(channel, seeds):
    for seed in seeds:
        check(seed, 3, channel, **LOSSY, faults__seed=seed)


@pytest.mark.parametrize("channel", ["via", "shm", more("tcp")])
def test_programs_of_eight_ranks(channel):
    check(401, 8, channel, most=30)


@pytest.mark.parametrize("channel", ["via", "shm"])
def test_long_operations(channel):
    for seed in (300, 303):
        check(seed, 2, channel, most=5000, mpi__buffer_bytes=1536)


def test_ranks_on_several_cpus_of_several_nodes():
    model = Model(describe(nodes=2, cpus=2))
    model.run(ranks(program(plan(7, 4)), 2, cpus=2), limit=LIMIT)


@pytest.mark.parametrize("channel", ["via", "shm"])
def test_an_exclusive_lock_is_one_ranks_alone(channel):
    async def main(mpi):
        here, one = np.zeros(1, np.int64), np.zeros(1, np.int64)
        win = await Win.Create(here, 8, mpi.COMM_WORLD)
        for _ in range(5):
            await win.Lock(1)
            await win.Get(one, 1)
            await win.Flush(1)
            one += 1
            await win.Put(one, 1)
            await win.Unlock(1)
        await mpi.COMM_WORLD.Barrier()
        await win.Free()
        return int(here[0])
    assert run(main, 3, channel)[0] == [0, 15, 0]


@pytest.mark.parametrize("channel", ["via", "shm"])
def test_a_rank_that_locks_itself_again_and_again_hears_others(channel):
    async def main(mpi):
        here = np.zeros(1, np.int64)
        win = await Win.Create(here, 8, mpi.COMM_WORLD)
        turns = 0
        if mpi.rank == 0:
            await mpi.port.delay(2000)
            await win.Lock(1)
            await win.Accumulate(np.ones(1, np.int64), 1)
            await win.Unlock(1)
        while mpi.rank == 1 and not here[0]:
            await win.Lock(1)
            await win.Unlock(1)
            turns += 1
        await win.Free()
        return turns
    assert 1 < run(main, 2, channel, limit=400_000)[0][1] < 200


@pytest.mark.parametrize("channel", ["via", "shm"])
def test_what_is_read_under_a_lock_is_of_one_writer(channel):
    async def main(mpi):
        here = np.zeros(5000, np.int64)
        win = await Win.Create(here, 8, mpi.COMM_WORLD)
        found = set()
        for turn in range(4):
            if mpi.rank == 2:
                await win.Lock(1, LOCK_SHARED)
                into = np.zeros(5000, np.int64)
                await win.Get(into, 1)
                await win.Unlock(1)
                found.add(len(np.unique(into)))
            elif mpi.rank == 0:
                await win.Lock(1)
                await win.Put(np.full(5000, turn + 1), 1)
                await win.Unlock(1)
        await mpi.COMM_WORLD.Barrier()
        await win.Free()
        return found
    assert run(main, 3, channel)[0][2] == {1}


@pytest.mark.parametrize("channel", ["via", "shm", "tcp"])
def test_each_fetch_gets_a_number_of_its_own_and_one_swap_wins(channel):
    async def main(mpi):
        win = await Win.Create(np.zeros(2, np.int64), 8, mpi.COMM_WORLD)
        await win.Lock_all()
        found = []
        for _ in range(4):
            old = np.zeros(1, np.int64)
            await win.Fetch_and_op(np.ones(1, np.int64), old, 0, 0, SUM)
            await win.Flush(0)
            found.append(int(old[0]))
        await win.Compare_and_swap(np.array([mpi.rank + 5]), np.array([0]), old, 0, 1)
        await win.Unlock_all()
        await win.Free()
        return found, int(old[0])
    found = run(main, 4, channel)[0]
    assert sorted(number for numbers, _ in found for number in numbers) == [*range(16)]
    assert [old for _, old in found].count(0) == 1


def test_stores_of_the_target_beside_what_is_written_there_stay():
    async def main(mpi):
        comm, here = mpi.COMM_WORLD, np.zeros(1000, np.uint8)
        win = await Win.Create(here, 1, comm)
        for turn in range(1, 4):
            if mpi.rank == 0:
                await win.Lock(1, LOCK_SHARED)
                await win.Put(np.full(500, turn, np.uint8), 1)
                await win.Unlock(1)
                await comm.Send(None, 1)
            else:
                while await comm.Iprobe(0) is None:
                    here[500:] += 1
                await comm.Recv(None, 0)
            await comm.Barrier()
            into = np.zeros(1000, np.uint8)
            await win.Lock(1, LOCK_SHARED)
            await win.Get(into, 1)
            await win.Unlock(1)
            await comm.Barrier()
            if mpi.rank == 1:
                assert (here[:500] == turn).all() and (here == into).all()
                assert len(np.unique(here[500:])) == 1 and here[500]
        await win.Free()
    run(main)


@pytest.mark.parametrize("channel", ["via", "shm", more("via in the kernel"), more("gm"),
                                     more("tcp")])
def test_floods_both_ways(channel):
    """More operations at once than there are credits, or completions have room."""
    async def main(mpi):
        here = np.arange(200) + 1000 * mpi.rank
        win, into = await Win.Create(here, 8, mpi.COMM_WORLD), np.zeros(200, np.int64)
        await win.Fence()
        for at in range(200):
            await win.Get(into[at:at + 1], 1 - mpi.rank, at)
        await win.Fence()
        for at in range(200):
            await win.Put(into[at:at + 1], 1 - mpi.rank, at)
        await win.Fence()
        await win.Free()
        return into.tolist()
    assert run(main, 2, channel)[0] == [[*range(1000, 1200)], [*range(200)]]


@pytest.mark.parametrize("way, packets", [("write", 1), ("bounce", 5)])
def test_contiguous_memory_is_written_and_read_by_rdma(way, packets):
    async def main(mpi):
        handled = []
        handlers = mpi.engine._handlers
        mpi.engine.handle_by({kind: lambda packet, header, one=one: handled.append(header.kind)
                              or one(packet, header) for kind, one in handlers.items()})
        win = await Win.Create(np.zeros(10000, np.uint8), 1, mpi.COMM_WORLD)
        await win.Fence()
        if mpi.rank == 0:
            data = np.ones(8, np.uint8)
            await win.Put(data, 1, 8)
            await win.Put(data, 1, 80)
            await win.Get(data, 1, 100)
            await win.Get([data, 1, BYTE.Create_contiguous(8)], 1, 200)
            await win.Accumulate(data, 1, 80)
        await win.Fence()
        await win.Free()
        return sum(kind in (Packet.PUT, Packet.GET, Packet.ACCUMULATE) for kind in handled)
    assert run(main, **{"mpi__rendezvous": way})[0] == [0, packets]


def test_a_target_that_computes_makes_no_progress():
    async def main(mpi):
        win = await Win.Create(np.zeros(1), 8, mpi.COMM_WORLD)
        if mpi.rank == 1:
            await mpi.port.delay(300_000)
        else:
            await win.Lock(1)
            await win.Unlock(1)
        cycle = await mpi.port.flush()
        await win.Free()
        return cycle
    found = run(main)[0]
    assert found[0] > found[1] - 10_000


def test_memory_that_processes_of_a_node_share():
    async def main(mpi):
        win = await Win.Allocate_shared(8 * (mpi.rank + 1), 8, mpi.COMM_WORLD)
        await win.Fence()
        win.array.view(np.int64)[:] = mpi.rank
        await win.Put(np.array([7]), 2, 1)
        await win.Fence()
        found = [win.Shared_query(rank)[0].view(np.int64).tolist() for rank in range(3)]
        await win.Free()
        return found
    assert run(main, 3, "shm")[0] == [[[0], [1, 1], [2, 7, 2]]] * 3


def test_groups_of_some_ranks_and_assertions():
    async def main(mpi):
        comm, here = mpi.COMM_WORLD, np.zeros(4, np.int64)
        win = await Win.Create(here, 8, comm)
        others = Group([1, 2], mpi.rank)
        for turn in range(3):
            assertion = MODE_NOCHECK if turn == 1 else 0
            if mpi.rank == 0:
                await win.Post(others, assertion)
                if turn == 1:
                    await comm.Barrier()
                await win.Wait()
            else:
                if turn == 1:
                    await comm.Barrier()
                await win.Start(Group([0], mpi.rank), assertion)
                await win.Accumulate(np.ones(1, np.int64), 0, mpi.rank)
                await win.Complete()
        await win.Free()
        return here.tolist()
    assert run(main, 3)[0][0] == [0, 3, 3, 0]


@pytest.mark.parametrize("what, text", [
    (lambda win: win.Put(np.ones(1), 1), "MPI_ERR_RMA_SYNC: rank 0: Put to rank 1 outside of an "
                                         "epoch, COMM_WORLD.Win"),
    (lambda win: win.Unlock(1), "MPI_ERR_RMA_SYNC: rank 0: Win_unlock of rank 1, which is not "
                                "locked, COMM_WORLD.Win"),
    (lambda win: win.Flush(1), "MPI_ERR_RMA_SYNC: rank 0: Win_flush of rank 1, which is not "
                               "locked, COMM_WORLD.Win"),
    (lambda win: win.Complete(), "MPI_ERR_RMA_SYNC: rank 0: Win_complete without Win_start, "
                                 "COMM_WORLD.Win"),
    (lambda win: win.Wait(), "MPI_ERR_RMA_SYNC: rank 0: Win_wait without Win_post, COMM_WORLD.Win"),
    (lambda win: win.Lock(7), "MPI_ERR_RANK: rank 0: Win_lock: there is no rank 7 in "
                              "COMM_WORLD.Win, which has 0 to 1"),
    (lambda win: win.Lock(1, 9), "MPI_ERR_LOCKTYPE: rank 0: Win_lock of type 9, COMM_WORLD.Win"),
    (lambda win: win.Fence(1), "MPI_ERR_ASSERT: rank 0: Win_fence with assertion 1, "
                               "COMM_WORLD.Win"),
    (lambda win: win.Attach(np.ones(1)), "MPI_ERR_RMA_FLAVOR: rank 0: Win_attach on "
                                         "COMM_WORLD.Win, which is not dynamic"),
    (lambda win: win.Post(Group([0, 9], 0)), "MPI_ERR_GROUP: rank 0: Win_post: a rank of the group "
                                             "is not of COMM_WORLD.Win"),
])
def test_wrong_uses_are_told(what, text):
    async def main(mpi):
        win = await Win.Create(np.zeros(4), 8, mpi.COMM_WORLD)
        if mpi.rank == 0:
            with pytest.raises(MpiError) as found:
                await what(win)
            assert str(found.value) == text
        await win.Free()
    run(main)


@pytest.mark.parametrize("what, text", [
    (lambda win: win.Put(np.ones(2), 1, 3), "MPI_ERR_RMA_RANGE: rank 0: Put to rank 1: bytes 24 to "
                                            "40 of a window of 32, COMM_WORLD.Win"),
    (lambda win: win.Get(np.ones(2), 1, -1), "MPI_ERR_RMA_RANGE: rank 0: Get to rank 1: bytes -8 "
                                             "to 8 of a window of 32, COMM_WORLD.Win"),
    (lambda win: win.Put(np.ones(2), 1, (0, 1)), "MPI_ERR_TRUNCATE: rank 0: Put to rank 1: 16 bytes"
                                                 " here, 8 there, COMM_WORLD.Win"),
    (lambda win: win.Put(np.ones(1), 1, (0, 1, LONG)), "MPI_ERR_TYPE: rank 0: Put to rank 1 of "
                                                       "DOUBLE here, LONG there, COMM_WORLD.Win"),
    (lambda win: win.Accumulate(np.ones(1), 1, 0, Op.Create(max)), "MPI_ERR_OP: Accumulate: max is "
                                                               "an operation of the program's own"),
    (lambda win: win.Accumulate(np.ones(1), 1, 0, BAND), "MPI_ERR_OP: Accumulate: BAND of float64"),
    (lambda win: win.Compare_and_swap(np.ones(1), np.ones(1), np.ones(1), 1),
     "MPI_ERR_TYPE: rank 0: Compare_and_swap of DOUBLE, COMM_WORLD.Win"),
    (lambda win: win.Lock(1), "MPI_ERR_RMA_SYNC: rank 0: Win_lock of rank 1, which is locked, "
                              "COMM_WORLD.Win"),
    (lambda win: win.Fence(), "MPI_ERR_RMA_SYNC: rank 0: Win_fence while rank 1 is locked, "
                              "COMM_WORLD.Win"),
    (lambda win: win.Start(Group([1], 0)), "MPI_ERR_RMA_SYNC: rank 0: Win_start while rank 1 is "
                                           "locked, COMM_WORLD.Win"),
    (lambda win: win.Put(np.ones(1), 0), "MPI_ERR_RMA_SYNC: rank 0: Put to rank 0 outside of an "
                                         "epoch, COMM_WORLD.Win"),
])
def test_wrong_operations_are_told(what, text):
    async def main(mpi):
        win = await Win.Create(np.zeros(4), 8, mpi.COMM_WORLD)
        if mpi.rank == 0:
            await win.Lock(1)
            with pytest.raises(MpiError) as found:
                await what(win)
            assert str(found.value) == text
            await win.Unlock(1)
        await win.Free()
    run(main)


def test_what_fences_open_and_close():
    async def main(mpi):
        win = await Win.Create(np.zeros(4), 8, mpi.COMM_WORLD)
        await win.Fence()
        await win.Lock(mpi.rank)  # nothing was done in the fence's epoch
        await win.Unlock(mpi.rank)
        await win.Fence()
        await win.Put(np.ones(1), 0)
        with pytest.raises(MpiError, match="Win_lock between two fences, after operations"):
            await win.Lock(1)
        await win.Fence(MODE_NOSUCCEED)
        with pytest.raises(MpiError, match="outside of an epoch"):
            await win.Put(np.ones(1), 0)
        await win.Free()
        with pytest.raises(MpiError, match="MPI_ERR_WIN: .* which was freed"):
            await win.Fence()
    run(main)


def test_operations_of_no_data_are_of_any_type():
    async def main(mpi):
        win = await Win.Create(np.zeros(1), 8, mpi.COMM_WORLD)
        await win.Fence()
        for none in (np.zeros(0, np.int32), np.zeros(0, np.uint8)):
            await win.Put(none, 1, (0, 0, LONG))
            await win.Get(none, 1, (0, 0, LONG))
            await win.Accumulate(none, 1, (0, 0, LONG))
        await win.Fence()
        await win.Free()

    run(main)


@pytest.mark.parametrize("cut", [40, 38])
def test_operations_on_two_regions_that_follow_each_other(cut):
    """Attached by themselves, also where an element lies in both."""
    async def main(mpi):
        comm, here = mpi.COMM_WORLD, np.arange(20, dtype=np.int32)
        win = await Win.Create_dynamic(comm)
        flat = here.view(np.uint8)
        base = flat.ctypes.data
        await win.Attach(flat[:cut], base)
        await win.Attach(flat[cut:], base + cut)
        address = np.array([base])
        await comm.Bcast(address, 1)
        await win.Lock_all()
        if mpi.rank == 0:
            there, values = int(address[0]), np.arange(100, 120, dtype=np.int32)
            got, old = np.zeros(20, np.int32), np.zeros(20, np.int32)
            await win.Accumulate(values, 1, (there, 20, INT), SUM)
            await win.Flush(1)
            await win.Get(got, 1, (there, 20, INT))
            await win.Flush(1)
            assert got.tolist() == [100 + 2 * one for one in range(20)]
            await win.Get_accumulate(values, old, 1, (there, 20, INT), REPLACE)
            await win.Put(values[:3], 1, (there + 36, 3, INT))
            await win.Flush(1)
            assert np.array_equal(old, got)
            with pytest.raises(MpiError, match="RMA_RANGE: .* 84 bytes at .* not attached"):
                await win.Put(np.zeros(21, np.int32), 1, (there, 21, INT))
            one = values[:1]
            if cut == 38:
                with pytest.raises(MpiError, match="RMA_RANGE: .* an element in two regions"):
                    await win.Compare_and_swap(one, one, old[:1], 1, there + 36)
        await win.Unlock_all()
        await comm.Barrier()
        await win.Free()
        return here.tolist()

    found = run(main)[0]
    assert found[1] == [*range(100, 109), 100, 101, 102, *range(112, 120)]


def test_attached_memory():
    async def main(mpi):
        comm, here = mpi.COMM_WORLD, np.zeros(4, np.int32)
        win = await Win.Create_dynamic(comm)
        address = np.array([await win.Attach(here)])
        with pytest.raises(MpiError, match="MPI_ERR_RMA_ATTACH: .* of which some are attached"):
            await win.Attach(here[2:])
        await comm.Bcast(address, 1)
        await win.Lock_all()
        await win.Accumulate(np.array([mpi.rank + 1], np.int32), 1, (int(address[0]) + 4, 1, INT),
                             MAX)
        old = np.zeros(1, np.int32)
        await win.Flush_all()
        await win.Get_accumulate(None, old, 1, int(address[0]) + 4, NO_OP)
        if mpi.rank == 0:
            with pytest.raises(MpiError, match="MPI_ERR_RMA_RANGE: rank 0: Put to rank 1: 4 bytes "
                                               "at 0x3, which are not attached"):
                await win.Put(old, 1, 3)
        await win.Unlock_all()
        await comm.Barrier()
        await win.Detach(here)
        with pytest.raises(MpiError, match="MPI_ERR_RMA_ATTACH: .* not attached"):
            await win.Detach(here)
        await win.Free()
        return here.tolist(), int(old[0])
    found = run(main)[0]
    assert found[1][0] == [0, 2, 0, 0] and {old for _, old in found} <= {1, 2}


@pytest.mark.parametrize("what, text", [
    ("lock", "rank 0: Win_lock, for the lock of rank 1, which rank 1 has, COMM_WORLD.Win; rank 1: "
             "Recv from rank 0, tag 5, COMM_WORLD"),
    ("start", "rank 0: Win_start, for Win_post of rank 1, COMM_WORLD.Win; rank 1: Recv from rank "
              "0, tag 5, COMM_WORLD"),
    ("wait", "rank 0: Win_wait, for Win_complete of rank 1, COMM_WORLD.Win; rank 1: Recv from rank "
             "0, tag 5, COMM_WORLD"),
    ("fence", "rank 0: Win_fence, for rank 1, COMM_WORLD.Win; rank 1: Recv from rank 0, tag 5, "
              "COMM_WORLD"),
])
def test_deadlocks_are_told(what, text):
    async def main(mpi):
        comm = mpi.COMM_WORLD
        win = await Win.Create(np.zeros(4), 8, comm)
        if mpi.rank == 1:
            if what == "lock":
                await win.Lock(1)
            await comm.Barrier()
            await comm.Recv(np.zeros(1), 0, 5)
        await comm.Barrier()
        await {"lock": lambda: win.Lock(1, LOCK_EXCLUSIVE), "fence": win.Fence,
               "start": lambda: win.Start(Group([1], 0)), "wait": lambda: _waited(win)}[what]()
    with pytest.raises(MpiError) as found:
        run(main)
    assert str(found.value) == f"MPI_ERR_PENDING: deadlock, no rank can go on: {text}"


async def _waited(win):
    await win.Post(Group([1], 0))
    await win.Wait()


def test_places_and_registrations_are_given_back():
    async def main(mpi):
        addresses = set()
        for _ in range(5):
            win = await Win.Allocate(20_000, 1, mpi.COMM_WORLD)
            addresses.add(win.memory.regions[0].address)
            await win.Free()
        return len(addresses), len(mpi.calls.before)
    assert run(main)[0] == [(1, 0)] * 2


def test_refused_windows():
    async def main(mpi):
        comm = mpi.COMM_WORLD
        for call, text in (
                (Win.Allocate(-1, 1, comm), "MPI_ERR_SIZE: rank 0: Win_allocate: size -1"),
                (Win.Create(np.zeros(1), 0, comm), "MPI_ERR_DISP: rank 0: Win_create: displacement "
                                                   "unit 0"),
                (Win.Allocate_shared(8, 1, comm), "MPI_ERR_RMA_SHARED: rank 0: Win_allocate_shared "
                 "on COMM_WORLD, whose ranks are on 2 nodes")):
            with pytest.raises(MpiError, match=text):
                await call
    run(lambda mpi: main(mpi) if mpi.rank == 0 else _nothing())


async def _nothing():
    pass
