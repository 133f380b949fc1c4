"""Messages of MPI: each protocol, channel and length, before and after its receive, against a plain
model; under faults."""

import numpy as np
import pytest
from nicbed.host.mpi import ANY_SOURCE, ANY_TAG, INT, PROC_NULL, Mpi, Request

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import (
    CHANNELS,
    FAULTS,
    LIMIT,
    by_rank,
    describe,
    pattern,
    random_program,
    ranks,
)

SIZES = [0, 1, 8, 9, 471, 472, 473, 2000, 2001, 9000, 70000]
"""Around the longest packet (512 bytes with its header of 40) and the eager limit, 2,000."""
SMALL = {"mpi__buffer_bytes": 512, "mpi__eager": 2000}
WAYS = [("via", "write"), ("via", "read"), ("via", "bounce"), ("gm", "write"), ("gm", "bounce"),
        ("vmmc", "bounce"), ("tcp", "bounce"), ("shm", "bounce"), ("via in the kernel", "write")]


def run(main, channel="via", nodes=2, **knobs):
    model = Model(describe(channel, nodes, **knobs))
    return by_rank(model.run(ranks(main, nodes, channel), limit=LIMIT).results, channel)


@pytest.mark.parametrize("channel, rendezvous", WAYS)
@pytest.mark.parametrize("late", [False, True], ids=["posted", "unexpected"])
@pytest.mark.parametrize("large", [False, True], ids=["small buffers", "large buffers"])
def test_every_length(channel, rendezvous, late, large):
    """Data arrive whole, nothing beside them is written, and the source may be changed at once."""
    async def main(mpi):
        comm, peer = mpi.COMM_WORLD, 1 - mpi.COMM_WORLD.rank
        source, target = mpi.empty(max(SIZES), np.uint8), mpi.empty(max(SIZES) + 8, np.uint8)
        for tag, size in enumerate(SIZES):
            target[:] = 0xAA
            if comm.rank == 0:
                if late:
                    await comm.Barrier()
                source[:size] = pattern(size, tag)
                if late:
                    request = await comm.Isend(source[:size], peer, tag)
                    await comm.Send(None, peer, 99)
                    await request.Wait()
                else:
                    await comm.Barrier()
                    await comm.Send(source[:size], peer, tag)
                source[:size] = 0
            else:
                if late:
                    await comm.Barrier()
                    await comm.Recv(None, peer, 99)
                    status = await comm.Recv(target, peer, tag)
                else:
                    request = await comm.Irecv(target, peer, tag)
                    await comm.Barrier()
                    status = await request.Wait()
                assert (status.source, status.tag, status.count) == (peer, tag, size)
                assert np.array_equal(target[:size], pattern(size, tag))
                assert np.all(target[size:] == 0xAA)
        return True

    knobs = {} if large else SMALL
    assert run(main, channel, mpi__rendezvous=rendezvous, **knobs) == [True, True]


@pytest.mark.parametrize("channel, rendezvous", WAYS[:8])
@pytest.mark.parametrize("seed", [0, 1, *map(more, (2, 3))])
def test_random_programs(channel, rendezvous, seed):
    nodes = 2 + seed
    main = random_program(seed, nodes, 24, [0, 4, 300, 600, 5000, 20000])
    found = run(main, channel, nodes, mpi__rendezvous=rendezvous, **SMALL)
    assert sum(found) == main.total


@pytest.mark.parametrize("channel", ["via", "gm", "vmmc", "tcp"])
@pytest.mark.parametrize("seed", range(2))
def test_random_programs_under_faults(channel, seed):
    main = random_program(seed + 50, 3, 16, [0, 4, 600, 5000])
    knobs = {name.replace(".", "__"): value for name, value in FAULTS.items()}
    found = run(main, channel, 3, faults__seed=seed + 1, **knobs, **SMALL)
    assert sum(found) == main.total


