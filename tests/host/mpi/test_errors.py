"""What a program does wrong is told in one line, with ranks, communicator and tag; no run hangs."""

import re

import numpy as np
import pytest
from nicbed.host.mpi import (
    BYTE,
    DOUBLE,
    INT,
    ErrorClass,
    Mpi,
    MpiError,
    Request,
    RequestError,
    Status,
)

from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks


def told(main, nodes=2, channel="via", **knobs):
    """The error of a run."""
    return said(ranks(main, nodes), channel, **knobs)


def said(programs, channel="via", **knobs):
    with pytest.raises(MpiError) as found:
        Model(describe(channel, len(programs), **knobs)).run(programs, limit=LIMIT)
    text = str(found.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("length", [100, 20000])
def test_truncation(length):
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(length, np.uint8)
        if comm.rank:
            await comm.Recv(data[:50], 0, 7)
        else:
            await comm.Send(data, 1, 7)

    assert told(main) == (f"MPI_ERR_TRUNCATE: rank 1: {length} bytes from rank 0, tag 7, "
                          "COMM_WORLD, and Recv has room for 50")


@pytest.mark.parametrize("channel", ["via", "tcp", "shm"])
def test_a_later_piece_outside_of_memory_is_refused_before_anything_is_copied(channel):
    """By address, as C programs have it: no copy fails half-way, with a packet's credits told and
    its buffer taken. A program that catches it goes on in the same cycle."""
    count = 40

    def main(wrong):
        async def program(mpi):
            comm, data = mpi.COMM_WORLD, mpi.empty(300, np.uint8)
            pieces = [[8 * place for place in range(count)] + [1 << 30]]
            scattered = BYTE.Create_indexed([4] * (count + 1), *pieces)
            at, _ = mpi.buffers.data(data, "").pieces[0]
            for turn in range(count):
                if comm.rank:
                    await comm.Recv(data, 0)
                    assert data[0] == turn
                    continue
                data[:] = turn
                if wrong:
                    with pytest.raises(MpiError, match=f"ERR_BUFFER: .*no memory at "
                                                       f"{at + (1 << 30):#x}"):
                        await comm.Send([at, 1, scattered], 1)
                await comm.Send(data, 1)
            return await mpi.port.now()
        return program

    found, wanted = (Model(describe(channel)).run(ranks(main(wrong), channel=channel), limit=LIMIT)
                     .results for wrong in (True, False))
    assert by_rank(found, channel) == by_rank(wanted, channel)


@pytest.mark.parametrize("length", [100, 20000])
def test_after_a_truncation_the_sender_goes_on(length):
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(length, np.uint8)
        if comm.rank == 0:
            await comm.Send(data, 1, 7)
            await comm.Send(data, 1, 8)
            return True
        with pytest.raises(MpiError, match="ERR_TRUNCATE"):
            await comm.Recv(data[:50], 0, 7)
        await comm.Recv(data, 0, 8)
        return True

    assert Model(describe()).run(ranks(main), limit=LIMIT).results == [True, True]


@pytest.mark.parametrize("length", [100, 20000])
def test_waitall_waits_for_all_and_says_which_have_failed(length):
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(length, np.uint8)
        if comm.rank == 0:
            for tag in range(4):
                await comm.Send(data, 1, tag)
                await mpi.port.delay(5000)
            return True
        requests = [await comm.Irecv(mpi.empty(length, np.uint8)[:length - tag % 2 * 10], 0, tag)
                    for tag in range(4)]
        with pytest.raises(RequestError) as found:
            await Request.Waitall(requests)
        assert str(found.value) == "MPI_ERR_IN_STATUS: " + "; ".join(
            f"MPI_ERR_TRUNCATE: rank 1: {length} bytes from rank 0, tag {tag}, COMM_WORLD, and "
            f"Irecv has room for {length - 10}" for tag in (1, 3))
        errors = [ErrorClass.ERR_TRUNCATE if tag % 2 else 0 for tag in range(4)]
        assert [status.error for status in found.value.found] == errors
        return all(one.done for one in requests) and await Request.Waitall(requests) == [
            Status()] * 4

    assert Model(describe()).run(ranks(main), limit=LIMIT).results == [True, True]


def test_a_deadlock_behind_a_failure_names_both():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(8, np.uint8)
        if comm.rank == 0:
            await comm.Send(data, 1, 0)
        else:
            await Request.Waitall([await comm.Irecv(data[:2], 0, 0), await comm.Irecv(data, 0, 1)])

    assert ("rank 1: Irecv from rank 0, tag 1, COMM_WORLD, after MPI_ERR_TRUNCATE: rank 1: 8 bytes "
            "from rank 0, tag 0") in told(main)


@pytest.mark.parametrize("count", [10, 5000])
def test_other_datatypes(count):
    """Of a message that is received at once, and of a derived type that was kept; whatever its
    length. The sender goes on."""
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(2 * count, np.float64)
        into = mpi.empty(4 * count, np.int32)
        if comm.rank == 0:
            await comm.Send(data[:count], 1, 7)
            await comm.Send([data, count, DOUBLE.Create_vector(1, 1, 2)], 1, 8)
            return True
        with pytest.raises(MpiError) as found:
            await comm.Recv(into, 0, 7)
        assert str(found.value) == (
            f"MPI_ERR_TYPE: rank 1: {8 * count} bytes of DOUBLE from rank 0, tag 7, COMM_WORLD, "
            "and Recv is of INT")
        await comm.Probe(0, 8)
        request = await comm.Irecv(into, 0, 8)
        with pytest.raises(MpiError, match="Irecv is of INT"):
            await request.Wait()
        return not np.any(into)

    assert Model(describe()).run(ranks(main), limit=LIMIT).results == [True, True]


def test_a_part_of_an_element():
    async def main(mpi):
        if mpi.rank == 0:
            await mpi.COMM_WORLD.Send(np.zeros(6, np.uint8), 1, 3)
            return
        with pytest.raises(MpiError) as found:
            await mpi.COMM_WORLD.Recv(np.zeros(8, np.int32), 0)
        assert str(found.value) == ("MPI_ERR_TYPE: rank 1: 6 bytes from rank 0, tag 3, COMM_WORLD, "
                                    "and Recv is of INT")

    Model(describe()).run(ranks(main), limit=LIMIT)


@pytest.mark.parametrize("sent, received", [
    (np.uint8, np.float64), (np.float64, np.uint8), ("S1", np.int32), (bool, np.int8)])
def test_bytes_go_with_any_datatype(sent, received):
    async def main(mpi):
        size = 64
        if mpi.rank == 0:
            await mpi.COMM_WORLD.Send(np.zeros(size, np.uint8).view(sent), 1)
            await mpi.COMM_WORLD.Send(np.zeros(0), 1)
            return 0
        status = await mpi.COMM_WORLD.Recv(np.zeros(size, np.uint8).view(received), 0)
        await mpi.COMM_WORLD.Recv(np.zeros(3, np.int32), 0)  # no data, no type
        return status.count

    assert Model(describe()).run(ranks(main), limit=LIMIT).results == [0, 64]


@pytest.mark.parametrize("call, text", [
    (lambda comm, data: comm.Send(data, 2, 5), "ERR_RANK: rank 0: Send: there is no rank 2 in "
     "COMM_WORLD, which has 0 to 1"),
    (lambda comm, data: comm.Recv(data, -7, 5), "ERR_RANK: rank 0: Recv: there is no rank -7"),
    (lambda comm, data: comm.Send(data, 1, -1), "ERR_TAG: rank 0: Send: tag -1, COMM_WORLD: must "
     "be 0 to"),
    (lambda comm, data: comm.Send([data, 9, INT], 1), "ERR_BUFFER: Send: 9 of INT reach to byte "),
    (lambda comm, data: comm.Send([data, -1, INT], 1), "ERR_COUNT: Send: count -1"),
    (lambda comm, data: comm.Send(data[::2], 1), "ERR_BUFFER: Send: the array is not in one piece"),
    (lambda comm, data: comm.Send(object(), 1), "ERR_BUFFER: Send: object is no buffer"),
    (lambda comm, data: comm.Bsend(data, 1, 3), "ERR_BUFFER: rank 0: Bsend to rank 1, tag 3, "
     "COMM_WORLD: no buffer is attached"),
    (lambda comm, data: comm.Bcast(data, 4), "ERR_ROOT: rank 0: Bcast: there is no root 4"),
    (lambda comm, data: comm.Alltoall(data[:3], data[:3]), "ERR_COUNT: rank 0: Alltoall: 3 "
     "elements in 2 parts, COMM_WORLD"),
])
def test_wrong_arguments(call, text):
    async def main(mpi):
        if mpi.COMM_WORLD.rank == 0:
            await call(mpi.COMM_WORLD, mpi.empty(8, np.int32))

    assert re.search(re.escape(text), told(main))


def test_a_full_attached_buffer():
    async def main(mpi):
        mpi.Attach_buffer(1000)
        if mpi.COMM_WORLD.rank == 0:
            await mpi.COMM_WORLD.Bsend(np.zeros(500), 1, 2)

    assert told(main) == ("MPI_ERR_BUFFER: rank 0: Bsend to rank 1, tag 2, COMM_WORLD: 4000 bytes, "
                          "and the attached buffer of 1000 has no room (MPI_Buffer_attach)")


@pytest.mark.parametrize("length", [8, 30000])
def test_rsend_without_a_receive(length):
    async def main(mpi):
        data = mpi.empty(length, np.uint8)
        if mpi.COMM_WORLD.rank:
            await mpi.port.delay(50_000)
            await mpi.COMM_WORLD.Recv(data, 0, 3)
        else:
            await mpi.COMM_WORLD.Rsend(data, 1, 4)

    assert told(main) == ("MPI_ERR_OTHER: rank 1: Rsend of rank 0, tag 4, COMM_WORLD, and no "
                          "receive was posted")


def test_two_long_sends():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(30000, np.uint8)
        await comm.Send(data, 1 - comm.rank, 5)

    assert told(main) == ("MPI_ERR_PENDING: deadlock, no rank can go on: rank 0: Send to rank 1, "
                          "tag 5, COMM_WORLD; rank 1: Send to rank 0, tag 5, COMM_WORLD")


def test_a_receive_that_nobody_sends_to():
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, mpi.empty(8, np.uint8)
        if comm.rank == 2:
            await comm.Recv(data, 0, 5)

    assert "rank 2: Recv from rank 0, tag 5, COMM_WORLD" in told(main, nodes=3)


def test_a_receive_that_is_left():
    async def main(mpi):
        await mpi.COMM_WORLD.Irecv(mpi.empty(8, np.uint8), 1 - mpi.COMM_WORLD.rank)

    assert "Finalize with 1 receives that have not ended" in told(main)


def test_a_communicator_that_was_freed():
    """Told of the rank that comes to it first, which the model and the target disagree about."""
    async def main(mpi):
        comm = await mpi.COMM_WORLD.Dup()
        comm.Free()
        await comm.Send(None, 0)

    assert re.search("ERR_COMM: rank [01]: Send on COMM_WORLD.Dup, which was freed", told(main))


def test_too_short_work_queues():
    assert told(None, via__queue_depth=32) == (
        "MPI_ERR_NO_MEM: via.queue_depth = 32: a VI of MPI has 37 receives posted "
        "(mpi.prepost_used = 32)")


def test_too_few_tokens_for_the_ranks():
    with pytest.raises(MpiError, match="gm.receive_tokens = 3: too few for 4 ranks"):
        Model(describe("gm", 4, gm__receive_tokens=3)).run(ranks(None, 4), limit=LIMIT)


def test_a_node_that_is_no_rank():
    async def program(node):
        Mpi(node, nodes=[0])

    with pytest.raises(MpiError, match=r"Mpi on node 1, which is none of nodes = \[0\]"):
        Model(describe()).run([None, program], limit=LIMIT)


def test_queues_that_do_not_fit():
    async def program(cpu):
        Mpi(cpu, nodes=[0])

    with pytest.raises(MpiError, match="ERR_NO_MEM: rank 0: queues of 8 processes: host memory is "
                                       "full"):
        Model(describe("shm", 8, memory__bytes=1 << 20)).run([[program] * 8, None], limit=LIMIT)


NETWORKS = ["via", "via in the kernel", "gm", "tcp"]


async def open_alone(node):
    """Begins, and ends without Finalize."""
    mpi = Mpi(node)
    await mpi.Init()


@pytest.mark.parametrize("channel", NETWORKS)
def test_a_rank_that_ends_without_finalize(channel):
    async def receives(node):
        async with Mpi(node) as mpi:
            await mpi.COMM_WORLD.Recv(np.zeros(1), 1, 5)

    assert said([receives, open_alone], channel) == (
        "MPI_ERR_PENDING: no rank can go on: rank 0: Recv from rank 1, tag 5, COMM_WORLD; rank 1 "
        "has ended without Finalize")


@pytest.mark.parametrize("channel", NETWORKS)
@pytest.mark.parametrize("length", [8, 6000, 100_000])
def test_sends_to_a_rank_that_has_ended(channel, length):
    """Whatever they wait for: credits, room in a socket, a reply."""
    async def sends(node):
        async with Mpi(node) as mpi:
            await mpi.port.delay(50_000)
            for _ in range(100):
                await mpi.COMM_WORLD.Send(np.zeros(length, np.uint8), 1)

    text = said([sends, open_alone], channel)
    assert re.fullmatch("MPI_ERR_PENDING: no rank can go on: rank 0: (Send to|Barrier from) rank "
                        "1, tag 0, COMM_WORLD; rank 1 has ended without Finalize", text)


@pytest.mark.parametrize("channel", NETWORKS)
def test_a_rank_that_ends_without_init(channel):
    async def nothing(node):
        await node.port.delay(1000)
        await node.port.flush()

    text = "MPI_ERR_OTHER: rank 1 has ended without Init, in which rank 0 waits for it"
    assert said([open_alone, nothing], channel) == text

    async def later(node):
        await node.port.delay(5000)
        await open_alone(node)

    assert said([later, nothing], channel) == text


def test_others_go_on_as_long_as_they_can():
    async def main(node):
        mpi = Mpi(node)
        await mpi.Init()
        data = np.zeros(1)
        if mpi.rank != 2:
            for _ in range(20):
                await mpi.COMM_WORLD.Sendrecv(np.ones(1), 1 - mpi.rank, 0, data, 1 - mpi.rank, 0)
        return float(data[0])

    assert Model(describe(nodes=3)).run([main] * 3, limit=LIMIT).results == [1, 1, 0]


def test_a_connection_that_the_peer_has_ended():
    """Its buffer is full and never has room again, so select finds it writable at once, each
    time."""
    async def sends(node):
        async with Mpi(node) as mpi:
            for _ in range(10):
                await mpi.port.delay(10_000)
                await mpi.COMM_WORLD.Iprobe()
            for _ in range(300):
                await mpi.COMM_WORLD.Isend(np.zeros(900), 1)
            await mpi.COMM_WORLD.Recv(np.zeros(1), 2)

    async def receives(node):
        async with Mpi(node) as mpi:
            await mpi.COMM_WORLD.Recv(np.zeros(1), 0)

    async def closes(node):
        mpi = Mpi(node)
        await mpi.Init()
        for socket in [*mpi.channels[0]._tcp.sockets]:
            await socket.close()
        await mpi.port.delay(3_000_000)
        await mpi.channels[0].close()
        await mpi.port.delay(LIMIT)
        await mpi.port.flush()

    assert said([sends, closes, receives], "tcp", tcp__rto_min=400_000,
                tcp__socket_buffer=8192) == (
        "MPI_ERR_OTHER: rank 0: rank 1 has ended its connection")


@pytest.mark.parametrize("channel, way", [("via", "write"), ("via", "read"), ("gm", "write")])
def test_what_follows_a_write_or_a_read_is_under_way(channel, way):
    """Memory is deregistered inside a wait, which takes time. Meanwhile all others may wait, and
    nothing else be under way: that is no deadlock."""
    async def main(mpi):
        world, ends, seen = mpi.engine._world, mpi.sending._ends, []
        leave = ends.leave

        async def leaving(*arguments):
            before = await mpi.port.flush()
            await leave(*arguments)
            seen.append((await mpi.port.flush() > before, world.under_way[mpi.rank] > 0))

        ends.leave = leaving
        data = mpi.empty(20_000, "u1")
        if mpi.rank == 0:
            await mpi.COMM_WORLD.Send(data, 1)
        else:
            await mpi.COMM_WORLD.Recv(data, 0)
        await mpi.COMM_WORLD.Barrier()
        return seen

    ends = Model(describe(channel, mpi__rendezvous=way, mpi__registration_cache=0)).run(
        ranks(main), limit=LIMIT).results
    assert ends[0 if way == "write" else 1] == [(True, True)]
