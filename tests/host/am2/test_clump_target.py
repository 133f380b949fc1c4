"""Processes of a node on the real target: the same rules, many at a time; the same cycles on all
simulators."""

import asyncio
from typing import Any

import pytest
from nicbed.testbench.backends.session import run_job

from tests.labs.model import ModelLab
from tests.labs.rows import more
from tests.programs import am2_jobs
from tests.programs.am2 import describe

SMALL = {"queue_packets": 2, "queue_blocks": 1}
JOB = "tests.programs.am2_jobs:run_plans"


def run(cpus: int, arguments: dict[str, Any], sim: str = "verilator", **knobs: Any) -> Any:
    return run_job(describe(cpus, **knobs), sim, function=JOB, arguments=arguments)


@pytest.mark.parametrize("knobs", [SMALL, {"queue_packets": 5}, {}, {**SMALL, "line": 128}])
@pytest.mark.parametrize("crowd", [(20, True), (24, False)])
def test_a_crowd_of_eight_on_the_model(knobs, crowd):
    """Nobody is lost, and nobody starves: it ends."""
    asyncio.run(am2_jobs.run_plans(ModelLab(describe(8, **knobs)), [crowd]))


@pytest.mark.parametrize(("crowds", "seeds"), [
    ([(12, True), (10, False)], [1]), more([(200, True), (150, False)], [*range(12)])])
def test_a_crowd_of_eight_on_the_target(crowds, seeds):
    found = run(8, {"crowds": crowds, "seeds": seeds, "cut": seeds}, **SMALL)
    assert len(found) == 2 + 2 * len(seeds)


@pytest.mark.parametrize(("cpus", "cycles"), [(8, 150_000), more(8, 600_000), more(5, 150_000)])
def test_no_sender_starves(cpus, cycles):
    """The address bus is fair, and nobody loses each race."""
    job = "tests.programs.am2_jobs:handled_of_each"
    handled = run_job(describe(cpus), "verilator", function=job, arguments={"cycles": cycles})
    assert min(handled) > 0.75 * sum(handled) / len(handled), handled


@pytest.mark.parametrize(("knobs", "seeds"), [
    (SMALL, []), more({}, [*range(2)]), more({**SMALL, "line": 128}, [1, 2])])
def test_a_small_clump_is_the_same_under_icarus(icarus, knobs, seeds):
    """Cycles, marks, and what came of it."""
    arguments = {"crowds": [(3, False)], "seeds": seeds, "cut": seeds, "actions": 4}
    assert run(2, arguments, "icarus", **knobs) == run(2, arguments, **knobs)
