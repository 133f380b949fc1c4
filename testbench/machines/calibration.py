"""The ``[fit]`` table of a description: parameters, their bounds, and the figures that choose them.

::

    [fit]
    figures = ["assessment/logp/myrinet-ss20/o_s"]    # published ones, or a table of one's own:
    [fit.figures]
    rtt = 31.2                                        # a quantity, in its unit
    [fit.parameters]
    "cpu.call" = { low = 0, high = 60 }               # a timing or cost knob
    "link.bytes_per_cycle" = { low = "1/10", high = 2, step = "1/100" }

    [fit.programs]                                    # what --programs fits, when the rest stands
    figures = ["sp2/split-c/cm5/mm 128"]
    [fit.programs.parameters]
    "apps.flop" = { low = 1, high = 4, step = "1/100" }

Programs over Split-C take minutes, not seconds, and depend on all other knobs a little; so what
their computation takes is fitted by itself.

``--figures FILE`` gives a file whose ``[figures]``, and ``[parameters]`` if it has them, take the
place of the description's.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...layouts.description import Description, Kind, KnobError, knobs
from ..apps import APPS
from ..descriptions import load
from ..descriptions.bounds import bounds, number
from ..errors import UserError, nearest
from ..lab import apply_settings
from ..wording import counted
from .apart import search_apart
from .lattice import Found, Point, search, slopes
from .measured import Job, Tell, job_for, measure
from .quantities import Quantity, quantity
from .sharpness import Sharpness, sharpness
from .studies import reference

__all__ = ["Calibration", "Parameter", "Target", "calibrate", "plan"]

TOLERANCE = 0.02
"""Relative residual from which on a parameter at its bound means that the bounds exclude the
figure."""
STEPS = 1000
"""Steps of the range of a knob that is no whole number, unless its ``step`` says otherwise."""


@dataclass(frozen=True)
class Parameter:
    """A knob that is fitted: ``low`` to ``high`` in steps of ``step``."""

    knob: str
    unit: str
    low: Fraction
    high: Fraction
    step: Fraction
    whole: bool

    @property
    def count(self) -> int:
        """Index of the highest value."""
        return int((self.high - self.low) / self.step)

    def value(self, index: int) -> int | Fraction:
        """The knob's value at ``index``."""
        found = self.low + index * self.step
        return int(found) if self.whole else found


@dataclass(frozen=True)
class Target:
    """A figure to fit to: a quantity, its published value in the quantity's unit, of a range the
    middle, and where it is from."""

    quantity: Quantity
    published: float
    source: str
    rounding: float = 0.0
    """Half a unit of the published value's last digit, if it is of a study."""

    def residual(self, ours: float | None) -> float:
        """ours / published - 1."""
        if ours is None:
            raise UserError(f"{self.quantity.name}: a run does not show it, so nothing is fitted "
                            "to it", status=1)
        return ours / self.published - 1


@dataclass(frozen=True)
class Calibration:
    """A finished fit."""

    nic: str
    parameters: tuple[Parameter, ...]
    targets: tuple[Target, ...]
    before: tuple[Any, ...]
    point: Point
    ours: tuple[float, ...]
    residuals: tuple[float, ...]
    sharpness: Sharpness
    measured: int

    @property
    def values(self) -> dict[str, int | Fraction]:
        """The fitted values by knob."""
        return {one.knob: one.value(index)
                for one, index in zip(self.parameters, self.point, strict=True)}


