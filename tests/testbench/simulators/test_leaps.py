"""Leaps over the checks of a spinning poll: the same cycles, answers and events as without them.

``skip=False`` keeps all stations awake, so that each check is made.
"""

import signal

import pytest
from nicbed.layouts.description import Description
from nicbed.layouts.operations import Status
from nicbed.testbench.backends.session import run_job

from tests.labs.rows import more
from tests.testbench.simulators.test_instances import CROWDED, SMALL, TWO_LEVELS, describe

JOBS = "tests.programs.spin_jobs:"


@pytest.mark.parametrize(("knobs", "seeds"), [
    ({}, range(200)),
    more({"fabric.nodes": 6}, range(1000, 1060)),
    more({"nic.attachment": "memory_bus", **SMALL}, range(2000, 2060)),
    more({"via.design": "engine", "fabric.nodes": 4}, range(3000, 3020)),
    more({"nic.processor": "picorv32"}, range(4000, 4020)),
    more(TWO_LEVELS, range(5000, 5060)),
    more({"nic.attachment": "memory_bus", **SMALL, **TWO_LEVELS}, range(6000, 6060)),
])
def test_random_programs(knobs, seeds):
    assert run_job(describe(knobs), function=JOBS + "pairs", arguments={"seeds": seeds}) == []


@pytest.mark.parametrize(("knobs", "seeds"), [
    ({"node.cpus": 3}, range(60)),
    more({"node.cpus": 8, "fabric.nodes": 4, "cpu.cas": 9, **SMALL}, range(1000, 1030)),
    more({"node.cpus": 4, "cpu.line_bytes": 128}, range(2000, 2040)),
    more({"node.cpus": 3, **TWO_LEVELS}, range(3000, 3060)),
])
def test_stores_of_other_cpus(knobs, seeds):
    assert run_job(describe(knobs), function=JOBS + "sharers", arguments={"seeds": seeds}) == []


def test_a_flit_in_each_phase():
    """Of a leap, of falling asleep and of what follows the poll's timeout."""
    cases = [(work, wait, timeout) for work in (0, 100, 256, 700, 5000)
             for wait, timeout in ((0, 0), (230, 0), (0, 260))]
    assert run_job(Description(), function=JOBS + "arrivals",
                   arguments={"shifts": range(48), "cases": cases}) == []


@pytest.mark.full
def test_one_design_makes_the_same_checks():
    """Of a structure that test_instances has, too."""
    instances, one = (run_job(describe(CROWDED), sim, function=JOBS + "rows",
                              arguments={"seeds": range(12)})
                      for sim in ("verilator", "one-design"))
    assert instances == one


@pytest.fixture
def at_once():
    """The test takes a second, or is ended: cycle by cycle it would take an hour."""
    def ends(*_):
        pytest.fail("every check of a long spin is made")

    before = signal.signal(signal.SIGALRM, ends)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_long_spin_is_leapt_over(at_once):
    """It ends with the check in which its time runs out, as far off as that is."""
    cases = [(700, 0xFFFF_FFF0), (0, 3_000_000_000), (256 * 1_000_003 + 77, 0xF000_0000),
             (130, 0x7FFF_FFFF)]
    results = run_job(Description(), function=JOBS + "long_spins", arguments={"cases": cases})
    assert len(results) == 2
    for answers in results:
        read = 14  # cycles of a check that reads the word from memory, as the first one does
        for (work, timeout), (begin, cycle, ticks, status, _) in zip(cases, answers, strict=True):
            first = begin + work + 256 * read
            left = ((begin >> 8) + timeout << 8) - first
            end = first + -(-left // (work + 256)) * (work + 256)
            assert (ticks, cycle, status & 15) == (end, end >> 8, Status.TIMEOUT)
            read = 1
