"""Measures the test figures of a study at points of typical values.

Points of a Latin hypercube over the ranges; at each the fitted knobs are chosen again
(:mod:`.refit`), and the point has a weight by how well it then meets the figures of the fit. What
was measured is kept in the cache, so an interrupted experiment goes on where it was.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...descriptions import load
from ...errors import UserError
from ...lab import apply_settings
from ..lattice import Point, slopes
from ..measured import Job, Tell, job_for, measure
from ..quantities import Quantity
from .families import Family
from .hypercube import hypercube
from .refit import STEPS, Refitted, refitted
from .weighting import weight

__all__ = ["FEWEST", "Sample", "Sampled", "check_points", "sampled"]

FEWEST, MOST = 8, 1000
"""Points of an experiment, at least and at most."""
BATCH = 6
"""Jobs that are measured before the cache has them."""
FAILED = 1.0
"""The residual of a figure at a point where the run failed or did not show it."""
T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """A point: the level and the value of each typical knob, the fitted knobs, the residuals of the
    fit's figures, the weight, and each test figure, None where the point has no weight."""

    levels: Mapping[str, int]
    settings: Mapping[str, Any]
    residuals: tuple[float, ...]
    weight: float
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Sampled:
    """A family with its samples, and its test figures on the descriptions as they are."""

    family: Family
    samples: tuple[Sample, ...]
    ours: tuple[float | None, ...]


def check_points(points: int) -> None:
    """Refuse a number of points that says nothing.

    Raises
    ------
    UserError
        It is one.
    """
    if not FEWEST <= points <= MOST:
        raise UserError(f"--points {points}: must be {FEWEST} to {MOST}: the 5 and 95 % of fewer "
                        "say nothing")


def sampled(family: Family, points: int, seed: int, tell: Tell = lambda *_: None,
            first: int | None = None) -> Sampled:
    """Measure ``family`` at ``points`` points; ``first``: only at so many of them.

    Raises
    ------
    UserError
        A combination of values is refused by the description, or the description itself cannot be
        measured.
    """
    chosen = hypercube([one.knob for one in family.ranges], points, seed)[:first]
    levels = [{one.knob: one.level(point[one.knob]) for one in family.ranges} for point in chosen]
    typical = [{one.knob: one.values[level[one.knob]] for one in family.ranges}
               for level in levels]
    rounds = STEPS + 3

    def telling(number: int, what: str) -> Callable[[int, int], None]:
        return lambda done, total: tell(f"{family.name}: {what}", number * total + done,
                                        rounds * total)

    fits = _refits(family, typical, telling)
    tolerances = family.tolerances
    weights = [weight(one.residuals, tolerances) for one in fits]
    settings = [family.settings(values, one.point)
                for values, one in zip(typical, fits, strict=True)]
    kept = [index for index, one in enumerate(weights) if one > 0]
    several = _values(family, [{}, *(settings[index] for index in kept)],
                      telling(rounds - 1, "test figures"))
    ours, there = several[0], dict(zip(kept, several[1:], strict=True))
    none: tuple[None, ...] = (None,) * len(family.wanted)
    return Sampled(family, tuple(
        Sample(level, setting, one.residuals, one_weight, there.get(index, none))
        for index, (level, setting, one, one_weight) in enumerate(
            zip(levels, settings, fits, weights, strict=True))), ours)


def _refits(family: Family, typical: Sequence[dict[str, Any]],
            telling: Callable[[int, str], Callable[[int, int], None]]) -> list[Refitted]:
    """The fitted knobs at each of ``typical``."""
    if not family.targets:
        return [Refitted((), ()) for _ in typical]
    rounds = iter(range(STEPS + 3))

    def residuals(places: Sequence[tuple[dict[str, Any], Point]]) -> list[list[float]]:
        rows = _measured(family.head, [family.settings(values, point) for values, point in places],
                         [one.quantity for one in family.targets],
                         telling(next(rounds), "figures of the fit"))
        return [[FAILED if ours is None else target.residual(ours)
                 for target, ours in zip(family.targets, row, strict=True)] for row in rows]

    counts = [one.count for one in family.parameters]
    slope = slopes(family.start, counts, lambda points: residuals([({}, one) for one in points]))
    tolerances = family.tolerances
    return refitted(len(typical), family.start, counts, np.asarray(slope),
                    lambda cases: residuals([(typical[case], point) for case, point in cases]),
                    lambda row: all(abs(one) <= most
                                    for one, most in zip(row, tolerances, strict=True)))


def _values(family: Family, settings: Sequence[dict[str, Any]],
            tell: Callable[[int, int], None]) -> list[tuple[float | None, ...]]:
    """Each test figure of ``family`` at each of ``settings``."""
    by_nic: dict[str, list[int]] = {}
    for index, one in enumerate(family.wanted):
        by_nic.setdefault(one.nic, []).append(index)
    found: list[list[float | None]] = [[None] * len(family.wanted) for _ in settings]
    for nic, indices in by_nic.items():
        wanted = [family.wanted[index] for index in indices]
        rows = _measured(nic, settings, [one.table.quantity(one.figure.name) for one in wanted],
                         tell)
        for row, values in zip(found, rows, strict=True):
            for index, one in zip(indices, values, strict=True):
                row[index] = one
    return [tuple(row) for row in found]


def _measured(nic: str, settings: Sequence[Mapping[str, Any]], quantities: Sequence[Quantity],
              tell: Callable[[int, int], None]) -> list[list[float | None]]:
    """Each of ``quantities`` on description ``nic`` at each of ``settings``."""
    base = load.load(nic)
    there = [apply_settings(base, one) for one in settings]
    jobs = [[job_for(one, wanted, brief=True) for wanted in quantities] for one in there]
    every = list(dict.fromkeys(job for row in jobs for job in row))
    outcomes: dict[Job, Any] = {}
    for begin in range(0, len(every), BATCH):
        tell(begin, len(every))
        batch = every[begin:begin + BATCH]
        outcomes.update(zip(batch, _outcomes(batch), strict=True))
    return [[None if outcomes[job] is None else
             wanted.value(outcomes[job]["results"], job.description)
             for job, wanted in zip(row, quantities, strict=True)] for row in jobs]


def _outcomes(jobs: Sequence[Job]) -> list[Any]:
    """The outcome of each job; None for one whose run failed."""
    from ...backends.session import RunError

    try:
        return list(measure(jobs))
    except RunError:
        if len(jobs) == 1:
            return [None]
        return [one for job in jobs for one in _outcomes([job])]
