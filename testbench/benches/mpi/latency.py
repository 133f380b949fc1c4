"""Latency: half the round trip of equal messages, and what MPI adds to the layer below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....layouts.description import Description
from ...estimate.compare import check
from ...results.document import number
from ..benchmark import Benchmark, Tell
from ..common.bulk_report import size_text
from ..common.headline import Headline, Series
from ..common.latencies import Latencies, faster_than_light
from ..common.transfers import sizes
from ..fields import Outcome, figure, setting
from .names import shown
from .pingpong import Plan, measure_below, measure_plan
from .split import Parts, parts_table, split

__all__ = ["MpiLatency", "MpiLatencyParameters", "MpiLatencyResults"]

COLUMNS = 5


@dataclass(frozen=True)
class MpiLatencyParameters:
    """Eight round trips of each size after two that warm up."""

    sizes: Sequence[int] = setting([4], "bytes of a message", unit="bytes")
    trips: int = setting(8, "round trips that count, of each size")
    warm: int = setting(2, "round trips before them")
    channel: str = setting("", "the layer below (mpi.channel)")


@dataclass(frozen=True)
class MpiLatencyResults:
    """Half round trips of MPI and of the layer below, by bytes of a message."""

    half: Mapping[str, Mapping[str, float]] = figure("cycles", "half the mean round trip")
    extra: Mapping[str, Mapping[str, float]] = figure("cycles", "what MPI adds to the layer below")
    parts: Mapping[str, Parts] = figure("cycles", "rank 0's time in a round trip over MPI, by part")


class MpiLatency(Benchmark):
    """Latency of MPI, beside that of the layer below."""

    Parameters = MpiLatencyParameters
    Results = MpiLatencyResults

    def parameters(self, description: Description) -> MpiLatencyParameters:
        """4 B to 32 KB."""
        return MpiLatencyParameters(sizes(min(32 << 10, description.memory.bytes // 64)),
                                    channel=description.mpi.channel)

    async def measure(self, lab: Any, layer: str, parameters: MpiLatencyParameters, tell: Tell
                      ) -> dict[str, Any]:
        """For each size one run over the layer below, and one over MPI."""
        below = shown(parameters.channel)
        found: dict[str, Any] = {below: {}, "MPI": {}}
        trips, warm = parameters.trips, parameters.warm
        for index, size in enumerate(parameters.sizes):
            tell(f"{size} bytes", index, len(parameters.sizes))
            found[below][size] = await measure_below(lab, size, trips, warm)
            found["MPI"][size] = await measure_plan(lab, Plan(size, trips, warm))
        return found

    def evaluate(self, raw: Mapping[str, Any], description: Description,
                 parameters: MpiLatencyParameters) -> Outcome:
        """Latencies, the difference, and rank 0's time by part."""
        found = _report(parameters).evaluate(raw, description)
        parts, wrong = {}, []
        for size, run in raw["MPI"].items():
            each, said = split(run, description, len(run["trips"]))
            parts[str(size)] = Parts(**{name: number(value) for name, value in each.items()})
            if said:
                wrong.append(f"{size_text(size)}: {said}")
        return Outcome(**{
            **found, "results": MpiLatencyResults(**found["results"], parts=parts), "checks": [
                *found["checks"],
                faster_than_light(raw, description.link.bytes_per_cycle, lambda size: size),
                check("the library's own time is what its paths were charged", not wrong,
                      wrong[0] if wrong else "at every size, to two cycles a round trip")]})

    def tables(self, document: Mapping[str, Any]) -> list[Any]:
        """Latencies, the difference, and the parts."""
        parts = self.results(document).parts
        chosen = list(parts.items())[::max(1, -(-len(parts) // COLUMNS))]
        return [*_report(self.parameters_of(document)).tables(document),
                parts_table("Rank 0 in a round trip over MPI (cycles)", "a round trip",
                            {size_text(int(size)): one for size, one in chosen})]

    def draw(self, document: Mapping[str, Any], figure: Any) -> None:
        """Both latencies over size."""
        _report(self.parameters_of(document)).draw(document, figure)

    def headline(self, document: Mapping[str, Any]) -> list[Headline]:
        """Latencies, and what MPI adds."""
        return _report(self.parameters_of(document)).headline(document)

    def series(self, document: Mapping[str, Any]) -> Series:
        """Latency of MPI over size."""
        return _report(self.parameters_of(document)).series(document, "MPI")


def _report(parameters: MpiLatencyParameters) -> Latencies:
    return Latencies("Latency: half the round trip of equal messages", "n", sizes=True,
                     base=shown(parameters.channel), chosen=("4", "1024", "32768"))
