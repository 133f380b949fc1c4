"""Programs of several CPUs a node: the same on every back end, and memory that is one."""

from typing import Any

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends.session import RunError, run_job

from tests.labs.rows import more

JOBS = "tests.programs.smp_jobs"
TWO_LEVELS = {"cpu__cache_lines": 4, "cpu__l2_lines": 32, "cpu__l2_hit": 5}


def describe(**knobs: Any) -> Description:
    table: dict[str, dict[str, Any]] = {}
    for name, value in knobs.items():
        section, key = name.split("__")
        table.setdefault(section, {})[key] = value
    return Description.model_validate(table)


def same(description: Description, job: str, sims: list[str], **arguments: Any) -> Any:
    found = [run_job(description, sim, function=f"{JOBS}:{job}", arguments=arguments)
             for sim in ("verilator", *sims)]
    for other in found[1:]:
        assert other == found[0]
    return found[0]


def test_random_programs_are_the_same_traced_or_not_skipping_or_not() -> None:
    found, plain = (run_job(describe(node__cpus=2), function=f"{JOBS}:random_cpus",
                            arguments={"seeds": [*range(4)], **switches})
                    for switches in ({"trace": True}, {"skip": False}))
    assert plain == [{**one, "events": []} for one in found]


@pytest.mark.parametrize("knobs", [
    more({"node__cpus": 2}),
    more({"node__cpus": 3, "cpu__cache_lines": 4, "bus__posted_writes": 2}),
    more({"node__cpus": 5, "memory__latency": 31, "cpu__line_bytes": 64,
          "memory__bytes_per_cycle": "7/3"}),
    more({"node__cpus": 8, "cpu__clock_mhz": 450}),
    more({"node__cpus": 4, "cpu__line_bytes": 256, "fabric__nodes": 3}),
    more({"node__cpus": 3, "cpu__copy_by": "block", "memory__latency": 20}),
    more({"cpu__copy_by": "block", "memory__bytes_per_cycle": "7/3"}),
    more({"node__cpus": 3, **TWO_LEVELS}),
    more({"cpu__copy_by": "block", **TWO_LEVELS}),
])
def test_random_programs_are_the_same_as_one_design(knobs: dict[str, Any]) -> None:
    """Cycles, answers, marks, events and memories."""
    same(describe(**knobs), "random_cpus", ["one-design"], seeds=[*range(4)], trace=True)


@pytest.mark.parametrize("knobs", [
    {"node__cpus": 2}, more({"node__cpus": 4}), more({"node__cpus": 2, "cpu__copy_by": "block"}),
    more({"cpu__copy_by": "block"}), more({"node__cpus": 2, **TWO_LEVELS})])
def test_random_programs_are_the_same_under_icarus(icarus: None, knobs: dict[str, Any]) -> None:
    same(describe(**knobs), "random_cpus", ["icarus"], seeds=[1, 2], operations=25, trace=True)


@pytest.mark.parametrize(("knobs", "entries"), [
    ({"node__cpus": 2}, 3),
    ({"node__cpus": 4}, 16),
    ({"node__cpus": 8}, 5),
    more({"node__cpus": 8, "cpu__cache_lines": 4}, 64),
    more({"node__cpus": 8, "memory__latency": 40}, 1),
    more({"node__cpus": 8, **TWO_LEVELS}, 16),
])
def test_a_queue_without_locks_loses_nothing(knobs: dict[str, Any], entries: int) -> None:
    for seed in range(3):
        run_job(describe(**knobs), function=f"{JOBS}:shared_queue",
                arguments={"messages": 25, "entries": entries, "seed": seed})


def test_a_cpu_that_waits_for_ever_is_named() -> None:
    with pytest.raises(RunError) as error:
        run_job(describe(node__cpus=2), function=f"{JOBS}:stuck", limit=20_000)
    assert error.value.kind == "Stuck"
    assert "node 0 CPU 1 waits for a word: poll memory 0x40 " in str(error.value)
    assert "CPU 0" not in str(error.value)
