"""The search that is optimised: knobs, goals, conditions, trials, seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import UserError
from ..sweeps.axis import Axis, axis
from ..sweeps.constraint import Constraint
from ..sweeps.measured import Metric, check_measured
from ..sweeps.plan import check_seed
from ..sweeps.start import Start
from .goal import Goal, goals

__all__ = ["MOST", "Search", "searched"]

MOST = 10_000
"""Trials."""


@dataclass(frozen=True)
class Search:
    """A search, checked except for points that descriptions refuse.

    Attributes
    ----------
    axes
        The values of the knobs that vary.
    goals
        What is to be small, or large.
    conditions
        Without those on knobs alone a point is not tried; without those that have figures, too, a
        trial is not on the front.
    trials
        How many points are tried, if there are as many.
    seed
        On which the choice of points depends.
    start
        From which description the points start, and how they are measured.
    title
        The result's name.
    """

    axes: tuple[Axis, ...]
    goals: tuple[Goal, ...]
    conditions: tuple[Constraint, ...] = ()
    trials: int = 20
    seed: int = 1
    start: Start = Start()
    title: str = "optimise"

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Returns what is measured: the goals, and the figures of the conditions."""
        found = [goal.metric for goal in self.goals]
        for condition in self.conditions:
            for bench, figure in condition.figures:
                if (bench, figure) not in {(one.bench, one.figure) for one in found}:
                    found.append(Metric(f"{bench}:{figure}", bench, figure))
        return tuple(found)

    @property
    def benches(self) -> tuple[str, ...]:
        """The benchmarks, programs and ``area`` that have these metrics."""
        return tuple(dict.fromkeys(one.bench for one in self.metrics))


def searched(vary: Mapping[str, Any], minimise: Sequence[str] = (), *,
             maximise: Sequence[str] = (), where: Sequence[str] = (), trials: int = 20,
             seed: int = 1, title: str = "optimise", **start: Any) -> Search:
    """The search that varies knobs.

    Parameters
    ----------
    vary
        Values by knob, as lists or texts (:func:`~..sweeps.axis.axis`); ranges without a step, too.
    minimise, maximise
        Goals: ``"logp:o_s"``, ``"area:lut"`` or ``"o=logp:o_s"``.
    where
        Conditions on knobs and figures: ``"area.lut <= 8000"``.
    trials, seed, title
        As of :class:`Search`.
    start
        ``nic``, ``overrides``, ``nodes``, ``layer``, ``sim``, ``limit``, as of
        :class:`~..sweeps.start.Start`.

    Raises
    ------
    UserError
        Something does not exist or does not go together.
    """
    if not vary:
        raise UserError("optimise needs knobs that vary, such as --vary nic.mtu=256,512,1024")
    if not 1 <= trials <= MOST:
        raise UserError(f"trials = {trials}: must be 1 to {MOST:,}")
    check_seed(seed)
    begin = Start(**start)
    begin.acquaint()
    axes = [axis(knob, values) for knob, values in vary.items()]
    found = Search(tuple(replace(one, values=tuple(dict.fromkeys(one.values))) for one in axes),
                   goals(minimise, maximise),
                   tuple(Constraint(text, figures=True) for text in where), trials, seed,
                   begin, title)
    check_measured(found.benches)
    return found
