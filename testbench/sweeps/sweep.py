"""Turns a plan into its table: refuses points, groups them by build, and measures them as rows."""

import time
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from ...layouts.description import knobs
from ..benches.common.headline import Headline
from ..errors import UserError
from ..results import document as files
from ..simulators.simulator import same_simulator
from ..store import standard
from ..testbed.listener import Progress
from ..testbed.measurement import Measurement
from ..testbed.result import Result
from ..wording import counted
from .executor import Executor, Local, Task
from .figures import RESULTS, Figures, First, check_columns, check_figures
from .plan import Plan, planned
from .table import ERROR, Table, of_document

__all__ = ["Prepared", "Remaining", "chosen", "measured", "prepare", "sweep"]


@dataclass
class Prepared:
    """A plan whose points have met the descriptions.

    Attributes
    ----------
    points
        The knobs of each point that fulfils the constraints.
    wanted
        Of each point, what is measured by benchmark; nothing for one that is refused.
    refused
        The line of each point that is refused, by its index.
    excluded
        How many points the constraints exclude.
    """

    plan: Plan
    points: list[Mapping[str, Any]] = field(default_factory=list)
    wanted: list[dict[str, Measurement]] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    excluded: int = 0

    @property
    def tasks(self) -> list[Task]:
        """Returns what is to be measured, those of one build one after the other."""
        places: dict[tuple[str, ...], int] = {}
        found = []
        for index, each in enumerate(self.wanted):
            for place, wanted in enumerate(each.values()):
                build = places.setdefault(same_simulator(wanted.description), len(places))
                found.append((build, index, place, wanted))
        found.sort(key=lambda one: one[:3])
        return [Task(index * len(self.plan.benches) + place, wanted)
                for _, index, place, wanted in found]

    @property
    def builds(self) -> int:
        """Returns how many simulators the points need, but for their numbers of nodes."""
        return len({same_simulator(wanted.description)
                    for each in self.wanted for wanted in each.values()})

    def remarks(self) -> list[str]:
        """Returns what is to be told before anything runs: why points are refused, and how many are
        left."""
        if not self.refused:
            return []
        lines: dict[str, int] = {}
        for line in self.refused.values():
            lines[line] = lines.get(line, 0) + 1
        total = counted(len(self.points), "point")
        most = [f"{count} of {total} are refused, such as: {line}"
                if count > 1 else f"a point is refused: {line}"
                for line, count in list(lines.items())[:3]]
        if len(lines) > len(most):
            most.append(f"and {counted(len(lines) - len(most), 'more reason')}")
        left = len(self.points) - len(self.refused)
        return [*most, f"{left} of {total} {'is' if left == 1 else 'are'} left"]


def prepare(plan: Plan) -> Prepared:
    """Check every point of ``plan``; nothing is built.

    Raises
    ------
    UserError
        No point is left, or the benchmarks do not exist on the layer.
    """
    found = Prepared(plan)
    with plan.start.bed() as bed:
        for point in plan.points:
            wanted: dict[str, Measurement] = {}
            try:
                if plan.constraints:
                    values = plan.start.description(point).model_dump()
                    if not all(one.holds(values) for one in plan.constraints):
                        found.excluded += 1
                        continue
                wanted = bed.wanted(plan.benches, layer=plan.start.layer, knobs=point)
            except UserError as error:
                found.refused[len(found.points)] = str(error).removeprefix("set: ")
                wanted = {}
            found.points.append(point)
            found.wanted.append(wanted)
    if not found.points:
        raise UserError(f"the constraints leave none of {counted(len(plan.points), 'point')}")
    if len(found.refused) == len(found.points):
        raise UserError("the point cannot be measured: " + found.refused[0]
                        if len(found.points) == 1 else
                        f"none of {len(found.points)} points can be measured: {found.refused[0]}")
    return found


def sweep(vary: Mapping[str, Any], benches: Sequence[str] = ("logp",), *, workers: int = 2,
          fresh: bool = False, dask: Any = None, executor: Executor | None = None,
          **options: Any) -> Table:
    """Measure ``benches`` at the points of a study.

    Parameters
    ----------
    vary, benches, options
        As for :func:`.plan.planned`: ``sweep({"link.latency": "4:64:*2"}, ["logp"], nodes=4)``.
    workers, fresh
        As for :class:`.executor.Local`.
    dask
        The cluster that measures in place of local processes, as for
        :class:`~..cluster.executor.Cluster`.
    executor
        Who else carries the measurements out.

    Raises
    ------
    UserError
        The study is wrong, or no point of it can be measured. Points that are refused are warned
        of.
    """
    prepared = prepare(planned(vary, benches, **options))
    for line in prepared.remarks():
        warnings.warn(line, stacklevel=2)
    return measured(prepared, executor or chosen(
        workers, dask, store=standard(), fresh=fresh, limit=prepared.plan.start.limit))


def chosen(workers: int, dask: Any, **keeping: Any) -> Executor:
    """The executor: ``workers`` local ones, or the cluster ``dask``; ``keeping`` as of
    :class:`.executor.Keeping`."""
    if dask is None:
        return Local(workers, **keeping)
    from ..cluster.executor import Cluster

    return Cluster(dask, **keeping)


