"""A NIC of one's own from an empty directory, with nicbed installed as a wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nicbed.firmware.tools import environment

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 600
"""Seconds that a command may take."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nicbed as a wheel has it, made of what is tracked."""
    work = tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if not name.startswith(("tests/", "docs/")) and (ROOT / name).is_file():
            place = work / "source" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes((ROOT / name).read_bytes())
    for arguments in (["wheel", "--no-deps", "--no-build-isolation", "-q", "-w", str(work),
                       str(work / "source")],
                      ["install", "--no-deps", "-q", "--target", str(work / "site"),
                       "--find-links", str(work), "--no-index", "nicbed"]):
        done = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr[-2000:]
    return work / "site"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outside")


def nicbed(installed: Path, place: Path, *arguments: str) -> str:
    """What the command prints; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "nicbed.testbench.cli", *arguments], cwd=place, timeout=LIMIT,
        capture_output=True, text=True, env={**environment(), "PYTHONPATH": str(installed),
                                             "PATH": os.environ["PATH"]})
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def test_the_wheel_has_the_examples(installed: Path) -> None:
    there = {str(path.relative_to(installed / "nicbed")) for path in
             (installed / "nicbed" / "examples").rglob("*") if "__pycache__" not in path.parts}
    tracked = subprocess.run(["git", "ls-files", "examples"], cwd=ROOT, capture_output=True,
                             text=True, check=True).stdout.split()
    assert {name for name in tracked if name.count("/") > 1} <= there


@pytest.mark.parametrize("verilog", [False, True])
def test_a_nic_of_ones_own(installed: Path, place: Path, verilog: bool) -> None:
    name = "my_verilog" if verilog else "my_nic"
    nicbed(installed, place, "new", "nic", name, *(["--verilog"] if verilog else []))
    # A short MTU makes the queues small, and the simulators are built sooner.
    small = ["--set", "nic.mtu=256"]
    said = nicbed(installed, place, "check", "nic", name, "--quick", *small)
    assert f"{name} keeps all rules that were checked: " in said and "failed" not in said
    run = ["--nic", name, "--layer", "raw", *small]
    said = nicbed(installed, place, "bench", "logp", *run, "--timeline", f"{name}.pftrace")
    assert "checks: all" in said and (place / f"{name}.pftrace").stat().st_size > 1000
    nicbed(installed, place, "bench", "latency", *run)
    said = nicbed(installed, place, "sweep", *run, "--vary", f"{name}.gap=0,100")
    assert "100" in said
