"""The lock of a kernel that several CPUs execute."""

import pytest
from nicbed.host.kernel.lock import IDLE, _Held, kernel_lock
from nicbed.host.port.running import Running
from nicbed.host.port.suspension import EXECUTED, NOTHING
from nicbed.host.port.work import Charge
from nicbed.host.smp import costs
from nicbed.layouts.description import Description

from tests.models.target import Model

LIMIT = 1_000_000
WAKE = 100
"""Cycles in which a CPU that has seen news is in the kernel."""


class Kernel:
    """One for a node."""

    def __init__(self, node):
        self.port = node.port
        self.lock = kernel_lock(node)
        self.path = node.port.path(costs.ARRIVE)
        self.log = []


def run(programs, **bus):
    description = Description.model_validate({"node": {"cpus": len(programs)}, "bus": bus,
                                              "via": {"design": "kernel"}})

    def shared(program):
        async def main(cpu):
            cpu.share_nic()
            return await program(cpu, cpu.kernel(Kernel))
        return main

    return Model(description).run([[shared(one) for one in programs], None], limit=LIMIT)


def test_one_cpu_at_a_time():
    async def program(cpu, kernel):
        for _ in range(5):
            await kernel.lock.enter()
            await kernel.lock.enter()
            kernel.log.append((cpu.cpu, "in"))
            await kernel.port.delay(50)
            await kernel.port.flush()
            await kernel.lock.leave()
            kernel.log.append((cpu.cpu, "out"))
            await kernel.lock.leave()
        return kernel

    kernel = run([program] * 4).results[0][0]
    assert len(kernel.log) == 40
    for (one, came), (other, went) in zip(kernel.log[::2], kernel.log[1::2], strict=True):
        assert one == other and (came, went) == ("in", "out")


@pytest.mark.parametrize("posted", [True, False])
def test_what_one_has_written_arrives_before_another_one_enters(posted):
    """The lock is in memory, which the NIC's registers are far behind."""
    async def program(cpu, kernel):
        register = cpu.register("send_base")
        async with kernel.lock.held():
            found = await cpu.port.pio_read(register)
            for value in range(found + 1, found + 4):
                cpu.port.put_write(register, 1, value)
            kernel.lock.wrote()
        return found

    run_ = run([program] * 3, pio_write=100, posted=posted)
    assert sorted(run_.results[0]) == [0, 3, 6]


@pytest.mark.parametrize("posted, writes, wrote, reads", [
    (True, 1, True, 1), (True, 1, False, 0), (True, 0, False, 0), (False, 1, True, 0)])
def test_it_is_read_once_and_only_if_it_has_to_be(posted, writes, wrote, reads):
    async def program(cpu, kernel):
        async with kernel.lock.held():
            for _ in range(writes):
                cpu.port.put_write(cpu.register("send_base"), 1, 1)
            if wrote:
                kernel.lock.wrote()
        async with kernel.lock.held():
            pass
        return await cpu.port.flush()

    last = run([program], posted=posted, pio_read=1000).results[0][0]
    assert 1000 * reads < last < 1000 * reads + 200


def test_news_wake_a_cpu_that_sleeps():
    async def sleeper(cpu, kernel):
        await kernel.lock.enter()
        interrupted = await kernel.lock.sleep()
        woken = await cpu.port.flush()
        await kernel.lock.leave()
        return woken, interrupted

    async def waker(cpu, kernel):
        await cpu.port.delay(5000)
        await kernel.lock.enter()
        await kernel.lock.leave()
        await cpu.port.delay(5000)
        await kernel.lock.enter()
        kernel.lock.news()
        await kernel.lock.leave()
        return await cpu.port.flush()

    (woken, interrupted), told = run([sleeper, waker]).results[0]
    assert told < woken <= told + IDLE + WAKE and told > 10_000
    assert not interrupted


def test_news_of_the_moment_in_which_it_goes_to_sleep():
    """The other CPU waits for the kernel when this one begins to sleep."""
    async def sleeper(cpu, kernel):
        await kernel.lock.enter()
        await cpu.port.delay(1000)
        await kernel.lock.sleep()
        await kernel.lock.leave()
        return await cpu.port.flush()

    async def waker(cpu, kernel):
        await cpu.port.delay(500)
        await kernel.lock.enter()
        kernel.lock.news()
        await kernel.lock.leave()

    assert run([sleeper, waker]).results[0][0] < 1000 + IDLE + 2 * WAKE


def test_a_sleep_ends_in_time():
    async def sleeper(cpu, kernel):
        await kernel.lock.enter()
        begin = await cpu.port.flush()
        await kernel.lock.sleep(250)
        end = await cpu.port.flush()
        await kernel.lock.leave()
        return end - begin

    async def nothing(cpu, kernel):
        pass

    assert 250 <= run([sleeper, nothing]).results[0][0] < 250 + WAKE


def test_work_is_the_cpus_that_executes_it():
    async def program(cpu, kernel):
        for _ in range(cpu.cpu + 1):
            kernel.port.spend(kernel.path)
        assert kernel.port.cpu == cpu.cpu
        await cpu.port.flush()
        return cpu.run_service(Running).port is cpu.port

    run_ = run([program] * 3)
    assert run_.results[0] == [True] * 3
    assert [port.paths()["barrier_arrive"] for port in run_.ports[:3]] == [1, 2, 3]
    assert all(isinstance(one, Charge) for port in run_.ports for one in port._charges)


def test_an_error_leaves_the_kernel():
    """As far as it was entered inside, however deep; not what was entered before."""
    async def program(cpu, kernel):
        if cpu.cpu:
            await cpu.port.delay(5000)
        for wrapped in (kernel.lock.held, kernel.lock.guarded):
            with pytest.raises(TypeError, match="wrong"):
                async with wrapped():
                    await kernel.lock.enter()
                    async with kernel.lock.held():
                        raise TypeError("wrong")
            assert kernel.lock.depth == 0
            async with kernel.lock.held():
                with pytest.raises(TypeError, match="wrong"):
                    async with wrapped():
                        await kernel.lock.enter()
                        raise TypeError("wrong")
                assert kernel.lock.depth == 1
        return await cpu.port.flush()

    assert run([program] * 2).results[0][1] > 5000


def test_an_error_in_a_sleep_leaves_the_kernel_to_who_has_it():
    async def program(cpu, kernel):
        if cpu.cpu:
            await cpu.port.delay(500)
            async with kernel.lock.held():
                await cpu.port.delay(3000)
                await cpu.port.flush()
                return kernel.lock.depth

        class Fails:
            """The look for news of one that sleeps."""

            async def load(self, *_):
                await cpu.port.delay(1000)
                await cpu.port.flush()
                raise TypeError("wrong")

            def __getattr__(self, name):
                return getattr(node, name)

        node = kernel.lock._node
        kernel.lock._node = Fails()
        with pytest.raises(TypeError, match="wrong"):
            async with kernel.lock.held():
                await kernel.lock.sleep()
        return kernel.lock.depth

    assert run([program] * 2).results[0] == [0, 1]


def test_a_program_that_ends_in_the_kernel_does_not_leave_it():
    class One:
        depth = 0

        async def enter(self):
            await NOTHING

        def __getattr__(self, name):
            raise AssertionError(name)

    async def closed():
        async with _Held(One()):
            await EXECUTED

    coroutine = closed()
    coroutine.send(None)
    coroutine.close()
