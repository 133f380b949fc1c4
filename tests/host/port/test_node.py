"""A node as its CPUs see it: what is one for all, and what each has alone; on the model target."""

import pytest
from nicbed.host.am import Gam
from nicbed.host.port.port import Watch
from nicbed.host.runtime import Stuck
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Activity, Kind

from tests.models.target import Model


def describe(cpus: int = 2, nodes: int = 2) -> Description:
    return Description.model_validate({"node": {"cpus": cpus}, "fabric": {"nodes": nodes}})


def run(*programs, cpus: int = 2, limit: int = 1_000_000):
    description = describe(cpus, max(2, len(programs)))
    programs = [*programs, *(None,) * (description.fabric.nodes - len(programs))]
    return Model(description).run(programs, limit=limit)


async def idle(cpu):
    await cpu.port.delay(10)


def test_each_cpu_runs_its_program():
    async def program(cpu):
        await cpu.port.delay(1 + cpu.cpu)
        return cpu.number, cpu.cpu, cpu.cpus, cpu.active, await cpu.port.flush()

    runtime = run([program] * 3, None, [None, program, None], cpus=3)
    assert runtime.results == [[(0, cpu, 3, (0, 2), 1 + cpu) for cpu in range(3)], None,
                               [None, (2, 1, 3, (0, 2), 2), None]]


def test_a_single_program_is_cpu_0_s():
    async def program(cpu):
        return cpu.number, cpu.cpu

    assert run(program, program).results == [(0, 0), (1, 0)]
    assert run([program], program, cpus=1).results == [[(0, 0)], (1, 0)]


@pytest.mark.parametrize(("programs", "cpus", "text"), [
    ([[idle] * 6], 2, r"node 0 has 2 CPUs \(node.cpus\), and was given 6 programs: give one a CPU"),
    ([None, [idle]], 2, r"node 1 has 2 CPUs \(node.cpus\), and was given 1 programs"),
    ([[idle, idle]], 1, r"node 0 has 1 CPU \(node.cpus\), and was given 2 programs"),
])
def test_programs_for_cpus_that_are_not_there_are_refused(programs, cpus, text):
    with pytest.raises(ValueError, match=text):
        run(*programs, cpus=cpus)


def test_the_kernel_numbers_packets_as_the_cpu_that_runs_it_does():
    class Agent:
        def __init__(self, node):
            self.node = node

    async def program(cpu):
        if cpu.cpu:
            return None
        cpu.share_nic()
        numbers = cpu.kernel(Agent).node.trace_numbers
        return [next(numbers), cpu.trace_number(), next(numbers)]

    assert run([program, program]).results[0] == [[1, 5, 9], None]


def test_block_stores_are_of_whole_lines_and_need_their_knob():
    async def program(cpu):
        at = cpu.allocate(64)
        for address, length, text in ((at + 8, 32, "address = 0x"), (at, 40, "length = 0x28")):
            with pytest.raises(ValueError, match=f"whole lines of 32 bytes: {text}"):
                await cpu.port.store_blocks(address, length)
        await cpu.store_blocks(at, bytes(range(64)))
        return cpu.memory.read(at, 64)

    async def without(cpu):
        with pytest.raises(RuntimeError, match="they need cpu.copy_by = 'block'"):
            await cpu.store_blocks(cpu.allocate(64), bytes(64))

    description = Description.model_validate({"cpu": {"copy_by": "block"}})
    assert Model(description).run([program, None]).results[0] == bytes(range(64))
    run(without)


def test_memory_is_one_and_what_is_allocated_is_apart():
    async def program(cpu):
        places = [cpu.allocate(24) for _ in range(5)]
        shared = cpu.shared("words", 64)
        await cpu.store(shared + 8 * cpu.cpu, bytes([1 + cpu.cpu]))
        await cpu.port.poll(Watch(shared + 8 * (1 - cpu.cpu), 0, not_equal=True))
        return places, shared, cpu.memory.read(shared, 16)

    (mine, shared, words), (other, there, again) = run([program] * 2).results[0]
    assert shared == there and words == again == bytes([1, *bytes(7), 2, *bytes(7)])
    assert len({*mine, *other, shared}) == 11


def test_shared_memory_of_another_size_is_refused():
    async def program(cpu):
        cpu.shared("words", 64 << cpu.cpu)

    with pytest.raises(ValueError, match="shared memory 'words' of node 0 has 64 bytes at 0x40, "
                                         "not 128 bytes aligned to 64"):
        run([program] * 2)


def test_trace_numbers_of_two_cpus_differ():
    async def program(cpu):
        return [cpu.trace_number() for _ in range(1000)]

    found = run([program] * 3, [program] * 3, cpus=3).results
    numbers = [number for node in found for cpu in node for number in cpu]
    assert 0 not in numbers and len(set(numbers)) == 6000


def test_services_are_a_cpu_s_own():
    class Prices:
        def __init__(self, node):
            self.node = node

    async def program(cpu):
        found = cpu.service(Prices)
        return found is cpu.service(Prices), found.node.cpu

    assert run([program] * 2).results[0] == [(True, 0), (True, 1)]


def test_marks_say_which_cpu():
    async def program(cpu):
        cpu.port.mark(Activity.COMPUTE, Kind.BEGIN, cpu.cpu)
        await cpu.port.delay(5)
        cpu.port.mark(Activity.COMPUTE, Kind.END, cpu.cpu)
        await cpu.port.flush()

    marks = run([program] * 2, [program] * 2).marks
    assert [mark[1:3] for mark in marks] == [(0, 0), (0, 1), (1, 0), (1, 1)] * 2


def test_a_layer_is_refused_on_a_second_cpu_of_its_node():
    async def program(cpu):
        await cpu.port.delay(cpu.cpu)
        await cpu.port.flush()
        Gam(cpu, [])
        Gam(cpu, [])

    with pytest.raises(RuntimeError, match=r"Active Messages on CPU 1 of node 0: CPU 0 drives "
                                           r"this NIC \(Active Messages\), and one CPU has it"):
        run([program] * 2)


@pytest.mark.parametrize("cpu", [0, 1])
def test_a_layer_runs_on_any_cpu(cpu):
    async def program(here):
        seen = []
        gam = Gam(here, [lambda am, source, word: seen.append((source, word))])
        await gam.enable()
        await gam.request(1 - here.number, 0, 7 + here.number)
        await gam.wait(lambda: seen)
        await gam.disable()
        return seen

    node = [None, None]
    node[cpu] = program
    assert [result[cpu] for result in run(node, node).results] == [[(1, 8)], [(0, 7)]]


def test_a_run_that_never_ends_names_node_and_cpu():
    async def program(cpu):
        if cpu.cpu:
            cpu.port.waiting_for("news")
            await cpu.port.poll(Watch(64, 1))

    with pytest.raises(Stuck) as error:
        run(None, [program] * 2, limit=5000)
    lines = str(error.value).splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("  node 1 CPU 1 waits for news: poll memory 0x40 ")


def test_an_error_names_node_and_cpu():
    async def program(cpu):
        if cpu.cpu:
            raise KeyError("no such thing")

    with pytest.raises(KeyError) as error:
        run([program] * 2)
    assert error.value.__notes__ == ["raised by the program of node 0 CPU 1 at cycle 0"]
