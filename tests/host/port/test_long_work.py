"""Work of more ticks than an entry holds, before each operation, however full the block is."""

import pytest
from nicbed.host.port.costs import Costs
from nicbed.host.port.port import Port, Watch
from nicbed.host.port.words import MAX_WORK
from nicbed.host.runtime import Stuck
from nicbed.layouts.description import Description
from nicbed.layouts.operations import BLOCK, ENTRY, Op
from nicbed.layouts.registers import address
from nicbed.layouts.trace import TICKS

from tests.models.target import Model

SLOW = Description.model_validate({"cpu": {"clock_mhz": 133}})
"""A CPU cycle is no whole number of ticks."""
LONGEST = MAX_WORK // TICKS * 133 // 66
"""CPU cycles of the work that an entry holds."""
PLACE, REGISTER = 64, address("send_base")


def poll(*words):
    watches = [Watch(PLACE + 8 * index, word) for index, word in enumerate(words)]

    async def program(port):
        return await port.poll(watches, timeout=50)
    return program


def spin(watches):
    """The same with entries."""
    async def program(port):
        await port.room(watches + 1)
        for index in range(watches):
            port.put_watch(PLACE + 8 * index, 1, 1)
        port.put_poll(PLACE + 8 * watches, 0, 1)
        await port.executed
        return port.status >> 4 & 15
    return program


def putting(entries, put):
    async def program(port):
        await port.room(entries)
        for number in range(entries):
            put(port, number)
    return program


OPERATIONS = {
    "touch": lambda port: port.touch(PLACE, 100, store=True),
    "put_touch": putting(3, lambda port, number: port.put_touch(PLACE, 8)),
    "put_write": putting(3, lambda port, number: port.put_write(REGISTER, 1, number)),
    "put_read": putting(3, lambda port, number: port.put_read(REGISTER)),
    "pio_write": lambda port: port.pio_write(REGISTER, 1, 2, 3, 4, 5),
    "pio_write, not posted": lambda port: port.pio_write(REGISTER, 7, posted=False),
    "pio_read": lambda port: port.pio_read(REGISTER),
    "cas": lambda port: port.cas(PLACE, 0, 1),
    "wait_irq": lambda port: port.wait_irq(33),
    "flush": lambda port: port.flush(),
    "delay": lambda port: port.delay(1000),
    "poll": poll(0), "poll of 2": poll(1, 0), "poll of 4": poll(1, 1, 1, 0), "no poll": poll(1),
    "put_poll": spin(0), "put_watch": spin(1), "put_watch twice": spin(2),
}


def run(operation, entries, cycles, at_once):
    """What ``operation`` returns, and when it has ended, behind so many ``entries`` and cycles of
    work: ``at_once``, or in pieces that are executed each."""
    async def program(node):
        port = node.port
        for _ in range(entries):
            port.put_touch(PLACE, 8)
        left = 0 if at_once else cycles
        while left > LONGEST // 2:
            port.compute_cycles(LONGEST // 2)
            await port.flush()
            left -= LONGEST // 2
        port.compute_cycles(cycles if at_once else left)
        mark = port.mark(1, 0, 0)
        found = await OPERATIONS[operation](port)
        port.work("alu", 3)
        return found, await port.now(), mark[0]

    return Model(SLOW).run([program, None]).results[0]


@pytest.mark.parametrize("entries", range(BLOCK + 1))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_goes_in_front_in_delays(operation, entries):
    """One delay and what is left; as many as there are entries in a block; two blocks of them."""
    for cycles in (LONGEST + 12_345, BLOCK * LONGEST - 1, 2 * BLOCK * LONGEST + 7):
        assert (run(operation, entries, cycles, at_once=True)
                == run(operation, entries, cycles, at_once=False))


@pytest.mark.parametrize("watches", [0, 1, 2])
def test_watches_stay_with_their_poll(watches):
    """What comes between them ends the poll's watches in the target."""
    port = Port(0, 0, Costs(SLOW))
    port.put_touch(PLACE, 8)
    for _ in range(watches):
        port.put_watch(PLACE, 1, 1)
    port.compute_cycles(LONGEST + 10)
    port.put_poll(PLACE, 0, 1)
    blocks = [(block.words, block.count) for block in (*port._queue, port._block)]
    found = [[Op(ENTRY.unpack_from(entries, index * ENTRY.size)[0] & 15) for index in range(count)]
             for entries, count in blocks]
    assert found == [[Op.TOUCH, Op.DELAY, Op.DELAY], [Op.WATCH] * watches + [Op.POLL]]


@pytest.mark.parametrize("count", [1, BLOCK + 1, 3 * BLOCK])
def test_before_the_end_of_a_program(count):
    """Its delays are executed as long as another program runs."""
    async def program(node):
        node.port.put_touch(PLACE, 8)
        node.port.compute_cycles(count * LONGEST)

    async def other(node):
        await node.port.delay((count + 1) * MAX_WORK // TICKS)
        return await node.port.flush()

    model = Model(SLOW)
    run = model.run([program, other])
    assert run.results[1] == (count + 1) * MAX_WORK // TICKS
    assert model.hosts[0].stopped
    assert (count - 1) * MAX_WORK // TICKS <= model.hosts[0].log[-1][2] < run.results[1]


def test_a_program_that_only_delays_comes_to_the_limit():
    done = 0

    async def program(node):
        nonlocal done
        for _ in range(1000):
            await node.port.delay(1_000_000)
            done += 1

    with pytest.raises(Stuck, match="stopped at cycle 20000000"):
        Model(Description()).run([program, None], limit=20_000_000)
    assert done < 50
