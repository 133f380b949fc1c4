"""Finds the figures that a study asks for: before anything runs, in the first result, or in all
results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import UserError, nearest
from ..testbed.measurement import Measurement
from ..testbed.result import Result
from .measured import Metric, said
from .plan import Plan

__all__ = ["RESULTS", "Figures", "First", "check_columns", "check_figures"]

RESULTS = "results."
"""Before the number behind a figure that may not be shown."""
_NUMBERS = ("clock_mhz", "nic")
"""Numbers that a result has beside those of its benchmark."""


def check_columns(plan: Plan, needed: Sequence[str]) -> None:
    """Refuse a column that is ``needed`` and that the table of ``plan`` cannot have.

    Raises
    ------
    UserError
        There is one.
    """
    named = [one.name for one in plan.metrics]
    for column in needed:
        if named and column not in named:
            raise UserError(f"the table has no metric {column}{nearest(column, named)}")
        if not named and _parted(column, plan.benches) is None:
            raise UserError(f"the table has no metric {column}: without --metric its metrics are "
                            f"those of {', '.join(plan.benches)}, such as {plan.benches[0]}.FIGURE")


def check_figures(metrics: Sequence[Metric], needed: Sequence[str],
                  wanted: Iterable[Mapping[str, Measurement]]) -> None:
    """Refuse a figure of ``metrics``, or of the columns that are ``needed``, that none of
    ``wanted``, what is measured at each point by benchmark, can have. It is known where the
    benchmark's figures have the same names whatever the description is. Places in a result, and
    names of sizes, are not.

    Raises
    ------
    UserError
        There is one.
    """
    names: dict[str, dict[str, None] | None] = {}
    for each in wanted:
        for bench, one in each.items():
            before = names.setdefault(bench, {})
            given = getattr(one.presentation, "FIGURES", None)
            names[bench] = (None if before is None or given is None
                            else before | dict.fromkeys(given))
    for one in metrics:
        there = names.get(one.bench)
        if there and "." not in one.figure and one.figure.casefold() not in map(
                str.casefold, (*there, *_NUMBERS)):
            raise UserError(f"metric {said(one)}: {one.bench} has no figure {one.figure}"
                            f"{nearest(one.figure, list(there))}")
    for column in () if metrics else needed:
        bench = _parted(column, names)
        there = names.get(bench) if bench else None
        known = [f"{bench}.{prefix}{name}" for prefix in ("", RESULTS) for name in there or ()]
        if there and column not in known:
            raise UserError(f"the table has no metric {column}{nearest(column, known)}")


def _parted(column: str, benches: Iterable[str]) -> str | None:
    """The one of ``benches`` that ``column`` is a figure of; a benchmark's path has dots, too."""
    return next((bench for bench in benches if column.startswith(f"{bench}.")), None)


class Figures:
    """The figures that results have, of those that are looked for: ``metrics``, or, if there are
    none, the columns that are ``needed``."""

    def __init__(self, metrics: Sequence[Metric], needed: Sequence[str] = ()) -> None:
        self._metrics, self._needed = metrics, () if metrics else needed
        self._there: set[str] = set()
        self._lacking: dict[str, str] = {}
        self._shown: set[str] = set()
        self._hidden: dict[str, str] = {}

    def look(self, bench: str, result: Result) -> None:
        """Look for them in one more ``result`` of ``bench``."""
        for one in self._metrics:
            if one.bench == bench:
                try:
                    value = result.metric(one.figure).value
                except UserError as error:
                    self._lacking.setdefault(one.name, f"metric {said(one)}: {error}")
                    continue
                self._there.add(one.name)
                if value is not None:
                    self._shown.add(one.name)
                elif one.name not in self._hidden:
                    self._hidden[one.name] = _unshown(one, result)
        if not self._needed:
            return
        known = [f"{bench}.{one.name}" for one in result.figures]
        known += [f"{bench}.{RESULTS}{one.name}" for one in result.figures]
        for column in self._needed:
            if column in known:
                self._there.add(column)
            elif column.startswith(f"{bench}."):
                self._lacking.setdefault(column, f"the table has no metric {column}"
                                                 f"{nearest(column, known)}")

    @property
    def lacking(self) -> list[str]:
        """Returns what is to be said of each figure that no result so far has."""
        return [line for name, line in self._lacking.items() if name not in self._there]

    def check_shown(self, names: Sequence[str]) -> None:
        """Refuse a metric of these ``names`` that no result so far shows, though some ran.

        Raises
        ------
        UserError
            There is one.
        """
        for name in names:
            if name in self._lacking and name not in self._there:
                raise UserError(self._lacking[name])
            if name in self._hidden and name not in self._shown:
                raise UserError(self._hidden[name], status=1)

    def check(self) -> None:
        """Refuse a figure that was looked for and that no result has.

        Raises
        ------
        UserError
            There is one: what was said of the first result.
        """
        for line in self.lacking:
            raise UserError(line)


def _unshown(metric: Metric, result: Result) -> str:
    """That no result shows ``metric``, of which ``result`` may have the number all the same."""
    line = f"metric {said(metric)}: no trial so far shows it"
    if result.number(metric.figure) is not None:
        line += f"; {metric.bench}:{RESULTS}{metric.figure} is the number"
        line += ", whoever bounds it" if metric.figure == "g" else ""
    return line


class First:
    """Tells what the first result of each benchmark lacks, as soon as there is one: that of the
    first point in the plan's order whose run does not fail, whoever carries out what in which
    order. The others are measured all the same, as they may have it; and what was measured is kept,
    so that a study with the right name has its results at once.

    Parameters
    ----------
    wanted
        What is measured at each point by benchmark.
    tell
        Is told the line.
    """

    def __init__(self, plan: Plan, needed: Sequence[str], wanted: Sequence[Mapping[str, Any]],
                 tell: Callable[[str], None]) -> None:
        self._plan, self._needed, self._tell = plan, needed, tell
        self._came: dict[tuple[str, int], Result | None] = {}
        self._open = {bench: [index for index, each in enumerate(wanted) if bench in each]
                      for bench in plan.benches}

    def came(self, bench: str, point: int, result: Result | None) -> None:
        """Returns what became of ``bench`` at ``point``; None if it failed."""
        left = self._open.get(bench, [])
        if not left:
            return
        self._came[bench, point] = result
        while left and (bench, left[0]) in self._came:
            found = self._came[bench, left.pop(0)]
            if found is not None:
                left.clear()
                figures = Figures(self._plan.metrics, self._needed)
                figures.look(bench, found)
                for line in figures.lacking:
                    self._tell(f"{line} (so says the first result; the others are measured)")
