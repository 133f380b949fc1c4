"""Non-contiguous data: one message of a fixed total in 1 to 64 segments at either end."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ...estimate.one_way import growth
from ...results.document import number
from ...results.tables import amount
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.latencies import Latencies
from .pingpong import Plan, measure_plan

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

REPORT = Latencies("Gather and scatter: latency of a message in n segments", "segments")
draw = REPORT.draw


def parameters(description: Description) -> dict[str, Any]:
    """256 B, 4 KB and 32 KB in 1 to 64 segments."""
    return {"totals": [256, 4096, 32768], "segments": [1, 2, 4, 8, 16, 32, 64]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each total and number of segments."""
    steps = [(total, count) for total in parameters["totals"] for count in parameters["segments"]]
    found: dict[str, Any] = {}
    for index, (total, count) in enumerate(steps):
        tell(f"{total} bytes in {count} segments", index, len(steps))
        found.setdefault(size_text(total), {})[count] = await measure_plan(
            lab, Plan(total, segments=count))
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latencies, and the cost of a segment: the slope over the number of segments."""
    outcome = REPORT.evaluate(raw, description)
    outcome["results"]["a_segment"] = {
        total: number(growth([int(x) for x in by_x],
                             [Fraction(str(value)) for value in by_x.values()]).slope)
        for total, by_x in outcome["results"]["half"].items() if len(by_x) > 1}
    return outcome


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each number of segments."""
    found = document["results"]["a_segment"]
    return [*REPORT.tables(document),
            "cycles a segment: " + ", ".join(f"{amount(value)} of {total}"
                                             for total, value in found.items())]


def headline(document: Mapping[str, Any]) -> list[Headline]:
    """Latency in one and in most segments, and a segment's cost."""
    return [*REPORT.headline(document),
            *(Headline(f"a segment, {total}", value)
              for total, value in document["results"]["a_segment"].items())]


def series(document: Mapping[str, Any]) -> Series:
    """Latency over segments of the smallest total."""
    half = document["results"]["half"]
    least = min(half, key=lambda total: min(half[total].values()))
    return REPORT.series(document, least)
