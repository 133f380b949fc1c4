"""Counts calls of the host's functions while programs run on the functional target. They do not
depend on how fast the machine is, and a bound on them keeps a call from coming back."""

import sys
from collections import Counter
from typing import Any

from nicbed.host.port.node import Programs
from nicbed.host.runtime import Runtime
from nicbed.layouts.description import Description
from nicbed.testbench.speed.workloads import WORKLOADS

from tests.models.target import Model

__all__ = ["counted", "of_a_message"]

WARM = 5_000
"""Cycles behind the opening of the shorter of two runs."""


def counted(description: Description, programs: Programs) -> tuple[Counter[str], Runtime]:
    """Run ``programs``: how often each function of the host side was called, by its name, and the
    runtime. A coroutine counts once, and once more for each wake-up inside. The memory's functions
    do not count: those of a simulator are others."""
    found: Counter[str] = Counter()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_globals["__name__"].startswith("nicbed.host."):
            found[frame.f_code.co_qualname] += 1

    model = Model(description)
    sys.setprofile(note)
    try:
        runtime = model.run(programs, limit=20_000_000, tracing=False)
    finally:
        sys.setprofile(None)
    for name in [name for name in found if name.startswith("ArrayMemory.")]:
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
