"""Several ranks on each of several nodes: shared memory within a node, its NIC for all of them."""

import re
from itertools import chain

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from nicbed.host.am import Gam
from nicbed.host.mpi import ANY_SOURCE, Mpi, MpiError, Request
from nicbed.host.mpi.channels.places import Places
from nicbed.host.mpi.channels.tcp import TcpChannel
from nicbed.host.tcp.stack import Stack
from nicbed.host.via import Process, Vipl
from nicbed.host.via.kernel import Kernel
from nicbed.layouts.registers import Irq

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.mpi import CHANNELS, FAULTS, LIMIT, describe, ranks
from tests.programs.mpi_rounds import Messages, program, rounds

CPUS = 2
FEW = {"via": {"mpi__prepost": 6, "mpi__prepost_used": 6},
       "gm": {"gm__receive_tokens": 16, "gm__send_tokens": 2}}
LOSSY = {name.replace(".", "__"): value for name, value in FAULTS.items()}
NETWORKS = [more(name) if name == "via in firmware" else name
            for name in CHANNELS if name != "shm"]
SOME = ["via", "tcp", *map(more, ("via in the kernel", "gm", "via in firmware"))]


def run(main, channel="via", nodes=2, cpus=CPUS, limit=LIMIT, **knobs):
    model = Model(describe(channel, nodes, cpus, **knobs))
    return model.run(ranks(main, nodes, cpus=cpus), limit=limit)


@pytest.mark.parametrize("channel", NETWORKS)
@pytest.mark.parametrize("count", [2, more(40)])
def test_random_programs(channel, count):
    @seed(count)
    @settings(max_examples=count, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data):
        nodes = data.draw(st.integers(2, 2 if count < 10 else 3))
        knobs = {"mpi__buffer_bytes": 512, "mpi__eager": 2000}
        if data.draw(st.booleans()):
            knobs |= LOSSY | {"faults__seed": data.draw(st.integers(1, 99))}
        if data.draw(st.booleans()):
            knobs |= FEW.get("via" if "via" in channel else channel, {})
        plan = data.draw(rounds(nodes * CPUS))
        found = run(program(plan), channel, nodes, **knobs).results
        assert sum(map(sum, found)) == sum(
            len(one.messages) * (2 if one.comm == 2 else 1) for one in plan
            if isinstance(one, Messages))

    check()


@pytest.mark.parametrize("channel", NETWORKS)
def test_any_source_takes_what_came_first(channel):
    """From its own node and from the other one, in both orders; a wait sees both."""
    begin = 300_000 if channel in ("via", "tcp", "via in the kernel") else 1_500_000

    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(1, np.int32)
        if comm.rank == 0:
            return [(await comm.Recv(data, ANY_SOURCE)).source for _ in range(4)]
        for turn, rank in enumerate((1, 2, 3, 1)):
            if rank == comm.rank:
                await mpi.port.delay(begin + 20_000 * turn - await mpi.port.flush())
                await comm.Send(data, 0)
        return None

    assert run(main, channel, via__retries=255).results[0][0] == [1, 2, 3, 1]


def test_the_other_node_has_its_turn_while_this_one_floods():
    """Its messages have come and wait, like those of the ranks beside."""
    many, few = 60, 5

    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(1, np.int32)
        if comm.rank == 0:
            await mpi.port.delay(300_000)
            found = [(await comm.Recv(data, ANY_SOURCE)).source for _ in range(2 * (many + few))]
            return max(turn for turn, source in enumerate(found) if source > 2)
        for _ in range(many if comm.rank < 3 else few if comm.rank < 5 else 0):
            await comm.Send(data, 0)
        return None

    assert run(main, "tcp", cpus=3).results[0][0] < 60


@pytest.mark.parametrize("channel, nodes, cpus, floods, other, many, most", [
    ("via", 2, 4, [1, 2, 3], 4, 80, 57), more("tcp", 2, 4, [1, 2, 3], 4, 80, 80),
    ("tcp", 4, 2, [2, 3, 4, 5, 6, 7], 1, 20, 17), ("via", 4, 1, [2, 3], 1, 120, 118),
    ("tcp", 4, 1, [2, 3], 1, 120, 31)])
