"""Non-contiguous data: one message of a fixed total in 1 to 64 segments at either end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ....layouts.description import Description
from ...estimate.one_way import growth
from ...results.document import number
from ...results.tables import amount
from ..benchmark import Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.latencies import HalfTrips, Latencies
from ..common.varied_latency import VariedLatency
from ..fields import Outcome, figure, setting
from .pingpong import Plan, measure_plan

__all__ = ["ViaGather", "ViaGatherParameters", "ViaGatherResults"]


@dataclass(frozen=True)
class ViaGatherParameters:
    """256 B, 4 KB and 32 KB in 1 to 64 segments."""

    totals: Sequence[int] = setting([256, 4096, 32768], "bytes of a message", unit="bytes")
    segments: Sequence[int] = setting([1, 2, 4, 8, 16, 32, 64], "segments of a message")


@dataclass(frozen=True, kw_only=True)
class ViaGatherResults(HalfTrips):
    """Half round trips by total and segments."""

    a_segment: Mapping[str, float] = figure("cycles", "a segment: the slope over segments")


class ViaGather(VariedLatency):
    """Messages in segments."""

    Parameters = ViaGatherParameters
    Results = ViaGatherResults
    report = Latencies("Gather and scatter: latency of a message in n segments", "segments")

    async def measure(self, lab: Any, layer: str, parameters: ViaGatherParameters, tell: Tell
                      ) -> dict[str, Any]:
        """One run for each total and number of segments."""
        steps = [(total, count) for total in parameters.totals for count in parameters.segments]
        found: dict[str, Any] = {}
        for index, (total, count) in enumerate(steps):
            tell(f"{total} bytes in {count} segments", index, len(steps))
            found.setdefault(size_text(total), {})[count] = await measure_plan(
                lab, Plan(total, segments=count))
        return found

    def evaluate(self, raw: Any, description: Description, parameters: ViaGatherParameters
                 ) -> Outcome:
        """Latencies, and the cost of a segment: the slope over the number of segments."""
        found = self.report.evaluate(raw, description)
        return self.outcome(found, a_segment={
            total: number(growth([int(x) for x in by_x],
                                 [Fraction(str(value)) for value in by_x.values()]).slope)
            for total, by_x in found["results"]["half"].items() if len(by_x) > 1})

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """One row for each number of segments."""
        return [*self.report.tables(document),
                "cycles a segment: " + ", ".join(
                    f"{amount(value)} of {total}"
                    for total, value in self.results(document).a_segment.items())]

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Latency in one and in most segments, and a segment's cost."""
        return [*self.report.headline(document),
                *(Headline(f"a segment, {total}", value)
                  for total, value in self.results(document).a_segment.items())]

    def series(self, document: Mapping[str, Any]) -> Series:
        """Latency over segments of the smallest total."""
        half = self.results(document).half
        return self.report.series(document, min(half, key=lambda total: min(half[total].values())))