def measured(prepared: Prepared, executor: Executor, tell: Progress = lambda *_: None, *,
             needed: Sequence[str] = (), remaining: "Remaining | None" = None,
             figures: Figures | None = None, warn: Callable[[str], None] = warnings.warn) -> Table:
    """Measure what is ``prepared``. A point that fails, or lacks a metric's figure, is a row with
    its line. ``remaining`` and ``figures``: of the work of which this is a part, which then checks
    the figures itself. ``warn`` is told what the first result lacks, when it is known.

    Raises
    ------
    UserError
        A metric, or a column that is ``needed``, cannot be, which is told before anything runs; or
        no result has it, which is known when all are there.
    """
    tasks, plan = prepared.tasks, prepared.plan
    check_columns(plan, needed)
    check_figures(plan.metrics, needed, prepared.wanted)
    first = First(plan, needed, prepared.wanted, warn) if figures is None else None
    results: list[dict[str, Result]] = [{} for _ in prepared.points]
    errors: dict[int, str] = {}
    remaining = remaining or Remaining(len(tasks))
    with closing(executor.outcomes(tasks)) as outcomes:
        for outcome in outcomes:
            index, place = divmod(outcome.number, len(plan.benches))
            name = plan.benches[place]
            if outcome.document is None:
                errors.setdefault(index, outcome.error)
            else:
                results[index][name] = Result(outcome.document,
                                              prepared.wanted[index][name].presentation)
            if first is not None:
                first.came(name, index, results[index].get(name))
            tell(*remaining.after(outcome.stored))
    results = [{name: each[name] for name in plan.benches if name in each} for each in results]
    looked = figures or Figures(plan.metrics, needed)
    for each in results:
        for name, result in each.items():
            looked.look(name, result)
    if figures is None:
        looked.check()
    hidden = _hidden(plan, results)
    units, rows = {}, []
    for index, point in enumerate(prepared.points):
        row = {name: files.plain(value) for name, value in point.items()}
        found, lacking = _metrics(plan, results[index], hidden)
        for name, (value, unit) in found.items():
            row[name] = value
            units.setdefault(name, unit)
        if lacking:
            errors.setdefault(index, lacking)
        row[ERROR] = errors.get(index, prepared.refused.get(index))
        rows.append(row)
    return of_document(_document(prepared, _columns(plan, units), rows))


def _hidden(plan: Plan, results: Sequence[Mapping[str, Result]]) -> set[tuple[str, str]]:
    """Benchmarks and figures, if all figures are columns, that no point shows though each result
    has the number: g, where the host bounds it. The number is the column then."""
    shown: dict[tuple[str, str], bool] = {}
    for result in [] if plan.metrics else results:
        for bench, one in result.items():
            for figure in one.figures:
                shown[bench, figure.name] = (shown.get((bench, figure.name), False)
                                             or figure.value is not None
                                             or one.number(figure.name) is None)
    return {place for place, any_shown in shown.items() if not any_shown}


def _metrics(plan: Plan, results: Mapping[str, Result], hidden: Container[tuple[str, str]]
             ) -> tuple[dict[str, tuple[Any, str]], str]:
    """Values and units of a point's metrics; the line of the first one that it lacks."""
    found: dict[str, Headline] = {}
    lacking = ""
    for metric in plan.metrics:
        if metric.bench in results:
            try:
                found[metric.name] = results[metric.bench].metric(metric.figure)
            except UserError as error:
                lacking = lacking or str(error)
    for bench, result in results.items() if not plan.metrics else ():
        for one in result.figures:
            if (bench, one.name) in hidden:
                place = f"{RESULTS}{one.name}"
                one = Headline(place, result.metric(place).value, one.unit)
            found[f"{bench}.{one.name}"] = one
    return {name: (files.plain(one.value), one.unit) for name, one in found.items()}, lacking


def _columns(plan: Plan, units: Mapping[str, str]) -> list[dict[str, str]]:
    known = {knob.name: knob.unit for knob in knobs()}
    names = [one.name for one in plan.metrics if one.name in units] or list(units)
    return [*({"name": name, "kind": "knob", "unit": known[name]} for name in plan.knobs),
            *({"name": name, "kind": "metric", "unit": units[name]} for name in names)]


def _document(prepared: Prepared, columns: Sequence[Mapping[str, str]],
              rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The content of the result file."""
    plan = prepared.plan
    start, base = plan.start, plan.start.description()
    study = {"benches": list(plan.benches), "knobs": plan.knobs,
             "constraints": [one.text for one in plan.constraints],
             "metrics": {one.name: f"{one.bench}:{one.figure}" for one in plan.metrics},
             "excluded": prepared.excluded, "points": files.plain(list(prepared.points))}
    config = base.model_dump(mode="json")
    return {"benchmark": plan.title, "layer": start.layer or "auto", "sim": start.sim,
            "config": config, "study": study,
            "config_hash": files.config_hash_of({"config": config, "study": study,
                                                 "layer": start.layer}),
            "versions": files.versions(start.sim), "columns": list(columns), "rows": list(rows)}


class Remaining:
    """Estimates the time left from the time of the points measured so far."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._begin = time.monotonic()
        self._count = 0
        self._measured = 0

    def after(self, stored: bool) -> tuple[str, int, int]:
        """Returns what to tell after one more; a ``stored`` one took no time."""
        self._count += 1
        self._measured += not stored
        text = f"{self._count} of {self.total}"
        if self._measured and self._count < self.total:
            left = (time.monotonic() - self._begin) / self._measured * (self.total - self._count)
            text += f", {_span(left)} left"
        return text, self._count, self.total


def _span(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
