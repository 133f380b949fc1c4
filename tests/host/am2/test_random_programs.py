"""Random programs of 2 to 8 processes on a node against a plain model: exactly once, in order,
credits, returned messages; also with processes that end in the middle of a call."""

from random import Random
from typing import Any

import pytest

from tests.labs.rows import more
from tests.models.target import Model
from tests.programs.am2 import describe
from tests.programs.am2_random import Plan, Ran, check, programs

LIMIT = 60_000_000


def run(plan: Plan, draw: Random) -> list[Any]:
    """Run the plan on a node of a random shape; the results of its processes."""
    description = describe(
        plan.cpus, line=draw.choice([32, 64, 128]), queue_packets=draw.choice([2, 2, 3, 8, 240]),
        queue_blocks=draw.choice([1, 1, 2, 16]))
    ran = Ran()
    runtime = Model(description).run([programs(plan, ran), None], limit=LIMIT)
    results = runtime.results[0]
    ended = {cpu for cpu, result in enumerate(results) if result != "terminated"}
    assert ended <= plan.ended
    check(plan, ran, ended)
    return results


@pytest.mark.parametrize("seeds", [*(range(at, at + 3) for at in range(0, 18, 3)),
                                   more(range(18, 300))])
def test_random_programs(seeds):
    for seed in seeds:
        draw = Random(f"shape {seed}")
        run(Plan(seed, 2 + seed % 7, draw.choice([5, 15, 30])), draw)


def cut(seed: int) -> tuple[Plan, Random]:
    """A plan of which one or two processes are closed behind any operation, or before it is
    executed, or return."""
    draw = Random(f"ends {seed}")
    cpus = draw.choice([2, 3, 3, 4, 5, 8])
    plan = Plan(seed, cpus, draw.choice([5, 15]))
    for cpu in draw.sample(range(cpus), draw.choice([1, 1, 2])):
        if draw.random() < 0.85:
            most = draw.choice([draw.randrange(1, 900), draw.randrange(100, 250)])
            plan.cuts[cpu] = most, draw.random() < 0.3
        else:
            plan.left[cpu] = draw.randrange(plan.actions)
    return plan, draw


@pytest.mark.parametrize("seeds", [*(range(at, at + 5) for at in range(0, 40, 5)),
                                   more(range(40, 600))])
def test_processes_end_in_the_middle(seeds):
    for seed in seeds:
        run(*cut(seed))
