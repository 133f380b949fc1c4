"""Wildcards: latency of receives from any rank, with any tag, beside those that name both."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from ..common.transfers import sizes
from .pingpong import measure_ways

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

NAMED = "named"
WAYS: dict[str, dict[str, Any]] = {NAMED: {}, "any rank and tag": {"wildcard": True}}
REPORT = Latencies("Wildcards: latency over MPI of receives from any rank, with any tag", "n",
                   sizes=True, base=NAMED)
evaluate = REPORT.evaluate
tables, draw, headline, series = REPORT.tables, REPORT.draw, REPORT.headline, REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    return {"sizes": sizes(min(32 << 10, description.memory.bytes // 64))[::3]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way."""
    return await measure_ways(lab, parameters["sizes"], WAYS, tell)
