"""What the layer costs: every path is charged somewhere, and all CPU time is charged work."""

from fractions import Fraction

import numpy as np
import pytest
from nicbed.host.mpi import INT, Win, costs
from nicbed.host.mpi.channels import shm
from nicbed.host.port.costs import Costs, Path
from nicbed.host.tcp import costs as tcp_costs

from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs.mpi import LIMIT, by_rank, describe, ranks

KNOBS = {"mpi__path_scale": 3, "cpu__path_scale": 2, "mpi__buffer_bytes": 512,
         "tcp__socket_buffer": 2048}
NOT_ON = {"tcp": {"mpi_cached", "mpi_keep"}, "shm": {"mpi_cached"}}
"""TCP and shared memory register nothing; what nobody waits for stays in TCP's socket."""
SHM = (shm.SEND, shm.CLAIM, shm.TAKE, shm.RELEASE)


async def everything(mpi):
    """Calls that between them take every path."""
    comm, peer = mpi.COMM_WORLD, 1 - mpi.COMM_WORLD.rank
    data, many = mpi.empty(64, np.int32), mpi.empty(20000, np.uint8)
    mpi.Attach_buffer(2000)
    await comm.Bsend(data, peer, 1)
    await comm.Recv(data, peer, 1)
    requests = [await comm.Irecv(many, peer, 2), await comm.Isend(many, peer, 2)]
    for request in requests:
        await request.Wait()
    vector = INT.Create_vector(4, 1, 3)
    await comm.Sendrecv([data, 2, vector], peer, 3, [data[32:], 2, vector], peer, 3)
    await comm.Iprobe()
    # More than there are credits: some wait for them.
    await mpi.port.delay(400_000 * mpi.rank)
    out = [await comm.Isend(data, peer, 4) for _ in range(100)]
    await mpi.port.delay(50_000)
    for _ in range(100):
        await comm.Recv(data, peer, 4)
    for request in out:
        await request.Wait()
    total = np.zeros(64, np.int32)
    await comm.Allreduce(data, total)
    await (await comm.Ibarrier()).Wait()
    await comm.Dup()
    await mpi.Detach_buffer()
    win = await Win.Create(data, 4, comm)
    await win.Fence()
    await win.Accumulate(total, peer)
    await win.Fence()
    await win.Free()
    return dict(mpi.port.paths())


@pytest.mark.parametrize("channel", ["via", "gm", "tcp", "shm"])
def test_every_path_is_charged_with_its_factor(channel):
    """And all counts at their prices are what each port charged."""
    description = describe(channel, **KNOBS)
    runtime = Model(description).run(ranks(everything, 2, channel), limit=LIMIT)
    paths = list(costs.PATHS.values())
    charged = {name for one in by_rank(runtime.results, channel) for name in one}
    assert {path.name for path in paths} - charged <= NOT_ON.get(channel, set())
    prices = Costs(description)
    assert channel != "shm" or {path.name for path in SHM} <= charged
    scales = dict.fromkeys((*paths, *SHM), Fraction(3))
    scales |= dict.fromkeys([path for path in vars(tcp_costs).values() if isinstance(path, Path)],
                            Fraction(1))
    for port in runtime.ports:
        whole = sum(charge.count * prices.cycles(path, scales.get(path))
                    for charge in port._charges for path in charge.paths)
        whole += sum(prices.price[item] * count for item, count in port._items.items())
        whole += port._check_count * prices.price["poll_check"]
        assert cpu_cycles(port) == whole


def test_each_path_is_in_one_part():
    every = [path for paths in costs.PARTS.values() for path in paths]
    assert len(every) == len(set(every)) == len(costs.PATHS)


def test_copies_take_the_cpu():
    """Eager data are copied twice, at a word each; written ones are not."""
    async def main(mpi):
        data = mpi.empty(8000, np.uint8)
        before = mpi.port.tally()["copy_word"]
        if mpi.rank == 0:
            await mpi.COMM_WORLD.Send(data, 1)
        else:
            await mpi.COMM_WORLD.Recv(data, 0)
        return mpi.port.tally()["copy_word"] - before

    def copied(**knobs):
        return Model(describe(**knobs)).run(ranks(main), limit=LIMIT).results

    assert copied(mpi__eager=8000) == [1000, 1000]
    assert copied(mpi__eager=100) == [0, 0]
    assert copied(mpi__eager=100, mpi__rendezvous="bounce") == [1000, 1000]


@pytest.mark.parametrize("call", ["Allreduce", "Reduce", "Scan"])
def test_operations_go_through_the_cache(call):
    """Both operands are loaded, and the result is stored into one of them."""
    size = 3000

    async def main(mpi):
        comm, touched = mpi.COMM_WORLD, []
        touch, combine = mpi.process.touch, comm._combine

        async def noted(address, length, store=False):
            touched.append((address, length, store))
            await touch(address, length, store)

        async def combined(*arguments):
            mpi.process.touch = noted
            await combine(*arguments)
            mpi.process.touch = touch

        comm._combine = combined
        await getattr(comm, call)(np.zeros(size, np.uint8), np.zeros(size, np.uint8))
        return touched

    lower, higher = Model(describe()).run(ranks(main), limit=LIMIT).results
    for touched in {"Allreduce": (lower, higher), "Reduce": (lower,), "Scan": (higher,)}[call]:
        loads = {at: length for at, length, store in touched if not store}
        stores = {at: length for at, length, store in touched if store}
        assert sum(loads.values()) == 2 * size and sum(stores.values()) == size
        assert stores.items() <= loads.items()


@pytest.mark.parametrize("pages, registered", [(0, 4), (1, 4), (16, 1)])
def test_registration_is_kept(pages, registered):
    """Four long messages from the same buffer of three pages."""
    async def main(mpi):
        page = mpi.process.page_bytes
        data = mpi.empty(3 * page - 200, np.uint8)
        for _ in range(4):
            await (mpi.COMM_WORLD.Recv(data, 0) if mpi.rank else mpi.COMM_WORLD.Send(data, 1))
        return mpi.registrations["via"].misses

    found = Model(describe(mpi__registration_cache=pages)).run(ranks(main), limit=LIMIT)
    assert found.results == [registered] * 2


def test_the_least_recently_used_region_goes_first():
    async def main(mpi):
        page = mpi.process.page_bytes
        data = [mpi.empty(page, np.uint8) for _ in range(3)]
        for index in (0, 1, 0, 2, 0, 1):
            if mpi.rank:
                await mpi.COMM_WORLD.Recv(data[index], 0)
            else:
                await mpi.COMM_WORLD.Send(data[index], 1)
        return mpi.registrations["via"].misses

    # Regions of two pages each, room for two: 2 takes the place of 1, and 1 that of 2.
    found = Model(describe(mpi__registration_cache=4)).run(ranks(main), limit=LIMIT).results
    assert found[0] == 4
