"""Local studies whose processes are killed in the middle."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from nicbed.testbench.store import Store
from nicbed.testbench.sweeps import Local, Outcome, Task, measured, planned, prepare

from tests.testbench.test_cli import nicbed

psutil = pytest.importorskip("psutil")

SECONDS = 300
"""For the first point, on a machine where nothing is built."""
Found = TypeVar("Found")


def soon(look: Callable[[], Found]) -> Found:
    """What ``look`` finds before long."""
    end = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < end, "did not come"
        time.sleep(0.01)
    return found


def at_work() -> list[Any]:
    """Simulators of this process that carry out a job, which is a process of theirs."""
    return [one for one in psutil.Process().children()
            if one.name() == "simulator" and one.children()]


class Killing:
    """Kills the simulator that is at work after the first outcome of another executor."""

    def __init__(self, other: Any) -> None:
        self._other = other

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for count, outcome in enumerate(self._other.outcomes(tasks)):
            yield outcome
            if count == 0:
                soon(at_work)[0].kill()


def test_a_killed_simulator_is_the_line_of_its_point(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    study = planned({"link.latency": [4, 8, 16]}, ["rtt"], metrics={"rtt": "rtt:RTT, 1 word"})
    table = measured(prepare(study), Killing(Local(1, store=store)))
    failed = [row for row in table.rows if row["error"]]
    assert [row["error"] for row in failed] == [
        "the simulator gave no result: it was killed by SIGKILL"]
    assert len(store.entries()) == 2
    whole = measured(prepare(study), Local(1, store=store))
    assert [row["error"] for row in whole.rows] == [None] * 3
    assert all(row in whole.rows for row in table.rows if not row["error"])


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    store = tmp_path / "store"

    def kept() -> dict[str, int]:
        """The entries; one that is written again is another file."""
        return {path.name: path.stat().st_ino for path in store.glob("??/*.json")}

    arguments = ["sweep", "--vary", "link.latency=4,8,16,32,64", "--bench", "rtt", "--workers", "1",
                 "--out", str(tmp_path), "-q"]
    with subprocess.Popen([sys.executable, "-m", "nicbed.testbench.cli", *arguments],
                          env={**os.environ, "NICBED_STORE": str(store)}) as run:
        soon(kept)
        left = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(signal.SIGKILL)
    before = kept()
    assert 1 <= len(before) < 5
    assert psutil.wait_procs(left, timeout=20)[1] == []  # no simulator stays
    again = nicbed(*arguments, NICBED_STORE=str(store))
    assert (again.returncode, again.stderr) == (0, "")
    after = kept()
    assert len(after) == 5 and before.items() <= after.items()
