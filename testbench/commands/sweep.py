"""``nicbed sweep``: benchmarks at many points of a design, as one table."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..descriptions import load
from ..errors import UserError
from ..results import document as files
from ..results.tables import amount, console, table
from ..store import standard
from ..sweeps.executor import Executor
from ..sweeps.figures import check_columns
from ..sweeps.file import read
from ..sweeps.plan import Plan, planned
from ..sweeps.plots import drawing, pareto
from ..sweeps.sweep import chosen, measured, prepare
from ..sweeps.table import ERROR, Table
from ..wording import counted
from .measure import Plots, check_places
from .options import RunOptions, SweepOptions
from .output import Terminal, finish, progress_bar

__all__ = ["failures", "printed", "run_sweep", "varied", "written"]

ROWS, COLUMNS = 40, 8
"""Rows, and metrics, that are printed; the files have all."""


def run_sweep(study: Path | None, asked: SweepOptions, options: RunOptions,
              executor: Executor | None = None) -> None:
    """Measure all points of a study, that in the file ``study`` or what is ``asked`` for; print,
    plot and store its table. ``executor`` carries the measurements out in place of ours."""
    front = asked.front
    if study is None:
        plan = _plan(asked, options)
    elif replace(asked, seed=None, front=None) != SweepOptions():
        raise UserError(f"{study}: a study's file says itself what varies and what is measured")
    else:
        plan = read(study, seed=asked.seed, **options.start())
    check_columns(plan, front or ())
    prepared = prepare(plan)
    check_places(options.out)
    for line in prepared.remarks():
        print(f"nicbed: {line}", file=sys.stderr, flush=True)
    plots = Plots()
    with progress_bar(plan.title) as tell:
        found = measured(prepared, executor or chosen(
            options.workers, options.dask, store=standard(), fresh=options.fresh,
            limit=plan.start.limit, warn=Terminal().warn),
            tell, needed=front or (), warn=Terminal().warn)
    path, text = written(found, options.out)
    draw = drawing(found)
    if draw:
        plots.save(draw, found.document, path)
    if front:
        plots.save(pareto(found, *front), found.document,
                   path.with_name(f"{path.stem}-pareto.json"))
    finish(text, lambda: _show(found, prepared.excluded), path)


def written(found: Table, out: Path) -> tuple[Path, str]:
    """Write a table into ``out`` as CSV, Parquet and JSON; return the path of the last one, and
    what it says."""
    path = out / f"{found.document['benchmark']}-{found.document['config_hash'][:10]}.json"
    files.save(path.with_suffix(".csv"), found.csv())
    try:
        files.save(path.with_suffix(".parquet"), found.parquet())
    except UserError as error:
        print(f"nicbed: no Parquet: {error}", file=sys.stderr, flush=True)
    text = files.text(dict(found.document))
    files.save(path, text.encode())
    return path, text


def varied(vary: Sequence[str]) -> dict[str, str]:
    """Values by knob, given as ``KNOB=VALUES``.

    Raises
    ------
    UserError
        They are not, or a knob is there twice.
    """
    given = {}
    for text in vary:
        knob, equals, values = text.partition("=")
        if not equals:
            raise UserError(f"--vary {text}: must be KNOB=VALUES, such as link.latency=4:64:*2")
        if knob.strip() in given:
            raise UserError(f"--vary {text}: {knob.strip()} is varied twice")
        given[knob.strip()] = values.strip()
    return given


def _plan(asked: SweepOptions, options: RunOptions) -> Plan:
    given = varied(asked.vary)
    if not given:
        raise UserError("sweep needs --vary KNOB=VALUES, such as --vary link.latency=4:64:*2, or a "
                        "study's file")
    named: dict[str, str] = {}
    for text in asked.metrics:
        name, equals, figure = text.partition("=")
        name = name.strip() if equals else text
        if name in named:
            raise UserError(f"--metric {text}: there are two metrics called {name}")
        named[name] = figure.strip() if equals else text
    names = [name.strip() for name in (asked.benches or "logp").split(",") if name.strip()]
    return planned(given, names,
                   method=asked.method or ("grid" if asked.points is None else "lhs"),
                   points=asked.points, seed=1 if asked.seed is None else asked.seed,
                   constraints=asked.constraints, metrics=named,
                   **{**options.start(), "nic": options.nic or load.DEFAULT})


def _show(found: Table, excluded: int) -> None:
    out = console()
    out.print(printed(counted(len(found.rows), "point"), found, found.rows))
    if excluded:
        out.print(counted(excluded, "point is", "points are") + " excluded by the constraints")
    for line in failures(found):
        out.print(line, markup=False, soft_wrap=True)


def printed(title: str, found: Table, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Those ``rows`` of a table as one for a console: the first ones, and the first metrics."""
    shown = [*found.knobs, *found.metrics[:COLUMNS]]
    cells = [[*(_cell(row.get(one.name)) for one in shown)] for row in rows[:ROWS]]
    notes = []
    if len(rows) > ROWS:
        notes.append(f"and {counted(len(rows) - ROWS, 'more point')}")
    if len(found.metrics) > COLUMNS:
        notes.append(f"and {counted(len(found.metrics) - COLUMNS, 'more metric')}")
    return table(title, [
        one.heading + (f"\n({one.unit})" if one.unit else "")
        for one in shown], cells, caption=", ".join(notes) or None, left=0)


def failures(found: Table) -> list[str]:
    """A line for each of the first points that failed: its knobs, and why."""
    return [", ".join(f"{one.name}={row.get(one.name)}" for one in found.knobs) + f": {row[ERROR]}"
            for row in [row for row in found.rows if row[ERROR]][:ROWS]]


def _cell(value: Any) -> str:
    return amount(value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else "-" if value is None else str(value)
