"""A published table measured on the machines' descriptions: published, ours, error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from ..apps import APPS
from ..benches import get
from ..benches.common.bulk_report import BulkResults, kinds_of
from ..benches.common.gap_bound import GapBound
from ..defaults import LAYER as DEFAULT_LAYER
from ..descriptions import load
from .measured import ROUND_TRIP, Job, Tell, job_for, measure, trip_job
from .programs import shares
from .quantities import Quantity
from .sized import said
from .studies import Figure, Study, Table
from .time_spent import Spent, spent

__all__ = ["Measured", "Prediction", "Row", "Summary", "error", "measured", "rows_of", "summary"]


@dataclass(frozen=True)
class Row:
    """A figure beside ours; ``error`` is relative, and None if there is none of ours."""

    figure: Figure
    ours: float | None

    @property
    def error(self) -> float | None:
        """ours / published - 1; 0 within a range of published values."""
        return error(self.figure, self.ours)


@dataclass(frozen=True)
class Difference:
    """A difference of two figures of a table: ``published`` and ``ours``, in ``unit``."""

    name: str
    unit: str
    published: float
    ours: float | None

    @property
    def factor(self) -> float | None:
        """ours / published; negative if the sign is wrong."""
        return None if self.ours is None or not self.published else self.ours / self.published


@dataclass(frozen=True)
class Prediction:
    """A quantity of a machine without a published figure; None if the run did not show it."""

    machine: str
    quantity: Quantity
    ours: float | None


@dataclass(frozen=True)
class Summary:
    """Errors of the test figures: how many, their median and worst, and the worst one's name."""

    count: int
    median: float
    worst: float
    name: str


@dataclass(frozen=True)
class Measured:
    """A table's rows, and the outcomes of its runs by (machine, benchmark), for its plots; of
    programs by (machine, figure), of a layer other than am by (machine, "benchmark, layer"), with
    the knobs that the quantity changes behind that."""

    table: Table
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    outcomes: Mapping[tuple[str, str], Mapping[str, Any]]
    predictions: tuple[Prediction, ...] = ()

    @property
    def findings(self) -> list[str]:
        """Returns what the traces say: what bounds g on each machine, what programs spend their
        time on, and checks that failed."""
        found = []
        for (machine, bench), outcome in self.outcomes.items():
            found += _bounds(machine, bench, outcome)
            for one in outcome["checks"]:
                if not one["ok"]:
                    found.append(f"{machine}, {bench}: check failed: {one['check']}: "
                                 f"{one['detail']}")
        return found

    @property
    def time(self) -> list[Spent]:
        """Tells where the time of the machines goes, if the table is traced: of a round trip, and
        of a message in steady state."""
        return spent(self.outcomes) if self.table.traced else []

    def plain(self) -> dict[str, Any]:
        """The table in the form of a result file."""
        rows = [{"machine": row.figure.machine, "figure": row.figure.name, "unit": row.figure.unit,
                 "published": [row.figure.low, row.figure.high], "ours": row.ours,
                 "error": row.error, "use": row.figure.use, "needs": row.figure.needs}
                for row in self.rows]
        differences = [{"name": one.name, "unit": one.unit, "published": one.published,
                        "ours": one.ours} for one in self.differences]
        predictions = [{"machine": one.machine, "figure": one.quantity.name,
                        "unit": one.quantity.unit, "ours": one.ours} for one in self.predictions]
        return {"title": self.table.title, "rows": rows, "differences": differences,
                "predictions": predictions, "findings": self.findings,
                **({"time": {one.title: one.plain() for one in self.time}} if self.time else {})}


def _bounds(machine: str, run: str, outcome: Mapping[str, Any]) -> list[str]:
    """What bounds a run of ``machine``: the parts of a program's time, or the block that bounds the
    gap."""
    if run == ROUND_TRIP:
        return []
    if "runs" in outcome["results"]:
        if "counted" in outcome["results"]:
            return [f"{machine}, {run}: {said(outcome['program'], outcome['results'])}"
                    ] if outcome["results"]["runs"] else []
        return [f"{machine}, {run}: {shares(outcome['results'])}"]
    bench, layer, *_ = [*run.split(", ", 2), DEFAULT_LAYER]
    results = get(bench).module(layer).bench.results(outcome)
    if isinstance(results, BulkResults):
        found = [(f"{kind} of {row.size} bytes in a row", row.bound)
                 for kind, one in kinds_of(outcome) for row in one.by_size[-1:]]
    else:
        bound = getattr(results, "bound", None)
        found = [("g", bound)] if isinstance(bound, GapBound) else []
    return [f"{machine}: {what} is bound by the {bound.block}, which is busy for {bound.busy:.0%} "
            "of the time" for what, bound in found if bound is not None]