def test_a_rank_that_polls_comes_to_its_message_in_a_flood(channel, nodes, cpus, floods, other,
                                                           many, most):
    """From its own node, and from others, which send as fast as it receives. ``most`` messages of
    the flood come before it, or a few more if something costs another time."""
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(1, np.int32)
        if comm.rank == 0:
            flood = [await comm.Irecv(data, rank, 0) for _ in range(many) for rank in floods]
            request = await comm.Irecv(data, other, 1)
            await comm.Barrier()
            while not await request.Test():
                pass
            come = sum(one.done for one in flood)
            await Request.Waitall(flood)
            return come
        await comm.Barrier()
        if comm.rank in floods:
            await Request.Waitall([await comm.Isend(data, 0) for _ in range(many)])
        elif comm.rank == other:
            await mpi.port.delay(10_000)
            await comm.Send(data, 0, 1)
        return None

    found = run(main, channel, nodes, cpus).results[0]
    assert (found if cpus == 1 else found[0]) <= most + 4


@pytest.mark.parametrize("channel", SOME)
def test_a_run_is_the_same_again(channel):
    async def main(mpi):
        data = np.full(300, mpi.rank)
        total = np.zeros(300, int)
        await mpi.COMM_WORLD.Allreduce(data, total)
        return int(total[0])

    first, second = run(main, channel), run(main, channel)
    assert first.results == second.results == [[6, 6], [6, 6]]
    assert first.marks == second.marks


@pytest.mark.parametrize("channel", SOME)
def test_the_kernel_costs_each_cpu_its_lock(channel):
    async def main(mpi):
        await mpi.COMM_WORLD.Barrier()

    for port in run(main, channel).ports:
        paths = port.paths()
        assert paths["kernel_release"] and paths["spin_lock_take"] >= paths["kernel_release"]
    alone = run(main, channel, cpus=1).ports
    assert not any("kernel_release" in port.paths() for port in alone)


def test_a_last_packet_that_is_lost():
    """VIA's kernel runs in calls: a rank must not end before its packets have arrived."""
    async def main(mpi):
        return mpi.rank

    for number in range(12):
        found = run(main, "via in the kernel", cpus=1, limit=1_000_000,
                    **{**LOSSY, "faults__seed": number, "faults__drop": 0.15}).results
        assert found == [0, 1]


def test_processes_of_a_node_have_doorbells_of_their_own():
    """The NIC refuses doorbells from processes that do not own them."""
    async def main(mpi):
        await mpi.COMM_WORLD.Barrier()
        return mpi.process.number

    assert run(main).results == [[1, 2], [1, 2]]


@pytest.mark.parametrize("channel, knobs", [
    ("via", {"cpu__clock_mhz": 300}), ("via", {"via__translation": "table"}),
    ("via", {"via__translation": "physical"}), ("via in the kernel", {"bus__pio_write": 50}),
    ("tcp", {"tcp__path_scale": 0, "bus__pio_write": 50})], ids=str)
def test_two_cpus_set_up_one_nic_and_their_library_costs_nothing(channel, knobs):
    """The kernel's registers are one for all CPUs, and its writes to them are posted."""
    async def main(mpi):
        comm, total = mpi.COMM_WORLD, np.zeros(1, int)
        await comm.Allreduce(np.full(1, mpi.rank), total)
        return int(total[0])

    results = run(main, channel, limit=1_000_000, cpu__path_scale=0, **knobs).results
    assert results == [[6, 6], [6, 6]]


@pytest.mark.parametrize("channel, layer", [
    ("via", Kernel), ("via in the kernel", Kernel), ("tcp", Stack)])
def test_the_nic_is_set_up_before_another_cpu_enters_the_kernel(channel, layer):
    """A doorbell that came before its ring was on would be lost."""
    async def main(cpu):
        cpu.share_nic()
        kernel = cpu.kernel(layer)
        async with kernel.lock.held():
            await kernel.start()
        return [await cpu.port.pio_read(cpu.register(name)) for name in ("control", "irq_enable")]

    model = Model(describe(channel, cpus=CPUS, cpu__path_scale=0, tcp__path_scale=0,
                           bus__pio_write=300, bus__pio_read=2))
    for control, causes in chain(*model.run([[main] * CPUS] * 2, limit=LIMIT).results):
        assert control == (2 if channel == "via" else 3) and causes & Irq.RECEIVE


