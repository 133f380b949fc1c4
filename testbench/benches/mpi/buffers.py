"""Buffer management: latency if every message has fresh pages at both ends, with the registration
cache and without, beside the same buffers throughout, and beside the layer below."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from ..common.transfers import sizes
from .beside import beside, beside_tables
from .names import NAMES
from .pingpong import measure_below, measure_ways

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

SAME, FRESH = "same buffers", "fresh buffers"
WAYS: dict[str, dict[str, Any]] = {
    SAME: {}, "no cache": {"settings": {"mpi.registration_cache": 0}}, FRESH: {"fresh": True}}
REPORT = Latencies("Buffers: latency over MPI with fresh pages, and without registration cache",
                   "n", sizes=True, base=SAME)
draw, headline, series = REPORT.draw, REPORT.headline, REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    found = sizes(min(32 << 10, description.memory.bytes // 64))
    return {"sizes": sorted({*found[::2], found[-1]}), "channel": description.mpi.channel}


def _twins(channel: str) -> dict[str, str]:
    """Only VIA has a ping-pong with fresh buffers."""
    plain = NAMES[channel]
    return {way: f"{plain}, fresh buffers" if way == FRESH and channel == "via" else plain
            for way in WAYS}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way, and one for each twin."""
    twins = _twins(parameters["channel"])
    return {"runs": await measure_ways(lab, parameters["sizes"], WAYS, tell), "below": {
        twin: {size: await measure_below(lab, size, **({"fresh": True} if "fresh" in twin else {}))
               for size in parameters["sizes"]} for twin in dict.fromkeys(twins.values())}}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies, what fresh buffers and no cache cost, and what MPI costs."""
    return beside(REPORT.evaluate(raw["runs"], description), raw["runs"], raw["below"],
                  _twins(parameters["channel"]), description, REPORT)


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Latencies by way; beside the layer below."""
    return [*REPORT.tables(document), *beside_tables(document, REPORT)]
