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

def test_holds(nicbed_testbed):
    nicbed_testbed.check("rtt:RTT, 1 word")
    nicbed_testbed.check()

def test_one_cycle(nicbed_testbed):
    nicbed_testbed.set("bus.dma_setup", nicbed_testbed.description.bus.dma_setup + 1)
    nicbed_testbed.check(["rtt:RTT, 1 word"])

def test_no_such_figure(nicbed_testbed):
    nicbed_testbed.check(["rtt:RTT, 1 wrod"])

@pytest.mark.nicbed_gate("mine")
def test_an_entry_by_name(nicbed_testbed):
    assert nicbed_testbed.entry.name == "mine"

@pytest.mark.nicbed_gate("yours")
def test_no_such_entry(nicbed_testbed):
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
    found = run(accepted.parent, "--nicbed-gate", accepted.name, "test_mine.py")
    assert found.returncode == 1, found.stderr
    for told in ("PASSED test_mine.py::test_holds", "PASSED test_mine.py::test_an_entry_by_name",
                 "FAILED test_mine.py::test_one_cycle", "out: receive DMA: 14 → 15 (+1)",
                 "accepts no rtt:RTT, 1 wrod; did you mean rtt:RTT, 1 word",
                 "no gate is called yours; there are: mine", "2 failed, 2 passed, 1 error"):
        assert told in found.stdout, found.stdout


def test_without_a_gate_file_it_is_a_testbed(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "def test_bed(nicbed_testbed):\n    assert nicbed_testbed.description.fabric.nodes\n"
        "def test_check(nicbed_testbed):\n    nicbed_testbed.check()\n")
    found = run(tmp_path, "test_mine.py")
    assert "1 failed, 1 passed" in found.stdout
    assert "nicbed-gate.toml: no such file: `nicbed gate init` writes one" in found.stdout
    assert "--nicbed-gate no.toml: no such file" in run(tmp_path, "--nicbed-gate", "no.toml").stderr


SHORT = """\
import pytest

def test_holds(testbed):
    testbed.check("rtt:RTT, 1 word")

@pytest.mark.gate("mine")
def test_an_entry_by_name(testbed, nicbed_testbed):
    assert testbed is nicbed_testbed and testbed.entry.name == "mine"

@pytest.mark.gate("yours")
def test_no_such_entry(testbed):
    pass
"""


def test_short_names_where_a_conftest_asks_for_them(accepted: Path) -> None:
    (accepted.parent / "conftest.py").write_text(
        'pytest_plugins = ["nicbed.testbench.gate.short_names"]\n')
    (accepted.parent / "test_short.py").write_text(SHORT)
    try:
        found = run(accepted.parent, "--gate", accepted.name, "test_short.py")
    finally:
        (accepted.parent / "conftest.py").unlink()
    assert "no gate is called yours; there are: mine" in found.stdout, found.stdout + found.stderr
    assert "2 passed, 1 error" in found.stdout, found.stdout


FOREIGN = """\
import pytest

def pytest_addoption(parser):
    parser.addoption("--gate", type=int, default=7, help="of this suite")

def pytest_configure(config):
    config.addinivalue_line("markers", "gate(level): of this suite")

@pytest.fixture
def gate(request):
    return request.config.getoption("--gate")
"""
OWN = """\
import sys

import pytest

@pytest.fixture
def testbed():
    return "mine"

@pytest.mark.gate(3)
def test_mine(testbed, gate):
    assert (testbed, gate) == ("mine", 9)

def test_nothing_is_loaded():
    loaded = {name for name in sys.modules if name.split(".")[0] == "nicbed"}
    assert loaded <= {"nicbed", "nicbed.testbench", "nicbed.testbench.gate", "PLUGIN"}
    assert not {"numpy", "amaranth", "pydantic"} & set(sys.modules)

@pytest.mark.gate(3)
def test_both(testbed, nicbed_testbed):
    assert testbed == "mine" and nicbed_testbed.description.fabric.nodes
"""


def test_a_suite_with_such_names_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(FOREIGN)
    (tmp_path / "test_own.py").write_text(OWN.replace("PLUGIN", PLUGIN))
    found = run(tmp_path, "--gate", "9", "test_own.py")
    assert "3 passed" in found.stdout, found.stdout + found.stderr


def test_it_is_what_is_installed_and_loads_nothing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"nicbed": PLUGIN}
    importlib.import_module(PLUGIN)
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; "
         "print(*set(sys.modules) - before)"], capture_output=True, text=True, check=True, cwd=ROOT)
    names = {"nicbed", "nicbed.testbench", "nicbed.testbench.gate", PLUGIN}
    assert set(loaded.stdout.split()) == names
