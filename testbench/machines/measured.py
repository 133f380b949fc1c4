"""Benchmarks' outcomes, kept in the cache by their content.

A run is a function of description, benchmark, parameters and sources, so what was measured once is
never measured again. Descriptions that differ in timing and cost knobs alone share one simulator's
process.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import Named
from .. import apps
from ..apps import APPS
from ..apps.counting import counted
from ..apps.layout import layout_of
from ..benches import get
from ..defaults import LAYER as DEFAULT_LAYER
from ..descriptions import load
from ..results.document import plain, text, versions
from ..simulators.cache import entry, find
from ..simulators.simulator import same_simulator
from ..store.keys import sources
from ..why.round_trip import RoundTrip
from ..why.round_trip import in_simulator as round_trip
from .programs import alone
from .quantities import QUANTITIES, Quantity

__all__ = ["ROUND_TRIP", "Job", "in_simulator", "job_for", "measure", "trip_job"]

SIM = "verilator"
LONGEST = 1 << 30
"""Target cycles after which a program over Split-C is stopped: 18 s at 60 MHz."""
KIND = "measured"
ROUND_TRIP = "round trip"
"""In place of a benchmark's name: a round trip of the smallest message, in parts."""
Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Job:
    """A benchmark on a layer, or a program over Split-C, on a description; ``changes`` are
    parameters in place of the usual ones, as JSON, so that equal jobs are equal."""

    description: Description
    bench: str
    changes: str = "{}"
    layer: str = DEFAULT_LAYER

    @property
    def parameters(self) -> dict[str, Any]:
        """The benchmark's parameters; of a program, ``runs`` has those of each run."""
        if self.bench == ROUND_TRIP:
            return {}
        if self.bench in APPS:
            app, changes = APPS[self.bench], json.loads(self.changes)
            found = {"runs": [apps.parameters(app, one, self.description, self.layer)
                              for one in changes["runs"]]}
            return {**found, "full": app.module.defaults(changes["full"])
                    } if "full" in changes else found
        module = get(self.bench).module(self.layer)
        return {**module.parameters(self.description), **json.loads(self.changes)}

    def parts(self) -> list[str]:
        """Returns what the outcome depends on."""
        return [sources(), json.dumps(versions(SIM), sort_keys=True), SIM, self.layer, self.bench,
                json.dumps(self.description.model_dump(mode="json"), sort_keys=True),
                json.dumps(plain(self.parameters), sort_keys=True),
                *(one.identity for one in self.description.outside),
                *([self.bench.identity] if isinstance(self.bench, Named) else [])]


def job_for(description: Description, wanted: Quantity, *, lean: bool = False,
            brief: bool = False) -> Job:
    """The job that measures ``wanted``, on as many nodes as its benchmark needs at least; ``lean``:
    and nothing else; ``brief``: in the least time."""
    less = (wanted.brief or wanted.lean) if brief else wanted.lean if lean else {}
    parameters = {**wanted.parameters, **less}
    least = apps.NODES if wanted.bench in APPS else get(wanted.bench).nodes
    nodes = max(description.fabric.nodes, least)
    if wanted.bench in APPS:
        description = alone(description, wanted.bench)
    if wanted.layout:
        return Job(_laid(description, wanted), wanted.bench,
                   json.dumps(plain(parameters), sort_keys=True), wanted.layer)
    fabric = {"nodes": nodes, **wanted.fabric}
    sized = description.with_({**{f"fabric.{key}": value for key, value in fabric.items()},
                               **wanted.knobs})
    return Job(load.for_layer(sized, wanted.layer),
               wanted.bench, json.dumps(plain(parameters), sort_keys=True), wanted.layer)


def _laid(description: Description, wanted: Quantity) -> Description:
    """``description`` in the quantity's layout, with room for its largest run."""
    layout = layout_of(wanted.layout)
    description = description.with_(dict(wanted.knobs))
    description = load.load(description, changes=layout.changes(description, wanted.knobs,
                                                                wanted.layer))
    layout.check(description, wanted.layer)
    description = load.for_layer(description, wanted.layer)
    for one in wanted.parameters["runs"]:
        description = apps.fitted(APPS[wanted.bench], one, description, wanted.knobs,
                                  wanted.layer)
    return description


def trip_job(description: Description) -> Job:
    """The job that measures a round trip of Active Messages in parts."""
    return replace(job_for(description, QUANTITIES["rtt"]), bench=ROUND_TRIP, changes="{}")


