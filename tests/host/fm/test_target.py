"""Fast Messages on the real target: the scenarios of the model, in a simulator."""

from typing import Any

import pytest
from nicbed.testbench.backends.session import run_job

from tests.programs import fm as scenarios
from tests.programs.am import describe

JOBS: list[tuple[str, dict[str, Any]]] = [
    ("four_words", {}), ("frames", {}), ("all_to_all", {"nodes": 2}), ("decoupled", {}),
    ("itself", {}), ("misuse", {}), ("lossy", {"rate": "corrupt"}),
    ("lossy", {"rate": "duplicate"}),
]


def run(jobs: list[tuple[str, dict[str, Any]]], **structure: Any) -> None:
    description = describe(scenarios.CORE, {name.replace("_", ".", 1): value
                                            for name, value in structure.items()})
    found = run_job(description, "verilator", function=f"{scenarios.__name__}:run_many",
                    arguments={"jobs": jobs})
    assert all(isinstance(cycles, int) for cycles in found), "\n".join(map(str, found))


def test_scenarios():
    run(JOBS)


@pytest.mark.full
def test_three_nodes():
    run([("returns", {}), ("all_to_all", {})], fabric_nodes=3)


@pytest.mark.full
@pytest.mark.parametrize("core", ["vexriscv", "serv"])
def test_other_cores(core):
    run([("four_words", {}), ("frames", {"copies": 1})], nic_processor=core)


@pytest.mark.full
def test_coherent_queue():
    run([("four_words", {}), ("frames", {})], nic_attachment="memory_bus")
