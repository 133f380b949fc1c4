"""Runtime, ports, costs and memory of host programs, on the model target."""

from collections import deque
from fractions import Fraction
from itertools import islice

import pytest
from nicbed.host.port.costs import CPU_ITEMS, Costs, Path
from nicbed.host.port.memory import Allocator, ArrayMemory
from nicbed.host.port.port import Port, Watch
from nicbed.host.runtime import Stuck
from nicbed.layouts.description import Bus, Cpu, Description, Nic
from nicbed.layouts.operations import BLOCK
from nicbed.layouts.registers import address
from nicbed.layouts.trace import TICKS, Activity, Kind

from tests.models.spent import cpu_cycles
from tests.models.target import Model

ODD = Description(nic=Nic(clock_mhz=Fraction(33)), cpu=Cpu(clock_mhz=Fraction(450)),
                  bus=Bus(pio_write=1))


def run(*programs, description=None, limit=10_000_000, **options):
    description = description or Description()
    programs = [*programs, *(None,) * (description.fabric.nodes - len(programs))]
    return Model(description).run(programs, limit=limit, **options)


# Costs


def test_path_sums_items_and_refuses_unknown_ones():
    costs = Costs(Description())
    assert costs.cycles(Path("p", call=2, load=3, copy_word=1)) == 2 * 6 + 3 * 1 + 2
    scaled = Costs(Description.model_validate({"cpu": {"path_scale": "5/2"}}))
    assert scaled.cycles(Path("p", call=1, load=2)) == 20
    assert scaled.cycles(Path("p", load=3)) == 8  # 7.5, to an even number
    assert scaled.price == costs.price
    with pytest.raises(ValueError, match="unknown cost item 'sleep'"):
        costs.cycles(Path("p", sleep=1))
    with pytest.raises(ValueError, match="has no items"):
        Path("p", call=0)
    with pytest.raises(ValueError, match="must not be negative"):
        Path("p", call=-1)
    assert "clock_mhz" not in CPU_ITEMS and "poll_check" in CPU_ITEMS
    assert {*costs.price} == {*CPU_ITEMS, "register_page", "message_work", "checksum_word",
                              "context_switch", "select"}


@pytest.mark.parametrize("description", [Description(), ODD])
def test_no_time_is_lost_to_rounding(description):
    """Thousands of short works, in operations and outside, add up to the exact time."""
    async def program(node):
        port = node.port
        for count in range(3000):
            port.work("alu", count % 7)
            if count % 3 == 0:
                await port.pio_write(address("irq_enable"), 0)
        return await port.now()

    runtime = run(program, description=description)
    (ticks, _), port = runtime.results, runtime.ports[0]
    works = sum(count % 7 for count in range(3000)) * description.cpu.alu
    assert cpu_cycles(port) == works
    operations = sum(end - begin for op, begin, end in runtime.mailbox.hosts[0].log)
    exact = port.costs.ticks(works)
    # All that an operation spent beyond work was one cycle a beat.
    assert ticks == exact // 1 + 1000 * TICKS
    assert operations <= ticks / TICKS < operations + 1


def test_tally_lists_items_and_paths():
    async def program(node):
        port = node.port
        port.work("load", 3)
        index = port.path(Path("p", load=2, call=1))
        port.spend(index)
        port.spend(index)
        await port.flush()
        return dict(port.tally()), dict(port.paths())

    assert run(program).results[0] == ({"load": 7, "call": 2}, {"p": 2})


# Ports


def test_delay_and_flush():
    async def program(node):
        port = node.port
        assert await port.flush() == 0
        await port.delay(10)
        assert await port.flush() == 10
        await port.delay(0)
        await port.delay(1)
        assert await port.flush() == 11
        port.work("alu", 1)
        assert await port.flush() == 11 and await port.now() == 11 * TICKS + 84
        port.work("alu", 3)
        assert await port.flush() == 12 and await port.now() == 11 * TICKS + 337
        with pytest.raises(ValueError, match="must not be negative"):
            await port.delay(-1)

    run(program)


def test_long_delay_is_cut():
    async def program(node):
        await node.port.delay(100_000_000)
        return await node.port.flush()

    assert run(program, limit=200_000_000).results[0] == 100_000_000


