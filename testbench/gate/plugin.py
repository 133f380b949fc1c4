"""The plugin for pytest: the fixture ``nicbed_testbed``.

It is part of every run of pytest where nicbed is installed, so its names are nicbed's own, and it
imports nothing of nicbed before a test asks for the fixture. :mod:`.short_names` adds short ones.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .bed import GatedTestbed

__all__ = ["OPTION", "nicbed_testbed", "pytest_addoption", "pytest_configure"]

OPTION = "nicbed_gate"
"""Where pytest keeps the option; the marker is called so, too."""
_MARKS = (OPTION, "gate")  # the second where its tests ask for short names


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--nicbed-gate FILE``."""
    parser.getgroup("nicbed").addoption(
        "--nicbed-gate", metavar="FILE", dest=OPTION,
        help="gate file of the fixture nicbed_testbed (default: nicbed-gate.toml in the root "
             "folder)")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker ``nicbed_gate`` known, and refuse a gate file that is not there."""
    config.addinivalue_line("markers", f"{OPTION}(name): the entry of nicbed's gate file on which "
                            "the fixture nicbed_testbed is (default: the first)")
    given = config.getoption(OPTION)
    if given is not None and not (config.invocation_params.dir / given).exists():
        raise pytest.UsageError(f"--nicbed-gate {given}: no such file")


@pytest.fixture(scope="session")
def _nicbed_beds() -> Iterator[ExitStack]:
    """What closes the beds of all tests: their simulators' processes stay from test to test."""
    with ExitStack() as beds:
        yield beds


@pytest.fixture
def nicbed_testbed(request: pytest.FixtureRequest, _nicbed_beds: ExitStack) -> "GatedTestbed":
    """A testbed on the description of the gate file's first entry, or of the entry that
    ``@pytest.mark.nicbed_gate("name")`` names; on the default NIC if there is no gate file.
    ``nicbed_testbed.check()`` compares its figures with the accepted ones."""
    from .bed import GatedTestbed
    from .file import NAME

    given = request.config.getoption(OPTION)
    path = (request.config.rootpath / NAME if given is None
            else request.config.invocation_params.dir / given)
    short = request.config.pluginmanager.has_plugin("nicbed.testbench.gate.short_names")
    marks = (request.node.get_closest_marker(name) for name in (_MARKS if short else _MARKS[:1]))
    mark = next(filter(None, marks), None)
    bed = GatedTestbed(path, *(mark.args if mark else ()))
    _nicbed_beds.enter_context(closing(bed))
    return bed
