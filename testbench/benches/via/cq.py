"""Completion queue: latency with completions taken from a completion queue of n receive queues, and
the difference to the plain ping-pong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....host.via.session import CQ
from ....layouts.description import Description
from ..benchmark import Tell
from ..common.headline import Series
from ..common.latencies import Latencies
from ..common.varied_latency import VariedLatency
from ..fields import setting
from .pingpong import Plan, measure_plan
from .room import fitting

__all__ = ["Cq", "CqParameters"]

PLAIN, QUEUE = "work queue", "completion queue"


@dataclass(frozen=True)
class CqParameters:
    """1 to 64 receive queues."""

    size: int = setting(4, "bytes of a message", unit="bytes")
    queues: Sequence[int] = setting([1], "receive queues on the completion queue")


class Cq(VariedLatency):
    """Completions from a queue of many work queues."""

    Parameters = CqParameters
    report = Latencies("Completion queue: latency with n receive queues on it", "queues",
                       base=PLAIN)

    def parameters(self, description: Description) -> CqParameters:
        """As many queues as there are VIs for."""
        return CqParameters(queues=[count for count in (1, 2, 4, 8, 16, 32, 64)
                                    if count <= description.via.vis])

    async def measure(self, lab: Any, layer: str, parameters: CqParameters, tell: Tell
                      ) -> dict[str, Any]:
        """The plain ping-pong, then one run for each number of queues."""
        chosen, size = await fitting(lab, parameters.queues, "queues"), parameters.size
        tell("work queue", 0, len(chosen) + 1)
        found: dict[str, Any] = {PLAIN: {1: await measure_plan(lab, Plan(size))}, QUEUE: {}}
        for index, count in enumerate(chosen):
            tell(f"{count} queues", index + 1, len(chosen) + 1)
            found[QUEUE][count] = await measure_plan(lab, Plan(size, how=CQ, queues=count))
        return found

    def series(self, document: Mapping[str, Any]) -> Series:
        """Latency over queues."""
        return self.report.series(document, QUEUE)