def test_pio_and_results():
    async def program(node):
        port = node.port
        assert await port.pio_read(address("id")) == 0x6263696E
        await port.pio_write(address("irq_enable"), 5)
        assert await port.pio_read(address("irq_enable")) == 5
        before = port.cycle
        await port.pio_write(address("irq_enable"), 6, posted=False)
        assert port.cycle - before >= node.description.bus.pio_write
        return await port.cas(64, 0, 7), await port.cas(64, 0, 9), node.memory.word(64)

    assert run(program).results[0] == (0, 7, 7)


def test_more_operations_than_a_block_holds():
    async def program(node):
        for count in range(4 * BLOCK + 1):
            await node.port.pio_write(address("irq_enable"), count)
        assert node.port._block.count == 1
        return await node.port.pio_read(address("irq_enable"))

    assert run(program).results[0] == 4 * BLOCK


def test_polls():
    async def program(node):
        port, memory = node.port, node.memory
        memory.write(128, (5).to_bytes(8, "little"))
        never, five = Watch(64, 1), Watch(128, 4, mask=6)
        assert (await port.poll(never, once=True)) == (True, 0, 0)
        assert (await port.poll(never, timeout=100)).timed_out
        assert (await port.poll(five)) == (False, 0, 5)
        assert (await port.poll([never, five])) == (False, 1, 5)
        assert (await port.poll(Watch(address("id"), 0, not_equal=True))).data == 0x6263696E
        with pytest.raises(ValueError, match="1 to 4 watches"):
            await port.poll([never] * 5)
        return port.tally()["poll_check"]

    assert run(program).results[0] == 4


def test_a_poll_that_times_out_ends_its_program_s_block_only():
    async def program(node):
        begin = await node.port.flush()
        await node.port.poll(Watch(64, 1), timeout=50)
        end = node.port.cycle
        await node.port.delay(5)
        return end - begin, await node.port.flush() - end

    took, after = run(program).results[0]
    assert 50 <= took <= 60 and after == 5


def test_stored_data_appear_when_the_store_has_ended():
    async def program(node):
        place = node.allocate(1000)
        node.port.work("alu", 100)
        await node.store(place, b"x" * 1000)
        assert node.port.cycle > 0
        return await node.load(place, 1000)

    runtime = run(program)
    assert runtime.results[0] == b"x" * 1000
    assert runtime.ports[0].tally() == {"alu": 100, "store": 125, "load": 125}


# Marks


@pytest.mark.parametrize("description", [Description(), ODD])
def test_marks_are_exact_wherever_they_fall_in_a_block(description):
    async def program(node):
        port = node.port
        for index in range(30):
            port.mark(Activity.COMPUTE, Kind.BEGIN, index)
            port.work("alu", 5)
            port.mark(Activity.COMPUTE, Kind.END, index)
            if index % 2:
                await port.pio_write(address("irq_enable"), 1, 2)
        await port.flush()

    marks = run(program, description=description).marks
    ratio = Costs(description).ticks(5 * description.cpu.alu)
    exact = Fraction(0)
    for mark in marks:
        if mark.kind == Kind.BEGIN:
            assert mark.ticks == exact // 1
            exact += ratio
        else:
            assert mark.ticks == exact // 1
            if mark.number % 2:
                exact += 2 * TICKS
    assert len(marks) == 60


def test_marks_change_no_cycle_and_may_be_left_out():
    async def program(node):
        for index in range(20):
            node.port.mark(1, 0, index)
            node.port.work("call", 1)
            await node.port.pio_write(address("irq_enable"), 1)
        return await node.port.now()

    with_marks, without = run(program), run(program, tracing=False)
    assert with_marks.results == without.results and with_marks.wakes == without.wakes
    assert len(with_marks.marks) == 20 and not without.marks


def test_a_mark_that_is_not_kept_may_be_changed():
    """As one that is kept, so that no layer has to ask."""
    async def program(node):
        port = node.port
        first = port.mark(1, 0, 0)
        first[1] = 2
        port.begin(3, 0, port.path(Path("some", alu=1)))[3] = 7

    assert [mark[3:] for mark in run(program).marks] == [(2, 0, 0), (3, 0, 7)]
    assert run(program, tracing=False).marks == []


# The runtime


def test_programs_results_and_nodes_without_program():
    async def program(node):
        await node.port.delay(node.number)
        return node.number, node.nodes, node.active

    runtime = Model(Description()).run([None, program])
    assert runtime.done and runtime.failed is None
    assert runtime.results == [None, (1, 2, (1,))]


