"""Intervals and shares of test figures, from their samples, and how far they have converged."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from .experiment import Sample, Sampled
from .families import Wanted
from .shares import shares
from .weighting import effective, interval, quantile

__all__ = ["LEAST", "Interval", "intervals", "plain_family"]

LEAST = 4
"""Points of equal weight that an interval needs at least."""


@dataclass(frozen=True)
class Interval:
    """A test figure with what typical values do to it.

    Attributes
    ----------
    table, machine, name, title, unit
        The figure.
    published
        Its ends, equal if it is no range.
    rounding
        Half a unit of its last digit.
    ours
        The description's own value.
    ends
        5 and 95 % of the kept points by weight; None if too few are kept.
    middle
        Their median.
    half
        The ends by the first half of the points alone.
    points, kept, effective
        All points; those that meet the figures of the fit; of equal weight, as many as those.
    shares
        Of the variance, the share of each typical value that has one, largest first. None if the
        kept points are too few to tell.
    rest
        What is left: what values do together, what is not monotonic, and chance.
    """

    table: str
    machine: str
    name: str
    title: str
    unit: str
    published: tuple[float, float]
    rounding: float
    ours: float | None
    ends: tuple[float, float] | None
    middle: float | None
    half: tuple[float, float] | None
    points: int
    kept: int
    effective: float
    shares: Mapping[str, float] | None
    rest: float | None

    @property
    def inside(self) -> bool | None:
        """The published value, as it was rounded, is within the interval; None without one."""
        if self.ends is None:
            return None
        low, high = self.ends
        return (low <= self.published[1] + self.rounding
                and self.published[0] - self.rounding <= high)

    def plain(self) -> dict[str, Any]:
        """In the form of a result file."""
        return {**asdict(self), "inside": self.inside}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Interval":
        """From a result file."""
        fields = {name: row[name] for name in cls.__dataclass_fields__}
        for name in ("published", "ends", "half"):
            fields[name] = None if fields[name] is None else tuple(fields[name])
        return cls(**fields)


def intervals(found: Sampled) -> list[Interval]:
    """The interval of each test figure of a family."""
    return [_interval(found, index, wanted) for index, wanted in enumerate(found.family.wanted)]


def _interval(found: Sampled, index: int, wanted: Wanted) -> Interval:
    shown = [one for one in found.samples if one.weight > 0 and one.values[index] is not None]
    half = [one for one in found.samples[:len(found.samples) // 2] if one in shown]
    values, weights = _columns(shown, index)
    ends = interval(values, weights) if effective(weights) >= LEAST else None
    levels = {one.knob: [float(sample.levels[one.knob]) for sample in shown]
              for one in found.family.ranges}
    parts = shares(levels, values, weights) if ends else None
    figure = wanted.figure
    return Interval(
        wanted.table.path, figure.machine, figure.name, figure.title, figure.unit,
        (figure.low, figure.high), figure.rounding, found.ours[index], ends,
        quantile(values, weights, 0.5) if ends else None,
        interval(*_columns(half, index)) if ends and half else None, len(found.samples),
        len(shown), effective(weights), parts.knobs if parts else None,
        parts.rest if parts else None)


def _columns(samples: Sequence[Sample], index: int) -> tuple[list[float], list[float]]:
    """The values of a figure, and the weights."""
    return ([float(one.values[index] or 0) for one in samples], [one.weight for one in samples])


def plain_family(found: Sampled) -> dict[str, Any]:
    """A family's ranges, figures of the fit and samples, in the form of a result file."""
    return {
        "ranges": {one.knob: {"unit": one.unit, "range": one.text, "why": one.why}
                   for one in found.family.ranges},
        "fit": [{"figure": one.quantity.title, "unit": one.quantity.unit,
                 "published": one.published, "within": most}
                for one, most in zip(found.family.targets, found.family.tolerances, strict=True)],
        "figures": [f"{one.table.path}/{one.figure.machine}/{one.figure.name}"
                    for one in found.family.wanted],
        "samples": [{"settings": {name: _plain(value) for name, value in one.settings.items()},
                     "residuals": list(one.residuals), "weight": one.weight,
                     "values": list(one.values)} for one in found.samples]}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else value
