"""Simulators that are kept between jobs: a job finds what it would find in one of its own."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from nicbed.layouts.description import Description
from nicbed.testbench.backends import kept
from nicbed.testbench.backends.job import Job
from nicbed.testbench.backends.session import RunError, perform

TOY = "tests.models.toy_target:make"
JOBS = "tests.programs.toy_jobs:"

pytestmark = pytest.mark.skipif(not kept.possible(), reason="simulators are kept on Linux alone")


def process(sim="verilator", **arguments):
    return perform(Job(Description(), sim, function=JOBS + "process", target=TOY,
                       arguments=arguments))


@pytest.fixture(autouse=True)
def own_ones(monkeypatch):
    """None of other tests, and none for them."""
    monkeypatch.setenv("TOY_TEST", "kept")
    yield
    kept.end()


def alive(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


def test_jobs_are_forks_of_one_process_and_leave_nothing_behind():
    found = [process() for _ in range(3)]
    assert len({one["simulator"] for one in found}) == 1
    assert len({one["process"] for one in found}) == 3
    assert [one["left"] for one in found] == [[None, None]] * 3
    assert not any(alive(one["process"]) for one in found)


def test_icarus_is_not_kept(icarus):
    assert process("icarus")["simulator"] == os.getpid()


def test_a_job_that_dies_ends_alone():
    simulator = process()["simulator"]
    with pytest.raises(RunError, match="no result: it was killed by SIGKILL"):
        process(kill=1)
    assert process()["simulator"] == simulator


def test_a_simulator_that_dies_takes_its_job_with_it_and_is_replaced():
    simulator = process()["simulator"]
    with pytest.raises(RunError, match="no result: it was killed by SIGKILL"):
        process(kill=2)
    assert not alive(simulator)
    assert process()["simulator"] != simulator


def test_one_that_dies_without_a_job_is_replaced():
    simulator = process()["simulator"]
    os.kill(simulator, 9)
    os.waitid(os.P_PID, simulator, os.WEXITED | os.WNOWAIT)
    assert process()["simulator"] != simulator


def test_jobs_of_threads_run_at_the_same_time(tmp_path):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    with ThreadPoolExecutor(2) as pool:
        met = pool.map(lambda names: perform(Job(
            Description(), function=JOBS + "meeting", target=TOY,
            arguments=dict(zip(("here", "there"), names, strict=True)))),
                       [(here, there), (there, here)])
        assert list(met) == [True, True]
    assert process()["left"] == [None, None]


def test_another_environment_is_another_simulator(monkeypatch):
    monkeypatch.setattr(kept, "MOST", 2)
    found = []
    for name in "abc":
        monkeypatch.setenv("TOY", name)
        found.append(process())
    assert [one["toy"] for one in found] == ["a", "b", "c"]
    assert [alive(one["simulator"]) for one in found] == [False, True, True]


def test_the_running_tests_name_reaches_a_job_without_a_new_simulator(monkeypatch):
    simulator = process()["simulator"]
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "another")
    assert process()["simulator"] == simulator


def test_a_fork_of_this_process_leaves_its_simulators_alone():
    simulator = process()["simulator"]
    child = os.fork()
    if child == 0:
        os._exit(0 if process()["simulator"] != simulator else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert process()["simulator"] == simulator


def test_a_simulator_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr("nicbed.testbench.backends.session.cocotb_environment",
                        lambda **_: {**os.environ, "GPI_USERS": "/nowhere/libpython.so"})
    with pytest.raises(RunError, match="the simulator gave no result") as caught:
        process()
    assert caught.value.kind == "Crash" and "/nowhere/libpython.so" in caught.value.details


def test_no_simulator_outlives_this_process(tmp_path):
    import subprocess

    root = Path(__file__).parents[3]
    script = (f"import sys; sys.path.insert(0, {str(root)!r})\n"
              "from nicbed.layouts.description import Description\n"
              "from nicbed.testbench.backends.job import Job\n"
              "from nicbed.testbench.backends.session import perform\n"
              f"print(perform(Job(Description(), function={JOBS + 'process'!r}, target={TOY!r}))"
              "['simulator'])\n")
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert not alive(int(run.stdout))


@pytest.mark.full
def test_what_a_start_takes(monkeypatch, capsys):
    """Printed, for docs/explanation/performance.md: of a job that does nothing, on a kept simulator
    and on one of its own."""
    process()
    took = []
    for possible in (True, False):
        monkeypatch.setattr(kept, "possible", lambda possible=possible: possible)
        begin = time.perf_counter()
        simulators = {process()["simulator"] for _ in range(20)}
        took.append((time.perf_counter() - begin) / 20)
        assert (os.getpid() in simulators) != possible
    with capsys.disabled():
        print(f"\na job: {took[0]:.3f} s on a kept simulator, {took[1]:.3f} s on its own")
