"""The plan of a study: its points, benchmarks and metrics."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError, nearest
from ..testbed.measurement import AREA
from .axis import MOST, Axis, axis
from .constraint import Constraint
from .measured import Metric, check_measured, metric, said
from .start import Start

__all__ = ["METHODS", "Plan", "check_seed", "planned"]

METHODS = ("grid", "zip", "list", "random", "lhs")
"""How points are chosen: every combination; the first values together, then the second ones; given
one by one; at random; as a Latin hypercube."""
_COUNTLESS = METHODS[:3]
_SEEDS = 1 << 32


@dataclass(frozen=True)
class Plan:
    """A study, checked except for points that descriptions refuse.

    Attributes
    ----------
    points
        The knobs of each point, by name.
    benches
        Benchmarks and programs that are measured at each point; ``area``.
    metrics
        What becomes a column; if there are none, all figures of all benchmarks.
    constraints
        Conditions without which a point is no part of the study.
    start
        From which description the points start, and how they are measured.
    title
        The result's name.
    """

    points: tuple[Mapping[str, Any], ...]
    benches: tuple[str, ...]
    metrics: tuple[Metric, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    start: Start = Start()
    title: str = "sweep"

    @property
    def knobs(self) -> list[str]:
        """The knobs that the study sets."""
        return list(dict.fromkeys(name for point in self.points for name in point))


@dataclass
class _Choice:
    method: str
    axes: list[Axis]
    count: int | None
    seed: int
    given: Sequence[Mapping[str, Any]] = field(default_factory=list)

    def points(self) -> list[dict[str, Any]]:
        chosen = {"grid": self._grid, "zip": self._zip, "list": self._list,
                  "random": self._random, "lhs": self._lhs}[self.method]()
        return [dict(point) for point in chosen]

    def _grid(self) -> list[Mapping[str, Any]]:
        self._discrete()
        count = math.prod(len(one.values) for one in self.axes)
        if count > MOST:
            raise UserError(f"the grid has {count:,} points: at most {MOST:,}; choose some at "
                            "random (method random or lhs)")
        return [dict(zip((one.knob for one in self.axes), values, strict=True))
                for values in itertools.product(*(one.values for one in self.axes))]

    def _zip(self) -> list[Mapping[str, Any]]:
        self._discrete()
        lengths = {len(one.values) for one in self.axes}
        if len(lengths) > 1:
            raise UserError("zip: all knobs need as many values: " + ", ".join(
                f"{one.knob} has {len(one.values)}" for one in self.axes))
        return [{one.knob: one.values[index] for one in self.axes}
                for index in range(lengths.pop())]

    def _list(self) -> list[Mapping[str, Any]]:
        return list(self.given)

    def _random(self) -> list[Mapping[str, Any]]:
        import numpy as np

        return self._at(np.random.default_rng(self.seed).random((self._count(), len(self.axes))))

    def _lhs(self) -> list[Mapping[str, Any]]:
        import numpy as np
        from scipy.stats import qmc

        make: Any = qmc.LatinHypercube  # older versions of scipy know no rng
        sampler = make(len(self.axes), seed=np.random.default_rng(self.seed))
        return self._at(sampler.random(self._count()))

    def _at(self, shares: Any) -> list[Mapping[str, Any]]:
        found = [{one.knob: one.at(float(share)) for one, share in zip(self.axes, row, strict=True)}
                 for row in shares]
        return list({tuple(point.values()): point for point in found}.values())  # each once

    def _count(self) -> int:
        if self.count is None or not 1 <= self.count <= MOST:
            raise UserError(f"method {self.method} needs a number of points, 1 to {MOST:,}"
                            + ("" if self.count is None else f", not {self.count}"))
        return self.count

    def _discrete(self) -> None:
        for one in self.axes:
            if not one.values:
                raise UserError(f"{one.knob} = {one.low}:{one.high}: method {self.method} needs a "
                                f"step, such as {one.low}:{one.high}:*2")


def planned(vary: Mapping[str, Any], benches: Sequence[str], *, method: str = "grid",
            points: int | Sequence[Mapping[str, Any]] | None = None, seed: int = 1,
            constraints: Sequence[str] = (), metrics: Mapping[str, str] | None = None,
            **start: Any) -> Plan:
    """The plan of a study that varies knobs.

    Parameters
    ----------
    vary
        Values by knob, as lists or texts (:func:`.axis.axis`).
    benches
        Names of benchmarks and of programs, and ``area``, which a metric of it adds by itself.
    method
        One of :data:`METHODS`.
    points
        For methods random and lhs: how many; for method list: the knobs of each.
    seed
        For methods random and lhs.
    constraints
        Conditions (:class:`.constraint.Constraint`).
    metrics
        Columns by name: ``"logp:o_s"`` or ``"logp:truth.g"``, benchmark and figure.
    start
        ``nic``, ``overrides``, ``nodes``, ``layer``, ``sim``, ``limit``, as of
        :class:`.start.Start`.

    Raises
    ------
    UserError
        Something does not exist or does not go together.
    """
    if any(text.startswith(f"{AREA}:") for text in (metrics or {}).values()):
        benches = list(dict.fromkeys([*benches, AREA]))
    if method not in METHODS:
        raise UserError(f"no method is called {method}{nearest(method, list(METHODS))}")
    begin = Start(**start)
    begin.acquaint()
    axes = [axis(knob, values) for knob, values in vary.items()]
    given, count = ((), points) if points is None or isinstance(points, int) else (points, None)
    if method == "list" and (axes or not given):
        raise UserError("method list takes [[points]] in place of what is varied")
    if method != "list" and (not axes or given):
        raise UserError(f"method {method} needs knobs that vary, such as link.latency=4:64:*2")
    if method in _COUNTLESS and count is not None:
        raise UserError(f"method {method} takes no number of points, {count}: random and lhs do")
    check_seed(seed)
    if not benches:
        raise UserError("a study needs a benchmark, such as logp")
    check_measured(benches)
    for point in given:
        for knob, value in point.items():
            axis(knob, [value])
    return Plan(tuple(_Choice(method, axes, count, seed, given).points()),
                tuple(dict.fromkeys(benches)),
                tuple(_metric(name, text, benches) for name, text in (metrics or {}).items()),
                tuple(map(Constraint, constraints)), begin)


def check_seed(seed: int) -> None:
    """Refuse a seed that a generator of random numbers does not take.

    Raises
    ------
    UserError
        It is one.
    """
    if not 0 <= seed < _SEEDS:
        raise UserError(f"seed = {seed}: must be 0 to {_SEEDS - 1}")


def _metric(name: str, text: str, benches: Sequence[str]) -> Metric:
    found = metric(name, text)
    if found.bench not in benches:
        raise UserError(f"metric {said(found)}: {found.bench} is not measured"
                        f"{nearest(found.bench, list(benches))}")
    return found
