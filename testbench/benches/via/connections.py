"""Multiple connections: latency between two endpoints while n VIs are connected."""

from collections.abc import Mapping
from typing import Any

from ....layouts.description import Description
from ...results.document import number
from ..common.headline import Series
from ..common.latencies import Latencies
from .pingpong import Plan, measure_plan
from .room import fitting

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

ONE, TURN = "on one VI", "on each in turn"
REPORT = Latencies("Connections: latency while n VIs are connected", "VIs")
draw = REPORT.draw
headline = REPORT.headline


def parameters(description: Description) -> dict[str, Any]:
    """1 to 1,024 VIs, or as many as the NIC has; messages of 4 bytes."""
    return {"size": 4, "vis": [count for count in (1, 4, 16, 64, 256, 1024)
                               if count <= description.via.vis]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """One run for each number of VIs and way to use them."""
    found: dict[str, Any] = {ONE: {}, TURN: {}}
    vis = await fitting(lab, parameters["vis"])
    steps = [(variant, count) for count in vis for variant in found]
    for index, (variant, count) in enumerate(steps):
        tell(f"{count} VIs, {variant}", index, len(steps))
        found[variant][count] = await measure_plan(lab, Plan(
            parameters["size"], count=8, connections=count, turn=variant == TURN))
    return found


def evaluate(raw: Mapping[str, Any], description: Description, parameters: Mapping[str, Any]
             ) -> dict[str, Any]:
    """Latency by VIs, and the ratio of the most VIs to one."""
    outcome = REPORT.evaluate(raw, description)
    half = outcome["results"]["half"]
    outcome["results"]["ratio"] = {
        variant: number(by_x[max(by_x, key=int)] / by_x[min(by_x, key=int)])
        for variant, by_x in half.items()}
    return outcome


def tables(document: Mapping[str, Any]) -> list[Any]:
    """One row for each number of VIs."""
    ratio = document["results"]["ratio"]
    return [*REPORT.tables(document),
            "the most VIs beside one: " + ", ".join(f"{variant} × {value:.3f}"
                                                    for variant, value in ratio.items())]


def series(document: Mapping[str, Any]) -> Series:
    """Latency over VIs, on one of them."""
    return REPORT.series(document, ONE)
