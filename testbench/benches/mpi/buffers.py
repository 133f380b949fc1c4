"""Buffer management: latency if every message has fresh pages at both ends, with the registration
cache and without, beside the same buffers throughout."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from ..common.transfers import sizes
from .pingpong import measure_ways

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

SAME = "same buffers"
WAYS: dict[str, dict[str, Any]] = {
    SAME: {}, "no cache": {"settings": {"mpi.registration_cache": 0}},
    "fresh buffers": {"fresh": True}}
REPORT = Latencies("Buffers: latency over MPI with fresh pages, and without registration cache",
                   "n", sizes=True, base=SAME)
evaluate = REPORT.evaluate
tables, draw, headline, series = REPORT.tables, REPORT.draw, REPORT.headline, REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    found = sizes(min(32 << 10, description.memory.bytes // 64))
    return {"sizes": sorted({*found[::2], found[-1]})}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way."""
    return await measure_ways(lab, parameters["sizes"], WAYS, tell)
