"""Receive buffers of the channel over GM by size class, and with what comes when none waits."""

import numpy as np
import pytest
from nicbed.host.gm import gm_max_length_for_size
from nicbed.host.mpi import MpiError, Request
from nicbed.host.mpi.channels.gm_buffers import Classes, Shares
from nicbed.host.mpi.progress.packets import HEADER_BYTES

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe, pattern, ranks


def run(main, nodes=2, **knobs):
    return Model(describe("gm", nodes, mpi__gm_buffers="classes", **knobs)).run(
        ranks(main, nodes), limit=LIMIT).results


def test_each_class_has_as_many_and_small_ones_the_rest():
    sizes = Classes(32, 8192 - 8).sizes
    assert {size: sizes.count(size) for size in sizes} == {
        5: 4, 6: 4, 7: 4, 8: 4, 9: 4, 10: 3, 11: 3, 12: 3, 13: 3}
    assert set(Shares(32, 8192 - 8, 3).sizes) == {13}


@pytest.mark.parametrize("length", [0, 8, *map(more, (9, 1000, 4000)), 8000, 20_000])
def test_lengths_at_the_borders_of_classes_arrive(length):
    """All ranks to all others, at once."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        into = {rank: np.zeros(length, np.uint8) for rank in others}
        requests = [await comm.Irecv(into[rank], rank, 3) for rank in others]
        requests += [await comm.Isend(pattern(length, comm.rank), rank, 3) for rank in others]
        await Request.Waitall(requests)
        return all(np.array_equal(into[rank], pattern(length, rank)) for rank in others)

    assert all(run(main, 3))


def test_a_packet_fills_its_class():
    """The longest data of a class, and a byte more."""
    border = gm_max_length_for_size(7) - HEADER_BYTES

    async def main(mpi):
        comm = mpi.COMM_WORLD
        for length in (border, border + 1):
            data = pattern(length, 5)
            if comm.rank == 0:
                await comm.Send(data, 1)
            else:
                into = np.zeros(length, np.uint8)
                await comm.Recv(into, 0)
                assert np.array_equal(into, data)

    run(main)


def test_each_packet_takes_a_buffer_of_its_own_class():
    """Three of each class are delivered while their receiver does not look."""
    lengths = [gm_max_length_for_size(size) - HEADER_BYTES for size in range(5, 13)]

    async def main(mpi):
        comm = mpi.COMM_WORLD
        if comm.rank == 0:
            gm, _ = mpi.channels
            for _ in range(3):
                for length in lengths:
                    await comm.Send(pattern(length, 1), 1)
                await mpi.engine.until(lambda: gm.idle, lambda: "the last send")
            return await mpi.port.flush()
        await mpi.port.delay(2_000_000)
        woken = await mpi.port.flush()
        for length in lengths * 3:
            await comm.Recv(np.zeros(length, np.uint8), 0)
        return woken

    sent, woken = run(main)
    assert sent < woken


def test_messages_for_which_no_buffer_waits_come_later_and_in_order():
    """Rank 1 looks when rank 0 has sent many more than there are buffers of their class."""
    async def main(mpi):
        comm = mpi.COMM_WORLD
        if comm.rank == 0:
            for number in range(30):
                await comm.Send(np.array([number]), 1)
            return None
        await mpi.port.delay(60_000)
        found, one = [], np.zeros(1, int)
        for _ in range(30):
            await comm.Recv(one, 0)
            found.append(int(one[0]))
        return found

    assert run(main, gm__retry_timeout=8000, gm__retries=30)[1] == list(range(30))


def test_too_few_tokens():
    async def main(mpi):
        pass

    with pytest.raises(MpiError, match="gm.receive_tokens = 8: fewer than the size classes of "
                       "packets, 9"):
        run(main, gm__receive_tokens=8)


def test_a_rank_that_computes_for_too_long_is_named_with_the_knobs():
    async def main(mpi):
        data = np.zeros(1, np.int32)
        if mpi.rank:
            await mpi.port.delay(10_000_000)
            await mpi.port.flush()
        else:
            for _ in range(40):
                await mpi.COMM_WORLD.Send(data, 1)

    with pytest.raises(MpiError, match=r"rank 0: a send to rank 1 ended with GM_SEND_TIMED_OUT: "
                                       r"that rank had no buffer for it, .* \(gm.retries = 3, "
                                       r"gm.retry_timeout = 8000\)"):
        run(main, gm__retries=3, gm__retry_timeout=8000)