def test_one_rank_here_and_two_there():
    async def main(cpu):
        async with Mpi(cpu) as mpi:
            found = np.zeros(3, int)
            await mpi.COMM_WORLD.Allgather(np.full(1, mpi.rank * 10), found)
            return [[*map(int, found)], [one.name for one in mpi.channels]]

    everything = [0, 10, 20]
    assert Model(describe(cpus=2)).run([[None, main], [main, main]], limit=LIMIT).results == [
        [None, [everything, ["via", "self"]]],
        [[everything, ["shm", "via", "self"]]] * 2]


def test_too_many_buffers_for_the_memory_name_the_knobs():
    """Those of all VIs; with fewer bytes for each they fit."""
    async def main(mpi):
        await mpi.COMM_WORLD.Barrier()
        return mpi.rank

    with pytest.raises(MpiError) as found:
        run(main, cpus=6)
    assert re.fullmatch(
        r"MPI_ERR_NO_MEM: rank \d: host memory is full: \d+ bytes asked, \d+ of 8388608 left "
        r"\(memory.bytes\); 6 ranks of a node with VIs to 6 others have buffers of up to "
        r"12582144 bytes \(mpi.buffer_bytes = 8192, mpi.prepost_used = 32\)", str(found.value))
    knobs = {"mpi__buffer_bytes": 1024, "mpi__prepost_used": 12}
    assert run(main, cpus=6, **knobs).results == [[*range(6)], [*range(6, 12)]]


def test_more_ranks_than_gm_has_ports():
    async def main(mpi):
        raise AssertionError

    with pytest.raises(MpiError, match="ERR_OTHER: rank 0: 8 ranks on node 0: GM has ports for 7 "
                                       "processes"):
        run(main, "gm", cpus=8)


@pytest.mark.parametrize("nodes, cpus", [(300, 2), (20, 48)])
def test_ports_of_many_ranks_over_tcp(nodes, cpus):
    """Each pair of ranks on two nodes has a port at the one that calls."""
    places = [(node, cpu) for node in range(nodes) for cpu in range(cpus)]
    last = range((nodes - 1) * cpus, nodes * cpus)

    async def main(cpu):
        cpu.share_nic()
        process = Process(cpu, 1)
        return [(rank, TcpChannel(cpu, process, Places(rank, places))) for rank in last]

    channels = Model(describe("tcp", cpus=2)).run([main] * 2, limit=LIMIT).results[0]
    ports = [channel._caller(rank, called) for rank, channel in channels
             for called in range(nodes * cpus)]
    assert len({*ports}) == len(ports) and max(ports) < 1 << 16


def test_more_ranks_than_tcp_has_ports():
    places = [(node, cpu) for node in range(2) for cpu in range(170)]

    async def main(cpu):
        cpu.share_nic()
        TcpChannel(cpu, Process(cpu, 1), Places(339, places))

    with pytest.raises(MpiError, match="ERR_OTHER: rank 339: 340 ranks, and 169 below it on its "
                                       "node: TCP has too few ports to call from"):
        Model(describe("tcp", cpus=2)).run([main] * 2, limit=LIMIT)


def test_a_nic_that_a_cpu_has_to_itself():
    async def main(cpu):
        if cpu.cpu == 0:
            Vipl(Process(cpu))
        Mpi(cpu)

    with pytest.raises(MpiError, match=r"ERR_OTHER: rank 0: node 0: CPU 0 drives this NIC \(VIA\), "
                                       "and the others are to share it"):
        Model(describe(cpus=2)).run([[main] * 2] * 2, limit=LIMIT)


def test_another_layer_on_a_nic_that_is_shared():
    async def main(cpu):
        Mpi(cpu)
        Gam(cpu)

    with pytest.raises(RuntimeError, match=r"on CPU 0 of node 0: its CPUs share this NIC \(VIA\)"):
        Model(describe(cpus=2)).run([[main] * 2] * 2, limit=LIMIT)


def test_several_nics():
    async def main(mpi):
        raise AssertionError

    with pytest.raises(RuntimeError, match="VIA on node 0, which has 2 NICs"):
        run(main, node__nics=2)