@pytest.mark.parametrize("channel", CHANNELS)
def test_many_messages_before_the_receiver_looks(channel):
    """More than there are credits: the sender's call returns where it may, and none is lost."""
    count = 150

    async def main(mpi):
        comm = mpi.COMM_WORLD
        data = mpi.empty(1, np.int64)
        if comm.rank == 0:
            requests = []
            for number in range(count):
                data[0] = number
                requests.append(await comm.Isend(np.array([number]), 1, number % 5))
            await Request.Waitall(requests)
            return None
        await mpi.port.delay(200_000)
        found = []
        for tag in range(5):
            for _ in range(count // 5):
                await comm.Recv(data, 0, tag)
                found.append(int(data[0]))
        return found

    model = Model(describe(channel))
    found = by_rank(model.run(ranks(main, 2, channel), limit=LIMIT).results, channel)[1]
    assert found == [number for tag in range(5) for number in range(tag, count, 5)]
    # The real target has no such list; test_credits_spare_sending_again looks at its events.
    assert not any(nic.processor.again for nic in getattr(model, "nics", ()) if nic.processor)


def test_credits_are_told_without_messages_back():
    """A stream in one direction: packets that tell of credits are all that goes back."""
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(64, np.uint8)
        for _ in range(200):
            if comm.rank == 0:
                await mpi.port.delay(5000)
                await comm.Send(data, 1)
            else:
                await comm.Recv(data, 0)
        # Without credits the messages would have to ask.
        assert "mpi_protocol" not in mpi.port.paths()
        return sum(count for one, count in mpi.calls.sent.items() if one.call.name == "Send")

    assert run(main) == [200, 0]


@pytest.mark.parametrize("channel", ["via", "gm"])
@pytest.mark.parametrize("late", [100_000, 101_300, 102_600])
def test_a_rank_may_begin_late(channel, late):
    """Others that are ready send before all have found it."""
    async def program(node):
        await node.port.delay(late * (node.number == 2) + 700 * node.number)
        async with Mpi(node) as mpi:
            total = np.zeros(1)
            await mpi.COMM_WORLD.Allreduce(np.ones(1), total)
            return int(total[0])

    found = Model(describe(channel, 4)).run([program] * 4, limit=LIMIT)
    assert found.results == [4] * 4


def test_more_ranks_than_send_tokens():
    async def main(mpi):
        total = np.zeros(1)
        await mpi.COMM_WORLD.Allreduce(np.ones(1), total)
        return int(total[0])

    assert run(main, "gm", 4, gm__send_tokens=1) == [4] * 4


def test_wildcards_take_what_comes_first():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(1, np.int32)
        if comm.rank:
            await mpi.port.delay(20_000 * comm.rank)
            data[0] = comm.rank
            await comm.Send(data, 0, 10 + comm.rank)
            return None
        found = []
        for _ in range(3):
            status = await comm.Recv(data, ANY_SOURCE, ANY_TAG)
            found.append((status.Get_source(), status.Get_tag(), int(data[0]),
                          status.Get_count(INT)))
        return found

    assert run(main, nodes=4)[0] == [(rank, 10 + rank, rank, 1) for rank in (1, 2, 3)]


def test_messages_to_itself():
    async def main(mpi):
        comm = mpi.COMM_SELF
        for size in (0, 100, 50000):
            out, into = mpi.empty(size, np.uint8), mpi.empty(size, np.uint8)
            out[:] = pattern(size, 3)
            request = await comm.Irecv(into, 0, 1)
            await comm.Send(out, 0, 1)
            assert (await request.Wait()).count == size
            assert np.array_equal(into, out)
        return True

    assert run(main) == [True, True]


def test_ssend_ends_after_the_match():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(8, np.uint8)
        if comm.rank:
            await mpi.port.delay(50_000)
            await mpi.port.flush()
            begin = mpi.port.cycle
            await comm.Recv(data, 0, 0)
            await comm.Recv(data, 0, 1)
            return begin
        await comm.Send(data, 1, 0)
        await mpi.port.flush()
        early = mpi.port.cycle
        await comm.Ssend(data, 1, 1)
        await mpi.port.flush()
        return early, mpi.port.cycle

    (early, late), begin = run(main)
    assert early < begin < late


def test_bsend_never_waits_for_the_peer():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(30000, np.uint8)
        mpi.Attach_buffer(2 * 30100)
        if comm.rank:
            await mpi.port.delay(300_000)
            await comm.Recv(data, 0)
            assert np.array_equal(data, pattern(30000, 1))
            await comm.Recv(data, 0)
            return True
        data[:] = pattern(30000, 1)
        await comm.Bsend(data, 1)
        data[:] = 0
        await comm.Bsend(data, 1)
        await mpi.port.flush()
        assert mpi.port.cycle < 300_000
        return await mpi.Detach_buffer() == 60200

    assert run(main) == [True, True]


def test_nobody():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(8, np.uint8)
        await comm.Send(data, PROC_NULL)
        status = await comm.Recv(data, PROC_NULL)
        request = await comm.Irecv(data, PROC_NULL)
        assert await request.Test()
        return status.source, status.count

    assert run(main) == [(PROC_NULL, 0)] * 2


def test_requests():
    async def main(mpi):
        comm, peer = mpi.COMM_WORLD, 1 - mpi.COMM_WORLD.rank
        into = [mpi.empty(4, np.int32) for _ in range(3)]
        receives = [await comm.Irecv(array, peer, tag) for tag, array in enumerate(into)]
        assert not await receives[0].Test()
        await comm.Barrier()
        for tag in (2, 0, 1):
            await comm.Send(np.full(4, tag, np.int32), peer, tag)
        index, status = await Request.Waitany(receives)
        assert index in (0, 1, 2) and status.tag == index
        statuses = await Request.Waitall(receives)
        assert [array[0] for array in into] == [0, 1, 2]
        assert sum(status.count for status in statuses) == 2 * 16
        return (await Request.Waitany(receives))[0]

    assert run(main) == [-32766, -32766]


def test_sendrecv():
    async def main(mpi):
        comm = mpi.COMM_WORLD
        size, rank = comm.size, comm.rank
        for length in (4, 60000):
            out = mpi.empty(length, np.uint8)
            out[:] = pattern(length, rank)
            into = mpi.empty(length, np.uint8)
            status = await comm.Sendrecv(out, (rank + 1) % size, 1, into, (rank - 1) % size, 1)
            assert status.source == (rank - 1) % size
            assert np.array_equal(into, pattern(length, (rank - 1) % size))
            await comm.Sendrecv_replace(out, (rank + 1) % size, 2, (rank - 1) % size, 2)
            assert np.array_equal(out, pattern(length, (rank - 1) % size))
        return True

    assert all(run(main, nodes=3))


def test_probes():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(100, np.uint8)
        if comm.rank == 0:
            assert await comm.Iprobe(1, 5) is None
            await comm.Barrier()
            status = await comm.Probe(ANY_SOURCE, ANY_TAG)
            assert (status.source, status.tag, status.count) == (1, 5, 77)
            message, status = await comm.Mprobe(1, 5)
            request = await comm.Irecv(data, 1, 5)
            await comm.Mrecv(data, message)
            assert np.array_equal(data[:77], pattern(77, 1))
            await request.Wait()
            assert np.array_equal(data[:77], pattern(77, 2))
            return True
        await comm.Barrier()
        for number in (1, 2):
            data[:77] = pattern(77, number)
            await comm.Send(data[:77], 0, 5)
        return True

    assert run(main) == [True, True]


def test_several_requests_at_once():
    """Testall, Testany, Waitsome, Testsome: what has ended, and nothing twice."""
    async def main(mpi):
        comm, peer = mpi.COMM_WORLD, 1 - mpi.COMM_WORLD.rank
        into = [np.zeros(1, np.int32) for _ in range(3)]
        requests = [await comm.Irecv(one, peer, tag) for tag, one in enumerate(into)]
        assert await Request.Testall(requests) is None
        assert await Request.Testany(requests) is None
        assert await Request.Testsome(requests) == []
        await comm.Barrier()
        for tag in (2, 0):
            await comm.Send(np.array([tag + 10], np.int32), peer, tag)
        done = set()
        while len(done) < 2:
            found = await Request.Waitsome(requests)
            assert found and not done & {index for index, _ in found}
            done |= {index for index, _ in found}
        assert done == {0, 2} and await Request.Testsome(requests) == []
        await comm.Send(np.array([11], np.int32), peer, 1)
        while (statuses := await Request.Testall(requests)) is None:
            pass
        assert await Request.Waitsome(requests) is None
        return [int(one[0]) for one in into], statuses[1].tag

    assert run(main) == [([10, 11, 12], 1)] * 2


def test_cancelled_receives():
    """A receive that nothing has matched is withdrawn; one that has been matched goes on."""
    async def main(mpi):
        comm, peer = mpi.COMM_WORLD, 1 - mpi.COMM_WORLD.rank
        data, other = np.zeros(1, np.int32), np.zeros(1, np.int32)
        gone, kept = await comm.Irecv(data, peer, 3), await comm.Irecv(other, peer, 3)
        await gone.Cancel()
        await comm.Barrier()
        await comm.Send(np.array([5], np.int32), peer, 3)
        status = await kept.Wait()
        await kept.Cancel()
        return (await gone.Wait()).Is_cancelled(), status.Is_cancelled(), int(data[0]), \
            int(other[0])

    assert run(main) == [(True, False, 0, 5)] * 2
