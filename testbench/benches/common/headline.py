"""Figures of a benchmark for ``nicbed compare``."""

from typing import NamedTuple

__all__ = ["Headline", "Series"]


class Headline(NamedTuple):
    """A figure of a run to compare with those of other descriptions. ``value`` is None if the run
    did not show it. Figures in ``cycles`` are also given in microseconds if the descriptions'
    clocks differ."""

    name: str
    value: float | None
    unit: str = "cycles"


class Series(NamedTuple):
    """A curve of a benchmark: ``points`` are (x, y); ``sizes``: x is in bytes; ``log``: y spans
    decades."""

    x: str
    y: str
    points: list[tuple[float, float]]
    sizes: bool = False
    log: bool = False
