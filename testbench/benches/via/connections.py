"""Multiple connections: latency between two endpoints while n VIs are connected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ...results.document import number
from ..benchmark import Tell
from ..common.headline import Series
from ..common.latencies import HalfTrips, Latencies
from ..common.varied_latency import VariedLatency
from ..fields import Outcome, figure, setting
from .pingpong import Plan, measure_plan
from .room import fitting

__all__ = ["ViaConnections", "ViaConnectionsParameters", "ViaConnectionsResults"]

ONE, TURN = "on one VI", "on each in turn"


@dataclass(frozen=True)
class ViaConnectionsParameters:
    """1 to 1,024 VIs."""

    size: int = setting(4, "bytes of a message", unit="bytes")
    vis: Sequence[int] = setting([1], "VIs that are connected")


@dataclass(frozen=True, kw_only=True)
class ViaConnectionsResults(HalfTrips):
    """Half round trips by the use of VIs and their number."""

    ratio: Mapping[str, float] = figure("", "latency of the most VIs over that of the fewest")


class ViaConnections(VariedLatency):
    """Many connected VIs."""

    Parameters = ViaConnectionsParameters
    Results = ViaConnectionsResults
    report = Latencies("Connections: latency while n VIs are connected", "VIs")

    def parameters(self, description: Description) -> ViaConnectionsParameters:
        """As many VIs as the NIC has."""
        return ViaConnectionsParameters(vis=[count for count in (1, 4, 16, 64, 256, 1024)
                                             if count <= description.via.vis])

    async def measure(self, lab: Any, layer: str, parameters: ViaConnectionsParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each number of VIs and way to use them."""
        found: dict[str, Any] = {ONE: {}, TURN: {}}
        vis = await fitting(lab, parameters.vis)
        steps = [(variant, count) for count in vis for variant in found]
        for index, (variant, count) in enumerate(steps):
            tell(f"{count} VIs, {variant}", index, len(steps))
            found[variant][count] = await measure_plan(lab, Plan(
                parameters.size, count=8, connections=count, turn=variant == TURN))
        return found

    def evaluate(self, raw: Any, description: Description, parameters: ViaConnectionsParameters
                 ) -> Outcome:
        """Latency by VIs, and the ratio of the most VIs to the fewest."""
        found = self.report.evaluate(raw, description)
        return self.outcome(found, ratio={
            variant: number(by_x[max(by_x, key=int)] / by_x[min(by_x, key=int)])
            for variant, by_x in found["results"]["half"].items()})

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each number of VIs."""
        return [*self.report.tables(document),
                "the most VIs beside one: " + ", ".join(
                    f"{variant} × {value:.3f}"
                    for variant, value in self.results(document).ratio.items())]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Latency over VIs, on one of them."""
        return self.report.series(document, ONE)
