"""Decides how much of a kernel is run, and estimates how long that takes.

What a simulation costs is by far what the messages cost. So of a class that takes too long some
iterations run, and their slope tells the whole run's time.
"""

from ....host.apps.nas.kernel import Kernel
from ....layouts.description import Description

__all__ = ["calibrated", "chosen", "outlook", "seconds", "told", "within"]

WHOLE_SECONDS, PART_SECONDS = 120, 22
"""CPU seconds up to which a run is whole; and if it would take more, of some iterations."""
TOLD_SECONDS = 20
"""CPU seconds from which on a user is told before a run begins."""
MESSAGE_SECONDS = 1.2e-3
BYTE_SECONDS = 8e-7
"""CPU seconds of a simulation, on the default NIC over VIA with 4 nodes: for each message, and for
each of its bytes."""
KEY_SECONDS = 7e-8
"""CPU seconds for each key that is ranked."""


def seconds(kernel: Kernel, iterations: int = 0) -> float:
    """CPU seconds, about, of a run of ``iterations`` (0: all), an iteration that is not timed
    included: of its simulation, without the arithmetic that charging leaves out."""
    done = (iterations or kernel.iterations) + 1
    messages, length = kernel.volume(done)
    return (messages * MESSAGE_SECONDS + length * BYTE_SECONDS
            + done * kernel.computed * KEY_SECONDS)


def chosen(kernel: Kernel) -> int:
    """Iterations that run if a class is large and nobody says how many. 0: all."""
    return 0 if seconds(kernel) <= WHOLE_SECONDS else within(kernel, PART_SECONDS)


def within(kernel: Kernel, most: float) -> int:
    """Iterations that take ``most`` CPU seconds, but no fewer than tell what the others take; 0:
    all."""
    if kernel.iterations <= kernel.least:
        return 0
    first = seconds(kernel, 1)
    each = seconds(kernel, 2) - first
    found = max(kernel.least, 1 + int((most - first) / each))
    return found if found < kernel.iterations else 0


def outlook(kernel: Kernel, iterations: int, *, known: bool) -> str:
    """Returns what a run of ``iterations`` (0: all) will take; "" if that is little. ``known``:
    whether :func:`seconds` holds for it, so that it is told."""
    found = seconds(kernel, iterations)
    if found < TOLD_SECONDS:
        return ""
    done = iterations or kernel.iterations
    messages, length = kernel.volume(done)
    return (f"class {kernel.size} on {kernel.procs} nodes: {done} of {kernel.iterations} "
            f"iterations, {messages:,} messages of {length / 1e6:,.0f} MB in all"
            + (f": {told(found)}" if known else ""))


def told(found: float) -> str:
    """So many seconds, in words."""
    return f"about {found:,.0f} s of CPU time, of simulation, on the default NIC"


def calibrated(description: Description, sim: str, compute: str) -> bool:
    """Tells whether :func:`seconds` is calibrated for a run: over VIA, with computation charged
    alone, on Verilator."""
    return (description.mpi.channel, compute, sim) == ("via", "charged", "verilator")
