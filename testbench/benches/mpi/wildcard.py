"""Wildcards: latency of receives from any rank, with any tag, beside those that name both, and
beside the layer below."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from ..common.transfers import sizes
from .beside import beside, beside_tables
from .names import NAMES
from .pingpong import measure_below, measure_ways

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

NAMED = "named"
WAYS: dict[str, dict[str, Any]] = {NAMED: {}, "any rank and tag": {"wildcard": True}}
REPORT = Latencies("Wildcards: latency over MPI of receives from any rank, with any tag", "n",
                   sizes=True, base=NAMED)
draw, headline, series = REPORT.draw, REPORT.headline, REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    return {"sizes": sizes(min(32 << 10, description.memory.bytes // 64))[::3],
            "channel": description.mpi.channel}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way, and one over the layer below."""
    return {"runs": await measure_ways(lab, parameters["sizes"], WAYS, tell), "below": {
        NAMES[parameters["channel"]]: {size: await measure_below(lab, size)
                                       for size in parameters["sizes"]}}}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies, what wildcards cost, and what MPI costs."""
    return beside(REPORT.evaluate(raw["runs"], description), raw["runs"], raw["below"],
                  dict.fromkeys(WAYS, NAMES[parameters["channel"]]), description, REPORT)


def tables(document: Mapping[str, Any]) -> list[Any]:
    """Latencies by way; beside the layer below."""
    return [*REPORT.tables(document), *beside_tables(document, REPORT)]
