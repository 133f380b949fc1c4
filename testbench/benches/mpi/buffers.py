"""Buffer management: latency if every message has fresh pages at both ends, with the registration
cache and without, beside the same buffers throughout."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from ..common.transfers import sizes
from .pingpong import Plan, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

SAME, FRESH, NONE = "same buffers", "fresh buffers", "no cache"
PLANS: dict[str, dict[str, Any]] = {
    SAME: {}, FRESH: {"fresh": True}, NONE: {"settings": {"mpi.registration_cache": 0}}}
REPORT = Latencies("Buffers: latency over MPI with fresh pages, and without registration cache",
                   "n", sizes=True, base=SAME)
tables, draw, headline = REPORT.tables, REPORT.draw, REPORT.headline


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    found = sizes(min(32 << 10, description.memory.bytes // 64))
    return {"sizes": sorted({*found[::2], found[-1]})}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way."""
    found: dict[str, Any] = {name: {} for name in PLANS}
    steps = [(size, name) for size in parameters["sizes"] for name in PLANS]
    for index, (size, name) in enumerate(steps):
        tell(f"{size} bytes, {name}", index, len(steps))
        found[name][size] = await measure_plan(lab, Plan(size, **PLANS[name]))
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies and differences."""
    return REPORT.evaluate(raw)


def series(document: Mapping[str, Any]) -> Any:
    """Latency with fresh buffers."""
    return REPORT.series(document, FRESH)
