"""Short names for what the plugin gives, for suites that have no such names themselves: the fixture
``testbed``, the option ``--gate`` and the marker ``gate``. A conftest in the root folder asks for
them: ``pytest_plugins = ["nicbed.testbench.gate.short_names"]``.
"""

from typing import TYPE_CHECKING

import pytest

from .plugin import OPTION

if TYPE_CHECKING:
    from .bed import GatedTestbed

__all__ = ["pytest_addoption", "pytest_configure", "testbed"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--gate FILE``."""
    parser.getgroup("nicbed").addoption("--gate", metavar="FILE", dest=OPTION,
                                        help="the same as --nicbed-gate")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker ``gate`` known."""
    config.addinivalue_line("markers", f"gate(name): the same as {OPTION}(name)")


@pytest.fixture
def testbed(nicbed_testbed: "GatedTestbed") -> "GatedTestbed":
    """The fixture ``nicbed_testbed``."""
    return nicbed_testbed
