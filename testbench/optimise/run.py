"""Turns a search into its table: rounds of trials, which are measured and told to the chooser."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..errors import UserError
from ..store import standard
from ..sweeps.constraint import Unfit
from ..sweeps.executor import Executor
from ..sweeps.figures import Figures
from ..sweeps.plan import Plan
from ..sweeps.sweep import Prepared, Remaining, chosen, measured
from ..sweeps.table import ERROR, Table
from ..testbed.listener import Progress
from .chooser import Chooser
from .front import HOLDS
from .search import Search, searched
from .space import Point, Space
from .trials import Trials, table

__all__ = ["ROUND", "carried_out", "optimise"]

ROUND = 4
"""Points that are chosen before the first of them is measured, however many workers there are."""


def optimise(vary: Mapping[str, Any], minimise: Sequence[str] = (), *, workers: int = 2,
             fresh: bool = False, dask: Any = None, executor: Executor | None = None,
             **options: Any) -> Trials:
    """Search for the points that no other beats in all goals.

    Parameters
    ----------
    vary, minimise, options
        As for :func:`.search.searched`:
        ``optimise({"nic.mtu": [256, 1024]}, ["logp:L", "area:lut"], trials=40)``.
    workers, fresh, dask, executor
        As for :func:`nicbed.sweep`.

    Raises
    ------
    UserError
        The search is wrong, or no trial shows all goals. Points that are refused are warned of.
    """
    search = searched(vary, minimise, **options)
    space = Space(search)
    for line in space.remarks():
        warnings.warn(line, stacklevel=2)
    return carried_out(search, space, executor or chosen(workers, dask, store=standard(),
                                                         fresh=fresh, limit=search.start.limit))


def carried_out(search: Search, space: Space, executor: Executor,
                tell: Progress = lambda *_: None) -> Trials:
    """Try points of ``space``. One that fails is a row with its line.

    Raises
    ------
    UserError
        No trial shows all goals, or no result has a figure that is named. That none shows a goal,
        or a condition has no sense, is told after the first round.
    """
    with executor if isinstance(executor, AbstractContextManager) else nullcontext():
        return _rounds(search, space, executor, tell)


def _rounds(search: Search, space: Space, executor: Executor, tell: Progress) -> Trials:
    chooser = Chooser(search, space)
    most = search.trials if space.listed is None else min(search.trials, len(space.listed))
    remaining = Remaining(most * len(search.benches))
    rows: list[dict[str, Any]] = []
    columns: dict[str, dict[str, str]] = {}
    figures = Figures(search.metrics)
    while len(rows) < most:
        points: list[Point] = []
        while len(points) < min(ROUND, most - len(rows)):
            point = chooser.next()
            if point is None:
                break
            points.append(point)
        if not points:
            break
        found = _measured(search, points, executor, remaining, figures, tell)
        columns |= {one["name"]: one for one in found.document["columns"]}
        for point, row in zip(points, found.rows, strict=True):
            rows.append(_told(search, chooser, point, dict(row)))
        figures.check_shown([goal.name for goal in search.goals])
    figures.check()
    if not any(row[ERROR] is None for row in rows):
        raise UserError(f"none of {len(rows)} trials shows all goals: {rows[0][ERROR]}", status=1)
    return table(search, space, list(columns.values()), rows)


def _measured(search: Search, points: Sequence[Point], executor: Executor, remaining: Remaining,
              figures: Figures, tell: Progress) -> Table:
    """The points of a round as a study's table."""
    plan = Plan(tuple(one.knobs for one in points), search.benches, search.metrics,
                start=search.start)
    prepared = Prepared(plan, [one.knobs for one in points],
                        [{name: one.wanted[name] for name in plan.benches} for one in points])
    return measured(prepared, executor, tell, remaining=remaining, figures=figures)


def _told(search: Search, chooser: Chooser, point: Point, row: dict[str, Any]) -> dict[str, Any]:
    """The row of a trial, after the chooser knows it."""
    for one in search.metrics:
        if row[ERROR] is None and row.get(one.name) is None:
            row[ERROR] = f"{one.bench} does not show {one.figure} here"
    misses: list[float] = []
    if row[ERROR] is None:
        try:
            values = {**point.values, **_figures(search, row)}
            misses = [one.misses(values) for one in search.conditions if one.figures]
        except Unfit:
            raise
        except UserError as error:
            row[ERROR] = str(error)
    row[HOLDS] = None if row[ERROR] else not any(misses)
    chooser.tell(point, None if row[ERROR] else [row[goal.name] for goal in search.goals], misses)
    return row


def _figures(search: Search, row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The figures of a row by benchmark and name, as conditions name them."""
    found: dict[str, dict[str, Any]] = {}
    for one in search.metrics:
        found.setdefault(one.bench, {})[one.figure] = row[one.name]
    return found
