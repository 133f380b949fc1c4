"""A goal: a metric, and whether less of it is better or more."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ..benches import BENCHES
from ..errors import UserError
from ..sweeps.measured import Metric, metric, said

__all__ = ["Goal", "goals"]


@dataclass(frozen=True)
class Goal:
    """A metric to be made small, or to be made large."""

    metric: Metric
    more: bool = False

    @property
    def name(self) -> str:
        """The name of its column."""
        return self.metric.name

    def cost(self, value: float) -> float:
        """``value`` such that less is better."""
        return -value if self.more else value


def goals(minimise: Sequence[str], maximise: Sequence[str] = ()) -> tuple[Goal, ...]:
    """Goals given as ``logp:o_s`` or ``o=logp:o_s``, benchmark and figure.

    Raises
    ------
    UserError
        There is none, one is no metric, or a name or a figure is there twice.
    """
    found = []
    for more, texts in ((False, minimise), (True, maximise)):
        for text in texts:
            name, equals, figure = text.partition("=")
            found.append(Goal(metric(name.strip() if equals else text.strip(),
                                     figure.strip() if equals else text.strip()), more))
    if not found:
        raise UserError("optimise needs a goal, such as --minimise logp:L")
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"the goal {name} is there twice")
    for one, other in itertools.combinations([goal.metric for goal in found], 2):
        if _same(one, other):
            raise UserError(f"the goals {said(one)} and {said(other)} are the same figure")
    return tuple(found)


def _same(one: Metric, other: Metric) -> bool:
    """Whether both are one figure, which may be written in whatever case where no benchmark has
    both, as prtt has g and G."""
    if one.bench != other.bench or one.figure.casefold() != other.figure.casefold():
        return False
    bench = BENCHES.get(one.bench) if one.bench in BENCHES.names() else None
    return one.figure == other.figure or bench is None or not any(
        {one.figure, other.figure} <= {*getattr(bench.module(layer), "FIGURES", ())}
        for layer in bench.layers)
