"""The measurements at a point: benchmarks, programs and ``area``; their figures as metrics."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import UserError, nearest
from ..testbed.measurement import AREA

__all__ = ["Metric", "check_measured", "known", "metric", "said"]


@dataclass(frozen=True)
class Metric:
    """A column of the table: a figure of a benchmark, or a place in its result file."""

    name: str
    bench: str
    figure: str


def known() -> list[str]:
    """The names of all that can be measured."""
    from ..apps import APPS
    from ..benches import BENCHES

    return [*BENCHES.names(), *APPS, AREA]


def check_measured(names: Iterable[str]) -> None:
    """Refuse names under which nothing is measured.

    Raises
    ------
    UserError
        There is such a one.
    """
    from ..benches import BENCHES

    for name in names:
        if name not in known() and not BENCHES.is_path(name):
            raise UserError(f"no benchmark or program is called {name}{nearest(name, known())}")


def metric(name: str, text: str) -> Metric:
    """The metric ``name``, given as ``logp:o_s``, benchmark and figure.

    Raises
    ------
    UserError
        It is none.
    """
    bench, colon, figure = text.partition(":")
    if not colon or not figure:
        raise UserError(f"metric {_named(name, text)}: must be BENCHMARK:FIGURE, such as logp:o_s")
    return Metric(name, bench, figure)


def said(one: Metric) -> str:
    """A metric as it was given: its name, unless it has none of its own, and its figure."""
    return _named(one.name, f"{one.bench}:{one.figure}")


def _named(name: str, text: str) -> str:
    return text if name == text else f"{name} = {text}"
