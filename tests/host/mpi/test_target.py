"""MPI on the real target: the tests of the functional model, in simulators; the same bytes on
Icarus."""

import hashlib
import importlib
import shutil
from collections import Counter
from typing import Any

import numpy as np
import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.trace import Block, Kind
from nicbed.testbench.backends.session import run_job

from tests.labs.on_simulator import Case, cases, run_cases, structure_of
from tests.labs.rows import more
from tests.programs.mpi import FAULTS, describe, random_program, ranks

MODULES = ("point_to_point.test_messages", "collective.test_collectives", "test_errors")
SMOKE = {"via": {"test_every_length", "test_derived_types", "test_two_long_sends"},
         "gm": {"test_every_length", "test_exchanges"},
         "tcp": {"test_every_length", "test_exchanges"}}
SIZES = [0, 4, 300, 600, 5000]


def places(channel: str, nodes: int) -> list[Case]:
    """The cases that want ``channel`` on so many nodes and nothing else."""
    base = describe(channel, nodes)
    return [case for module in MODULES
            for case in cases(importlib.import_module(f"tests.host.mpi.{module}"))
            if structure_of(case, base) == {} and case.arguments.get("channel", channel) == channel]


def check(description: Description, which: list[Case]) -> None:
    found = run_cases(description, which)
    bad = {name: text for name, text in found.items() if text}
    assert len(found) == len(which) > 0
    assert not bad, f"{len(bad)} of {len(found)}\n" + "\n".join(
        f"{name}: {text}" for name, text in list(bad.items())[:5])


@pytest.mark.parametrize("channel", ["via", "gm", "tcp"])
def test_some(channel):
    which = [case for case in places(channel, 2) if case.name in SMOKE[channel]]
    check(describe(channel), which[::7])


@pytest.mark.full
@pytest.mark.parametrize("nodes", [2, 3, 4])
@pytest.mark.parametrize("channel", ["via", "via in the kernel", "gm", "tcp", "shm"])
def test_all(channel, nodes):
    check(describe(channel, nodes), places(channel, nodes))


async def several(lab: Any, seeds: list[int], settings: dict[str, Any]) -> list[Any]:
    """In the simulator's process: random programs; cycles, results, and a digest of what the CPUs
    did and when."""
    nodes, cpus, found = lab.description.fabric.nodes, lab.description.node.cpus, []
    for seed in seeds:
        main = random_program(seed, nodes * cpus, 8, SIZES)
        run = await lab.run(ranks(main, nodes, cpus=cpus),
                            settings={**settings, "faults.seed": seed + 1})
        assert np.sum(run.results) == main.total
        found.append([run.cycles, hashlib.sha256(repr(run.marks).encode()).hexdigest()])
    return found


def ran(description: Description, sim: str, seeds: list[int], **settings: Any) -> Any:
    return run_job(description, sim, function=f"{__name__}:several",
                   arguments={"seeds": seeds, "settings": settings})


@pytest.mark.parametrize("channel, nodes, cpus", [
    ("via", 4, 1), ("gm", 3, 1), ("tcp", 3, 1), more("via", 2, 2), more("via in the kernel", 2, 2),
    more("via in firmware", 2, 2), more("gm", 2, 2), more("tcp", 2, 3)])
def test_random_programs_under_faults(channel, nodes, cpus):
    ran(describe(channel, nodes, cpus), "verilator", [1, 2], **FAULTS)


@pytest.mark.full
@pytest.mark.parametrize("translation", ["table", "physical"])
def test_two_cpus_write_one_table_and_their_library_costs_nothing(translation):
    """The kernel's writes to the table's registers are posted, on a bus that is slow to take
    them."""
    ran(describe("via", 2, 2, via__translation=translation), "verilator", [1, 2, 3, 4],
        **{"cpu.path_scale": 0, "bus.pio_write": 9})


@pytest.mark.full
@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("channel", ["via", "via in the kernel", "gm", "tcp"])
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_the_same_on_icarus(channel, cpus):
    """One rank on each of two nodes; two on each, which share its memory and its NIC."""
    description = describe(channel, 2, cpus)
    assert ran(description, "verilator", [3]) == ran(description, "icarus", [3])


async def burst(lab: Any) -> list[int]:
    """In the simulator's process: many messages before the receiver looks; the numbers of those
    that left rank 0 more than once."""
    async def main(mpi: Any) -> None:
        if mpi.rank == 0:
            for request in [await mpi.COMM_WORLD.Isend(None, 1, tag) for tag in range(100)]:
                await request.Wait()
            return
        await mpi.port.delay(1_000_000)
        for tag in range(100):
            await mpi.COMM_WORLD.Recv(None, 0, tag)

    run = await lab.run(ranks(main), trace=True)
    left = Counter(event.number for event in run.events if event.number and event.node == 0
                   and (event.block, event.kind) == (Block.SEND_LINK, Kind.END))
    assert len(left) > 100
    return [number for number, times in left.items() if times > 1]


@pytest.mark.parametrize("channel", ["via", "gm"])
def test_credits_spare_sending_again(channel):
    assert run_job(describe(channel), "verilator", function=f"{__name__}:burst",
                   arguments={}) == []
