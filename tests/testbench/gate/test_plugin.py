"""The plugin for pytest, in a pytest of its own."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = "nicbed.testbench.gate.plugin"
TESTS = """\
import pytest

def test_holds(testbed):
    testbed.check("rtt:RTT, 1 word")
    testbed.check()

def test_one_cycle(testbed):
    testbed.set("bus.dma_setup", testbed.description.bus.dma_setup + 1)
    testbed.check(["rtt:RTT, 1 word"])

def test_no_such_figure(testbed):
    testbed.check(["rtt:RTT, 1 wrod"])

@pytest.mark.gate("mine")
def test_an_entry_by_name(testbed):
    assert testbed.entry.name == "mine"

@pytest.mark.gate("yours")
def test_no_such_entry(testbed):
    pass
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-rA",
         "--strict-markers", "--rootdir", str(folder), *arguments], cwd=folder, text=True,
        capture_output=True, timeout=300,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"})


def test_tests_check_against_the_gate_file(accepted: Path) -> None:
    (accepted.parent / "test_mine.py").write_text(TESTS)
    found = run(accepted.parent, "--gate", accepted.name, "test_mine.py")
    assert found.returncode == 1, found.stderr
    for told in ("PASSED test_mine.py::test_holds", "PASSED test_mine.py::test_an_entry_by_name",
                 "FAILED test_mine.py::test_one_cycle", "out: receive DMA: 14 → 15 (+1)",
                 "accepts no rtt:RTT, 1 wrod; did you mean rtt:RTT, 1 word",
                 "no gate is called yours; there are: mine", "2 failed, 2 passed, 1 error"):
        assert told in found.stdout, found.stdout


def test_without_a_gate_file_it_is_a_testbed(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "def test_bed(testbed):\n    assert testbed.description.fabric.nodes\n"
        "def test_check(testbed):\n    testbed.check()\n")
    found = run(tmp_path, "test_mine.py")
    assert "1 failed, 1 passed" in found.stdout
    assert "nicbed-gate.toml: no such file: `nicbed gate init` writes one" in found.stdout
    assert "--gate no.toml: no such file" in run(tmp_path, "--gate", "no.toml").stderr


def test_it_is_what_is_installed_and_loads_nothing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"nicbed": PLUGIN}
    importlib.import_module(PLUGIN)
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; "
         "print(*set(sys.modules) - before)"], capture_output=True, text=True, check=True, cwd=ROOT)
    names = {"nicbed", "nicbed.testbench", "nicbed.testbench.gate", PLUGIN}
    assert set(loaded.stdout.split()) == names
