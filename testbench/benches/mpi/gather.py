"""Non-contiguous data: latency of a message of a derived type of 1 to 64 blocks, which are packed,
or become segments of the descriptor."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.bulk_report import size_text
from ..common.latencies import Latencies
from .pingpong import Plan, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

WAYS = ("pack", "segments")
REPORT = Latencies("Derived types: latency over MPI of a message in n blocks", "blocks")
evaluate = REPORT.evaluate
tables, draw, headline, series = REPORT.tables, REPORT.draw, REPORT.headline, REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """256 B and 32 KB in 1 to 64 blocks."""
    return {"totals": [256, 32768], "blocks": [1, 2, 4, 8, 16, 32, 64]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each total, number of blocks and way (mpi.derived)."""
    steps = [(total, count, way) for total in parameters["totals"]
             for count in parameters["blocks"] for way in WAYS]
    found: dict[str, Any] = {}
    for index, (total, count, way) in enumerate(steps):
        tell(f"{total} bytes in {count} blocks, {way}", index, len(steps))
        found.setdefault(f"{size_text(total)}, {way}", {})[count] = await measure_plan(
            lab, Plan(total, blocks=count, settings={"mpi.derived": way}))
    return found
