"""A rank that computes: where a kernel carries the packets, over TCP and with VIA in the kernel, it
takes packets and timers meanwhile, by interrupts."""

from fractions import Fraction

import numpy as np
import pytest
from nicbed.host.mpi.sync import program
from nicbed.layouts.trace import TICKS
from nicbed.testbench.run.sent_again import sent_again

from tests.models.target import Model
from tests.programs.mpi import LIMIT, describe, ranks

LONG = 400_000
"""CPU cycles of computation: three times the least time-out of TCP."""
COUNTS = (0, 1, 100, 12_345)
QUIET = 100_000
"""Cycles after which nothing is under way."""
IMPATIENT = {"via__retry_timeout": 2_000, "via__retries": 3}
"""With these a VI whose peer does not answer is broken long before a computation has ended."""
KERNELS = pytest.mark.parametrize("channel", ["tcp", "via in the kernel"])


def run(main, channel="tcp", cpus=1, **knobs):
    runtime = Model(describe(channel, cpus=cpus, **knobs)).run(
        ranks(main, cpus=cpus), limit=LIMIT)
    for port in runtime.ports:
        ticks = [mark[0] for mark in port.log]
        assert ticks == sorted(ticks)
    return runtime.results, sent_again(runtime.ports, [])


@KERNELS
@pytest.mark.parametrize("cpus", [1, 2])
def test_what_has_arrived_is_acknowledged_while_both_ends_compute(channel, cpus):
    """TCP's last segment before a computation waits for a second one, or for the timer of its
    acknowledgement."""
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(1)
        peer = (comm.rank + comm.size // 2) % comm.size
        for _ in range(3):
            await comm.Sendrecv(np.ones(1), peer, 0, data, peer, 0)
            await mpi.compute("is_key", LONG)
        return data[0]

    results, again = run(main, channel, cpus=cpus, apps__is_key=1)
    assert not again and set(np.ravel(results)) == {1}


@pytest.mark.parametrize("size", [8, 30_000])
def test_a_peer_that_computes_breaks_no_vi(size):
    """It answers packets, also those of a long message to a receive that is posted, and probes."""
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(size // 8)
        if comm.rank == 0:
            for _ in range(3):
                await comm.Send(np.full(size // 8, 7.0), 1)
            return 7
        receives = [await comm.Irecv(data, 0) for _ in range(3)]
        await mpi.compute("is_key", LONG)
        for receive in receives:
            await receive.Wait()
        return data[-1]

    results, _ = run(main, "via in the kernel", apps__is_key=1, **IMPATIENT)
    assert results == [7, 7]


@KERNELS
def test_an_interrupt_comes_after_what_was_spent_before_the_computation(channel):
    """At whatever cycle: marks are in order."""
    async def main(mpi):
        comm, data = mpi.COMM_WORLD, np.zeros(100)
        for turn in range(200):
            if comm.rank == 0:
                if turn % 4 == 0:
                    await comm.Isend(data, 1)
                await mpi.port.delay(7 * turn)
                continue
            await comm.Iprobe(0, 5)
            await mpi.compute("flop", turn)
        for _ in range(50 * comm.rank):
            await comm.Recv(data, 0)

    run(main, channel)


@pytest.mark.parametrize("channel", ["via", "tcp", "via in the kernel"])
def test_a_computation_that_nothing_interrupts_takes_what_it_is_charged(channel):
    async def main(mpi):
        port, found = mpi.port, []
        for _ in range(3):  # messages, their acknowledgements: then there is silence
            await port.delay(QUIET)
            await mpi.COMM_WORLD.Iprobe(1 - mpi.rank)
        for count in COUNTS:
            before = await port.now()
            await mpi.compute("flop", count)
            found.append(await port.now() - before)
        await port.delay(QUIET)
        return found

    results, _ = run(main, channel, apps__flop="2.1")
    description = describe(channel)
    cycle = Fraction(description.nic.clock_mhz) / Fraction(description.cpu.clock_mhz) * TICKS
    for found in results:
        for ticks, count in zip(found, COUNTS, strict=True):
            # Below a cycle of the CPU, and below a tick, waits for what comes next.
            assert abs(ticks - Fraction("2.1") * count * cycle) <= cycle + 1


@KERNELS
def test_a_program_with_blocking_calls_is_interrupted_too(channel):
    def body(rank):
        rank.init()
        comm, data, peer = rank.mpi.COMM_WORLD, np.zeros(1), 1 - rank.number
        rank.compute(rank.number * LONG)
        for _ in range(2):
            rank.wait(comm.Sendrecv(np.ones(1), peer, 0, data, peer, 0))
            rank.compute(LONG)
        rank.finalize()

    for before, knobs in ((0, {}), (LONG, {"mpi__program_cycles": LONG})):
        if channel != "tcp":
            knobs |= IMPATIENT
        runtime = Model(describe(channel, **knobs)).run([program(body)] * 2, limit=LIMIT)
        assert not sent_again(runtime.ports, []), before