def error(figure: Figure, ours: float | None) -> float | None:
    """ours / published - 1, for a range of published values from its nearer end; None without a
    value of ours."""
    if ours is None:
        return None
    if figure.low <= ours <= figure.high:
        return 0.0
    return ours / min(max(ours, figure.low), figure.high) - 1


def measured(table: Table, tell: Tell = lambda *_: None) -> Measured:
    """Run what ``table`` shows, machine by machine.

    Raises
    ------
    RunError
        A build or run failed.
    """
    outcomes: dict[tuple[str, str], dict[str, Any]] = {}
    ours: dict[tuple[str, str], float | None] = {}
    for index, machine in enumerate(table.machines):
        description = load.load(table.description(machine))
        wanted = [table.quantity(name) for name in _names(table, machine)]
        jobs: list[tuple[Quantity | None, Job]] = [(one, job_for(description, one))
                                                   for one in wanted]
        if table.traced:
            jobs.append((None, trip_job(description)))

        def say(what: str, done: int, total: int, machine: str = machine, index: int = index
                ) -> None:
            tell(f"{machine}: {what}", index * max(total, 1) + done,
                 len(table.machines) * max(total, 1))

        for (one, job), outcome in zip(jobs, measure([job for _, job in jobs], say), strict=True):
            if one is not None:
                ours[machine, one.name] = one.value(outcome["results"], job.description)
            outcomes[machine, ROUND_TRIP if one is None else _run_of(one, job)] = {
                **outcome, "clock_mhz": float(job.description.nic.clock_mhz),
                **({"program": job.bench} if job.bench in APPS else {})}
    rows = tuple(Row(one, ours.get((one.machine, one.name))) for one in table.figures)
    return Measured(table, rows, _differences(table, rows), outcomes,
                    tuple(Prediction(machine, table.quantity(name), ours[machine, name])
                          for machine, name in table.predictions))


def _names(table: Table, machine: str) -> list[str]:
    """Of ``machine``, the quantities that are measured."""
    return [*(one.name for one in table.figures if one.machine == machine and not one.needs),
            *(name for other, name in table.predictions if other == machine)]


def _run_of(wanted: Quantity, job: Job) -> str:
    if job.bench in APPS:
        return wanted.name
    knobs = ", ".join(f"{name} = {value}" for name, value in wanted.knobs.items())
    if knobs:
        return f"{job.bench}, {job.layer}, {knobs}"
    return job.bench if job.layer == "am" else f"{job.bench}, {job.layer}"


def _differences(table: Table, rows: Sequence[Row]) -> tuple[Difference, ...]:
    found = []
    by_name = {(row.figure.machine, row.figure.name): row for row in rows}
    for first, second in table.differences:
        one, other = by_name[first], by_name[second]
        name = (f"{first[1]} − {second[1]}, {first[0]}" if first[0] == second[0] else
                f"{first[0]} − {second[0]}, {first[1]}" if first[1] == second[1] else
                f"{' '.join(first)} − {' '.join(second)}")
        ours = None if one.ours is None or other.ours is None else one.ours - other.ours
        published = one.figure.middle - other.figure.middle
        found.append(Difference(name, one.figure.unit, published, ours))
    return tuple(found)


def rows_of(tables: Sequence[Measured]) -> list[Row]:
    """All rows of ``tables``."""
    return [row for table in tables for row in table.rows]


def summary(study: Study, rows: Sequence[Row]) -> Summary | None:
    """Median and worst error over the test figures of ``study`` that were measured. Figures that
    are fitted to, and dependent ones, do not count; None if nothing counts."""
    found = [(abs(row.error), f"{row.figure.machine} {row.figure.title}") for row in rows
             if row.figure.use == "test" and row.error is not None]
    if not found:
        return None
    worst = max(found)
    return Summary(len(found), median(size for size, _ in found), *worst)
