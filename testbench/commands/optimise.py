"""``nicbed optimise``: the points of a design that no other beats in all goals."""

import sys
from dataclasses import replace
from pathlib import Path

from ..descriptions import load
from ..errors import UserError
from ..optimise import Search, Trials, carried_out, searched
from ..optimise.file import read
from ..optimise.front import HOLDS
from ..optimise.plots import drawing
from ..optimise.space import Space
from ..results.tables import console
from ..store import standard
from ..sweeps.executor import Executor
from ..sweeps.sweep import chosen
from ..sweeps.table import ERROR
from ..wording import counted
from .measure import Plots, check_places
from .options import RunOptions, SearchOptions
from .output import Terminal, finish, progress_bar
from .sweep import failures, printed, varied, written

__all__ = ["run_optimise"]


def run_optimise(study: Path | None, asked: SearchOptions, options: RunOptions,
                 executor: Executor | None = None) -> None:
    """Try points of a design, those of the search in the file ``study`` or of what is ``asked``
    for; print, plot and store the table of all, and the front. ``executor`` carries the
    measurements out in place of ours."""
    search = _search(study, asked, options)
    space = Space(search)
    check_places(options.out)
    for line in space.remarks():
        print(f"nicbed: {line}", file=sys.stderr, flush=True)
    plots = Plots()
    with progress_bar(search.title) as tell:
        found = carried_out(search, space, executor or chosen(
            options.workers, options.dask, store=standard(), fresh=options.fresh,
            limit=search.start.limit, warn=Terminal().warn), tell)
    path, text = written(found, options.out)
    plots.save(drawing(found), found.document, path)
    finish(text, lambda: _show(found, space), path)


def _search(study: Path | None, asked: SearchOptions, options: RunOptions) -> Search:
    if study is not None:
        if replace(asked, trials=None, seed=None) != SearchOptions():
            raise UserError(f"{study}: a search's file says itself what varies and what the goals "
                            "are")
        return read(study, trials=asked.trials, seed=asked.seed, **options.start())
    return searched(varied(asked.vary), asked.minimise, maximise=asked.maximise,
                    where=asked.constraints, trials=20 if asked.trials is None else asked.trials,
                    seed=1 if asked.seed is None else asked.seed,
                    **{**options.start(), "nic": options.nic or load.DEFAULT})


def _show(found: Trials, space: Space) -> None:
    out = console()
    several = len(found.goals) > 1
    if found.front:
        out.print(printed("The front: no other trial beats these" if several else "The best",
                          found, found.front))
    else:
        out.print("No trial fulfils all conditions")
    for line in (_count(found, space), *failures(found)):
        out.print(line, markup=False, soft_wrap=True)


def _count(found: Trials, space: Space) -> str:
    """How many trials there were, and what became of them."""
    tried = len(found.rows)
    every = "" if space.listed is None else f" of {counted(len(space.listed), 'point')}"
    missed = sum(row[HOLDS] is False for row in found.rows)
    failed = sum(row[ERROR] is not None for row in found.rows)
    parts = [f"{counted(tried, 'trial')}{every}"]
    if missed:
        parts.append(f"{counted(missed, 'misses', 'miss')} a condition")
    if failed:
        parts.append(f"{failed} failed")
    if space.excluded:
        parts.append(f"the conditions exclude {counted(space.excluded, 'point')}")
    return "; ".join(parts)