def measure(jobs: Sequence[Job], tell: Tell = lambda *_: None) -> list[dict[str, Any]]:
    """The outcome of each of ``jobs``: results, points, checks. What the cache lacks is measured,
    in one simulator's process for all jobs of a structure.

    Raises
    ------
    RunError
        A build or run failed.
    """
    groups: dict[tuple[str, ...], list[Job]] = {}
    for job in dict.fromkeys(jobs):
        if find(KIND, job.parts()) is not None:
            continue
        if job.bench in APPS and not job.parameters["runs"]:
            entry(KIND, job.parts(), _saving(_counted(job)))
        else:
            groups.setdefault(same_simulator(job.description), []).append(job)
    for group in groups.values():
        for job, outcome in zip(group, _run(group, tell), strict=True):
            entry(KIND, job.parts(), _saving(outcome))
    return [_kept(job) for job in jobs]


def _kept(job: Job) -> dict[str, Any]:
    place = find(KIND, job.parts())
    assert place is not None
    return json.loads((place / "outcome.json").read_text(encoding="utf-8"))


def _saving(outcome: Mapping[str, Any]) -> Callable[[Path], None]:
    def save(place: Path) -> None:
        kept = {name: outcome[name] for name in ("results", "points", "checks")}
        (place / "outcome.json").write_text(text(plain(kept)), encoding="utf-8")
    return save


def _counted(job: Job) -> dict[str, Any]:
    """The outcome of a program that only has to be counted."""
    found = counted(job.bench, job.parameters["full"], job.description, job.layer)
    return {"results": {"runs": [], "counted": found}, "points": {}, "checks": []}


def _run(jobs: Sequence[Job], tell: Tell) -> list[dict[str, Any]]:
    from ..backends.job import Job as Run
    from ..backends.session import perform

    base = jobs[0].description
    wanted = []
    for job in jobs:
        names = load.difference([base, job.description])
        settings = {}
        for name in names:
            section, knob = name.split(".")
            settings[name] = getattr(getattr(job.description, section), knob)
        wanted.append((settings, job.bench, job.layer, job.parameters))
    return perform(Run(base, SIM, function=f"{__name__}:in_simulator",
                       arguments={"jobs": wanted}), progress=tell)


async def in_simulator(lab: Any, jobs: Sequence[tuple[dict[str, Any], str, str, dict[str, Any]]]
                       ) -> list[dict[str, Any]]:
    """In the simulator's process: the outcome of each (settings, benchmark, layer,
    parameters)."""
    from ..apps.measurement import run_sizes
    from ..benches import run

    found = []
    for index, (settings, bench, layer, parameters) in enumerate(jobs):
        lab.progress(bench, index, len(jobs))
        settled = _Settled(lab, settings, {"limit": LONGEST} if bench in APPS else {})
        if bench == ROUND_TRIP:
            one = await round_trip(settled, layer)
            trip = RoundTrip(total=one["total"], cpus=one["cpus"], flights=one["flights"],
                             work=one["work"])
            found.append({"results": trip.plain(), "points": {}, "checks": []})
        elif bench in APPS:
            several = parameters["runs"]
            if "full" not in parameters:
                found.append(await run_sizes(settled, bench, several))
                continue
            settled.progress = _telling(lab, bench, parameters, index, len(jobs))
            outcome = await run_sizes(settled, bench, several, layer)
            outcome["results"]["counted"] = counted(bench, parameters["full"],
                                                    settled.description, layer)
            found.append(outcome)
        else:
            found.append(await run(settled, bench, layer, parameters))
    return found


def _telling(lab: Any, bench: str, parameters: Mapping[str, Any], index: int, jobs: int) -> Tell:
    """Tells of the runs of a program at several sizes."""
    sizes = iter(parameters["runs"])
    said = ""

    def tell(what: str, done: int, total: int) -> None:
        nonlocal said
        if what == bench:
            one = next(sizes)
            said = ", ".join(f"{name} {one[name]}" for name in APPS[bench].module.SIZES)
        lab.progress(f"{bench} of {said}{what.removeprefix(bench)}", index, jobs)

    return tell


class _Settled:
    """A lab whose runs all have ``settings`` and ``options``, with an account and a silent progress
    of its own."""

    def __init__(self, lab: Any, settings: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        from ..lab import apply_settings
        from ..run.sent_again import Account

        self._lab, self._settings, self._options = lab, settings, options
        self.description = apply_settings(lab.description, settings)
        self.progress: Tell = lambda *_: None
        self.account = lab.account = Account()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lab, name)

    async def run(self, *arguments: Any, **options: Any) -> Any:
        options["settings"] = {**self._settings, **(options.get("settings") or {})}
        return await self._lab.run(*arguments, **{**self._options, **options})

