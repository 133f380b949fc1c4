"""CPU costs of a kernel that several CPUs execute: paths, counted from a C implementation.

Loads and stores of shared words, CAS and spinning are operations, which cost time besides.
"""

from ..port.costs import Path
from ..port.prices import prices

__all__ = ["Prices"]

RELEASE = Path("kernel_release", call=1, alu=1, branch=1)
"""The kernel is free again, and whether there are news."""
IDLE = Path("idle_look", call=1, branch=1)
"""A CPU that sleeps looks whether there are news."""


class Prices(prices(globals())):
    """The paths of the kernel as a CPU charges them."""
