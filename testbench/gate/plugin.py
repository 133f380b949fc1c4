"""The plugin for pytest: the fixture ``testbed``.

It is part of every run of pytest where nicbed is installed, so it imports nothing of nicbed before
a test asks for the fixture.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .bed import GatedTestbed

__all__ = ["pytest_addoption", "pytest_configure", "testbed"]

_MARK = "gate"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--gate FILE``."""
    parser.getgroup("nicbed").addoption(
        "--gate", metavar="FILE", dest="nicbed_gate",
        help="gate file of the fixture testbed (default: nicbed-gate.toml in the root folder)")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker ``gate`` known, and refuse a gate file that is not there."""
    config.addinivalue_line("markers", f"{_MARK}(name): the entry of nicbed's gate file on which "
                            "the fixture testbed is (default: the first)")
    given = config.getoption("nicbed_gate")
    if given is not None and not (config.invocation_params.dir / given).exists():
        raise pytest.UsageError(f"--gate {given}: no such file")


@pytest.fixture(scope="session")
def _nicbed_beds() -> Iterator[ExitStack]:
    """What closes the beds of all tests: their simulators' processes stay from test to test."""
    with ExitStack() as beds:
        yield beds


@pytest.fixture
def testbed(request: pytest.FixtureRequest, _nicbed_beds: ExitStack) -> "GatedTestbed":
    """A testbed on the description of the gate file's first entry, or of the entry that
    ``@pytest.mark.gate("name")`` names; on the default NIC if there is no gate file.
    ``testbed.check()`` compares its figures with the accepted ones."""
    from .bed import GatedTestbed
    from .file import NAME

    given = request.config.getoption("nicbed_gate")
    path = (request.config.rootpath / NAME if given is None
            else request.config.invocation_params.dir / given)
    mark = request.node.get_closest_marker(_MARK)
    bed = GatedTestbed(path, *(mark.args if mark else ()))
    _nicbed_beds.enter_context(closing(bed))
    return bed
