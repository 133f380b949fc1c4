"""``nicbed doctor``: it says what is wrong, what to do, and its exit code says whether nicbed
works."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from nicbed.firmware import cache
from nicbed.testbench.commands.doctor import WIDTH
from nicbed.testbench.doctor import installed, places, toys
from nicbed.testbench.doctor.finding import failed, found


def doctor(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "nicbed.testbench.cli", "doctor", *arguments],
                          capture_output=True, text=True, timeout=600,
                          env={**os.environ, **variables})


def test_it_works_here() -> None:
    done = doctor("--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    states = {one["name"]: one["state"] for one in told["findings"]}
    assert told["works"] and states["toy on verilator"] == states["cache"] == "ok"
    assert {"nicbed", "python", "libpython", "amaranth", "ziglang", "compiler", "nicbed[board]",
            "results", "temporary files", "yosys"} <= set(states)
    assert max(map(len, states)) <= WIDTH


def test_each_finding_is_a_line_and_the_last_says_whether_it_works(tmp_path: Path) -> None:
    done = doctor("--no-build", NICBED_CACHE=str(tmp_path / "ü: cache"))
    assert done.returncode == 0 and done.stderr == ""
    *lines, last = done.stdout.splitlines()
    assert last == "nicbed works here" and not any("toy" in line for line in lines)
    assert {line.split()[0] for line in lines} <= {"ok", "lacking"}
    assert f"{'ok':<7} {'cache':<{WIDTH}} {tmp_path}/ü: cache (NICBED_CACHE), not made yet, " \
        in done.stdout
    assert f"NICBED_CACHE={tmp_path}/ü: cache" in done.stdout
    assert not (tmp_path / "ü: cache").exists()


def test_what_is_wrong_is_a_line_and_exit_code_1() -> None:
    done = doctor("--no-build", NICBED_CXX="no-such-compiler")
    assert done.returncode == 1 and "Traceback" not in done.stderr + done.stdout
    assert f"{'wrong':<7} {'verilator':<{WIDTH}} NICBED_CXX = no-such-compiler: does not run\n" \
        in done.stdout
    assert done.stdout.splitlines()[-1] == "nicbed does not work here: see what is wrong"


def test_a_cache_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = doctor(NICBED_CACHE=str(tmp_path / "file"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    lines = {line[8:8 + WIDTH].strip(): line for line in done.stdout.splitlines()}
    assert lines["cache"].startswith("wrong") and lines["cache"].endswith(
        f"cannot be written: {cache.CHOOSE}")
    assert lines["toy on verilator"].startswith("wrong")


def test_a_package_that_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    real = installed.version

    def version(name: str) -> str:
        if name == "cocotb":
            raise PackageNotFoundError(name)
        return "0.4" if name == "amaranth" else real(name)

    monkeypatch.setattr(installed, "version", version)
    wrong = [one for one in installed.packages() if one.state == "wrong"]
    assert wrong == [
        failed("amaranth", "0.4, nicbed needs <0.6,>=0.5.4", "pip install 'amaranth<0.6,>=0.5.4'"),
        failed("cocotb", "not installed, nicbed needs <3,>=2.1", "pip install 'cocotb<3,>=2.1'")]


def test_a_group_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "version", lambda name: "0")
    lines = {one.name: one for one in installed.groups()}
    assert lines["nicbed[optimise]"].state == "lacking"
    assert lines["nicbed[optimise]"].text == "lacks optuna"


def test_a_cache_where_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "can_execute", lambda place: False)
    lines = {one.name: one for one in places.places()}
    assert lines["cache"].state == "wrong" and "mounted noexec" in lines["cache"].text
    assert lines["temporary files"].state == "ok"
    assert toys.toy("verilator") == failed("toy on verilator",
                                           f"nothing runs in {tmp_path}, mounted noexec",
                                           cache.CHOOSE)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    usage = places.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(places.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    lines = {one.name: one for one in places.places()}
    assert lines["cache"].state == lines["temporary files"].state == "wrong"


def test_a_toy_that_counts_wrongly(monkeypatch: pytest.MonkeyPatch, icarus: None) -> None:
    """The toy is asked, not only built."""
    right = toys.toy("icarus")
    assert right == found("toy on icarus", right.text) and right.text.startswith("built and run")
    real = toys._text()
    monkeypatch.setattr(toys, "_text", lambda: real.replace("connect \\B 1'1", "connect \\B 1'0"))
    assert toys._text() != real
    assert toys.toy("icarus").text == "it counts wrongly"


def test_a_simulator_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(toys._BUILD, "verilator", lambda text, work: ["/bin/echo", "no library"])
    assert toys.toy("verilator") == failed(
        "toy on verilator", "the simulator ended without a result: no library")
