"""Plots: what drawing leaves behind in its process."""

import threading
from collections.abc import Mapping
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from nicbed.testbench.results import plots


def test_threads_that_draw_leave_the_settings_of_the_process() -> None:
    """The first one ends while the second one draws, or waits to."""
    before = dict(matplotlib.rcParams)
    draws, other = threading.Event(), threading.Event()

    def first(document: Mapping[str, Any], figure: Figure) -> None:
        draws.set()
        other.wait(0.2)

    def second(document: Mapping[str, Any], figure: Figure) -> None:
        other.set()
        one.join(0.2)

    one = threading.Thread(target=plots.drawn, args=(first, {}))
    two = threading.Thread(target=plots.drawn, args=(second, {}))
    one.start()
    assert draws.wait(60)
    two.start()
    for thread in (one, two):
        thread.join(60)
    assert dict(matplotlib.rcParams) == before
