"""Chooses the next points from the results of the points before.

The choice is a function of the search and of what was told, in the order of the points. So a
search that begins again chooses the same points, and one with more trials begins with those of one
with fewer; unless it has trials for all points of a space that is listed, which are tried in order.
"""

import importlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import UserError
from ..sweeps.axis import Axis
from .search import Search
from .space import Place, Point, Space

__all__ = ["FIRST", "Chooser"]

FIRST = 10
"""Points that are chosen at random, before anything is known."""
TRIES = 4
"""Points asked for in place of one that is known or is none, until one is drawn at random."""
DRAWS = 1000
"""Points drawn at random until a space that is not listed has no more."""


class Chooser:
    """Points of ``space``, each once: by optuna's tree-structured Parzen estimator, which models
    where good trials are, and at random where it has nothing new.

    Raises
    ------
    UserError
        optuna is not installed.
    """

    def __init__(self, search: Search, space: Space) -> None:
        import numpy as np

        self._axes = search.axes
        self._space = space
        self._in_order = list(space.listed or ())
        if search.trials < len(self._in_order):
            self._in_order = []
        self._optuna = _optuna()
        self._random = np.random.default_rng([search.seed, 1])
        self._chosen: dict[tuple[Any, ...], Any] = {}
        self._distributions = {axis.knob: self._distribution(axis) for axis in search.axes}
        with _quiet(self._optuna):
            self._study = self._optuna.create_study(
                directions=["maximize" if goal.more else "minimize" for goal in search.goals],
                sampler=self._optuna.samplers.TPESampler(
                    seed=search.seed, n_startup_trials=FIRST, multivariate=True,
                    constant_liar=True, constraints_func=lambda trial: trial.user_attrs["misses"]))

    def next(self) -> Point | None:
        """A point that was not chosen before; None if there is none."""
        if self._in_order:
            return self._in_order.pop(0)
        with _quiet(self._optuna):
            for _ in range(TRIES):
                trial = self._study.ask(self._distributions)
                point = self._space.point(tuple(trial.params[one.knob] for one in self._axes))
                if point is not None and self._key(point) not in self._chosen:
                    return self._taken(point, trial)
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            point = self._any()
            if point is None:
                return None
            self._study.enqueue_trial({axis.knob: at for axis, at in zip(
                self._axes, point.place, strict=True)})
            return self._taken(point, self._study.ask(self._distributions))

    def tell(self, point: Point, values: Sequence[float] | None, misses: Sequence[float]) -> None:
        """Returns what became of ``point``: the goals' values, None if it failed; by how much each
        condition on figures is missed, 0 if it holds."""
        trial = self._chosen.get(self._key(point))
        if trial is None:  # the points are tried in order
            return
        with _quiet(self._optuna):
            if values is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                return
            trial.set_user_attr("misses", list(misses))
            self._study.tell(trial, list(values))

    def _any(self) -> Point | None:
        """A point at random that was not chosen."""
        listed = self._space.listed
        if listed is not None:
            left = [one for one in listed if self._key(one) not in self._chosen]
            return left[self._random.integers(len(left))]
        for _ in range(DRAWS):
            point = self._space.point(self._drawn())
            if point is not None and self._key(point) not in self._chosen:
                return point
        return None

    def _drawn(self) -> Place:
        return tuple(int(self._random.integers(len(axis.values))) if axis.values
                     else float(self._random.random()) for axis in self._axes)

    def _taken(self, point: Point, trial: Any) -> Point:
        self._chosen[self._key(point)] = trial
        return point

    @staticmethod
    def _key(point: Point) -> tuple[Any, ...]:
        return tuple(point.knobs.values())

    def _distribution(self, axis: Axis) -> Any:
        """Numbers that go up are near each other; other values are alternatives."""
        kinds = self._optuna.distributions
        if not axis.values:
            return kinds.FloatDistribution(0.0, 1.0)
        numbers = axis.numbers
        if numbers is not None and numbers == sorted(numbers):
            return kinds.IntDistribution(0, len(numbers) - 1)
        return kinds.CategoricalDistribution(list(range(len(axis.values))))


def _optuna() -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError:
        raise UserError("optimise needs optuna: pip install 'nicbed[optimise]', or run ./nicbed "
                        "optimise in a clone, which installs it", status=1) from None


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without optuna's lines about studies, and about what it calls experimental."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)