def plan(nic: str, figures: Path | None = None, *, programs: bool = False
         ) -> tuple[tuple[Parameter, ...], tuple[Target, ...]]:
    """The parameters and figures of description ``nic``, with those of the file ``figures``;
    ``programs``: those of its table [fit.programs].

    Raises
    ------
    UserError
        The tables are wrong, or there are fewer figures than parameters.
    """
    load.acquaint(nic)
    table = load.fit_table(nic)
    where = f"{nic}: [fit]"
    below = "fit"
    if programs:
        if "programs" not in table:
            raise UserError(f"{nic}: has no table [fit.programs], with what --programs fits")
        table, below = table["programs"], "fit.programs"
        where = f"{nic}: [{below}]"
        if not isinstance(table, Mapping):
            raise UserError(f"{where}: must be a table")
    else:
        table = {name: one for name, one in table.items() if name != "programs"}
    if figures is not None:
        own = _file(figures)
        table = {**table, **own}
        where = str(figures)
    elif not table:
        raise UserError(f"{nic}: has no [fit] table, with parameters and figures; docs/"
                        "calibrating.md shows one")
    _known(table, ("parameters", "figures"), where)
    parameters = _parameters(table.get("parameters", {}), f"{nic}: [{below}.parameters]")
    targets = _targets(table.get("figures", {}), where)
    if not parameters:
        raise UserError(f"{where}: names no parameters")
    if len(targets) < len(parameters):
        raise UserError(f"{where}: {len(parameters)} parameters need at least as many figures, "
                        f"and there {'is' if len(targets) == 1 else 'are'} {len(targets)}")
    return parameters, targets


def calibrate(nic: str, parameters: Sequence[Parameter], targets: Sequence[Target],
              overrides: Sequence[str] = (), tell: Tell = lambda *_: None) -> Calibration:
    """Fit ``parameters`` of description ``nic`` to ``targets``.

    Raises
    ------
    UserError
        A bound is outside a knob's range, no figure depends on a parameter, or the bounds exclude
        a figure.
    RunError
        A build or run failed.
    """
    base = load.load(nic, overrides)
    for parameter in parameters:
        for index in (0, parameter.count):
            _set(base, [parameter], (index,), nic)
    each = _one_each(base, parameters, targets, nic)
    targets = each or targets
    count = 0

    def values(points: Sequence[Point]) -> list[list[float | None]]:
        nonlocal count
        there = [_set(base, parameters, point, nic) for point in points]
        count += len(points)
        tell(counted(count, "point"), count, 0)
        jobs = [[job_for(one, target.quantity, lean=True) for target in targets] for one in there]
        outcomes = iter(measure([job for row in jobs for job in row]))
        return [[target.quantity.value(next(outcomes)["results"], one) for target in targets]
                for one in there]

    def residuals(points: Sequence[Point]) -> list[list[float]]:
        return [[target.residual(ours) for target, ours in zip(targets, row, strict=True)]
                for row in values(points)]

    counts = [parameter.count for parameter in parameters]
    if each is None:
        found = search(counts, residuals)
        jacobian = slopes(found.point, counts, residuals)
    else:
        zeros = [float(-one.low / one.step) for one in parameters]
        found, jacobian = search_apart(counts, zeros, residuals)
    sharp = sharpness(jacobian)
    for index in sharp.idle:
        raise UserError(f"{nic}: no figure of the fit depends on {parameters[index].knob}: name "
                        "one that does, or leave the parameter out", status=1)
    [ours] = values([found.point])
    _refuse_bounds(nic, found, jacobian, parameters, targets, ours)
    return Calibration(nic, tuple(parameters), tuple(targets),
                       tuple(_value(base, one.knob) for one in parameters), found.point,
                       tuple(float(one or 0) for one in ours), found.residuals, sharp,
                       found.measured)


def _one_each(base: Description, parameters: Sequence[Parameter], targets: Sequence[Target],
              nic: str) -> list[Target] | None:
    """The target of each parameter, if all targets are times of programs, and each parameter
    changes the job of one target, which no other changes. None otherwise."""
    if any(target.quantity.bench not in APPS for target in targets):
        return None

    def jobs(parameter: Parameter, index: int) -> list[Job]:
        there = _set(base, [parameter], (index,), nic)
        return [job_for(there, target.quantity, lean=True) for target in targets]

    found = []
    for parameter in parameters:
        low, high = jobs(parameter, 0), jobs(parameter, parameter.count)
        mine = [target for target, one, other in zip(targets, low, high, strict=True)
                if one != other]
        if len(mine) != 1 or mine[0] in found:
            return None
        found += mine
    return found if len(found) == len(targets) else None


