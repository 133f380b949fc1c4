"""Locks and barriers of a node's CPUs, on the model target."""

import asyncio
import random

import pytest
from nicbed.host.smp import Barrier, QueueLock, SpinLock
from nicbed.layouts.description import Description

from tests.labs.model import ModelLab
from tests.models.spent import cpu_cycles
from tests.models.target import Model
from tests.programs import smp_jobs

LOCKS = [SpinLock, QueueLock]


def describe(cpus: int, nodes: int = 2) -> Description:
    return Description.model_validate({"node": {"cpus": cpus}, "fabric": {"nodes": nodes}})


def run(cpus: int, program, each=None):
    model = Model(describe(cpus))
    return model.run([each or [program] * cpus, None], limit=5_000_000)


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("cpus", [1, 2, 3, 8])
def test_one_cpu_at_a_time_has_a_lock(kind, cpus):
    """A counter that each CPU loads, and stores one up a while later, loses no count."""
    rounds = 12

    async def program(cpu):
        lock, counter = kind(cpu, "lock"), cpu.shared("counter", 8)
        draw = random.Random(f"{cpus} {cpu.cpu}")
        for _ in range(rounds):
            await lock.acquire()
            count = int.from_bytes(await cpu.load(counter, 8), "little")
            await cpu.port.delay(draw.randrange(40))
            await cpu.store(counter, (count + 1).to_bytes(8, "little"))
            await lock.release()
            await cpu.port.delay(draw.randrange(60))
        return counter

    runtime = run(cpus, program)
    assert len(set(runtime.results[0])) == 1
    assert runtime.nodes[0].memory.word(runtime.results[0][0]) == cpus * rounds


def test_a_queue_lock_serves_in_the_order_of_arrival():
    order = []

    async def program(cpu):
        lock = QueueLock(cpu, "lock")
        await cpu.port.delay(50 * (cpu.cpu + 1))
        for _ in range(3):
            await lock.acquire()
            order.append(cpu.cpu)
            await cpu.port.delay(1000)
            await lock.release()

    run(4, program)
    assert order == [0, 1, 2, 3] * 3


@pytest.mark.parametrize("cpus", [1, 2, 5, 8])
def test_no_cpu_passes_a_barrier_before_all_have_arrived(cpus):
    rounds, arrived = 10, []

    async def program(cpu):
        barrier = Barrier(cpu, "barrier")
        draw = random.Random(f"{cpus} {cpu.cpu}")
        for number in range(rounds):
            await cpu.port.delay(draw.randrange(100))
            arrived.append(number)
            await barrier.wait()
            assert arrived.count(number) == cpus

    run(cpus, program)


def test_some_of_the_cpus_may_meet():
    async def program(cpu):
        await Barrier(cpu, "some", 2).wait()
        return await cpu.port.flush()

    assert all(run(4, program, [program, None, None, program]).results[0][::3])


def test_locks_and_barriers_of_other_names_and_nodes_are_others():
    async def program(cpu):
        await SpinLock(cpu, f"lock {cpu.cpu}").acquire()
        await SpinLock(cpu, "held").acquire()
        await Barrier(cpu, "barrier", 1).wait()

    model = Model(describe(2))
    model.run([[program, None], [None, program]], limit=100_000)


@pytest.mark.parametrize(("cpus", "entries"), [(2, 1), (3, 64), (8, 4)])
def test_a_queue_without_locks_loses_nothing(cpus, entries):
    asyncio.run(smp_jobs.shared_queue(ModelLab(describe(cpus)), 25, entries))


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_come_to_an_end(seed):
    [found] = asyncio.run(smp_jobs.random_cpus(ModelLab(describe(4)), [seed], 60))
    assert found["cycles"] > 60


def test_every_call_costs_cpu_cycles():
    async def program(cpu):
        port, spent = cpu.port, []

        async def note(call):
            before = cpu_cycles(port)
            await call
            await port.flush()
            spent.append(cpu_cycles(port) - before)

        for lock in (SpinLock(cpu, "a"), QueueLock(cpu, "b")):
            await note(lock.acquire())
            await note(lock.release())
        await note(Barrier(cpu, "c", 1).wait())
        return spent

    assert all(cost > 0 for cost in run(1, program).results[0][0])


@pytest.mark.parametrize("parties", [0, 3])
def test_a_barrier_of_more_cpus_than_there_are_is_refused(parties):
    async def program(cpu):
        Barrier(cpu, "barrier", parties)

    with pytest.raises(ValueError, match=rf"parties must be 1 to 2 \(node.cpus\), not {parties}"):
        run(2, program)
