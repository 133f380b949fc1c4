"""Programs of the study of clumps at sizes that run, and what they take at the study's size.

The study's sizes take too long in the simulator. What a phase takes, in the mean of the processes,
grows in proportion to something that can be counted at any size without running it: computation
with the data, communication with the messages. So two runs, or one and nothing at size 0, are a
line for each phase, and all phases together the time at the study's size.

Messages are counted at the study's size itself (testbench.apps.counting).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import apps

__all__ = ["TIME", "Sized", "at_full_size", "phases", "said"]

TIME = "time"
WITH_MESSAGES = {"con": ("edges",)}
"""Computation that grows with the messages, by program: looks at edges between components."""

Results = Mapping[str, Any]


@dataclass(frozen=True)
class Sized:
    """Pulls ``field`` out of results: TIME, in cycles, or one of COUNTS."""

    program: str
    field: str

    def __call__(self, results: Results) -> Fraction:
        if self.field == TIME:
            return at_full_size(self.program, results)
        return Fraction(str(results["counted"][self.field]))


def at_full_size(program: str, results: Results) -> Fraction:
    """Cycles at the size that was counted, from runs of fewer data."""
    return sum(phases(program, results).values(), Fraction())


def phases(program: str, results: Results) -> dict[str, Fraction]:
    """Cycles of each phase at the size that was counted, in the mean of the processes. A phase that
    a larger run would take less time than a smaller one for is as in the larger one, by its mean
    growth."""
    full, runs = results["counted"], results["runs"]
    found = {}
    for phase in runs[-1]["phases"]:
        with_messages = (phase["kind"] != "computation"
                         or phase["name"] in WITH_MESSAGES.get(program, ()))
        points = [(_size(program, run, with_messages), _mean(run, phase["name"])) for run in runs]
        wanted = Fraction(str(full["messages" if with_messages else "work"]))
        found[phase["name"]] = _on_line(points, wanted)
    return found


def _on_line(points: Sequence[tuple[Fraction, Fraction]], wanted: Fraction) -> Fraction:
    """What ``wanted`` takes on the line through the last two of ``points``, or through the only one
    and nothing."""
    (size, cycles), (less, before) = points[-1], points[-2] if len(points) > 1 else (
        Fraction(0), Fraction(0))
    if cycles < before or size <= less:
        less, before = Fraction(0), Fraction(0)
    if not size:
        return cycles
    return cycles + (cycles - before) * (wanted - size) / (size - less)


def _size(program: str, run: Results, with_messages: bool) -> Fraction:
    if not with_messages:
        return Fraction(apps.get(program).module.work(run["parameters"]))
    kinds = [one["messages"] for kind, one in run["messages"].items() if kind != "collective"]
    return Fraction(sum(kinds), len(run["processes"]))


def _mean(run: Results, name: str) -> Fraction:
    """The mean of the processes in a phase; 0 if it did not come."""
    for phase in run["phases"]:
        if phase["name"] == name:
            each = phase["cycles"]
            return sum((Fraction(str(one)) for one in each), Fraction()) / len(each)
    return Fraction(0)


def said(program: str, results: Results) -> str:
    """Returns how the figure came about."""
    full, runs = results["counted"], results["runs"]

    def size(parameters: Mapping[str, Any]) -> str:
        return ", ".join(f"{name} {parameters[name]}" for name in apps.get(program).module.SIZES)

    whole = [f"{size(run['parameters'])} ({float(Fraction(str(run['cycles']))):,.0f} cycles)"
             for run in runs]
    factor = full["messages"] / float(_size(program, runs[-1], True) or 1)
    return (f"{program} of {' and '.join(whole)}, by phases to {size(full['parameters'])}, with "
            f"{factor:,.0f} times as many messages")