def _refuse_bounds(nic: str, found: Found, jacobian: Any, parameters: Sequence[Parameter],
                   targets: Sequence[Target], ours: Sequence[float | None]) -> None:
    """Refuse a fit that ends at a bound which it would have to cross."""
    worst = max(range(len(targets)), key=lambda index: abs(found.residuals[index]))
    if abs(found.residuals[worst]) <= TOLERANCE:
        return
    downhill = -(jacobian.T @ found.residuals)
    for index, parameter in enumerate(parameters):
        at = found.point[index]
        outside = (at == 0 and downhill[index] < 0) or (at == parameter.count
                                                         and downhill[index] > 0)
        if outside and abs(jacobian[worst, index]) > 1e-9:
            target = targets[worst]
            bound = parameter.value(at)
            raise UserError(
                f"{nic}: the bounds exclude {target.quantity.name} = {target.published:g} "
                f"{target.quantity.unit}: with {parameter.knob} at its bound {bound} it is "
                f"{ours[worst]:.4g} {target.quantity.unit}", status=1)


def _set(base: Description, parameters: Sequence[Parameter], point: Point, nic: str
         ) -> Description:
    settings = {one.knob: one.value(index)
                for one, index in zip(parameters, point, strict=True)}
    try:
        return apply_settings(base, settings)
    except KnobError as error:
        raise UserError(f"{nic}: [fit.parameters]: {error}") from None


def _value(description: Description, knob: str) -> Any:
    section, key = knob.split(".")
    return getattr(getattr(description, section), key)


def _file(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    _known(found, ("parameters", "figures"), str(path))
    return found


def _known(table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise UserError(f"{where}: {key} is none of {', '.join(keys)}")


def _parameters(table: Any, where: str) -> tuple[Parameter, ...]:
    if not isinstance(table, Mapping):
        raise UserError(f"{where}: must be a table of knobs")
    known = {knob.name: knob for knob in knobs()}
    found = []
    for name, row in table.items():
        if name not in known:
            raise UserError(f"{where}: no knob is called {name}{nearest(name, list(known))}")
        knob = known[name]
        if knob.kind is Kind.STRUCTURE:
            raise UserError(f"{where}: {name} is structure: each value needs a simulator of its "
                            "own, so it cannot be fitted")
        if isinstance(knob.default, (str, bool)):
            raise UserError(f"{where}: {name} is no number, so it cannot be fitted")
        if not isinstance(row, Mapping) or not {"low", "high"} <= set(row):
            raise UserError(f"{where}: {name} needs bounds, {{ low = …, high = … }}")
        _known(row, ("low", "high", "step"), f"{where}: {name}")
        found.append(Parameter(name, knob.unit, *bounds(knob, row, f"{where}: {name}", STEPS)))
    return tuple(found)


def _targets(table: Any, where: str) -> tuple[Target, ...]:
    if isinstance(table, list):
        figures = [(text, reference(str(text), where)) for text in table]
        for text, (_, figure) in figures:
            if figure.needs:
                raise UserError(f"{where}: {text}: cannot be measured yet: needs {figure.needs}")
        return tuple(Target(wanted, figure.middle, str(text),
                            figure.rounding + (figure.high - figure.low) / 2)
                     for text, (wanted, figure) in figures)
    if not isinstance(table, Mapping):
        raise UserError(f"{where}: figures must be a table of quantities, or a list of published "
                        "figures")
    found = []
    for name, value in table.items():
        aim = number(value, f"{where}: {name}")
        if aim <= 0:
            raise UserError(f"{where}: {name} = {value}: must be above 0")
        found.append(Target(quantity(name, where), float(aim), where))
    return tuple(found)
