"""The plot of a search: the front of two goals, parallel coordinates above that, the course of
one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..results.plots import INK, PALETTE
from ..sweeps.plots import Table, parallel
from .front import FRONT, HOLDS

__all__ = ["drawing"]

OTHERS = "#9fb8cf"
"""Colour of trials that are not on the front."""
NAMED = 8
"""Up to so many points of a front are named by their knobs."""

Draw = Callable[[Mapping[str, Any], Any], None]


class Trials(Table, Protocol):
    """The members of a table of trials that are drawn (:class:`.trials.Trials`)."""

    @property
    def goals(self) -> Mapping[str, bool]: ...
    @property
    def front(self) -> Sequence[Mapping[str, Any]]: ...


def drawing(trials: Trials) -> Draw:
    """The plot that suits the number of goals."""
    draw = {1: _course, 2: _plane}.get(len(trials.goals), _lines)
    return lambda _, figure: draw(trials, figure)


def _course(trials: Trials, figure: Any) -> None:
    """The goal by trial, and the best so far."""
    [(name, more)] = trials.goals.items()
    axes = figure.add_subplot()
    for holds, marker in ((True, "o"), (False, "x")):
        points = [(at, row[name]) for at, row in enumerate(trials.rows, 1) if row[HOLDS] is holds]
        if points:
            axes.plot(*zip(*points, strict=True), marker, color=OTHERS, ms=4,
                      label="trials" if holds else "conditions missed")
    best = None
    course = []
    for at, row in enumerate(trials.rows, 1):
        if row[HOLDS]:
            best = row[name] if best is None else (max if more else min)(best, row[name])
        if best is not None:
            course.append((at, best))
    if course:
        axes.step(*zip(*course, strict=True), where="post", color=PALETTE[1], label="best so far")
    axes.set_xlabel("trial")
    axes.set_ylabel(trials.metric(name).title)
    axes.legend()
    axes.set_title(f"{name} over the trials")


def _plane(trials: Trials, figure: Any) -> None:
    """All trials by the two goals, and the front, whose points are named by what varies in it."""
    first, second = (trials.metric(name) for name in trials.goals)
    axes = figure.add_subplot()
    for holds, marker, label in ((True, "o", "trials"), (False, "x", "conditions missed")):
        points = [(row[first.name], row[second.name]) for row in trials.rows
                  if row[HOLDS] is holds and not row[FRONT]]
        if points:
            axes.plot(*zip(*points, strict=True), marker, color=OTHERS, ms=4, label=label)
    front = trials.front
    best = [(row[first.name], row[second.name]) for row in front]
    if best:
        axes.step(*zip(*best, strict=True), "-", where="post", color=PALETTE[1], lw=1)
        axes.plot(*zip(*best, strict=True), "o", color=PALETTE[1], ms=5, label="the front")
    varying = [one.name for one in trials.knobs if len({row[one.name] for row in front}) > 1]
    if len(front) <= NAMED:
        for row, place in zip(front, best, strict=True):
            axes.annotate(", ".join(str(row[name]) for name in varying), place, fontsize=7,
                          color=INK, xytext=(4, 4), textcoords="offset points")
    axes.set_xlabel(first.title)
    axes.set_ylabel(second.title)
    axes.legend()
    axes.set_title(f"{first.name} against {second.name}")


def _lines(trials: Trials, figure: Any) -> None:
    """A line a trial through the knobs and the goals; the front coloured by the first goal."""
    from matplotlib import colormaps

    colours = colormaps["viridis"]

    def style(row: Mapping[str, Any], share: float) -> dict[str, Any]:
        if row[FRONT]:
            return {"lw": 1.6, "color": colours(share), "zorder": 3}
        return {"lw": 0.8, "color": OTHERS, "alpha": 0.5 if row[HOLDS] else 0.2}

    goals = [trials.metric(name) for name in trials.goals]
    parallel(trials, figure, goals, style, f"{len(trials.front)} of {len(trials.rows)} trials are "
                                           f"on the front, coloured by {goals[0].name}")
