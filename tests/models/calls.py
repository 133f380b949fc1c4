"""Counts calls of the host's functions while programs run on the functional target. They do not
depend on how fast the machine is, and a bound on them keeps a call from coming back."""

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from nicbed.host.port.node import Programs
from nicbed.host.runtime import Runtime
from nicbed.layouts.description import Description
from nicbed.layouts.doors import LAYERS
from nicbed.testbench.speed.workloads import WORKLOADS

from tests.models.target import Model

__all__ = ["counted", "of_a_kilobyte", "of_a_message"]

WARM = 5_000
"""Cycles behind the opening of the shorter of two runs."""
FIRST, COUNTED = 4, 8
"""Messages that do not count, and those that do, where it is their number that two runs differ
by."""


def counted(description: Description, programs: Programs) -> tuple[Counter[str], Runtime]:
    """Run ``programs``: how often each function of the host side was called, by its name, and the
    runtime. A coroutine counts once, and once more for each wake-up inside. The memory's functions
    do not count, and neither does what stands between the target and the runtime: those of a
    simulator are others. Calls of enumerations do, whose operators are functions of Python."""
    found: Counter[str] = Counter()

    def note(frame: Any, event: str, _: Any) -> None:
        if event != "call":
            return
        module = frame.f_globals.get("__name__", "")
        if module.startswith("nicbed.host.") or module == "enum" \
                and frame.f_back.f_globals.get("__name__", "").startswith("nicbed.host."):
            found[frame.f_code.co_qualname] += 1

    model = Model(description)
    LAYERS.working()  # what is imported in a run that is counted would count
    sys.setprofile(note)
    try:
        runtime = model.run(programs, limit=20_000_000, tracing=False)
    finally:
        sys.setprofile(None)
    for name in [name for name in found if name.startswith(("ArrayMemory.", "Memory."))
                 or name in ("Runtime.attention", "Port.last_answer")]:
        del found[name]
    return found, runtime


def of_a_message(description: Description, layer: str, name: str, cycles: int
                 ) -> tuple[float, float]:
    """Calls and wake-ups for a message of a workload of ``nicbed speed``, at two nodes: the
    difference of two runs, of which one is ``cycles`` longer."""
    def run(until: int) -> tuple[int, int, int]:
        calls, done = counted(description, [WORKLOADS[layer][name](until)] * 2)
        return sum(calls.values()), done.wakes, sum(filter(None, done.results))

    model = Model(description)
    model.run([WORKLOADS[layer][name](0)] * 2, limit=20_000_000, tracing=False)
    few, many = run(model.now + WARM), run(model.now + WARM + cycles)
    calls, wakes, messages = (more - less for more, less in zip(many, few, strict=True))
    assert messages > 8
    return calls / messages, wakes / messages


def of_a_kilobyte(description: Description, programs: Callable[[int, int], Programs], small: int,
                  large: int) -> tuple[float, float]:
    """Calls and wake-ups for a KB, by which messages of ``large`` bytes are longer than those of
    ``small``. ``programs(size, count)`` send ``count`` messages; the first ones do not count."""
    def run(size: int, count: int) -> tuple[int, int]:
        calls, done = counted(description, programs(size, count))
        return sum(calls.values()), done.wakes

    def of_one(size: int) -> list[float]:
        return [(more - less) / COUNTED for more, less in zip(
            run(size, FIRST + COUNTED), run(size, FIRST), strict=True)]

    calls, wakes = [1024 * (more - less) / (large - small)
                    for more, less in zip(of_one(large), of_one(small), strict=True)]
    return calls, wakes
