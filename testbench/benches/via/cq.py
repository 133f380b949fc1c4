"""Completion queue: latency with completions taken from a completion queue of n receive queues, and
the difference to the plain ping-pong."""

from collections.abc import Mapping
from typing import Any

from ....host.via.session import CQ
from ....layouts.description import Description
from ..common.headline import Series
from ..common.latencies import Latencies
from .pingpong import Plan, measure_plan
from .room import fitting

__all__ = ["draw", "evaluate", "headline", "measure", "parameters", "series", "tables"]

PLAIN, QUEUE = "work queue", "completion queue"
REPORT = Latencies("Completion queue: latency with n receive queues on it", "queues", base=PLAIN)
evaluate = REPORT.evaluate
tables = REPORT.tables
draw = REPORT.draw
headline = REPORT.headline


def parameters(description: Description) -> dict[str, Any]:
    """1 to 64 receive queues; messages of 4 bytes."""
    return {"size": 4, "queues": [count for count in (1, 2, 4, 8, 16, 32, 64)
                                  if count <= description.via.vis]}


async def measure(lab: Any, layer: str, parameters: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    """The plain ping-pong, then one run for each number of queues."""
    chosen, size = await fitting(lab, parameters["queues"], "queues"), parameters["size"]
    tell("work queue", 0, len(chosen) + 1)
    found: dict[str, Any] = {PLAIN: {1: await measure_plan(lab, Plan(size))}, QUEUE: {}}
    for index, count in enumerate(chosen):
        tell(f"{count} queues", index + 1, len(chosen) + 1)
        found[QUEUE][count] = await measure_plan(lab, Plan(size, how=CQ, queues=count))
    return found


def series(document: Mapping[str, Any]) -> Series:
    """Latency over queues."""
    return REPORT.series(document, QUEUE)
