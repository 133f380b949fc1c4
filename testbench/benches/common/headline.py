"""What a benchmark hands to ``nicbed compare``."""

from typing import NamedTuple

__all__ = ["Headline", "Series"]


class Headline(NamedTuple):
    """A figure of a run as it stands beside those of other descriptions. ``value`` is None where
    the run did not show it; what is in ``cycles`` is told in microseconds, too, where the
    descriptions' clocks differ."""

    name: str
    value: float | None
    unit: str = "cycles"


class Series(NamedTuple):
    """What a benchmark shows over something: ``points`` are (x, y); ``sizes``: x is in bytes;
    ``log``: y spans decades."""

    x: str
    y: str
    points: list[tuple[float, float]]
    sizes: bool = False
    log: bool = False
