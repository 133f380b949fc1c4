"""The table of all trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..results import document as files
from ..sweeps.table import ERROR, Column, Table
from .front import FRONT, HOLDS, unbeaten
from .search import Search
from .space import Space

__all__ = ["Trials", "of_document", "table"]


@dataclass(frozen=True)
class Trials(Table):
    """One row for each trial, in the order in which they were chosen."""

    @property
    def front(self) -> list[Mapping[str, Any]]:
        """The trials that no other beats in all goals, the best in the first goal above."""
        goals = self.goals
        return sorted((row for row in self.rows if row[FRONT]), key=lambda row: [
            -row[name] if more else row[name] for name, more in goals.items()])

    @property
    def goals(self) -> dict[str, bool]:
        """The goals' columns, and whether more is better."""
        return {one["name"]: one["more"] for one in self.document["study"]["goals"]}

    def plot(self) -> Any:
        """The plot that suits the number of goals."""
        from ..results.plots import render
        from ..testbed.result import Plot
        from .plots import drawing

        return Plot(render(drawing(self), self.document))


def table(search: Search, space: Space, columns: Sequence[Mapping[str, str]],
          rows: Sequence[dict[str, Any]]) -> Trials:
    """The table of trials, with who is on the front. It holds nothing of how it came about."""
    good = [row for row in rows if row[ERROR] is None and row[HOLDS]]
    best = unbeaten([[goal.cost(row[goal.name]) for goal in search.goals] for row in good])
    for row in rows:
        row[FRONT] = False
    for row, front in zip(good, best, strict=True):
        row[FRONT] = front
    start = search.start
    base = start.description().model_dump(mode="json")
    study = {"benches": list(search.benches), "knobs": [one.knob for one in search.axes],
             "values": {one.knob: list(files.plain(one.values)) if one.values else
                        [str(one.low), str(one.high), "log" if one.log else "linear"]
                        for one in search.axes},
             "constraints": [one.text for one in search.conditions],
             "goals": [{"name": one.name, "metric": f"{one.metric.bench}:{one.metric.figure}",
                        "more": one.more} for one in search.goals],
             "trials": search.trials, "seed": search.seed,
             "points": None if space.listed is None else len(space.listed)}
    versions = files.versions(start.sim)
    return of_document({
        "benchmark": search.title, "layer": start.layer or "auto", "sim": start.sim,
        "config": base, "study": study, "config_hash": files.config_hash_of({
            "config": base, "study": study, "layer": start.layer}),
        "versions": {**versions, "optuna": _optuna()},
        "columns": [*columns, *({"name": name, "kind": "mark", "unit": ""}
                                for name in (HOLDS, FRONT))], "rows": list(rows)})


def of_document(document: Mapping[str, Any]) -> Trials:
    """The table in a search's result file."""
    return Trials(tuple(Column(**one) for one in document["columns"]), tuple(document["rows"]),
                  document)


def _optuna() -> str:
    from importlib.metadata import version

    return version("optuna")