def test_program_that_awaits_nothing():
    async def program(node):
        return 7

    assert run(program).results[0] == 7


def test_work_left_at_the_end_is_spent():
    async def program(node):
        for _ in range(BLOCK):
            await node.port.pio_write(address("irq_enable"), 1)
        await node.port.delay(500)

    runtime = run(program)
    assert all(server.stopped for server in runtime.servers)


def test_exception_ends_the_run_and_closes_the_others():
    closed = []

    async def raises(node):
        await node.port.delay(100)
        await node.port.flush()
        raise KeyError("oops")

    async def waits(node):
        try:
            await node.port.poll(Watch(64, 1))
        finally:
            closed.append(node.number)

    with pytest.raises(KeyError, match="oops") as info:
        run(raises, waits)
    assert closed == [1]
    assert "node 0 at cycle 100" in info.value.__notes__[0]


@pytest.mark.parametrize("touches, when", [
    (BLOCK, "at cycle 0"), (BLOCK + 1, "after cycle 0, with blocks queued")])
def test_exception_with_blocks_queued_says_so(touches, when):
    async def raises(node):
        for _ in range(touches):
            node.port.put_touch(64, 8)
        raise KeyError("oops")

    with pytest.raises(KeyError, match="oops") as info:
        run(raises)
    assert info.value.__notes__ == [f"raised by the program of node 0 {when}"]


def test_limit_gives_a_diagnosis():
    async def waits(node):
        await node.port.delay(123)
        node.port.waiting_for("Godot")
        await node.port.poll(Watch(64, 1, mask=0xFF))

    async def spins(node):
        while True:
            await node.port.pio_read(address("send_space"))

    with pytest.raises(Stuck) as info:
        run(waits, spins, limit=5000)
    lines = str(info.value).splitlines()
    assert "cycle 5000" in lines[0]
    assert "node 0 waits for Godot" in lines[1] and "memory 0x40 & 0xff == 0x1" in lines[1]
    assert "since cycle 0" in lines[1]
    assert "node 1 pio_read NIC register send_space, since cycle 49" in lines[2]


def test_wrong_number_of_programs():
    with pytest.raises(ValueError, match="3 programs for 2 nodes"):
        Model(Description()).run([None] * 3)


def test_awaiting_something_else_is_an_error():
    class Other:
        def __await__(self):
            yield 1

    async def program(node):
        await Other()

    with pytest.raises(RuntimeError, match="not an operation of its host port"):
        run(program)


def test_two_runs_are_the_same():
    async def program(node):
        for count in range(50):
            node.port.work("alu", count)
            node.port.mark(1, 0, count)
            await node.port.pio_read(address("cycle"))
        return await node.port.now()

    first, second = run(program, program), run(program, program)
    assert first.results == second.results and first.marks == second.marks


# Memory and nodes


def test_allocator():
    allocator = Allocator(4096)
    assert allocator.allocate(10) == 64
    assert allocator.allocate(1, align=8) == 80
    assert allocator.allocate(100, align=1024) == 1024
    with pytest.raises(MemoryError, match="4000 bytes asked"):
        allocator.allocate(4000)
    with pytest.raises(ValueError, match="power of two"):
        allocator.allocate(1, align=3)
    with pytest.raises(ValueError, match="negative"):
        allocator.allocate(-1)


def test_array_memory():
    memory = ArrayMemory(64)
    memory.write(8, b"\x01\x02")
    assert memory.word(8) == 0x201 and memory.read(8, 3) == b"\x01\x02\x00"
    with pytest.raises(IndexError):
        memory.write(63, b"ab")
    memory.clear()
    assert memory.read(0, 64) == bytes(64)


def test_trace_numbers_differ_between_nodes_and_are_never_zero():
    seen = {}

    async def program(node):
        deque(islice(node.trace_numbers, (1 << 24) // node.nodes - 3), maxlen=0)
        seen[node.number] = [node.trace_number() for _ in range(6)]

    run(program, program)
    assert not set(seen[0]) & set(seen[1])
    assert all(0 < number < 1 << 24 for numbers in seen.values() for number in numbers)


def test_the_kernels_pio_is_its_own_until_it_ends() -> None:
    """However it ends."""
    port = Port(0, 0, Costs(Description()))
    port.process = 7
    with port.in_kernel():
        assert port.process == 0
    assert port.process == 7
    with pytest.raises(KeyError), port.in_kernel():
        raise KeyError
    assert port.process == 7
