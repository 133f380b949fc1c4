"""The CPU time of each test beside its wall time: pytest's ``--cpu-durations``.

CPU time is that of the test's process and of all that it has started: simulators, compilers,
commands. It depends less than wall time on what else a machine does.
"""

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

__all__ = ["Durations", "cpu_seconds"]

_TICKS = os.sysconf("SC_CLK_TCK")


class Spent(NamedTuple):
    """A phase of a test: CPU seconds, seconds of wall time, and which it is."""

    cpu: float
    wall: float
    what: str


def cpu_seconds(process: int | str = "self") -> float:
    """CPU seconds of ``process`` and of all processes that it has started, those that run
    included. Without /proc those that run are not."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        spent = sum(map(int, fields[11:15])) / _TICKS  # its own, and of those that have ended
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                spent += cpu_seconds(child)
    except OSError:  # it has ended meanwhile, or there is no /proc
        return sum(os.times()[:4]) if process == "self" else 0.0
    return spent


class Durations:
    """A plugin that prints the ``count`` phases of tests that took most CPU time, and the CPU time
    of all.

    In a worker of xdist it marks reports with their CPU time; where reports arrive it adds up.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.phases: list[Spent] = []
        self._begin = time.monotonic()
        self._last = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._last = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        report = yield
        now = cpu_seconds()
        report.cpu, self._last = max(now - self._last, 0.0), now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.phases.append(Spent(getattr(report, "cpu", 0.0), report.duration,
                                 f"{report.when:<8} {report.nodeid}"))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table, and the CPU time of everything: collecting and workers, too."""
        write = terminalreporter.write_line
        terminalreporter.write_sep("=", f"slowest {self.count} by CPU time")
        write("  CPU s   wall s")
        for one in sorted(self.phases, reverse=True)[:self.count]:
            write(f"{one.cpu:7.2f}  {one.wall:7.2f}  {one.what}")
        write(f"{cpu_seconds() / 60:.1f} CPU minutes in "
              f"{(time.monotonic() - self._begin) / 60:.1f} minutes")
