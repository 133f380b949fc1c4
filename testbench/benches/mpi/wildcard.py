"""Wildcards: latency of receives from any rank, with any tag, beside those that name both."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.latencies import Latencies
from ..common.transfers import sizes
from .pingpong import Plan, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

NAMED, ANY = "named", "any rank and tag"
REPORT = Latencies("Wildcards: latency over MPI of receives from any rank, with any tag", "n",
                   sizes=True, base=NAMED)
tables, draw, headline = REPORT.tables, REPORT.draw, REPORT.headline


def parameters(description: Description) -> dict[str, Any]:
    """4 B to 32 KB."""
    return {"sizes": sizes(min(32 << 10, description.memory.bytes // 64))[::3]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each size and way."""
    found: dict[str, Any] = {NAMED: {}, ANY: {}}
    for index, size in enumerate(parameters["sizes"]):
        tell(f"{size} bytes", index, len(parameters["sizes"]))
        for name in found:
            found[name][size] = await measure_plan(lab, Plan(size, wildcard=name == ANY))
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies and the difference."""
    return REPORT.evaluate(raw)


def series(document: Mapping[str, Any]) -> Any:
    """Latency of wildcards."""
    return REPORT.series(document, ANY)
