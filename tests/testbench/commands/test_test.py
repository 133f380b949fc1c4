"""``nicbed test``: what pytest is called with."""

import subprocess

import pytest
from nicbed.testbench.commands import measure as command


@pytest.mark.parametrize(("given", "called"), [
    ([], ["-n", "2", "--dist", "loadfile"]),
    (["-n0", "tests/test_x.py"], ["-n0", "tests/test_x.py"]),
    (["--durations", "-k", "link"], ["--durations=30", "-k", "link", "-n", "2", "--dist",
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
