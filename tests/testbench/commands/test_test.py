"""``nicbed test``: what pytest is called with."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.testbench.commands import measure as command

from tests.labs.durations import cpu_seconds


@pytest.mark.parametrize(("given", "called"), [
    ([], ["-n", "2", "--dist", "loadfile"]),
    (["-n0", "tests/test_x.py"], ["-n0", "tests/test_x.py"]),
    (["--durations", "-k", "link"], ["--cpu-durations=30", "-k", "link", "-n", "2", "--dist",
                                     "loadfile"]),
    (["--durations=5", "-n1"], ["--durations=5", "-n1"]),
])
def test_arguments(given, called, monkeypatch):
    calls = []

    def run(words, cwd):
        calls.append(words)
        return subprocess.CompletedProcess(words, 3)

    monkeypatch.setattr(subprocess, "run", run)
    assert command.run_tests(given) == 3
    assert calls[0][3:] == called


BURN = """
import os
while sum(os.times()[:2]) < 0.5: pass
"""


def test_cpu_time_is_that_of_all_processes():
    """Of those that have ended and of those that run, which a process keeps for later, and not
    time that they wait."""
    begin = cpu_seconds()
    subprocess.run([sys.executable, "-c", f"{BURN}import time\ntime.sleep(0.3)"], check=True)
    ended = cpu_seconds()
    assert 0.4 <= ended - begin < 1.5
    stays = subprocess.Popen([sys.executable, "-c", f"{BURN}print('burnt', flush=True)\ninput()"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert stays.stdout.readline() == "burnt\n"
    running = cpu_seconds()
    assert 0.4 <= running - ended < 1.5
    stays.communicate("\n")
    assert 0 <= cpu_seconds() - running < 0.5


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["here", "in a worker"])
def test_the_slowest_are_those_that_took_cpu_time(workers, tmp_path):
    """A test that sleeps is not slow; what the tests' processes took is counted in the sum."""
    (tmp_path / "conftest.py").write_text(
        "from tests.labs.durations import Durations\n"
        "def pytest_configure(config): config.pluginmanager.register(Durations(2))\n")
    (tmp_path / "test_two.py").write_text(
        f"import subprocess, sys, time\nBURN = {BURN!r}\n"
        "def test_burns(): subprocess.run([sys.executable, '-c', BURN])\n"
        "def test_sleeps(): time.sleep(0.6)\n")
    root = Path(__file__).parents[3]
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers,
                          str(tmp_path)], cwd=tmp_path, capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(root)})
    assert run.returncode == 0, run.stdout
    lines = run.stdout.splitlines()
    title = next(place for place, line in enumerate(lines) if "slowest 2 by CPU time" in line)
    cpu, wall, when, name = lines[title + 2].split()
    assert (when, name.endswith("::test_burns")) == ("call", True)
    assert float(cpu) >= 0.4 and float(wall) >= 0.4
    [whole] = re.findall(r"^(\d+\.\d) CPU minutes in \d+\.\d minutes", run.stdout, re.MULTILINE)
    assert "test_sleeps" not in lines[title + 2] and float(whole) < 1
