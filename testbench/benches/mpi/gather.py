"""Non-contiguous data: latency of a message of a derived type of 1 to 64 blocks, which are packed,
or become segments of the descriptor; beside the layer below."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ..common.bulk_report import size_text
from ..common.latencies import Latencies
from .beside import beside, beside_tables
from .names import NAMES
from .pingpong import Plan, measure_below, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

WAYS = ("pack", "segments")
REPORT = Latencies("Derived types: latency over MPI of a message in n blocks", "blocks")
draw, headline, series = REPORT.draw, REPORT.headline, REPORT.series


def parameters(description: Description) -> dict[str, Any]:
    """256 B and 32 KB in 1 to 64 blocks."""
    return {"totals": [256, 32768], "blocks": [1, 2, 4, 8, 16, 32, 64],
            "channel": description.mpi.channel}


def _twins(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Only VIA has segments; the others' messages are in one piece."""
    channel = parameters["channel"]
    how = "as many segments" if channel == "via" else "in one piece"
    return {f"{size_text(total)}, {way}": f"{NAMES[channel]}, {size_text(total)}, {how}"
            for total in parameters["totals"] for way in WAYS}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each total, number of blocks and way (mpi.derived), and one for each twin."""
    twins, pieces = _twins(parameters), parameters["channel"] != "via"
    steps = [(total, count) for total in parameters["totals"] for count in parameters["blocks"]]
    found: dict[str, Any] = {}
    below: dict[str, Any] = {}
    for index, (total, count) in enumerate(steps):
        tell(f"{total} bytes in {count} blocks", index, len(steps))
        for way in WAYS:
            found.setdefault(f"{size_text(total)}, {way}", {})[count] = await measure_plan(
                lab, Plan(total, blocks=count, settings={"mpi.derived": way}))
        twin = below.setdefault(twins[f"{size_text(total)}, {WAYS[0]}"], {})
        if not pieces or not twin:
            twin[count] = await measure_below(lab, total, **({} if pieces else {"segments": count}))
    return {"runs": found, "below": below}


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies, and what MPI costs."""
    return beside(REPORT.evaluate(raw["runs"], description), raw["runs"], raw["below"],
                  _twins(parameters), description, REPORT)


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each number of blocks; beside the layer below."""
    return [*REPORT.tables(document), *beside_tables(document, REPORT)]
