"""Split-C against a model of the global memory: random programs, on a network with faults too."""

import shutil

import pytest
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more
from tests.programs import splitc
from tests.programs.am import describe, run_on_model

RATES = {
    "drop": {"faults.drop": 0.1},
    "corrupt": {"faults.corrupt": 0.1},
    "duplicate": {"faults.duplicate": 0.1},
    "all": {"faults.drop": 0.03, "faults.corrupt": 0.03, "faults.duplicate": 0.05,
            "faults.delay": 0.02},
}


@pytest.mark.parametrize("nodes", [2, 3, 4, 7])
@pytest.mark.parametrize("seed", [0, *map(more, range(1, 4))])
def test_random_programs_on_the_model(nodes, seed):
    run_on_model(splitc.random_program(seed, nodes))


@pytest.mark.parametrize("structure", [
    {"nic.processor": "picorv32"}, {"nic.processor": "vexriscv", "nic.attachment": "memory_bus"},
    {"node.cpus": 2}], ids=["firmware", "memory bus", "two CPUs"])
def test_random_programs_on_every_way_to_the_nic(structure):
    one = splitc.random_program(5, 2, rounds=2)
    one.structure.update(structure)
    run_on_model(one)


def run(nodes, jobs, sim="verilator"):
    found = run_job(describe({"fabric.nodes": nodes}), sim,
                    function=f"{splitc.__name__}:run_many", arguments={"jobs": jobs})
    assert all(isinstance(cycles, int) for cycles in found), "\n".join(map(str, found))
    return found


@pytest.mark.parametrize("nodes", [2, 4])
def test_random_programs(nodes):
    run(nodes, [("random_program", {"seed": seed, "nodes": nodes}) for seed in range(3)])


def test_faults():
    """What is lost, damaged or doubled on the network is seen by no primitive."""
    run(3, [("faulty", {"rates": rates, "seed": seed, "nodes": 3})
            for seed, rates in enumerate(RATES.values())])


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("iverilog"), reason="no Icarus: apt install iverilog")
def test_same_cycles_on_icarus():
    jobs = [("random_program", {"seed": 9, "nodes": 2, "rounds": 1})]
    assert run(2, jobs) == run(2, jobs, "icarus")
