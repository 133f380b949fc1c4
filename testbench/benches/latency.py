"""Latency: half the round trip of equal messages, the same buffers throughout."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...layouts.description import Description
from ...layouts.doors import LAYERS
from . import get
from .benchmark import Benchmark, Tell
from .common.headline import Headline, Series
from .common.latencies import Latencies, faster_than_light
from .common.transfers import sizes
from .fields import Outcome, figure, setting
from .one_way.exchange import measure_trips

__all__ = ["LARGEST", "Latency", "LatencyParameters", "LatencyResults", "carried", "lengths",
           "trips_of"]

LARGEST = 32 << 10
REPORT = Latencies("Latency: half the round trip of equal messages", "n", sizes=True,
                   chosen=("4", "64", "1024", "4096", "32768"))


@dataclass(frozen=True)
class LatencyParameters:
    """Eight round trips of each size after two that warm up."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    trips: int = setting(8, "round trips that count, of each size")
    warm: int = setting(2, "round trips before them")


@dataclass(frozen=True)
class LatencyResults:
    """Half round trips."""

    half: Mapping[str, Mapping[str, float]] = figure(
        "cycles", "half the mean round trip, by what was varied and by the bytes of a message")


def lengths(description: Description) -> list[int]:
    """Powers of two from 4 B to 32 KB, as far as memory goes."""
    return sizes(min(LARGEST, description.memory.bytes // 16))


def carried(chosen: Sequence[int], layer: str, description: Description) -> list[int]:
    """Those of the ``chosen`` sizes that a message of ``layer`` can have."""
    most = LAYERS.get(layer).endpoint_class.largest(description)
    return [size for size in chosen if most is None or size <= most]


def trips_of(layer: str) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    """Finds the coroutine for round trips on ``layer``: ``f(lab, size, count, warm, trace=False)``.
    """
    part = get("latency").module(layer).bench
    return lambda lab, *how, **more: part.trips(lab, layer, *how, **more)


class Latency(Benchmark):
    """Latency over any layer whose endpoints exchange messages."""

    Parameters = LatencyParameters
    Results = LatencyResults

    def parameters(self, description: Description) -> LatencyParameters:
        """4 B to 32 KB."""
        return LatencyParameters(lengths(description))

    async def measure(self, lab: Any, layer: str, parameters: LatencyParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each size; none for what is longer than the layer's messages."""
        found = {}
        chosen = carried(parameters.sizes, layer, lab.description)
        for index, size in enumerate(chosen):
            tell(f"{size} bytes", index, len(chosen))
            found[size] = await self.trips(lab, layer, size, parameters.trips, parameters.warm)
        return {"latency": found}

    async def trips(self, lab: Any, layer: str, size: int, count: int, warm: int, *,
                    trace: bool = False) -> dict[str, Any]:
        """``count`` round trips of ``size`` bytes after ``warm`` ones."""
        return await measure_trips(lab, size, count, warm, layer=layer, trace=trace)

    def evaluate(self, raw: Any, description: Description, parameters: LatencyParameters
                 ) -> Outcome:
        """Latency over size, and its legs where runs are traced."""
        found = REPORT.evaluate(raw, description)
        carrier, rate = self.carrier(description)
        found["checks"].append(faster_than_light(raw, rate, lambda size: size, carrier))
        return Outcome(**{**found, "results": LatencyResults(**found["results"])})

    def carrier(self, description: Description) -> tuple[str, Fraction]:
        """Returns what carries the bytes of messages, and how many a cycle."""
        return "link", description.link.bytes_per_cycle

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Half round trips, one row for each size; then their legs."""
        return REPORT.tables(document)

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Half round trips over size."""
        REPORT.draw(document, figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Half round trips of some sizes."""
        return REPORT.headline(document)

    def series(self, document: Mapping[str, Any]) -> Series:
        """Half the round trip over size."""
        return REPORT.series(document)
